"""initialise: the system that gives every variable its first value (MLS 8.6).

Unknowns: those of the simulation, the states, parameters with fixed=false, and pre values.  Equations: the model's with
`initial()` true and delays as `first_delays` has them, `pre(v) = start` of discrete variables where fixed, the initial
equations, `v = start` of the others where fixed, `pre(v) = start` of what is left.  Too few: starts of states (then of
others) are taken as equations, with a note, first of those that nothing gives yet; those of states that have none after
those of what was preferred as a state.  Too many: those that fit nowhere are not solved but checked, with a note, or
one in their place that the given values make singular; at the end of the initial system an assertion fails where they
contradict the others.  Rows join one after the other by augmenting paths, in the order of that list, so what the user
wrote wins over what is guessed; and over `v = pre(v)` of what no when sets at the start, where both of them are given.
What start values hang on comes as early as it can, so that loops begin from them.  What whens that `initial()` triggers
reinitialise is an initial equation; assertions, calls and the end of the run in whens that `initial()` triggers come
last.

  der(x) = -x;  x(start = 1, fixed = true)      ->   x from x = 1;  der(x) from der(x) = -x

Cost: one matching and a search for each equation that joins.  Gives up where the
equations of the model are structurally singular at the start (B201) and where an unknown is not determined (B204).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, InternalError, ModelError
from kilohertz.graphs import FREE, Matching, maximum_matching
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import (
    NOT_INITIAL,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Effect,
    Equation,
    Reinit,
    Role,
    Select,
    When,
    der_name,
    pre_name,
)
from kilohertz.ir.expr import FALSE, TRUE, Binary, Builtin, Call, Expr, Ref
from kilohertz.ir.flat import Assert
from kilohertz.ir.ordered import Ordered, Row, System
from kilohertz.ir.step import Partition, WhenBlock
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, simplify_node
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.first_delays import FirstDelays, undetermined, warning, with_past
from kilohertz.passes.ordered.given_numbers import VANISHED, following, slope
from kilohertz.passes.ordered.order_parameters import default_taken, free_parameters, lacks_value
from kilohertz.passes.ordered.simulation import done
from kilohertz.passes.ordered.solving_order import (
    Vanishing,
    candidates,
    components,
    incidence,
    rows_of,
    singular,
    solvable_graph,
    targets_of,
)
from kilohertz.passes.parameter_values import is_parametric
from kilohertz.passes.spare_equations import holds_too


@dataclass(frozen=True, slots=True)
class Initialise(Pass):
    """The initial system: as many equations as unknowns, in order."""

    name: ClassVar[str] = "initialise"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.INITIAL})

    def run(self, model: Ordered, log: Log) -> Ordered:
        work = _Initial(model.dae, model.values, log.occurrence)
        system = work.run()
        if lost := undetermined(model.dae, system.components, model.values, log.occurrence):
            log.warnings += map(warning, lost)
            work = _Initial(model.dae, model.values, log.occurrence, {d.index for d in lost})
            system = work.run()
            model = replace(model, dae=replace(model.dae, delays=with_past(model.dae, lost)))
        log.warnings += work.warnings
        return replace(model, initial=system, notes=(*model.notes, *work.notes))


class _Initial:
    def __init__(
        self, dae: Dae, values: Mapping[str, float], occurrence: Occurrence, past: Container[int] = ()
    ) -> None:
        self._dae = dae
        self._values, self._occurrence = values, occurrence
        self._free = free_parameters(dae)
        self._before = {pre_name(name) for name in dae.variables}
        self._delays = FirstDelays(dae, past)
        self.notes: list[str] = []
        self.warnings: list[Diagnostic] = []
        self._spare: list[Equation] = []
        self._rows: list[Row] = []
        self._touched: list[list[int]] = []
        self._graph: list[list[int]] = []
        self._unknowns: list[Ref] = []
        self._index: dict[str, int] = {}
        self._matching = Matching([], [])
        self._kept: dict[int, int] = {}  # by unknowns `v` and `pre(v)`: the row that says they are equal
        self._left_out: set[int] = set()  # rows that gave their place to what the user wrote

    def run(self) -> System:
        self._gather_unknowns()
        self._model_rows()
        for v in self._discretes():
            if v.fixed:
                self._try(_start(Ref(pre_name(v.name), v.ty), v), f"fixed start of {v.name} is redundant")
        for e in self._initial_equations():
            self._try(e, "the initial equation is redundant")
        self._reinitialise()
        for v in self._variables():
            if v.fixed:
                self._try(_start(v.ref, v), f"fixed start of {v.name} is redundant")
        self._complete()
        self._leave_out()
        if not self._matching.is_perfect:
            free = [self._unknowns[c].name for c, r in enumerate(self._matching.row_of) if r == FREE]
            declared = self._dae.variables.get(free[0])  # a derivative or a value before the start is not declared
            span = declared.origin.spans[0] if declared is not None and declared.origin.spans else None
            raise ModelError(Diagnostic("B204", f"no initial value is determined for {', '.join(free[:8])}", span))
        first = self._starting()
        ordered = components(self._rows, self._touched, self._unknowns, self._index, self._matching, first)
        asserted = [_assertion(a) for a in self._dae.asserts if is_of_start(a)]
        effects = [block for w in self._dae.whens if (block := _effects(w)) is not None]
        return System(ordered, checks=(*map(_check, self._spare), *asserted, *effects))

    def _starting(self) -> list[str]:
        """Unknowns that start values of others hang on: to be known when those are guessed."""
        starts = [v.start for v in self._dae.variables.values() if v.start is not None]
        return [name for name in self._occurrence.names_of(starts) if name in self._index]

    def _initial_equations(self) -> list[AnyEquation]:
        """As they hold at the start, each of them once: a class may say again what its base class says.  Taken twice,
        one would be solved for something else, since both have an unknown by structure."""
        kept: list[AnyEquation] = []
        said = {_sides(r.equation) for r in self._rows}
        for e in map(self._at_start, self._dae.initial_equations):
            sides = _sides(e)
            if sides is None or sides not in said:
                kept.append(e)
            else:
                self.notes.append("the initial equation is said twice")
            said.add(sides)
        return sorted(kept, key=lambda e: not self._of_parameters(e))

    def _of_parameters(self, e: AnyEquation) -> bool:
        """Whether it speaks of parameters alone, so that it must give one: `0 = w - k*sqrt(d)` gives k, before an
        equation that follows from others, `der(y) = 0` for a y = k*u that rests, could take it."""
        touched = incidence(rows_of([e]), self._index, self._occurrence)
        return all(self._unknowns[c].name in self._free for columns in touched for c in columns)

    def _reinitialise(self) -> None:
        """`reinit(x, e)` in a when that `initial()` triggers is `x = e` there (MLS 8.6); where a condition around it
        does not hold, it says nothing: then x has its start, unless others give it."""
        for w in self._dae.whens:
            guard = self._first(w.guard)
            for a in w.actions if guard is not FALSE else ():
                if isinstance(a, Reinit):
                    value, start = self._first(a.value), _start(a.target, self._dae.variables[a.target.name]).right
                    if not self._try(Equation(a.target, make.if_(guard, value, start), a.origin), None):
                        self.notes.append(f"reinit of {a.target.name} at the start is redundant")
                        self._spare.append(Equation(a.target, make.if_(guard, value, a.target), a.origin))

    def _first(self, e: Expr) -> Expr:
        return _initially(self._delays.of(e))

    def _at_start(self, e: AnyEquation) -> AnyEquation:
        """An equation as it holds in the initial system."""
        if isinstance(e, Equation):
            left, right = self._first(e.left), self._first(e.right)
            if left is e.left and right is e.right and not e.directed:
                return e
            kept = isinstance(left, Ref) and isinstance(right, Ref) and right.name in self._before
            return Equation(left, right, e.origin, e.directed and not kept)
        if isinstance(e, CallEquation):
            call = self._first(e.call)
            if not isinstance(call, Call):
                raise InternalError("a call turned into something else")
            guard = None if e.guard is None else self._first(e.guard)
            return CallEquation(e.targets, call, e.origin, guard)
        return e

    def _variables(self) -> list[DaeVariable]:
        return [v for v in self._dae.variables.values() if v.role in (Role.STATE, Role.ALGEBRAIC)]

    def _discretes(self) -> list[DaeVariable]:
        return [v for v in self._dae.variables.values() if v.role is Role.DISCRETE]

    def _gather_unknowns(self) -> None:
        """Those of the simulation first: its matching is the start."""
        for v in self._dae.variables.values():
            if v.role is Role.STATE:
                self._unknowns.append(Ref(der_name(v.name), REAL))
            elif v.role in (Role.ALGEBRAIC, Role.DISCRETE, Role.RELATION):
                self._unknowns.append(v.ref)
        self._n_simulation = len(self._unknowns)
        for v in self._dae.variables.values():
            if v.role is Role.STATE or v.name in self._free:
                self._unknowns.append(v.ref)
            elif v.role is Role.DISCRETE:
                self._unknowns.append(Ref(pre_name(v.name), v.ty))
        self._index = {u.name: i for i, u in enumerate(self._unknowns)}
        states = [v.name for v in self._dae.variables.values() if v.role is Role.STATE]
        self._states = {self._index[der_name(name)]: self._index[name] for name in states}

    def _model_rows(self) -> None:
        equations: list[AnyEquation] = []
        for e in self._dae.equations:
            if not is_parametric(e, self._dae):
                equations += self._without_whens(self._at_start(e))
        equations += [
            Equation(v.ref, v.binding, v.origin)
            for v in self._dae.variables.values()
            if v.name in self._free and v.binding is not None
        ]
        self._rows = rows_of(equations)
        self._touched = incidence(self._rows, self._index, self._occurrence)
        full = [candidates(r, t, self._index) for r, t in zip(self._rows, self._touched, strict=True)]
        vanishing = Vanishing(self._values, self._occurrence)
        self._graph = solvable_graph(self._rows, self._touched, self._unknowns, self._index, vanishing)
        for i, row in enumerate(self._rows):
            if (v := _kept_variable(row.equation)) is not None:
                self._kept |= {self._index[v]: i, self._index[pre_name(v)]: i}
        narrow = [[c for c in g if c < self._n_simulation] for g in self._graph]
        matching = maximum_matching(narrow, self._n_simulation)
        row_of = matching.row_of + [FREE] * (len(self._unknowns) - self._n_simulation)
        self._matching = Matching(matching.column_of, row_of)
        for i, c in enumerate(self._matching.column_of):
            if c == FREE and not self._augment(i):
                self._graph = full
                if self._augment(i):
                    continue
                raise singular(self._rows, self._graph, self._unknowns, self._matching)

    def _without_whens(self, e: AnyEquation) -> list[AnyEquation]:
        """A call that stands for an algorithm: what only its whens set keeps its value (MLS 8.6), `v = pre(v)`."""
        function = self._dae.functions.get(e.call.function) if isinstance(e, CallEquation) else None
        if function is None or not function.kept:
            return [e]
        assert isinstance(e, CallEquation)
        kept = [t for k in function.kept for t in e.targets[k] if t is not None]
        rest = tuple(tuple(None for _ in t) if k in function.kept else t for k, t in enumerate(e.targets))
        equations: list[AnyEquation] = [
            Equation(t, Ref(pre_name(t.name), t.ty), e.origin) for t in kept if isinstance(t, Ref)
        ]
        if any(t is not None for output in rest for t in output):
            equations.append(CallEquation(rest, e.call, e.origin, e.guard))
        return equations

    def _complete(self) -> None:
        """Starts that make up what is missing."""
        calls = [e for e in self._dae.initial_equations if isinstance(e, CallEquation)]
        called = {name for e in calls for name in targets_of(e)}
        for v in self._discretes():
            if not v.fixed and pre_name(v.name) not in called:
                self._try(_start(Ref(pre_name(v.name), v.ty), v), None)
        selected = {s for one in self._dae.selections for s in one.states}
        states = [v for v in self._variables() if v.role is Role.STATE and not v.fixed and v.name not in selected]
        given = [v for v in states if v.start is not None]
        bare = [v for v in states if v.start is None]
        free = [v for v in self._dae.variables.values() if v.name in self._free and v.binding is None]
        others = [v for v in self._variables() if v.role is Role.ALGEBRAIC and v.start is not None and not v.fixed]
        self._take_starts(given)
        self._take_starts(self._rivals(), most=len(bare))
        if bare:
            self._take_starts([v for v in self._candidates() if v.start is not None], most=len(selected))
        for group in (bare, self._candidates(), free, others):
            self._take_starts(group)

    def _rivals(self) -> list[DaeVariable]:
        """What was preferred and is no state, with a start given: it counts more than the 0 of a state without one (a
        concentration, where the state is the amount)."""
        chosen_late = {n for one in self._dae.selections for n in one.candidates}
        return [
            v
            for v in self._variables()
            if v.role is Role.ALGEBRAIC
            and v.select.value >= Select.PREFER.value
            and v.start is not None
            and not v.fixed
            and v.name not in chosen_late
        ]

    def _take_starts(self, group: list[DaeVariable], most: int | None = None) -> None:
        """Of variables that are still open first, of so many at most.  An initial equation took the state next to it,
        a pressure for an acceleration; the start of that one would drive it on to one far away, perhaps by structure
        alone."""
        missing = self._matching.row_of.count(FREE)
        missing = missing if most is None else min(missing, most)
        open_first = sorted(group, key=lambda v: self._matching.row_of[self._index[v.name]] != FREE)
        for v in open_first if missing else ():
            if self._try(_start(v.ref, v), None):
                missing -= 1
                self.notes.append(f"start of {v.name} is taken as its initial value")
                self.warnings += [default_taken(v)] if lacks_value(v) else []
            if not missing:
                return

    def _candidates(self) -> list[DaeVariable]:
        """What stands behind states chosen in the run: as chosen for the start, positions before velocities."""
        sets = list(reversed(self._dae.selections))
        names = [n for one in sets for n in one.candidates[: len(one.states)]]
        names += [n for one in sets for n in one.candidates[len(one.states) :]]
        candidates: dict[str, DaeVariable] = {}
        for name in names:
            alias = self._dae.aliases.get(name)
            v = self._dae.variables.get(name if alias is None else alias.target or "")
            if v is not None and v.role is Role.ALGEBRAIC and not v.fixed:
                candidates.setdefault(v.name, v)
        return list(candidates.values())

    def _try(self, e: AnyEquation, otherwise: str | None) -> bool:
        """Add an equation where an unknown can be found for it."""
        first = len(self._rows)
        rows = [r if r.head is None else replace(r, head=first + r.head) for r in rows_of([e])]
        touched = incidence(rows, self._index, self._occurrence)
        for row, t in zip(rows, touched, strict=True):
            self._rows.append(row)
            self._touched.append(t)
            self._graph.append(candidates(row, t, self._index))
            self._matching.column_of.append(FREE)
            if self._augment(len(self._rows) - 1, self._behind(t)) or self._augment(len(self._rows) - 1):
                continue
            if otherwise is not None and (self._instead_of_kept() or self._instead_of_singular()):
                continue
            for kept in (self._rows, self._touched, self._graph, self._matching.column_of):
                kept.pop()
            if otherwise is not None:
                self.notes.append(otherwise)
                if isinstance(e, Equation):
                    self._spare.append(e)
            return False
        return True

    def _behind(self, columns: list[int]) -> list[int]:
        """The states whose derivatives these are: `der(x) = 0` is to give x, not what is next to it."""
        states = [self._states[c] for c in columns if c in self._states]
        return [c for c in states if self._matching.row_of[c] == FREE]

    def _instead_of_kept(self) -> bool:
        """Let the last row take the place of `v = pre(v)`: a model may say both of them, and they may differ."""
        column_of, row_of = self._matching.column_of, self._matching.row_of
        last = len(self._rows) - 1
        for k in dict.fromkeys(self._kept[c] for c in self._graph[last] if c in self._kept):
            freed = column_of[k]
            row_of[freed], column_of[k] = FREE, FREE
            if self._augment(last):
                self._left_out.add(k)
                self._kept = {c: row for c, row in self._kept.items() if row != k}
                return True
            row_of[freed], column_of[k] = k, freed
        return False

    def _instead_of_singular(self) -> bool:
        """Let the last row take the place of one that is singular at the values given for the start, `x^2 + y^2 = L^2`
        for y where y = 0 is given, or follows from what is: that one is checked then."""
        column_of, row_of = self._matching.column_of, self._matching.row_of
        last = len(self._rows) - 1
        given = {**self._values, **self._given()}
        numeric = Numeric(following(given, self._rows, self._touched, self._unknowns))
        for k in self._reached(last):
            e, freed = self._rows[k].equation, column_of[k]
            if not isinstance(e, Equation) or e.directed or e.left.ty != REAL:
                continue
            steep = slope(e, self._unknowns[freed].name, numeric)
            if steep is None or abs(steep) > VANISHED:
                continue
            row_of[freed], column_of[k] = FREE, FREE
            if self._augment(last):
                self._left_out.add(k)
                self._spare.append(e)
                self.notes.append(f"an equation is checked at the start, singular for {self._unknowns[freed].name}")
                return True
            row_of[freed], column_of[k] = k, freed
        return False

    def _given(self) -> dict[str, float]:
        """Numbers that fixed starts and initial equations give."""
        numeric = Numeric(self._values)
        sources = {v.name: v.start for v in self._variables() if v.fixed and v.start is not None}
        for e in self._dae.initial_equations:
            if isinstance(e, Equation) and isinstance(e.left, Ref):
                sources[e.left.name] = e.right
        return {name: value for name, e in sources.items() if (value := numeric(e)) is not None}

    def _reached(self, root: int) -> list[int]:
        """The matched rows on alternating paths from a row that fits nowhere: each of them could go in its place."""
        seen: dict[int, None] = {}
        frontier = [root]
        for row in frontier:  # grows while it is walked
            for c in self._graph[row]:
                if (other := self._matching.row_of[c]) not in seen:
                    seen[other] = None
                    frontier.append(other)
        return list(seen)

    def _leave_out(self) -> None:
        """Take away rows that gave their place to others."""
        if not self._left_out:
            return
        stay = [i for i in range(len(self._rows)) if i not in self._left_out]
        place = {i: k for k, i in enumerate(stay)}
        rows = [self._rows[i] for i in stay]
        self._rows = [r if r.head is None else replace(r, head=place[r.head]) for r in rows]
        self._touched = [self._touched[i] for i in stay]
        column_of, row_of = self._matching.column_of, self._matching.row_of
        self._matching = Matching([column_of[i] for i in stay], [place.get(r, FREE) for r in row_of])

    def _augment(self, root: int, wanted: list[int] | None = None) -> bool:
        """An alternating path from a free row to a free column, one of those `wanted` (breadth first: short paths)."""
        if wanted == []:
            return False
        column_of, row_of = self._matching.column_of, self._matching.row_of
        parent: dict[int, int] = {}
        frontier = [root]
        for row in frontier:  # grows while it is walked
            for c in self._graph[row]:
                if c in parent:
                    continue
                parent[c] = row
                if row_of[c] != FREE:
                    frontier.append(row_of[c])
                    continue
                if wanted is not None and c not in wanted:
                    continue
                while True:
                    r = parent[c]
                    previous = column_of[r]
                    column_of[r], row_of[c] = c, r
                    if r == root:
                        return True
                    c = previous
        return False


def _sides(e: AnyEquation) -> frozenset[Expr] | None:
    """What an equation says, whichever side comes first."""
    return frozenset((e.left, e.right)) if isinstance(e, Equation) else None


def _kept_variable(e: AnyEquation) -> str | None:
    """`v` of `v = pre(v)`: what nothing sets at the start."""
    match e:
        case Equation(Ref(v), Ref(before)) if before == pre_name(v):
            return v
    return None


def is_of_start(a: Assert) -> bool:
    """`not initial() or ...`: an assertion that only the start can break, as those of initial equations."""
    return isinstance(a.condition, Binary) and a.condition.op == "or" and a.condition.left is NOT_INITIAL


def _assertion(a: Assert) -> WhenBlock:
    return WhenBlock(TRUE, (replace(a, condition=_initially(a.condition)),), Partition.INITIAL, 0, a.origin)


def _effects(w: When) -> WhenBlock | None:
    """What a when that `initial()` triggers does besides setting values.  Where the initial system is solved again and
    again, on the way from simplified to actual equations, it is done each time."""
    guard = _initially(w.guard)
    actions = tuple(done(a, _initially) for a in w.actions if isinstance(a, Effect))
    return WhenBlock(guard, actions, Partition.INITIAL, 0, w.origin) if actions and guard is not FALSE else None


def _check(e: Equation) -> WhenBlock:
    return WhenBlock(TRUE, (holds_too(e),), Partition.INITIAL, 0, e.origin)


def _start(target: Ref, v: DaeVariable) -> Equation:
    return Equation(target, v.start if v.start is not None else default_start(v.ty), v.origin)


def _initially(e: Expr) -> Expr:
    if not any(isinstance(n, Builtin) and n.name in ("initial", "sample") for n in traverse.walk(e)):
        return e

    def f(node: Expr) -> Expr:
        if isinstance(node, Builtin):
            if node.name == "initial":
                return TRUE
            if node.name == "sample":
                return FALSE
        return simplify_node(node)

    return traverse.map_expr(e, f)

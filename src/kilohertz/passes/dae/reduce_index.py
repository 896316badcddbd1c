"""reduce-index: differentiate hidden constraints until every highest derivative can be solved for; choose the states.

  der(x) = u; der(y) = v; der(u) = -f*x; der(v) = -f*y - g; x^2 + y^2 = 1
  ->  and 2*x*u + 2*y*v = 0, and 2*x*der(u) + 2*u*u + 2*y*der(v) + 2*v*v = 0;   states y, v;   x, u algebraic

1. `v = der(x)` makes v the derivative of x (no equation is left for it).
2. Pantelides (1988): an equation that finds no highest derivative of its own is differentiated, with all that compete.
3. Dummy derivatives (Mattsson, Söderlind 1993): in each strong component of the highest-order system as many
   derivatives become algebraic as equations were differentiated there; level by level downwards.  Which: those whose
   integral is least wanted as a state (stateSelect, then fixed, then start given), by pivots of the constraint Jacobian
   at the start values.  Where such a pivot may vanish, the choice among equals is made in the run (`dynamic_states`).

Cost: one maximum matching, then one search per differentiation; each differentiates only what it coloured.
Gives up (B206) where a constraint has no derivative, (B207) where it never ends, (B208) where no states can be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.graphs import FREE, Matching, UnionFind, maximum_matching, strong_components
from kilohertz.ir import make
from kilohertz.ir.dae import (
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Equation,
    Reinit,
    Role,
    Select,
    der_name,
)
from kilohertz.ir.expr import TIME, Call, Expr, Ref
from kilohertz.ir.ordered import Row
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, simplify
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.index_reduction.dynamic_states import Candidates, DynamicStates
from kilohertz.passes.dae.index_reduction.handed_in import HandedIn
from kilohertz.passes.dae.index_reduction.reduction import (
    Choice,
    Differentiated,
    Reduction,
    cannot_differentiate,
    tell_unheard,
    unheard,
)
from kilohertz.passes.dae.index_reduction.select_states import Candidate, Dynamic, Explicit, Points, choose
from kilohertz.passes.dae.index_reduction.structure import check_structure
from kilohertz.passes.dae.inline_told import without_told
from kilohertz.passes.dae.prefer_states import without_preferred
from kilohertz.passes.dae.rates import named_derivatives
from kilohertz.passes.derivative import Differentiator, NoDerivative, has_reals
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.ordered.solving_order import call_names, names_in, rows_of, targets_of
from kilohertz.passes.rewriting import copied, rename_rates


@dataclass(frozen=True, slots=True)
class ReduceIndex(Pass):
    """Hidden constraints are differentiated until every highest derivative can be solved for; states are chosen."""

    name: ClassVar[str] = "reduce-index"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.ALIAS_FREE, Fact.USED, Fact.REVEALED, Fact.WISHES})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.INDEX_1})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE, Fact.USED})

    def run(self, model: Dae, log: Log) -> Dae:
        tries = [(replace(model, preferred=()), True)]
        tries += [(without_preferred(model), True)] if model.preferred else []  # a wish is no reason to refuse a model
        inlined = without_told(tries[-1][0])
        tries += [] if inlined is tries[-1][0] else [(inlined, False)]  # what a function is told may be what is wanted
        for k, (candidate, hides_told) in enumerate(tries):
            try:
                reduced, log.reduction = _Reducer(candidate, hides_told).run()
                break
            except ModelError:
                if k + 1 == len(tries):
                    raise
        tell_unheard(reduced)
        return reduced


class _Reducer:
    def __init__(self, dae: Dae, hides_told: bool) -> None:
        self._dae = copied(dae)
        self._hides_told = hides_told
        self._derivatives = FunctionDerivatives(self._dae.functions, roots=True)
        self._call_rule = self._derivatives.rule
        self._occurrence = Occurrence()
        self._names: list[str] = []  # continuous unknowns, derivatives included
        self._number: dict[str, int] = {}
        self._next: list[int] = []  # derivative of a variable
        self._previous: list[int] = []
        self._rows: list[Row] = []
        self._touched: list[list[int]] = []
        self._next_row: list[int] = []
        self._previous_row: list[int] = []
        self._column_of: list[int] = []
        self._row_of: list[int] = []
        self._outgrown: list[int] = []  # variables that got a derivative while a row was to be solved for them
        self._report = Reduction()
        self._simple: dict[Expr, Expr] = {}
        self._dynamic: list[tuple[list[int], Dynamic]] = []
        self._set_by_reinit = {a.target.name for w in dae.whens for a in w.actions if isinstance(a, Reinit)}
        self._points = Points(dae)

    def run(self) -> tuple[Dae, Reduction]:
        self._rate = named_derivatives(self._dae)
        self._handed_in = HandedIn(self._dae)
        if self._hides_told:
            self._dae.equations = self._handed_in.hidden(self._dae.equations)
        self._set_up()
        check_structure(self._rows, self._touched, self._number, self._previous)
        self._match()
        open_rows = list(range(len(self._rows)))
        for i in open_rows:  # grows
            if self._column_of[i] == FREE and self._next_row[i] == FREE:
                n_rows = len(self._rows)
                self._pantelides(i)
                open_rows += [*range(n_rows, len(self._rows)), *self._left_behind()]
        dummies = self._dummies()
        shown = self._handed_in.shown(d.equation for d in self._report.differentiated)
        done = zip(shown, self._report.differentiated, strict=True)
        self._report.differentiated = [Differentiated(e, d.order) for e, d in done]
        return self._rebuilt(dummies), self._report

    # ------------------------------------------------------------------------------------------------------- the graph

    def _add(self, name: str) -> int:
        self._number[name] = len(self._names)
        self._names.append(name)
        self._next.append(FREE)
        self._previous.append(FREE)
        self._row_of.append(FREE)
        return len(self._names) - 1

    def _derivative(self, i: int) -> int:
        """The derivative of variable i, made where there is none."""
        if self._next[i] == FREE:
            name = der_name(self._names[i])
            j = self._number.get(name)
            if j is None:
                j = self._add(name)
            self._next[i], self._previous[j] = j, i
            self._outgrown.append(i)
        return self._next[i]

    def _set_up(self) -> None:
        for v in self._dae.variables.values():
            if v.role in (Role.ALGEBRAIC, Role.STATE):
                self._add(v.name)
        for v in list(self._dae.variables.values()):
            if v.role is Role.STATE:
                i = self._number[v.name]
                rate = self._rate.get(v.name)
                if rate is None:
                    self._derivative(i)
                else:
                    j = self._number[rate]
                    self._next[i], self._previous[j] = j, i
        self._discrete: list[AnyEquation] = []
        for e in self._dae.equations:
            if self._is_continuous(e):
                for row in rows_of([e]):
                    if row.target is None or row.target in self._number:
                        self._add_row(row)
            else:
                self._discrete.append(e)

    def _is_continuous(self, e: AnyEquation) -> bool:
        if isinstance(e, Equation):
            return e.left.ty == REAL and not e.directed and not self._defines_discrete(e)
        return any(name in self._number for name in targets_of(e))

    def _defines_discrete(self, e: Equation) -> bool:
        """Of discrete Reals alone: `d = if b then 1 else 2`, or a loop among clocked variables."""
        names = {*self._occurrence.names(e.left), *self._occurrence.names(e.right)}
        if any(n in self._number for n in names):
            return False
        variables = (self._dae.variables.get(n) for n in names)
        return any(v is not None and v.role is Role.DISCRETE and v.ty == REAL for v in variables)

    def _add_row(self, row: Row) -> int:
        self._rows.append(row)
        e = row.equation
        names = names_in(e, self._occurrence)
        if not isinstance(e, Equation):
            names = call_names(e, row, self._occurrence)
        self._touched.append([self._number[n] for n in names if n in self._number])
        self._next_row.append(FREE)
        self._previous_row.append(FREE)
        self._column_of.append(FREE)
        return len(self._rows) - 1

    def _match(self) -> None:
        graph = [self._open_columns(i) for i in range(len(self._rows))]
        matching: Matching = maximum_matching(graph, len(self._names))
        self._column_of = matching.column_of
        self._row_of = matching.row_of

    def _open_columns(self, i: int) -> list[int]:
        """Highest derivatives in a row that it may be solved for."""
        row = self._rows[i]
        if row.target is not None and not row.invertible:
            target = self._number.get(row.target)
            return [target] if target is not None and self._next[target] == FREE else []
        return [c for c in self._touched[i] if self._next[c] == FREE]

    # ------------------------------------------------------------------------------------------------------ Pantelides

    def _pantelides(self, root: int) -> None:
        for _ in range(len(self._rows) + 100):
            coloured_rows, coloured_columns = self._augment(root)
            if not coloured_rows:
                return
            for c in coloured_columns:
                self._derivative(c)
            for r in coloured_rows:
                self._differentiate(r)
            for c in coloured_columns:
                owner = self._row_of[c]
                if owner != FREE:
                    new_row, new_column = self._next_row[owner], self._next[c]
                    self._column_of[owner], self._row_of[c] = FREE, FREE
                    self._column_of[new_row], self._row_of[new_column] = new_column, new_row
            root = self._next_row[root]
        raise self._endless(root)

    def _left_behind(self) -> list[int]:
        """Rows whose variable got a derivative without them: with one result of a call all are differentiated."""
        rows: list[int] = []
        for c in self._outgrown:
            if self._row_of[c] != FREE:
                rows.append(self._row_of[c])
                self._column_of[self._row_of[c]] = self._row_of[c] = FREE
        self._outgrown.clear()
        return rows

    def _augment(self, root: int) -> tuple[list[int], list[int]]:
        """Match a row along an alternating path; else the rows and columns that were reached."""
        parent: dict[int, int] = {}
        frontier = [root]
        for row in frontier:  # grows while it is walked
            for c in self._open_columns(row):
                if c in parent:
                    continue
                parent[c] = row
                if self._row_of[c] != FREE:
                    frontier.append(self._row_of[c])
                    continue
                while True:
                    r = parent[c]
                    previous = self._column_of[r]
                    self._column_of[r], self._row_of[c] = c, r
                    if r == root:
                        return [], []
                    c = previous
        return frontier, list(parent)

    def _differentiate(self, i: int) -> None:
        e = self._rows[i].equation
        if not isinstance(e, Equation):
            self._differentiate_call(i, e)
            return
        differentiate = Differentiator(self._seed, self._call_rule)
        try:
            left, right = (simplify(differentiate(side), self._simple) for side in (e.left, e.right))
        except NoDerivative as failure:
            raise cannot_differentiate(e, str(failure)) from failure
        derived = Equation(left, right, e.origin.touched(ReduceIndex.name))
        j = self._add_row(Row(derived))
        self._next_row[i], self._previous_row[j] = j, i
        self._differentiated(i)

    def _differentiate_call(self, i: int, e: AnyEquation) -> None:
        """All Real results of a call at once: its other rows move up with it."""
        if self._next_row[i] != FREE:
            return
        if not isinstance(e, CallEquation) or e.guard is not None:
            raise cannot_differentiate(e, "an algorithm")
        differentiate = Differentiator(self._seed, self._derivatives.rule)
        try:
            call = simplify(self._derivatives.whole(e.call, [differentiate(a) for a in e.call.args]))
        except NoDerivative as failure:
            raise cannot_differentiate(e, str(failure)) from failure
        function = self._derivatives.functions[e.call.function]
        targets: list[tuple[Expr | None, ...]] = []
        for output, local in zip(e.targets, function.outputs, strict=False):
            if has_reals(local.ty):
                targets.append(tuple(self._rate_target(t) for t in output))
        assert isinstance(call, Call)
        derived = CallEquation(tuple(targets), call, e.origin.touched(ReduceIndex.name))
        siblings = {r.target: k for k, r in enumerate(self._rows) if r.equation is e}
        for row in rows_of([derived]):
            assert row.target is not None
            j = self._add_row(row)
            below = siblings[self._names[self._previous[self._number[row.target]]]]
            self._next_row[below], self._previous_row[j] = j, below
            self._differentiated(below)
            column = self._column_of[below]
            if below != i and column != FREE:
                self._column_of[below], self._row_of[column] = FREE, FREE
                self._column_of[j], self._row_of[self._next[column]] = self._next[column], j

    def _differentiated(self, i: int) -> None:
        order, below = 1, i
        while self._previous_row[below] != FREE:
            order, below = order + 1, self._previous_row[below]
        self._report.differentiated.append(Differentiated(self._rows[below].equation, order))

    def _rate_target(self, t: Expr | None) -> Expr | None:
        if not isinstance(t, Ref) or t.name not in self._number:
            return None
        return Ref(self._names[self._derivative(self._number[t.name])], REAL)

    def _seed(self, ref: Ref) -> Expr:
        if ref is TIME:
            return make.ONE
        i = self._number.get(ref.name)
        if i is not None:
            return Ref(self._names[self._derivative(i)], REAL)
        v = self._dae.variables.get(ref.name)
        if v is not None and v.role is Role.INPUT:
            raise NoDerivative(f"the input {ref.name}")
        return make.ZERO

    def _endless(self, root: int) -> ModelError:
        e = self._rows[root].equation
        span = e.origin.spans[0] if e.origin.spans else None
        return ModelError(Diagnostic("B207", "index reduction does not end here", span))

    # ----------------------------------------------------------------------------------------------- dummy derivatives

    def _dummies(self) -> set[int]:
        """Derivatives that become algebraic."""
        chosen: set[int] = set()
        if not any(p != FREE for p in self._previous_row):
            return chosen
        top = [i for i in range(len(self._rows)) if self._next_row[i] == FREE]
        place = {r: k for k, r in enumerate(top)}
        needs = []
        for r in top:
            needed = []
            for c in self._touched[r]:
                if self._next[c] == FREE and self._row_of[c] != FREE and self._row_of[c] != r:
                    needed.append(place[self._row_of[c]])
            needs.append(needed)
        for members in self._groups(top, needs):
            rows = [top[k] for k in members if self._previous_row[top[k]] != FREE]
            touched = {c for r in rows for c in self._touched[r]}
            columns = [self._column_of[top[k]] for k in members]
            self._select(rows, [c for c in columns if c in touched], chosen)
        return chosen

    def _groups(self, top: list[int], needs: list[list[int]]) -> list[list[int]]:
        """Strong components; a constraint with a preferred candidate is joined with what computes its others, and so
        on: the preferred one may be computed last and yet be wanted.  Others follow from what comes before them."""
        components = strong_components(needs)
        owner = {top[k]: i for i, members in enumerate(components) for k in members}
        sets = UnionFind(len(components))
        tied: dict[int, list[int]] = {}
        for r in top:
            if self._previous_row[r] != FREE:
                tied[r] = [c for c in self._touched[r] if self._next[c] == FREE and self._previous[c] != FREE]
        queue = [r for r, columns in tied.items() if any(self._candidate(c, False).is_preferred for c in columns)]
        reached: set[int] = set()
        for r in queue:  # grows while it is walked
            for c in tied[r]:
                i = owner[self._row_of[c]] if self._row_of[c] != FREE else owner[r]
                sets.union(owner[r], i)
                if i not in reached:
                    reached.add(i)
                    queue += [top[k] for k in components[i] if top[k] in tied]
        return [[k for i in group for k in components[i]] for group in sets.groups()]

    def _select(self, rows: list[int], columns: list[int], chosen: set[int]) -> None:
        """In one component: level by level, fewer equations and their variables' integrals."""
        while rows:
            candidates = [c for c in columns if self._previous[c] != FREE]
            picked = self._pick(rows, candidates)
            chosen.update(picked)
            rows = [self._previous_row[r] for r in rows if self._previous_row[self._previous_row[r]] != FREE]
            columns = [self._previous[c] for c in picked]

    def _pick(self, rows: list[int], columns: list[int]) -> list[int]:
        equations: list[Equation | Explicit] = []
        computed: set[str] = set()
        for r in rows:
            e, target = self._rows[r].equation, self._rows[r].target
            if isinstance(e, Equation):
                equations.append(e)
                continue
            assert target is not None
            equations.append(Explicit(target, tuple(names_in(e, self._occurrence)), e.origin))
            computed.add(target)
        if len(columns) < len(rows):
            raise self._endless(rows[0])
        if len(columns) == len(rows):
            return columns
        options = [self._candidate(c, self._names[c] in computed) for c in columns]
        picked = choose(equations, options, self._points, self._call_rule)
        self._report.choices.append(self._choice(columns, options, set(picked.dummies)))
        for k in picked.dummies:
            v = options[k].integral
            if v is not None and v.select is Select.ALWAYS:
                self._dae.warnings.append(unheard(v))
        self._dynamic += [(columns, d) for d in picked.dynamic]
        left = (k for d in picked.dynamic for k in d.members)
        return [columns[k] for k in sorted((*picked.dummies, *left))]

    def _candidate(self, c: int, computed: bool) -> Candidate:
        """With what it is the first, second, ... derivative of, where that has a name."""
        below: list[DaeVariable] = []
        i = self._previous[c]
        while self._previous[i] != FREE:
            i = self._previous[i]
            v = self._wish(i)
            below += [] if v is None else [v]
        return Candidate(self._names[c], self._wish(self._previous[c]), tuple(below), computed)

    def _wish(self, i: int) -> DaeVariable | None:
        """A variable; what `reinit` sets has to be a state (MLS 8.3.6)."""
        v = self._dae.variables.get(self._names[i])
        return v if v is None or v.name not in self._set_by_reinit else replace(v, select=Select.ALWAYS)

    def _choice(self, columns: list[int], options: list[Candidate], picked: set[int]) -> Choice:
        kept, integrals = [], []
        for k, (c, o) in enumerate(zip(columns, options, strict=True)):
            if k not in picked and o.integral is not None:
                kept.append(o.integral)
                below = self._previous[self._previous[c]]
                integrals.append(self._names[below] if below != FREE else "")
        dummies = (options[k].integral for k in sorted(picked))
        return Choice(tuple(kept), tuple(v for v in dummies if v is not None), tuple(integrals))

    # ------------------------------------------------------------------------------------------------------ the result

    def _rebuilt(self, dummies: set[int]) -> Dae:
        dae = self._dae
        equations = self._discrete
        seen: set[int] = set()
        for row in self._rows:
            if id(row.equation) not in seen:
                seen.add(id(row.equation))
                equations.append(row.equation)
        extra: dict[str, DaeVariable] = {}
        for i, name in enumerate(self._names):
            is_state = self._next[i] != FREE and self._next[i] not in dummies
            known = dae.variables.get(name)
            if known is None and self._previous[i] != FREE:
                below = dae.variables.get(self._names[self._previous[i]])
                is_own_rate = self._is_own_derivative(i, dummies)
                if is_own_rate and not is_state:
                    continue  # the derivative slot of a state
                extra[name] = DaeVariable(name, REAL, Role.STATE if is_state else Role.ALGEBRAIC, protected=True)
                if below is not None:
                    extra[name] = replace(extra[name], origin=below.origin, purpose=below.purpose)
            elif known is not None:
                dae.variables[name] = replace(known, role=Role.STATE if is_state else Role.ALGEBRAIC)
            if is_state:
                self._report.states.append(name)
                self._tie(i, equations)
        dae.variables.update(extra)
        dae.equations = equations
        self._add_dynamic()
        dae.equations = self._handed_in.shown(dae.equations)
        dae.initial_equations = self._handed_in.shown(dae.initial_equations)
        rename_rates(dae)
        self._report.dummies = [self._names[c] for c in sorted(dummies)]
        return dae

    def _add_dynamic(self) -> None:
        dynamic_states = DynamicStates(self._dae, self._dae.equations)
        for columns, d in self._dynamic:
            members = [columns[k] for k in d.members]
            names = tuple(self._names[self._previous[c]] for c in members)
            rates = tuple(self._names[c] for c in members)
            states = tuple(d.members.index(k) for k in d.states)
            added = dynamic_states.add(Candidates(names, rates, states, len(d.forced), d.jacobian))
            self._report.states += added
            self._report.chosen_in_run |= dict.fromkeys(added, names)

    def _is_own_derivative(self, i: int, dummies: set[int]) -> bool:
        """Named der(x) of a state x: no variable of its own is needed."""
        return i not in dummies and self._names[i] == der_name(self._names[self._previous[i]])

    def _tie(self, i: int, equations: list[AnyEquation]) -> None:
        """der(x) := v where v is x's derivative by another name, or is a state itself."""
        rate = self._names[self._next[i]]
        derivative = der_name(self._names[i])
        if rate != derivative:
            known = self._dae.variables.get(self._names[i])
            origin = known.origin if known is not None else Origin()
            equations.append(Equation(Ref(derivative, REAL), Ref(rate, REAL), origin))

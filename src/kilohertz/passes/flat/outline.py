"""outline: an algorithm that cannot be run symbolically becomes functions of its own, and one call of each.

  algorithm  when sample(0, 1) then n := n + 1; buffer[n] := u; end when;
  ->         (n, buffer) = $algorithm0($watch0, u, pre(n), pre(buffer)),   $watch0 = $when(sample(0, 1))

Inputs of a function: what the algorithm reads, the values its targets have on entry, and what makes events: guards of
whens and comparisons outside them become Boolean variables of the model.  A comparison that depends on a target or on a
loop is evaluated as it stands.  A when whose condition reads a target begins a function: what the one before it
computed stands in variables of the model, so that the condition makes events.  `reinit` and `terminate` become outputs,
whether and with what, and an equation of the model that does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from kilohertz.base import Diagnostic, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import COMPARISONS, named
from kilohertz.ir.dae import INITIAL
from kilohertz.ir.expr import (
    FALSE,
    TIME,
    TRUE,
    Array,
    Binary,
    Builtin,
    Comprehension,
    Expr,
    Field,
    Index,
    Int,
    Ref,
    Str,
)
from kilohertz.ir.flat import (
    CONTINUOUS,
    Algorithm,
    Assert,
    Assign,
    Break,
    CallEquation,
    ForStatement,
    Function,
    IfEquation,
    IfStatement,
    Local,
    Reinit,
    Return,
    Statement,
    Terminate,
    TupleTarget,
    Variable,
    WhenEquation,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.types import BOOLEAN, REAL, STRING, Type
from kilohertz.passes.called_functions import called_in_expressions, statement_expressions
from kilohertz.passes.flat.algorithms import assigned
from kilohertz.passes.flat.parted_targets import is_parted, parted, places
from kilohertz.passes.flat.symbolic_evaluator import Unsupported

_EVENTFUL = named(Event.RATE, Event.BEFORE, Event.INSTANT, Event.PAST, Event.CLOCKED)
_QUIET = named(Event.QUIET)


@dataclass(frozen=True, slots=True)
class Host:
    """What an outline asks of the model: the value of a target before the first statement, a Boolean variable that
    holds an expression, so that events are made where it changes, a new variable, and whether a function is pure."""

    entry: Callable[[Ref], Expr]
    watch: Callable[[Expr], Ref]
    variable: Callable[[Type, bool], Ref]  # whether it changes at events only
    is_pure: Callable[[str], bool]
    is_initial: bool = False  # the algorithm is one of the start alone


@dataclass(slots=True)
class Outlined:
    """A function, for each of its inputs the expression to hand over, the variables of its results, its effects."""

    function: Function
    arguments: list[Expr]
    results: list[Ref]
    effects: list[WhenEquation]
    unwatched: list[Expr]  # comparisons of Reals outside whens that make no events


def outlined(algorithm: Algorithm, name: str, host: Host) -> Iterator[Outlined]:
    """The functions of an algorithm in order."""
    targets, in_when = assigned(algorithm.statements)
    values = {t.name: host.entry(t) for t in targets}  # where the next function begins
    parts = _parts(algorithm.statements, {t.name for t in targets})
    for k, part in enumerate(parts):
        later = {t.name for p in parts[k + 1 :] for t in assigned(p)[0]}
        outline = Outline(f"{name}_{k}" if k else name, host, values, first=k == 0)
        results = {}
        for t in assigned(part)[0]:
            discrete = t.name in in_when or t.ty.base != REAL.base
            results[t.name] = host.variable(t.ty, discrete) if t.name in later else t
        yield outline.run(Algorithm(part, algorithm.origin), results)
        values |= results


def _parts(statements: list[Statement], targets: set[str]) -> list[list[Statement]]:
    """Cut before each when whose condition reads what statements before it may have set."""
    parts: list[list[Statement]] = [[]]
    for s in statements:
        if parts[-1] and isinstance(s, WhenStatement):
            read = {r.name for condition, _ in s.branches for r in traverse.refs(condition)}
            if read & targets:
                parts.append([])
        parts[-1].append(s)
    return parts


def stale(part: Outlined, in_when: set[str], variables: dict[str, Variable]) -> Iterator[Diagnostic]:
    """B109: results that change at events only, but follow from a comparison that makes none."""
    results = [r.name for r in part.results if r.ty.base != REAL.base and r.name not in in_when and r.name in variables]
    moving = [r.name for e in part.unwatched for r in traverse.refs(e) if _moves(r, variables)]
    if results and moving:
        text = (
            f"`{results[0]}` changes at events only, but a loop of this algorithm compares `{moving[0]}` without events"
        )
        spans = part.function.origin.spans
        yield Diagnostic("B109", text, spans[0] if spans else None, severity=Severity.WARNING)


def _moves(ref: Ref, variables: dict[str, Variable]) -> bool:
    v = variables.get(ref.name)
    return ref.name == TIME.name if v is None else v.variability == CONTINUOUS and v.ty.base == REAL.base


@dataclass(slots=True)
class Outline:
    """Turns statements into a function; `values` are those of all targets of the algorithm where it begins."""

    name: str
    host: Host
    values: dict[str, Expr]
    first: bool  # begins with the algorithm
    _inputs: dict[Expr, Local] = field(default_factory=dict)
    _output_of: dict[str, Ref] = field(default_factory=dict)
    _on_entry: dict[str, Ref] = field(default_factory=dict)
    _made: list[tuple[Local, Ref, Expr]] = field(default_factory=list)  # outputs of effects, and their values on entry
    _locals: list[Local] = field(default_factory=list)
    _effects: list[WhenEquation] = field(default_factory=list)
    _effect_of: dict[Expr, tuple[Ref, Ref]] = field(default_factory=dict)  # by state, or no text of terminate
    _unwatched: list[Expr] = field(default_factory=list)
    _begins: Statement | None = None
    _acts_at_start: bool = False
    _starts: bool = False  # within a when that `initial()` triggers

    def run(self, algorithm: Algorithm, results: dict[str, Ref]) -> Outlined:
        outputs: list[Local] = []
        arguments: list[Expr] = []
        inputs: list[Local] = []
        for k, (name, place) in enumerate(results.items(), 1):
            before, output = Local(f"before{k}", place.ty), Local(f"y{k}", place.ty)
            inputs.append(before)
            outputs.append(output)
            arguments.append(self.values[name])
            self._output_of[name] = Ref(output.name, place.ty)
            self._on_entry[name] = Ref(before.name, place.ty)
        self._begins = algorithm.statements[0] if algorithm.statements else None
        at_start = self.host.is_initial
        self._acts_at_start = at_start or any(map(_is_initial, statement_expressions(algorithm.statements)))
        body = self._statements(algorithm.statements, frozenset(), not at_start)
        if not results and not self._made and not at_start:  # it asserts or calls: nobody would ask for it
            at_events = all(isinstance(s, WhenStatement) for s in algorithm.statements)
            ty, nothing = (BOOLEAN, FALSE) if at_events else (REAL, make.ZERO)
            self._output(ty, nothing, at_events)
        entry: list[Statement] = [Assign(self._output_of[n], self._on_entry[n], algorithm.origin) for n in results]
        entry += [Assign(Ref(o.name, o.ty), value, algorithm.origin) for o, _, value in self._made]
        body = entry + body
        pure = all(self.host.is_pure(f) for f in called_in_expressions(statement_expressions(body)))
        inputs += self._inputs.values()
        arguments += self._inputs
        set_at_start = _set_at_start(algorithm.statements)
        kept = tuple(k for k, name in enumerate(results) if name not in set_at_start)
        outputs += [o for o, _, _ in self._made]
        function = Function(
            self.name, inputs, outputs, self._locals, body, pure=pure, inline=False, kept=kept, origin=algorithm.origin
        )
        places = [*results.values(), *(place for _, place, _ in self._made)]
        return Outlined(function, arguments, places, self._effects, self._unwatched)

    # ------------------------------------------------------------------------------------------------------ statements

    def _statements(self, body: list[Statement], bound: frozenset[str], live: bool) -> list[Statement]:
        done: list[Statement] = []
        for s in body:
            if isinstance(s, (Reinit, Terminate)):
                done += self._effect(s, bound)
            elif isinstance(s, Assert) and self._starts:
                done.append(self._asserted(s, bound))
            elif isinstance(s, Assign) and isinstance(s.target, TupleTarget) and any(map(is_parted, s.target.elements)):
                done += self._parted(s, s.target, bound, live)
            else:
                done.append(self._statement(s, bound, live))
        return done

    def _parted(self, s: Assign, target: TupleTarget, bound: frozenset[str], live: bool) -> list[Statement]:
        """Results whose places are several variables go by way of a local."""
        kept: list[Expr | None] = []
        then: list[Statement] = []
        for e in target.elements:
            if e is None or not is_parted(e):
                kept.append(None if e is None else self._expr(e, bound, False))
                continue
            local = Local(f"part{len(self._locals) + 1}", e.ty)
            self._locals.append(local)
            whole = Ref(local.name, local.ty)
            kept.append(whole)
            then += [Assign(self._expr(place, bound, False), part, s.origin) for place, part in parted(e, whole)]
        return [Assign(TupleTarget(tuple(kept)), self._expr(s.value, bound, live), s.origin), *then]

    def _statement(self, s: Statement, bound: frozenset[str], live: bool) -> Statement:
        match s:
            case Assign(TupleTarget(elements), value):
                places = tuple(None if e is None else self._expr(e, bound, False) for e in elements)
                return Assign(TupleTarget(places), self._expr(value, bound, live), s.origin)
            case Assign(target, value):
                assert isinstance(target, Expr)
                return Assign(self._expr(target, bound, False), self._expr(value, bound, live), s.origin)
            case IfStatement(branches, otherwise):
                parts = [(self._expr(c, bound, live), self._statements(b, bound, live)) for c, b in branches]
                return IfStatement(parts, self._statements(otherwise, bound, live), s.origin)
            case WhenStatement(branches):
                begins, parts = s is self._begins, []
                for c, b in branches:
                    guard = self._guard(c, bound, begins)
                    self._starts = _is_initial(c)
                    parts.append((guard, self._statements(b, bound, False)))
                self._starts = False
                return IfStatement(parts, [], s.origin)
            case ForStatement(name, over, body):
                inner = self._statements(body, bound | {name}, live)
                return ForStatement(name, self._expr(over, bound, False), inner, s.origin)
            case WhileStatement(condition, body):
                inner = self._statements(body, bound, live)
                return WhileStatement(self._expr(condition, bound, live), inner, s.origin)
            case Assert(condition, message, level):
                return Assert(self._expr(condition, bound, False), self._expr(message, bound, False), level, s.origin)
            case CallEquation(call):
                return CallEquation(self._expr(call, bound, False), s.origin)
            case Break() | Return():
                return s
            case Reinit() | Terminate():
                raise AssertionError(s)  # more than one statement

    def _effect(self, s: Reinit | Terminate, bound: frozenset[str]) -> list[Statement]:
        """Two outputs: whether it is to be done, and with what; of several for one state the last counts.  They are
        arrays where the state is an element of one: which element it is may be known in the run alone."""
        given, of = (s.value, s.target) if isinstance(s, Reinit) else (s.message, Str(""))
        subs: tuple[Expr, ...] = ()
        if isinstance(of, Index):
            if of.ty.dims or not isinstance(of.base, Ref):
                raise Unsupported("reinit of a part of an array")
            subs = tuple(self._expr(k, bound, False) for k in of.subs)
            of = of.base
        if of not in self._effect_of:
            self._effect_of[of] = self._due_and_value(s, of)
        due, value = self._effect_of[of]
        done = make.fill(TRUE, [n for n in due.ty.dims if n is not None])
        new = self._expr(given, bound, False)
        if not subs:
            return [Assign(due, done, s.origin), Assign(value, new, s.origin)]
        at_due, at_value = Index(due, subs, BOOLEAN), Index(value, subs, value.ty.scalar())
        return [Assign(at_due, TRUE, s.origin), Assign(at_value, new, s.origin)]

    def _due_and_value(self, s: Reinit | Terminate, of: Expr) -> tuple[Ref, Ref]:
        """The outputs, and what the model does by them, element by element."""
        flags = BOOLEAN.array_of(*of.ty.dims)
        due, is_due = self._output(flags, make.zeros(flags))
        value, new = self._output(of.ty, self._expr(of, frozenset(), False))
        for k in product(*(range(1, (n or 0) + 1) for n in of.ty.dims)):
            does = Reinit(_at(of, k), _at(new, k), s.origin) if isinstance(s, Reinit) else Terminate(new, s.origin)
            self._effects.append(self._when(_at(is_due, k), does))
        return due, value

    def _when(self, is_due: Expr, does: Reinit | Terminate | Assert) -> WhenEquation:
        """`when is_due`; also at the start where the algorithm acts there."""
        if not self._acts_at_start:
            return WhenEquation([(is_due, [does])], does.origin)
        either = Array((INITIAL, is_due), BOOLEAN.array_of(2))
        return WhenEquation([(either, [IfEquation([(is_due, [does])], [], does.origin)])], does.origin)

    def _asserted(self, s: Assert, bound: frozenset[str]) -> Statement:
        """Two outputs, likewise.  A function that fails in the initial system may have seen values on their way: it
        counts where it fails again in the events that follow, and there this when is over."""
        due, is_due = self._output(BOOLEAN, FALSE)
        text, said = self._output(STRING, Str(""))
        self._effects.append(self._when(is_due, Assert(FALSE, said, s.level, s.origin)))
        fails: list[Statement] = [
            Assign(due, TRUE, s.origin),
            Assign(text, self._expr(s.message, bound, False), s.origin),
        ]
        return IfStatement([(make.not_(self._expr(s.condition, bound, False)), fails)], [], s.origin)

    def _output(self, ty: Type, on_entry: Expr, at_events: bool = True) -> tuple[Ref, Ref]:
        """One more output, and the variable of the model that gets it."""
        outside = self.host.variable(ty, at_events)
        local = Local(f"done{len(self._made) + 1}", ty)
        self._made.append((local, outside, on_entry))
        return Ref(local.name, ty), outside

    def _guard(self, condition: Expr, bound: frozenset[str], is_first: bool) -> Expr:
        if not is_first and self._is_inside(condition, bound):
            raise Unsupported("a when inside other statements whose condition depends on what its algorithm computes")
        return self._input(self.host.watch(Builtin("$when", (self._outside(condition),), BOOLEAN)))

    # ----------------------------------------------------------------------------------------------------- expressions

    def _is_inside(self, e: Expr, bound: frozenset[str]) -> bool:
        """Reads a target or a loop's variable."""
        return any(r.name in self._output_of or r.name in bound for r in traverse.refs(e))

    def _expr(self, e: Expr, bound: frozenset[str], live: bool) -> Expr:
        if isinstance(e, Ref):
            return self._ref(e, bound)
        if isinstance(e, Builtin):
            if e.name in _QUIET:
                return self._expr(e.args[-1], bound, False)
            if e.name in _EVENTFUL:
                return self._eventful(e, bound)
        compares = isinstance(e, Binary) and e.op in COMPARISONS and e.left.ty == REAL
        if live and compares:
            if not self._is_inside(e, bound):
                return self._input(self.host.watch(self._outside(e)))
            self._unwatched.append(e)
        if isinstance(e, Comprehension):
            bound = bound | {name for name, _ in e.iterators}
        return e.rebuilt(tuple(self._expr(c, bound, live) for c in e.children()))

    def _ref(self, e: Ref, bound: frozenset[str]) -> Expr:
        if e.name in bound:
            return e
        return self._output_of.get(e.name) or self._input(self.values.get(e.name, e))

    def _outside(self, e: Expr) -> Expr:
        """An expression in terms of the model where these statements begin; `pre` is that of the algorithm's result."""
        if isinstance(e, Ref):
            return self.values.get(e.name, e)
        if isinstance(e, Builtin) and e.name == "previous":
            return e
        if isinstance(e, Builtin) and e.name in ("pre", "edge", "change"):
            before = Builtin("pre", e.args, e.args[0].ty)
            if e.name == "pre":
                return before
            return _changed(e.name, self._outside(e.args[0]), before)
        return e.rebuilt(tuple(self._outside(c) for c in e.children()))

    def _eventful(self, e: Builtin, bound: frozenset[str]) -> Expr:
        if not self._is_inside(e, bound):
            return self._input(self._outside(e))
        if e.name == "previous":
            return self._at_last_tick(e.args[0], bound)
        before = self._before(e.args[0], bound) if e.args else None
        if before is None or e.name not in ("pre", "edge", "change"):
            raise Unsupported(f"{e.name} of something that the algorithm computes")
        if e.name == "pre":
            return before
        return _changed(e.name, self._expr(e.args[0], bound, False), before)

    def _at_last_tick(self, e: Expr, bound: frozenset[str]) -> Expr:
        """`previous(v)`, `previous(v[i])`: all of v is handed over."""
        if isinstance(e, Ref):
            return self._input(Builtin("previous", (e,), e.ty))
        if not isinstance(e, Index | Field):
            raise Unsupported("previous of something that the algorithm computes")
        whole, *subs = e.children()
        return e.rebuilt((self._at_last_tick(whole, bound), *(self._expr(k, bound, False) for k in subs)))

    def _before(self, e: Expr, bound: frozenset[str]) -> Expr | None:
        """`pre(v)`, `pre(v[i])` of a target."""
        if isinstance(e, Ref):
            return self._held(e)
        if isinstance(e, Index) and isinstance(e.base, Ref):
            subs = e.rebuilt((e.base, *(self._expr(s, bound, False) for s in e.children()[1:])))
            return subs.rebuilt((self._held(e.base), *subs.children()[1:]))
        return None

    def _held(self, e: Ref) -> Ref:
        """`pre(v)`: where the algorithm begins a target has it."""
        on_entry = self._on_entry.get(e.name) if self.first else None
        return on_entry or self._input(Builtin("pre", (e,), e.ty))

    def _input(self, e: Expr) -> Ref:
        local = self._inputs.get(e)
        if local is None:
            local = self._inputs[e] = Local(f"x{len(self._inputs) + 1}", e.ty)
        return Ref(local.name, local.ty)


def _changed(name: str, now: Expr, before: Expr) -> Expr:
    """`edge` or `change` by the two values that it compares (MLS 3.7.5)."""
    return make.and_(now, make.not_(before)) if name == "edge" else make.relation("<>", now, before)


def _set_at_start(body: list[Statement]) -> set[str]:
    """Names of what an algorithm may set in the initial system, where only whens of `initial()` act (MLS 8.6)."""
    names: set[str] = set()
    for s in body:
        match s:
            case Assign(target, _):
                names |= {_root(p) for p in places(target.elements if isinstance(target, TupleTarget) else (target,))}
            case IfStatement(branches, otherwise):
                for _, inner in branches:
                    names |= _set_at_start(inner)
                names |= _set_at_start(otherwise)
            case WhenStatement(branches):
                for condition, inner in branches:
                    if _is_initial(condition):
                        names |= _set_at_start(inner)
            case ForStatement(_, _, inner) | WhileStatement(_, inner):
                names |= _set_at_start(inner)
            case _:
                pass
    return names


def _is_initial(condition: Expr) -> bool:
    return any(isinstance(n, Builtin) and n.name == "initial" for n in traverse.walk(condition))


def _root(place: Expr) -> str:
    while isinstance(place, (Index, Field)):
        place = place.base
    assert isinstance(place, Ref)
    return place.name


def _at(e: Expr, k: tuple[int, ...]) -> Expr:
    """An element of an array; of a scalar the scalar."""
    return Index(e, tuple(map(Int, k)), e.ty.scalar()) if k else e

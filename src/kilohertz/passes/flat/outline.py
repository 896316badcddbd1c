"""outline: an algorithm that cannot be run symbolically becomes a function of its own, and one call of it.

  algorithm  when sample(0, 1) then n := n + 1; buffer[n] := u; end when;
  ->         (n, buffer) = $algorithm0($watch0, u, pre(n), pre(buffer)),   $watch0 = $when(sample(0, 1))

Inputs of the function: what the algorithm reads, the values its targets have on entry, and what makes events: guards of
whens and comparisons outside them become Boolean variables of the model.  A comparison that depends on a target or on a
loop is evaluated as it stands.  Not possible are reinit and terminate, and a when whose condition reads a target.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import COMPARISONS, named
from kilohertz.ir.expr import Binary, Builtin, Comprehension, Expr, Field, Index, Ref
from kilohertz.ir.flat import (
    Algorithm,
    Assert,
    Assign,
    Break,
    CallEquation,
    ForStatement,
    Function,
    IfStatement,
    Local,
    Return,
    Statement,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.passes.called_functions import called_in_expressions, statement_expressions
from kilohertz.passes.flat.symbolic_evaluator import Unsupported

_EVENTFUL = named(Event.RATE, Event.BEFORE, Event.INSTANT, Event.PAST)
_QUIET = named(Event.QUIET)


@dataclass(slots=True)
class Outlined:
    """The function, and for each of its inputs the expression to hand over."""

    function: Function
    arguments: list[Expr]


@dataclass(slots=True)
class Outline:
    """Turns one algorithm into a function.

    `entry` gives the value of a target before the first statement; `watch` a Boolean variable of the model that holds
    an expression, so that events are made where it changes.
    """

    name: str
    targets: list[Ref]
    entry: Callable[[Ref], Expr]
    watch: Callable[[Expr], Ref]
    is_pure: Callable[[str], bool]
    _inputs: dict[Expr, Local] = field(default_factory=dict)
    _output_of: dict[str, Ref] = field(default_factory=dict)
    _on_entry: dict[str, Ref] = field(default_factory=dict)

    def run(self, algorithm: Algorithm) -> Outlined:
        outputs: list[Local] = []
        arguments: list[Expr] = []
        inputs: list[Local] = []
        for k, target in enumerate(self.targets, 1):
            before, output = Local(f"before{k}", target.ty), Local(f"y{k}", target.ty)
            inputs.append(before)
            outputs.append(output)
            arguments.append(self.entry(target))
            self._output_of[target.name] = Ref(output.name, target.ty)
            self._on_entry[target.name] = Ref(before.name, target.ty)
        body: list[Statement] = [
            Assign(self._output_of[t.name], self._on_entry[t.name], algorithm.origin) for t in self.targets
        ]
        body += self._statements(algorithm.statements, frozenset(), True)
        pure = all(self.is_pure(f) for f in called_in_expressions(statement_expressions(body)))
        inputs += self._inputs.values()
        arguments += self._inputs
        set_at_start = _set_at_start(algorithm.statements)
        kept = tuple(k for k, t in enumerate(self.targets) if t.name not in set_at_start)
        function = Function(
            self.name, inputs, outputs, [], body, pure=pure, inline=False, kept=kept, origin=algorithm.origin
        )
        return Outlined(function, arguments)

    # ------------------------------------------------------------------------------------------------------ statements

    def _statements(self, body: list[Statement], bound: frozenset[str], live: bool) -> list[Statement]:
        return [self._statement(s, bound, live) for s in body]

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
                parts = [(self._guard(c, bound), self._statements(b, bound, False)) for c, b in branches]
                return IfStatement(parts, [], s.origin)
            case ForStatement(name, over, body):
                inner = self._statements(body, bound | {name}, live)
                return ForStatement(name, self._expr(over, bound, False), inner, s.origin)
            case WhileStatement(condition, body):
                inner = self._statements(body, bound, live)
                return WhileStatement(self._expr(condition, bound, False), inner, s.origin)
            case Assert(condition, message, level):
                return Assert(self._expr(condition, bound, False), self._expr(message, bound, False), level, s.origin)
            case CallEquation(call):
                return CallEquation(self._expr(call, bound, False), s.origin)
            case Break() | Return():
                return s
            case _:
                raise Unsupported(f"{type(s).__name__.lower()} in an algorithm with loops that are not known")

    def _guard(self, condition: Expr, bound: frozenset[str]) -> Expr:
        if self._is_inside(condition, bound):
            raise Unsupported("a when whose condition depends on what its algorithm computes")
        return self._input(self.watch(Builtin("$when", (condition,), BOOLEAN)))

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
        if live and compares and not self._is_inside(e, bound):
            return self._input(self.watch(e))
        if isinstance(e, Comprehension):
            bound = bound | {name for name, _ in e.iterators}
        return e.rebuilt(tuple(self._expr(c, bound, live) for c in e.children()))

    def _ref(self, e: Ref, bound: frozenset[str]) -> Expr:
        if e.name in bound:
            return e
        return self._output_of.get(e.name) or self._input(e)

    def _eventful(self, e: Builtin, bound: frozenset[str]) -> Expr:
        if not self._is_inside(e, bound):
            return self._input(e)
        before = self._before(e.args[0], bound) if e.args else None
        if before is None or e.name not in ("pre", "edge", "change"):
            raise Unsupported(f"{e.name} of something that the algorithm computes")
        if e.name == "pre":
            return before
        now = self._expr(e.args[0], bound, False)
        return make.and_(now, make.not_(before)) if e.name == "edge" else make.relation("<>", now, before)

    def _before(self, e: Expr, bound: frozenset[str]) -> Expr | None:
        """`pre(v)`, `pre(v[i])` of a target."""
        if isinstance(e, Ref):
            return self._on_entry.get(e.name)
        if isinstance(e, Index) and isinstance(e.base, Ref):
            subs = e.rebuilt((e.base, *(self._expr(s, bound, False) for s in e.children()[1:])))
            held = self._on_entry.get(e.base.name) or self._input(Builtin("pre", (e.base,), e.base.ty))
            return subs.rebuilt((held, *subs.children()[1:]))
        return None

    def _input(self, e: Expr) -> Ref:
        local = self._inputs.get(e)
        if local is None:
            local = self._inputs[e] = Local(f"x{len(self._inputs) + 1}", e.ty)
        return Ref(local.name, local.ty)


def _set_at_start(body: list[Statement]) -> set[str]:
    """Names of what an algorithm may set in the initial system, where only whens of `initial()` act (MLS 8.6)."""
    names: set[str] = set()
    for s in body:
        match s:
            case Assign(target, _):
                places = target.elements if isinstance(target, TupleTarget) else (target,)
                names |= {_root(p) for p in places if p is not None}
            case IfStatement(branches, otherwise):
                for _, inner in branches:
                    names |= _set_at_start(inner)
                names |= _set_at_start(otherwise)
            case WhenStatement(branches):
                for condition, inner in branches:
                    if any(isinstance(n, Builtin) and n.name == "initial" for n in traverse.walk(condition)):
                        names |= _set_at_start(inner)
            case ForStatement(_, _, inner) | WhileStatement(_, inner):
                names |= _set_at_start(inner)
            case _:
                pass
    return names


def _root(place: Expr) -> str:
    while isinstance(place, (Index, Field)):
        place = place.base
    assert isinstance(place, Ref)
    return place.name

"""Calls that may fail and are asked for under conditions alone are made only where one of these holds.

  y = if c then $c7.a else 0;  $c7 = f(x)   ->   $c7 = $asked0(c, x)

  function $asked0(asked, x)  algorithm  if asked then r := f(x); else r := 0; end if;

The condition is that of all places that read a result, so the zeros are seen nowhere.  What an operator of events, a
when or a clock reads counts as read in any case.  Cost: every distinct expression once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kilohertz.base import InternalError, Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import FALSE, TRUE, Binary, Builtin, Call, Comprehension, Expr, IfExp, Int, Ref
from kilohertz.ir.flat import (
    CONSTANT,
    PARAMETER,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    Function,
    IfStatement,
    Local,
    TupleTarget,
)
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.ticks import ScalarFlat
from kilohertz.ir.types import BOOLEAN, FunctionType

if TYPE_CHECKING:
    from kilohertz.passes.flat.calls import AuxiliaryCall

Needs = Mapping[int, Expr]  # by the number of a call: the condition under which a result of it is read
_NOTHING: Needs = {}
_HARMLESS = (Event.NONE, Event.STEPS, Event.QUOTIENT)


def guard_calls(calls: list[AuxiliaryCall], out: ScalarFlat, functions: dict[str, Function]) -> None:
    """Put conditions to the calls that have been made under one; `functions` grows by those that ask."""
    if not any(c.is_conditional for c in calls):
        return
    needed = _Needed(calls)
    needed.add_all(e for v in out.variables.values() for e in (*v.attributes.values(), v.binding) if e is not None)
    in_variables = set(needed.found)
    for equations in (out.equations, out.initial_equations):
        needed.add_equations(equations)
    needed.add_anyway(_others(out))
    for i in reversed(range(len(calls))):  # what it reads was made before it
        call = calls[i].call
        condition: Expr = TRUE
        if calls[i].is_conditional and functions[call.function].pure:
            condition = needed.found.get(i, TRUE)
            if _asks_for_instants(condition) or (i in in_variables and not _is_known(condition, out)):
                condition = TRUE
        asking = None if condition is TRUE else _asking(calls[i], f"$asked{i}", functions)
        if asking is None:
            needed.add_all(call.args)
            continue
        needed.add_all(call.args, condition)
        functions[asking.id] = asking
        calls[i].call = Call(asking.id, (condition, *call.args), call.ty)


def _others(out: ScalarFlat) -> Iterable[Expr]:
    yield from traverse.expressions_in(s for a in (*out.algorithms, *out.initial_algorithms) for s in a.statements)
    for tick in out.ticks:
        yield from (e for e in (tick.period, tick.condition, tick.start_interval) if e is not None)


def _is_known(e: Expr, out: Flat) -> bool:
    """It hangs on parameters alone."""
    names = [r.name for r in traverse.refs(e)]
    return all(n in out.variables and out.variables[n].variability in (CONSTANT, PARAMETER) for n in names)


def _asks_for_instants(e: Expr) -> bool:
    """`initial()` and the like, which no variable tells of."""
    return any(isinstance(x, Builtin) and BUILTINS[x.name].event is Event.INSTANT for x in traverse.walk(e))


class _Needed:
    """Gathers where the results of calls are read."""

    def __init__(self, calls: list[AuxiliaryCall]) -> None:
        self._call_of = {name: i for i, c in enumerate(calls) if c.is_conditional for name, _ in c.names}
        self._memo: dict[Expr, Needs] = {}
        self.found: dict[int, Expr] = {}

    def add_equations(self, equations: Iterable[Equation]) -> None:
        for e in equations:
            if isinstance(e, Equality | Assert):
                self.add_all(traverse.expressions_in([e]))
            else:
                self.add_anyway(traverse.expressions_in([e]))

    def add_all(self, expressions: Iterable[Expr], condition: Expr = TRUE) -> None:
        """These are computed where a condition holds."""
        for e in expressions:
            for i, need in traverse.bottom_up(e, self._visit, self._memo).items():
                self.found[i] = make.or_(self.found.get(i, FALSE), make.and_(condition, need))

    def add_anyway(self, expressions: Iterable[Expr]) -> None:
        """What these read is read in any case."""
        for e in expressions:
            needs = traverse.bottom_up(e, self._visit, self._memo)
            self.found |= dict.fromkeys(needs, TRUE)

    def _visit(self, e: Expr, parts: list[Needs]) -> Needs:
        if isinstance(e, Ref):
            i = self._call_of.get(e.name)
            return _NOTHING if i is None else {i: TRUE}
        if not any(parts):
            return _NOTHING
        match e:
            case IfExp(condition):
                numbers = dict.fromkeys((*parts[1], *parts[2]))
                chosen = {i: make.if_(condition, parts[1].get(i, FALSE), parts[2].get(i, FALSE)) for i in numbers}
                return _either(parts[0], chosen)
            case Binary("and" | "or" as op, left, _):
                goes_on = left if op == "and" else make.not_(left)
                return _either(parts[0], {i: make.and_(goes_on, need) for i, need in parts[1].items()})
            case Builtin("$noEvent"):
                return parts[0]
            case Builtin("noEvent"):
                return {i: _quiet(need) for i, need in parts[0].items()}
            case Builtin("smooth", (Int(order), _)) if order >= 0:
                return {i: _quiet(need) for i, need in parts[1].items()}
            case Builtin(name) if name not in BUILTINS or BUILTINS[name].event not in _HARMLESS:
                return {i: TRUE for part in parts for i in part}
            case Comprehension():  # conditions inside know its iterators
                return {i: TRUE for part in parts for i in part}
        return _either(*parts)


def _either(*parts: Needs) -> Needs:
    some = [p for p in parts if p]
    if len(some) <= 1:
        return some[0] if some else _NOTHING
    needs: dict[int, Expr] = {}
    for part in some:
        for i, need in part.items():
            needs[i] = make.or_(needs.get(i, FALSE), need)
    return needs


def _quiet(condition: Expr) -> Expr:
    return condition if condition in (TRUE, FALSE) else Builtin("noEvent", (condition,), BOOLEAN)


def _asking(auxiliary: AuxiliaryCall, name: str, functions: Mapping[str, Function]) -> Function | None:
    """A function that makes the call if it is asked to; None where nothing can stand for its results."""
    call, origin = auxiliary.call, functions[auxiliary.call.function].origin
    if any(isinstance(a.ty.base, FunctionType) for a in call.args):
        return None
    asked = Local("asked", BOOLEAN)
    inputs = [Local(f"u{k}", a.ty) for k, a in enumerate(call.args)]
    outputs = [Local(f"y{k}", v.ty) for k, v in enumerate(auxiliary.outputs)]
    try:
        nothing = [make.zeros(o.ty) for o in outputs]
    except InternalError:  # Strings, enumerations
        return None
    made = Call(call.function, tuple(Ref(i.name, i.ty) for i in inputs), call.ty)
    places = tuple(Ref(o.name, o.ty) for o in outputs)
    target = places[0] if len(places) == 1 else TupleTarget(places)
    otherwise = [Assign(p, zero, origin) for p, zero in zip(places, nothing, strict=True)]
    body = IfStatement([(Ref("asked", BOOLEAN), [Assign(target, made, origin)])], [*otherwise], origin)
    return Function(name, [asked, *inputs], outputs, [], [body], origin=Origin(origin.spans, origin.path))

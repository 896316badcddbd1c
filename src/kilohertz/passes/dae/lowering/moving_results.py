"""Integers, Booleans and enumerations that functions make of what moves between events.

  (y, k) = sort(u);  k a discrete variable, u continuous  ->  k changes where the second result of the call does
  b = not f(u);  when g(u) == 1 then                      ->  likewise, wherever the right side or the condition changes
  s = setState(u);  s.phase an Integer                    ->  s.phase changes where that field does

The language has no such equations (MLS 3.8.4: S326 warns), libraries in wide use do.  Held from one event to the next
the variable would keep a value that its own equation contradicts, and so would what is computed from it; so where an
expression is discrete by its type and moves all the same, its relations being explicit, every change is an event.
Calls that were put in place say the same without a call: what they compare is quiet (`noEvent`).
What a `when` of an algorithm sets (`if $w0 and not pre($w0) then integer(u) else pre(k)`) moves in that instant alone.
Left out are impure functions, whose results are no function of what moves, inputs, and Strings, which may say a number
in all its digits.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.ir.builtins import is_past, named
from kilohertz.ir.dae import pre_name
from kilohertz.ir.expr import TIME, Binary, Builtin, Call, Expr, IfExp, Ref, Unary
from kilohertz.ir.flat import Equality, Flat, Purpose, TupleTarget
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, EnumType, Type
from kilohertz.passes.dae.lowering.when_equations import scalars

_STILL, _MOVES, _IMPURE = range(3)
_INSTANTS = named(Event.INSTANT)


class MovingResults:
    """What is discrete by its type and moves; `is_still` says of a Real variable that it changes at events only."""

    def __init__(self, flat: Flat, is_still: Callable[[str], bool]) -> None:
        self._flat = flat
        self._is_still = is_still
        self._memo: dict[Expr, int] = {}
        self._results: set[str] | None = None

    def in_(self, e: Expr) -> bool:
        """Whether what an equation or a when makes of lowered expressions moves, and purely."""
        return is_step(e.ty) and self._motion(e) == _MOVES

    def _motion(self, e: Expr) -> int:
        if self._results is None:
            self._results = set()
            while found := [n for n in self._found() if n not in self._results]:  # a call may read results of another
                self._results.update(found)
                self._memo.clear()
        return bottom_up(e, self._motion_of, self._memo)

    def _motion_of(self, e: Expr, motions: list[int]) -> int:
        if isinstance(e, Ref):
            assert self._results is not None
            moves = e is TIME or e.name in self._results or (e.ty == REAL and not self._is_still(e.name))
            return _MOVES if moves else _STILL
        if isinstance(e, Call):
            function = self._flat.functions.get(e.function)
            if function is None or not function.pure:
                return _IMPURE
        if isinstance(e, IfExp) and _is_momentary(e.condition):
            return motions[2]  # of `otherwise`
        return max(motions, default=_MOVES if is_past(e) else _STILL)

    def _found(self) -> list[str]:
        """Discrete results of calls of what moves, as far as they were set aside."""
        found: list[str] = []
        for e in self._flat.equations:
            if isinstance(e, Equality) and isinstance(e.left, TupleTarget) and self._motion(e.right) == _MOVES:
                targets = [r for t in e.left.elements if t is not None for r in scalars(t)]
                found += [r.name for r in targets if is_step(r.ty) and self._is_made(r.name)]
        return found

    def _is_made(self, name: str) -> bool:
        variable = self._flat.variables.get(name)
        return variable is not None and variable.purpose is Purpose.OUTPUT


def _is_momentary(condition: Expr) -> bool:
    """Whether it holds at single instants, all of them events: samples, the start, what has just become true."""
    match condition:
        case Builtin(name):
            return name in _INSTANTS
        case Binary("or", left, right):
            return _is_momentary(left) and _is_momentary(right)
        case Binary("and", Ref(name), Unary("not", Ref(before))) if before == pre_name(name):
            return True
        case Binary("and", left, right):
            return _is_momentary(left) or _is_momentary(right)
    return False


def is_step(ty: Type) -> bool:
    """A scalar that changes at events only."""
    return not ty.dims and (ty in (INTEGER, BOOLEAN) or isinstance(ty.base, EnumType))

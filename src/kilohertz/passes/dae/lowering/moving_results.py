"""Integers and Booleans that functions make of what moves between events.

  (y, k) = sort(u);  k a discrete variable, u continuous  ->  k changes where the second result of the call does

The language has no such equations (MLS 3.8.4: S326 warns), libraries in wide use do.  Held from one event to the next
the variable would keep a value that its own equation contradicts, so every change of the result is an event.
A call that was put in place says the same without a call: what it compares is quiet (`noEvent`), and the whole
right side makes an event where it changes.
Impure functions are left out, their results are no function of what moves; so are fields of records that calls give,
which say how a function came to its numbers (the phase of a medium) and are handed on to others.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.ir.expr import Builtin, Call, Expr, Ref
from kilohertz.ir.flat import Equality, Flat, Purpose, TupleTarget
from kilohertz.ir.traverse import walk
from kilohertz.ir.types import BOOLEAN, INTEGER, RecordType
from kilohertz.passes.dae.lowering.when_equations import scalars

_STEPS = (INTEGER, BOOLEAN)
_QUIET = ("noEvent", "$noEvent")


class MovingResults:
    """Which results of calls move; `motion`: 0 for what is constant between events."""

    def __init__(self, flat: Flat, motion: Callable[[Expr], int]) -> None:
        self._flat = flat
        self._motion = motion
        self._names: set[str] | None = None

    def in_(self, left: Expr, right: Expr) -> bool:
        """Whether the right side is what a call makes of moving values, and the left an Integer or a Boolean."""
        if left.ty not in _STEPS or right.ty not in _STEPS:
            return False
        if isinstance(right, Ref):
            return right.name in self._results()
        return isinstance(right, Call) and self._moves(right)

    def inlined(self, left: Expr, right: Expr) -> bool:
        """The same of calls that were put in place: what a function compares makes no events of its own."""
        if left.ty not in _STEPS or right.ty not in _STEPS:
            return False
        return any(
            isinstance(n, Builtin) and n.name in _QUIET and n.ty in _STEPS and self._motion(n.args[0]) > 0
            for n in walk(right)
        )

    def _moves(self, call: Call) -> bool:
        function = self._flat.functions.get(call.function)
        return function is not None and function.pure and any(self._motion(a) for a in call.args)

    def _results(self) -> set[str]:
        if self._names is None:
            self._names = set(self._found())
        return self._names

    def _found(self) -> list[str]:
        found: list[str] = []
        for e in self._flat.equations:
            if not isinstance(e, Equality) or not isinstance(e.left, TupleTarget) or not isinstance(e.right, Call):
                continue
            if not self._moves(e.right):
                continue
            outputs = self._flat.functions[e.right.function].outputs
            for target, output in zip(e.left.elements, outputs, strict=False):
                if target is not None and not isinstance(output.ty.base, RecordType):
                    found += [r.name for r in scalars(target) if self._is_made(r)]
        return found

    def _is_made(self, ref: Ref) -> bool:
        variable = self._flat.variables.get(ref.name)
        return variable is not None and variable.purpose is Purpose.OUTPUT and ref.ty in _STEPS

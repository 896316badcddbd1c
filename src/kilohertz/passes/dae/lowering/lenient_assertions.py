"""Assertions on what a solver computes hold up to its rounding.

  assert(x >= 0, ...)    ->   x >= 0 - (1e-12 + 1e-10*max(|x|, |0|))       where x moves between events

A population that rests at zero may be -1e-19 after a step.  Relations under `not` give way to the other side; those of
parameters and discrete values are exact.
"""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Builtin, Expr, Real, Unary
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import simplify

ABSOLUTE, RELATIVE = Real(1e-12), Real(1e-10)
_LOWER, _UPPER = (">", ">="), ("<", "<=")


def lenient(e: Expr, is_still: Callable[[Expr], bool], holds: bool = True) -> Expr:
    """The condition with room for rounding; `holds` is False under an odd number of `not`."""
    match e:
        case Unary("not", operand):
            return make.not_(lenient(operand, is_still, not holds))
        case Binary("and", left, right):
            return make.and_(lenient(left, is_still, holds), lenient(right, is_still, holds))
        case Binary("or", left, right):
            return make.or_(lenient(left, is_still, holds), lenient(right, is_still, holds))
        case Binary(op, left, right) if op in _LOWER + _UPPER and left.ty == REAL and not is_still(e):
            larger = Builtin("max", (_size(left), _size(right)), REAL)
            room = simplify(make.add(ABSOLUTE, make.mul(RELATIVE, larger)))
            down = (op in _LOWER) == holds
            return make.relation(op, left, make.sub(right, room) if down else make.add(right, room))
        case _:
            return e


def _size(e: Expr) -> Expr:
    return Real(abs(e.value)) if isinstance(e, Real) else Builtin("abs", (e,), REAL)

"""Initial equations that are not needed are not solved but checked: they must not contradict the others."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Builtin, Expr, Real, Str
from kilohertz.ir.flat import Assert
from kilohertz.ir.types import REAL


def holds_too(e: Equation) -> Assert:
    """That an equation which was not needed holds all the same, Reals within what solvers leave."""
    if REAL in (e.left.ty, e.right.ty):
        bound = make.add(make.mul(Real(1e-4), make.add(_size(e.left), _size(e.right))), Real(1e-6))
        holds = make.relation("<=", _size(make.sub(e.left, e.right)), bound)
    else:
        holds = make.relation("==", e.left, e.right)
    message = Str("there are more initial equations than needed, and this one contradicts the others")
    return Assert(holds, message, None, e.origin)


def _size(e: Expr) -> Expr:
    return Builtin("abs", (e,), REAL)

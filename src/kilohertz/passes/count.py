"""Scalar equations and unknowns of a form on its way."""

from __future__ import annotations

from typing import Any

from kilohertz.ir.dae import CallEquation, Dae, Role
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Ordered
from kilohertz.ir.step import Kind, Step, targets

_UNKNOWN = (Role.STATE, Role.ALGEBRAIC, Role.DISCRETE, Role.RELATION)
_COMPUTED = (Kind.DERIVATIVE, Kind.ALGEBRAIC, Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE, Kind.RELATION)


def count(form: Any) -> tuple[int, int] | None:
    """(equations, unknowns); None for a form that does not say.

    In a Dae a state stands for its derivative; a call counts once for each unknown it gives.  In a Step every target of
    a block had an equation of its own.
    """
    match form:
        case Dae():
            unknowns = {v.name for v in form.variables.values() if v.role in _UNKNOWN}
            n = 0
            for e in form.equations:
                match e:
                    case CallEquation():
                        n += sum(isinstance(t, Ref) and t.name in unknowns for output in e.targets for t in output)
                    case _:
                        n += 1
            return n, len(unknowns)
        case Ordered():
            return count(form.dae)
        case Step():
            computed = sum(v.slot.kind in _COMPUTED for v in form.variables.values())
            return sum(len(targets(b)) for b in form.blocks), computed
        case _:
            return None

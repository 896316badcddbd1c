"""`v = der(x)`: v is x's derivative from here on; no equation is left for it."""

from __future__ import annotations

from kilohertz.ir.dae import AnyEquation, Dae, Equation, Role, der_name
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import substitute
from kilohertz.passes.dae.rewrite import rewritten_equation, rewritten_rest


def named_derivatives(dae: Dae) -> dict[str, str]:
    """The names of derivatives by what they are the derivative of; the Dae (changed in place) uses these names."""
    rate: dict[str, str] = {}
    taken: set[str] = set()
    values: dict[str, Expr] = {}
    kept: list[AnyEquation] = []
    states = {der_name(name): name for name in dae.variables}
    for e in dae.equations:
        pair = _rate_equation(e, dae, states)
        if pair is None or pair[0] in rate or pair[1] in taken:
            kept.append(e)
            continue
        x, v = pair
        rate[x] = v
        taken.add(v)
        values[der_name(x)] = Ref(v, REAL)
    if not values:
        return rate
    memo: dict[Expr, Expr] = {}

    def rule(e: Expr) -> Expr:
        return substitute(e, values, memo)

    dae.equations = [rewritten_equation(e, rule) for e in kept]
    dae.initial_equations = [rewritten_equation(e, rule) for e in dae.initial_equations]
    rewritten_rest(dae, rule)
    return rate


def _rate_equation(e: AnyEquation, dae: Dae, states: dict[str, str]) -> tuple[str, str] | None:
    """x and v of `v = der(x)`; `states`: x by der(x)."""
    if not isinstance(e, Equation) or not isinstance(e.left, Ref) or not isinstance(e.right, Ref):
        return None
    for d, v in ((e.left, e.right), (e.right, e.left)):
        x, variable = states.get(d.name), dae.variables.get(v.name)
        unknown = variable is not None and variable.role in (Role.ALGEBRAIC, Role.STATE)
        if x is not None and unknown and v.name != x:
            return x, v.name
    return None

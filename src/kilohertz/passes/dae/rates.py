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
    for e in dae.equations:
        pair = _rate_equation(e, dae)
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


def _rate_equation(e: AnyEquation, dae: Dae) -> tuple[str, str] | None:
    if not isinstance(e, Equation) or not isinstance(e.left, Ref) or not isinstance(e.right, Ref):
        return None
    for d, v in ((e.left, e.right), (e.right, e.left)):
        if d.name.startswith("der(") and d.name.endswith(")") and d.name[4:-1] in dae.variables:
            variable = dae.variables.get(v.name)
            unknown = variable is not None and variable.role in (Role.ALGEBRAIC, Role.STATE)
            if unknown and v.name != d.name[4:-1]:
                return d.name[4:-1], v.name
    return None

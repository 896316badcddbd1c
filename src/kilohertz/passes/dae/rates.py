"""`v = der(x)`: v is x's derivative from here on; no equation is left for it."""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.ir.dae import AnyEquation, Dae, Equation, Role, der_name
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import substitute
from kilohertz.passes.rewriting import rewritten_equation, rewritten_rest


def rates_of(dae: Dae) -> dict[str, str]:
    """The v of every `v = der(x)` by its x; each name is used once, the first equation counts."""
    return dict(pair for _, pair in _pairs(dae) if pair is not None)


def named_derivatives(dae: Dae) -> dict[str, str]:
    """The names of derivatives by what they are the derivative of; the Dae (changed in place) uses these names."""
    pairs = list(_pairs(dae))
    rate = dict(pair for _, pair in pairs if pair is not None)
    kept = [e for e, pair in pairs if pair is None]
    values: dict[str, Expr] = {der_name(x): Ref(v, REAL) for x, v in rate.items()}
    if not values:
        return rate
    memo: dict[Expr, Expr] = {}

    def rule(e: Expr) -> Expr:
        return substitute(e, values, memo)

    dae.equations = [rewritten_equation(e, rule) for e in kept]
    dae.initial_equations = [rewritten_equation(e, rule) for e in dae.initial_equations]
    rewritten_rest(dae, rule)
    return rate


def _pairs(dae: Dae) -> Iterator[tuple[AnyEquation, tuple[str, str] | None]]:
    """Every equation, with x and v where it is kept as `v = der(x)`."""
    states = {der_name(name): name for name in dae.variables}
    named: set[str] = set()
    taken: set[str] = set()
    first: dict[str, str] = {}  # of the chain x, v = der(x), a = der(v), ... by its last, and the other way round
    last: dict[str, str] = {}
    for e in dae.equations:
        pair = _rate_equation(e, dae, states)
        if pair is None or pair[0] in named or pair[1] in taken or first.get(pair[0], pair[0]) == pair[1]:
            yield e, None  # the last: der(x) = y and der(y) = x would be a ring
            continue
        x, v = pair
        named.add(x)
        taken.add(v)
        begin, end = first.get(x, x), last.get(v, v)
        first[end], last[begin] = begin, end
        yield e, pair


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

"""What the model says about values before the start: `pre(v)` there is a value of its own, whatever v is (MLS 8.6).

  u = true;  y = u and not pre(u);  initial equation pre(u) = false      ->   y = initial()

So a variable that leaves the system because it never changes leaves `if initial() then given else value` for its `pre`.
Where only the initial system can tell that value (`pre(u) = x > 1`), the variable stays.
"""

from __future__ import annotations

from collections.abc import Container

from kilohertz.ir import make, traverse
from kilohertz.ir.dae import INITIAL, Dae, Equation, Role, pre_name
from kilohertz.ir.expr import Expr, Ref
from kilohertz.passes.algebra import substitute
from kilohertz.passes.flat.algorithms import default_start

_STILL = (Role.PARAMETER, Role.CONSTANT)


def given_before(dae: Dae) -> dict[str, Expr]:
    """By discrete variable: what parameters alone say its value before the start is, by a fixed start or an initial
    equation, or by such a value of others."""
    given: dict[str, Expr] = {}
    for v in dae.variables.values():
        if v.role is Role.DISCRETE and v.fixed:
            given[v.name] = v.start if v.start is not None else default_start(v.ty)
    told = _told(dae)
    n_given = -1
    while n_given < len(given):  # one may be told by another one: pre(off) = not pre(on)
        n_given = len(given)
        known = {pre_name(name): value for name, value in given.items()}
        for name, value in told:
            if name not in given and _is_still(by_others := substitute(value, known, {}), dae):
                given[name] = by_others
    return given


def solved_before(dae: Dae, given: Container[str]) -> set[str]:
    """Discrete variables whose value before the start an initial equation gives, and not by parameters alone."""
    return {name for name, _ in _told(dae) if name not in given}


def _told(dae: Dae) -> list[tuple[str, Expr]]:
    """What initial equations `pre(v) = value` say, by v."""
    discrete = {pre_name(v.name): v for v in dae.variables.values() if v.role is Role.DISCRETE}
    return [
        (discrete[side.name].name, value)
        for e in dae.initial_equations
        if isinstance(e, Equation)
        for side, value in ((e.left, e.right), (e.right, e.left))
        if isinstance(side, Ref) and side.name in discrete and value.ty == side.ty
    ]


def before(given: Expr | None, value: Expr) -> Expr:
    """`pre` of what always has this value."""
    return value if given is None or given is value else make.if_(INITIAL, given, value)


def _is_still(e: Expr, dae: Dae) -> bool:
    read = [dae.variables.get(r.name) for r in traverse.refs(e)]  # none: time, or a value before the start
    return all(v is not None and v.role in _STILL for v in read)

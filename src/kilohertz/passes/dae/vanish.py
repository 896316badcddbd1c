"""Computed parameters that are zero and multiply an unknown: the term is dropped before the structure is analysed.

  i*R = v - u,  R = f(device) = 0      becomes      0 = v - u

The equation then says something about v and u, not about i; index reduction and matching must know.  Only parameters
that the user does not set directly are taken as zero (their value follows from others while the model is translated),
and only in equations from which an unknown disappears.  A note says which.  Cost: linear.
"""

from __future__ import annotations

from dataclasses import replace

from kilohertz.ir import build
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Equation, Role
from kilohertz.ir.expr import Expr, Real, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.parameter_values import parameter_values

_KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)


def vanish(dae: Dae) -> Dae:
    """The model without the terms that computed zero parameters multiply."""
    zeros = _computed_zeros(dae)
    if not zeros:
        return dae
    fixed: dict[str, None] = {}
    equations = [_without(e, dae, zeros, fixed) for e in dae.equations]
    if not fixed:
        return dae
    names = ", ".join(list(fixed)[:5]) + (f" and {len(fixed) - 5} more" if len(fixed) > 5 else "")
    note = f"taken as zero, since equations lose an unknown by it: {names}"
    return replace(dae, equations=equations, notes=[*dae.notes, note])


def _computed_zeros(dae: Dae) -> dict[str, Expr]:
    called = {
        t.name for e in dae.equations if isinstance(e, CallEquation) for o in e.targets for t in o if isinstance(t, Ref)
    }
    zeros: dict[str, Expr] = {}
    for name, value in parameter_values(dae).items():
        v = dae.variables.get(name)
        if value != 0.0 or v is None or v.role is not Role.PARAMETER or v.ty != REAL:
            continue
        if name in called or (v.binding is not None and not build.is_literal(v.binding)):
            zeros[name] = Real(0.0)
    return zeros


def _without(e: AnyEquation, dae: Dae, zeros: dict[str, Expr], fixed: dict[str, None]) -> AnyEquation:
    if not isinstance(e, Equation):
        return e
    before = {r.name for side in (e.left, e.right) for r in build.refs(side)}
    used = [n for n in zeros if n in before] if len(zeros) < len(before) else [n for n in before if n in zeros]
    if not used:
        return e
    left, right = build.substitute(e.left, zeros), build.substitute(e.right, zeros)
    after = {r.name for side in (left, right) for r in build.refs(side)}
    lost = [n for n in before - after if n not in dae.variables or dae.variables[n].role not in _KNOWN]
    if not lost:
        return e
    fixed.update(dict.fromkeys(sorted(used)))
    return replace(e, left=left, right=right)

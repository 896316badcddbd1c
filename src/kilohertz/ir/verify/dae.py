"""Checks the contract that heads `ir/dae.py`."""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.base import InternalError
from kilohertz.ir.dae import (
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Equation,
    Reinit,
    Role,
    der_name,
    pre_name,
    roots,
)
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.ir.verify.scalar_expressions import LOWERED, Expressions

_MAY_BE_STATES = (Role.STATE, Role.ALGEBRAIC)


def verify_dae(dae: Dae) -> None:
    """Raise InternalError where a Dae breaks its contract."""
    for name, v in dae.variables.items():
        _variable(name, v)
    known = _names(dae)
    check = Expressions(known, LOWERED).check
    for v in dae.variables.values():
        check((x for x in (v.binding, v.start, v.nominal, v.min, v.max) if x is not None), v.name)
    for e in (*dae.equations, *dae.initial_equations):
        _equation(e, dae)
        check(roots(e), "an equation")
    check(_of_events(dae), "an event")
    check((x for a in dae.asserts for x in (a.condition, a.message)), "an assertion")
    for name, alias in dae.aliases.items():
        if name in dae.variables:
            raise InternalError(f"{name} is a variable and an alias")
        is_known = alias.target is None or alias.target in dae.variables or alias.target == name
        if (alias.target is None) == (alias.value is None) or not is_known:
            raise InternalError(f"alias {name} of unknown {alias.target}")
    _numbered(dae)


def _variable(name: str, v: DaeVariable) -> None:
    if name != v.name:
        raise InternalError(f"variable {v.name} is kept under the name {name}")
    if v.ty.dims:
        raise InternalError(f"{name} is not scalar")
    if v.role in _MAY_BE_STATES and v.ty != REAL:
        raise InternalError(f"{name} is {v.role.value} and not Real")
    if v.role is Role.RELATION and v.ty != BOOLEAN:
        raise InternalError(f"{name} is a relation and not Boolean")


def _names(dae: Dae) -> set[str]:
    """Variables, time, derivatives (second ones between passes) and values before an event."""
    known = {"time", *dae.variables}
    for v in dae.variables.values():
        if v.role in _MAY_BE_STATES:
            known |= {der_name(v.name), der_name(der_name(v.name))}
        if v.role not in (Role.PARAMETER, Role.CONSTANT, Role.OBJECT):
            known.add(pre_name(v.name))
    return known


def _equation(e: AnyEquation, dae: Dae) -> None:
    match e:
        case Equation():
            if e.left.ty != e.right.ty:
                raise InternalError(f"an equation between {e.left.ty} and {e.right.ty}: {print_expr(e.left)} = ...")
            if e.directed and not (isinstance(e.left, Ref) and e.left.name in dae.variables):
                raise InternalError(f"a directed equation that computes no variable: {print_expr(e.left)} := ...")
        case CallEquation():
            if any(t is not None and not isinstance(t, Ref) for output in e.targets for t in output):
                raise InternalError(f"a call that sets something else than variables: {print_expr(e.call)}")


def _of_events(dae: Dae) -> Iterable[Expr]:
    for w in dae.whens:
        yield w.guard
        for a in w.actions:
            yield from (a.target, a.value) if isinstance(a, Reinit) else a.args
    yield from (c.relation for c in dae.crossings)
    yield from (t.at for t in dae.time_events)
    yield from (x for s in dae.samples for x in (s.start, s.interval))
    yield from (x for d in dae.delays for x in (d.source, d.maximum))
    yield from (x for t in dae.transports for x in t.recorded())


def _numbered(dae: Dae) -> None:
    """`sample(k)`, `delay(k, ..)` and `transport(k, ..)` go by position."""
    for title, indices in (
        ("sample", [s.index for s in dae.samples]),
        ("delay", [d.index for d in dae.delays]),
        ("transport", [t.index for t in dae.transports]),
    ):
        if indices != list(range(len(indices))):
            raise InternalError(f"numbers of {title}s: {indices}")

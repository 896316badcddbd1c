"""Apply a rewriting of expressions to every part of a Dae."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir import make
from kilohertz.ir.dae import (
    VALUES,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Effect,
    Equation,
    Reinit,
    Role,
    Transport,
    When,
    der_name,
)
from kilohertz.ir.expr import Call, Expr, Ref, Unary
from kilohertz.ir.flat import Assert, Purpose
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import substitute

Rule = Callable[[Expr], Expr]


def rewritten_equation(e: AnyEquation, f: Rule) -> AnyEquation:
    """The equation with its expressions rewritten; the same object where nothing changed."""
    match e:
        case Equation():
            left, right = f(e.left), f(e.right)
            if left is e.left and right is e.right:
                return e
            if e.directed and isinstance(left, Unary):  # what it computes is an alias: minus or not another variable
                turned = make.neg if left.op == "-" else make.not_
                left, right = left.operand, turned(right)
            elif isinstance(left, Unary) and isinstance(right, Unary) and left.op == right.op == "-":
                left, right = left.operand, right.operand  # `v = der(x)` is known by its form
            return Equation(left, right, e.origin, e.directed)
        case CallEquation():
            call = f(e.call)
            if not isinstance(call, Call):
                raise InternalError("a call equation lost its call")
            targets = tuple(tuple(None if t is None else f(t) for t in o) for o in e.targets)
            guard = None if e.guard is None else f(e.guard)
            return CallEquation(targets, call, e.origin, guard)


def rewritten_variable(v: DaeVariable, f: Rule) -> DaeVariable:
    """Binding and attributes rewritten."""
    changes: dict[str, Expr] = {}
    for name in VALUES:
        old: Expr | None = getattr(v, name)
        if old is not None and old.children() + ((old,) if isinstance(old, Ref) else ()):
            new = f(old)
            if new is not old:
                changes[name] = new
    return replace(v, **changes) if changes else v  # type: ignore[arg-type]  # names are fields


def rewritten_rest(dae: Dae, f: Rule) -> None:
    """Whens, events, asserts and attributes of a Dae that is being built (equations are the caller's)."""
    dae.whens = [When(f(w.guard), tuple(_action(a, f) for a in w.actions), w.origin) for w in dae.whens]
    dae.crossings = [replace(c, relation=f(c.relation)) for c in dae.crossings]
    dae.time_events = [replace(t, at=f(t.at)) for t in dae.time_events]
    dae.samples = [replace(s, start=f(s.start), interval=f(s.interval)) for s in dae.samples]
    dae.delays = [replace(d, source=_ref(f(d.source)), maximum=f(d.maximum)) for d in dae.delays]
    dae.transports = [_transport(t, f) for t in dae.transports]
    dae.asserts = [Assert(f(a.condition), f(a.message), a.level, a.origin) for a in dae.asserts]
    dae.variables = {name: rewritten_variable(v, f) for name, v in dae.variables.items()}


def _transport(t: Transport, f: Rule) -> Transport:
    at_zero, at_one, position, direction = (_ref(f(x)) for x in t.sources)
    points, values = tuple(map(f, t.points)), tuple(map(f, t.values))
    return Transport(t.index, (at_zero, at_one, position, direction), points, values, t.origin)


def _ref(e: Expr) -> Ref:
    if not isinstance(e, Ref):
        raise InternalError("a delay line lost its variable")
    return e


def _action(a: Reinit | Effect, f: Rule) -> Reinit | Effect:
    if isinstance(a, Reinit):
        return Reinit(_ref(f(a.target)), f(a.value), a.origin)
    return Effect(a.kind, tuple(f(x) for x in a.args), a.origin)


def copied(dae: Dae) -> Dae:
    """A Dae whose containers may be changed without touching the first."""
    parts: dict[str, Any] = {}
    for part in fields(dae):
        value = getattr(dae, part.name)
        parts[part.name] = value.copy() if isinstance(value, (list, dict)) else value
    return Dae(**parts)


def rename_rates(dae: Dae) -> None:
    """A state that is itself the derivative of a state needs a name beside that derivative's slot."""

    state_of = {der_name(v.name): v.name for v in dae.variables.values() if v.role is Role.STATE}
    clashes = [v for v in dae.variables.values() if v.role is Role.STATE and v.name in state_of]
    if not clashes:
        return
    values: dict[str, Expr] = {}
    for v in clashes:
        fresh = f"$rate({state_of[v.name]})"
        values[v.name] = Ref(fresh, REAL)
        values[der_name(v.name)] = Ref(der_name(fresh), REAL)
        dae.variables[fresh] = replace(dae.variables.pop(v.name), name=fresh, purpose=Purpose.MADE)
    memo: dict[Expr, Expr] = {}

    def rule(e: Expr) -> Expr:
        return substitute(e, values, memo)

    dae.equations = [rewritten_equation(e, rule) for e in dae.equations]
    for v in clashes:
        dae.equations.append(Equation(Ref(v.name, REAL), values[v.name], v.origin))
    dae.initial_equations = [rewritten_equation(e, rule) for e in dae.initial_equations]
    rewritten_rest(dae, rule)

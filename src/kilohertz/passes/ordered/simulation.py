"""The simulated system: what holds after the start, and its unknowns."""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.ir import traverse
from kilohertz.ir.dae import AnyEquation, CallEquation, Dae, Effect, Equation, Role, der_name
from kilohertz.ir.expr import FALSE, Builtin, Call, Expr, Ref
from kilohertz.ir.flat import Assert, Terminate
from kilohertz.ir.flat import CallEquation as FlatCall
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import simplify_node
from kilohertz.passes.parameter_values import is_parametric


def simulation_unknowns(dae: Dae) -> list[Ref]:
    """Derivatives of states, algebraics, discretes and relations."""
    unknowns: list[Ref] = []
    for v in dae.variables.values():
        if v.role is Role.STATE:
            unknowns.append(Ref(der_name(v.name), REAL))
        elif v.role in (Role.ALGEBRAIC, Role.DISCRETE, Role.RELATION):
            unknowns.append(v.ref)
    return unknowns


def simulation_equations(dae: Dae) -> list[AnyEquation]:
    """What holds after the start, parameters apart."""
    return [equation_after_start(e) for e in dae.equations if not is_parametric(e, dae)]


def after_start(e: Expr) -> Expr:
    """The expression with `initial()` false and every `homotopy` at its actual value."""

    def f(node: Expr) -> Expr:
        if isinstance(node, Builtin):
            if node.name == "initial":
                return FALSE
            if node.name == "homotopy":
                return node.args[0]
        return simplify_node(node)

    return traverse.map_expr(e, f)


def _needs_replacing(e: Expr) -> bool:
    return any(isinstance(n, Builtin) and n.name in ("initial", "homotopy", "sample") for n in traverse.walk(e))


def equation_after_start(e: AnyEquation) -> AnyEquation:
    """The same for an equation; itself where it says nothing about the start."""
    if isinstance(e, Equation):
        if _needs_replacing(e.left) or _needs_replacing(e.right):
            return Equation(after_start(e.left), after_start(e.right), e.origin, e.directed)
        return e
    if _needs_replacing(e.call) or (e.guard and _needs_replacing(e.guard)):
        call = after_start(e.call)
        assert isinstance(call, Call)
        return CallEquation(e.targets, call, e.origin, e.guard and after_start(e.guard))
    return e


def done(a: Effect, at: Callable[[Expr], Expr]) -> Assert | Terminate | FlatCall:
    """What a when does besides setting values, its arguments as they are at that time."""
    args = [at(x) for x in a.args]
    if a.kind == "assert":
        return Assert(args[0], args[1], args[2] if len(args) > 2 else None, a.origin)
    if a.kind == "terminate":
        return Terminate(args[0], a.origin)
    return FlatCall(args[0], a.origin)

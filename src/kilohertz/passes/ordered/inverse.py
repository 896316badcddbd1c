"""One equation solved for one unknown: the other side, a quotient, or the inverse that a function names.

`y = f(x, p)` for x is `x = g(y, p)` (MLS 12.8):
function f  input x; input p; output y;  annotation(inverse(x = g(y, p)))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kilohertz.ir import make
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Call, Expr, Real, Ref
from kilohertz.ir.flat import Function
from kilohertz.passes.algebra import Occurrence, linear_parts, simplify


def explicit(e: Equation, unknown: Ref, occurrence: Occurrence) -> Expr | None:
    """The other side, where the unknown stands alone on one."""
    if e.left is unknown and unknown.name not in occurrence.names(e.right):
        return e.right
    if e.right is unknown and unknown.name not in occurrence.names(e.left):
        return e.left
    return None


def quotient(b: Expr, a: Expr) -> Expr:
    """The solution of a*x + b = 0."""
    if isinstance(a, Real) and a.value < 0:
        return simplify(make.div(b, Real(-a.value)))
    return simplify(make.div(make.neg(b), a))


@dataclass(slots=True)
class Linear:
    """An equation as a*x + b = 0 of its unknown, and its solution, made when it is asked for."""

    a: Expr
    b: Expr
    _solution: Expr | None = None

    @property
    def solution(self) -> Expr:
        if self._solution is None:
            self._solution = quotient(self.b, self.a)
        return self._solution


def as_linear(e: Equation, unknown: Ref, known: dict[tuple[Expr, Expr, str], Linear | None]) -> Linear | None:
    """None where it is not linear; `known` by both sides: one equation may stand in the initial and in the simulated
    system."""
    key = e.left, e.right, unknown.name
    if key not in known:
        parts = linear_parts(make.sub(e.left, e.right), unknown.name)
        known[key] = None if parts is None else Linear(*parts)
    return known[key]


def by_inverse(e: Equation, unknown: Ref, functions: Mapping[str, Function], occurrence: Occurrence) -> Expr | None:
    """The unknown from an equation between a call that has it, or its negative, as one argument and something
    without it."""
    for call, value in ((e.left, e.right), (e.right, e.left)):
        if isinstance(call, Call) and call.function in functions and unknown.name not in occurrence.names(value):
            solved = _inverse(call, value, unknown, functions, occurrence)
            if solved is not None:
                return solved
    return None


def _inverse(
    call: Call, value: Expr, unknown: Ref, functions: Mapping[str, Function], occurrence: Occurrence
) -> Expr | None:
    f = functions[call.function]
    places = [k for k, a in enumerate(call.args) if unknown.name in occurrence.names(a)]
    if len(places) != 1 or len(f.outputs) != 1:
        return None
    argument = call.args[places[0]]
    if argument is not unknown and argument is not make.neg(unknown):
        return None
    value_of = {x.name: a for x, a in zip(f.inputs, call.args, strict=True)} | {f.outputs[0].name: value}
    for solved, inverse, names in f.inverses:
        g = functions.get(inverse)
        if solved != f.inputs[places[0]].name or g is None or len(g.inputs) != len(names):
            continue
        if solved not in names and all(n in value_of for n in names):
            found = Call(inverse, tuple(value_of[n] for n in names), unknown.ty)
            return found if argument is unknown else make.neg(found)
    return None

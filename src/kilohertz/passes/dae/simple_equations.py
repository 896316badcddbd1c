"""Equations with one or two names: what `eliminate-aliases` looks for."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Real, Ref, Unary
from kilohertz.passes.algebra import linear_parts


def sign_between(e: Equation, a: str, b: str) -> int | None:
    """1 where the equation says `a = b`, -1 where it says `a = -b`."""
    if type(e.left) is Ref and e.left.name in (a, b):  # most are written so
        other = e.right
        if type(other) is Ref:
            return 1
        if type(other) is Unary and other.op == "-" and type(other.operand) is Ref:
            return -1
    first = linear_parts(make.sub(e.left, e.right), a)
    if first is None or not isinstance(first[0], Real) or first[0].value == 0.0:
        return None
    second = linear_parts(first[1], b)
    if second is None or not isinstance(second[0], Real) or not make.is_zero(second[1]):
        return None
    ratio = -second[0].value / first[0].value
    return int(ratio) if ratio in (1.0, -1.0) else None


def small_names(e: Equation) -> list[str] | None:
    """The names of an equation with at most two; None for larger ones (stops early)."""
    names: dict[str, None] = {}
    stack = [e.left, e.right]
    n = 0
    while stack:
        x = stack.pop()
        n += 1
        if isinstance(x, Ref):
            names[x.name] = None
            if len(names) > 2:
                return None
        stack.extend(x.children())
        if n > 16:
            return None
    return list(names)

"""Branches of an if-equation, equation by equation: `x = if c then a else b`; part of scalarise."""

from __future__ import annotations

from dataclasses import replace

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.expr import FALSE, Builtin, Expr, Ref
from kilohertz.ir.flat import Assert, CallEquation, Equality, Equation, Terminate, TupleTarget, WhenEquation
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.passes.flat.symbolic_evaluator import Unsupported


def merged(branches: list[tuple[Expr, list[Equation]]], origin: Origin) -> list[Equation]:
    """Branches of an if, equation by equation; those that define the same variable are paired."""
    out: list[Equation] = []
    columns: list[list[Equality]] = []
    outside: Expr = FALSE
    for condition, body in branches:
        here = make.and_(make.not_(outside), condition)
        column: list[Equality] = []
        for e in body:
            if isinstance(e, Equality):
                column.append(e)
            elif isinstance(e, Assert):
                out.append(replace(e, condition=make.or_(make.not_(here), e.condition)))
            elif isinstance(e, Terminate | CallEquation):
                out.append(WhenEquation([(Builtin("$when", (here,), BOOLEAN), [e])], e.origin))
            else:
                raise Unsupported(f"{type(e).__name__} in an if-equation")
        columns.append(column)
        outside = make.or_(outside, condition)
    if len({len(c) for c in columns}) != 1:
        raise Unsupported("branches with different numbers of equations")
    aligned = _aligned(columns)
    out += [_choice([c for c, _ in branches], row, origin) for row in zip(*aligned, strict=True)]
    return out


def _aligned(columns: list[list[Equality]]) -> list[list[Equality]]:
    """Order every branch like the first where all define the same variables."""
    names = [[e.left.name if isinstance(e.left, Ref) else "" for e in c] for c in columns]
    first = names[0]
    if "" in first or len(set(first)) != len(first) or any(sorted(n) != sorted(first) for n in names):
        return columns
    return [[c[n.index(name)] for name in first] for c, n in zip(columns, names, strict=True)]


def _choice(conditions: list[Expr], row: tuple[Equality, ...], origin: Origin) -> Equality:
    lefts = {e.left for e in row}
    origin = Origin(origin.spans + row[0].origin.spans, row[0].origin.path or origin.path, ("scalarise",))
    if len(lefts) == 1:
        value = row[-1].right
        for c, e in zip(reversed(conditions[:-1]), reversed(row[:-1]), strict=True):
            value = make.if_(c, e.right, value)
        left = row[0].left
        assert not isinstance(left, TupleTarget)
        return Equality(left, value, origin)
    residual = _residual(row[-1])
    for c, e in zip(reversed(conditions[:-1]), reversed(row[:-1]), strict=True):
        residual = make.if_(c, _residual(e), residual)
    return Equality(make.ZERO, residual, origin)


def _residual(e: Equality) -> Expr:
    if isinstance(e.left, TupleTarget) or e.left.ty != REAL:
        raise Unsupported("an if-equation whose branches define different discrete variables")
    return make.sub(e.left, e.right)

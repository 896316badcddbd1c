"""Subscripts: positions, slices, `end`, and Boolean or enumeration indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.interp import ArrayValue, Value
from kilohertz.ir import make
from kilohertz.ir.expr import (
    Array,
    Bool,
    Builtin,
    Colon,
    Enum,
    Expr,
    Int,
    Range,
)
from kilohertz.ir.types import (
    INTEGER,
    EnumType,
    Primitive,
    RecordType,
    Type,
)
from kilohertz.semantics.classes import Ctx
from kilohertz.semantics.wording import counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Subscripts:
    """Subscripts and fields applied to values."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._ends: list[Expr] = []  # what `end` means, innermost last

    def parts(self, expr: Expr, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """Subscripts and fields applied to a value: a function's variable or an iterator."""
        while True:
            subs = node.subs[k] if node.subs is not None else ()
            if subs:
                expr = self.indexed(expr, subs, node, ctx)
            k += 1
            if k == len(node.names):
                return expr
            expr = self.field_of(expr, node.names[k], node, ctx)

    def field_of(self, expr: Expr, name: str, node: Any, ctx: Ctx) -> Expr:
        base = expr.ty.base
        if not isinstance(base, RecordType):
            raise self.elaborator.error("S205", f"a value of type {expr.ty} has no `{name}`", node, ctx)
        if name not in dict(base.fields):
            raise self.elaborator.names.no_member(base.name, name, [n for n, _ in base.fields], node, ctx)
        return make.field(expr, name)

    def indexed(self, expr: Expr, subs: tuple[tree.Expr, ...], node: Any, ctx: Ctx) -> Expr:
        dims = expr.ty.dims
        if len(subs) > len(dims):
            raise self.elaborator.error(
                "S249", f"{counted(len(subs), 'subscript')} for a value of type {expr.ty}", node, ctx
            )
        sizes: list[Expr] = [
            Int(n) if n is not None else Builtin("size", (expr, Int(k + 1)), INTEGER) for k, n in enumerate(dims)
        ]
        exprs = self.subscripts(subs, sizes, node, ctx)
        for sub, n in zip(exprs, dims, strict=False):
            if n is not None and isinstance(sub, Int) and not 1 <= sub.value <= n:
                raise self.elaborator.error("S250", f"subscript {sub.value} is outside 1..{n}", node, ctx)
        return make.index(expr, tuple(exprs))

    def subscripts(self, subs: tuple[tree.Expr, ...], sizes: list[Any], node: Any, ctx: Ctx) -> list[Expr]:
        exprs: list[Expr] = []
        if len(subs) > len(sizes):
            raise self.elaborator.error(
                "S249",
                f"{counted(len(subs), 'subscript')} for an array of {counted(len(sizes), 'dimension')}",
                node,
                ctx,
            )
        for sub, size in zip(subs, sizes, strict=False):
            self._ends.append(size)
            try:
                exprs.append(self._subscript(self.elaborator.expr(sub, ctx), sub, ctx))
            finally:
                self._ends.pop()
        return exprs

    def _subscript(self, expr: Expr, node: tree.Expr, ctx: Ctx) -> Expr:
        """An Integer position; Booleans and enumeration values count by their order."""
        match expr.ty.base:
            case Primitive("Integer"):
                if (
                    ctx.locals is None
                    and not isinstance(expr, (Int, Colon))
                    and not self.elaborator.evaluation.varies(expr)
                ):
                    value = self.elaborator.evaluation.try_value(expr)
                    if value is not None:
                        return make.literal(value, _sized(expr.ty, value))
                return expr
            case Primitive("Boolean"):
                if isinstance(expr, Bool):
                    return Int(2 if expr.value else 1)
                return make.if_(expr, Int(2), Int(1)) if not expr.ty.dims else expr
            case EnumType():
                if isinstance(expr, Enum):
                    return Int(expr.index)
                if isinstance(expr, (Range, Array)):
                    value = self.elaborator.evaluation.try_value(expr)
                    if value is not None:
                        return make.literal(value, _sized(INTEGER.array_of(*expr.ty.dims), value))
                return Builtin("Integer", (expr,), INTEGER.array_of(*expr.ty.dims))
        raise self.elaborator.error("S251", f"a subscript must be an Integer, this is {expr.ty}", node, ctx)

    def subscripted(self, node: tree.Subscripted, ctx: Ctx) -> Expr:
        return self.indexed(self.elaborator.expr(node.base, ctx), node.subs, node, ctx)

    def field_node(self, node: tree.FieldOf, ctx: Ctx) -> Expr:
        return self.field_of(self.elaborator.expr(node.base, ctx), node.name, node, ctx)

    def end(self, node: tree.End, ctx: Ctx) -> Expr:
        if not self._ends:
            raise self.elaborator.error("S243", "`end` stands only inside subscripts", node, ctx)
        return self._ends[-1]


def _sized(ty: Type, value: Value) -> Type:
    return Type(ty.base, value.shape) if isinstance(value, ArrayValue) else ty.scalar()

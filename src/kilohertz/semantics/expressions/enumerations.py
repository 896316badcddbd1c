"""Enumerations from their numbers (MLS 4.9.5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.ir import make
from kilohertz.ir.expr import Enum, Expr, Int
from kilohertz.ir.types import INTEGER, EnumType
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.wording import counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


def enum_value(elaborator: Elaborator, enum: EnumType, node: tree.Call, ctx: Ctx) -> Expr:
    """`E(i)`, the i-th literal: an element of the array of all of them, so that i is checked when it varies."""
    args = [elaborator.expr(a, ctx) for a in node.args]
    if len(args) != 1 or node.named or args[0].ty.base != INTEGER.base:
        raise elaborator.error("S270", f"`{enum.name}` takes one Integer, the number of a literal", node, ctx)
    literals: list[Expr] = [Enum(enum, i + 1) for i in range(len(enum.literals))]
    if isinstance(args[0], Int) and not 1 <= args[0].value <= len(literals):
        text = f"`{enum.name}` has {counted(len(literals), 'literal')}, none with the number {args[0].value}"
        raise elaborator.error("S250", text, node, ctx)
    return make.index(make.array(literals), (args[0],))

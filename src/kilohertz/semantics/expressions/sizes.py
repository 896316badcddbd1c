"""Sizes that an expression of a function gets where a call tells those of its inputs."""

from __future__ import annotations

from collections.abc import Mapping

from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS, builtin_type
from kilohertz.ir.expr import Builtin, Comprehension, Expr, Int, Ref


def sized(e: Expr, known: Mapping[str, Expr]) -> Expr:
    """`e` with variables replaced, and every type by the sizes of what it is made of."""

    def typed(node: Expr) -> Expr:
        if isinstance(node, Ref):
            return known.get(node.name, node)
        if isinstance(node, Builtin) and node.name == "size" and len(node.args) == 2:
            return _size(node)
        if isinstance(node, Builtin) and None in node.ty.dims and node.name in BUILTINS:
            return Builtin(node.name, node.args, builtin_type(node.name, node.args))
        if isinstance(node, Comprehension) and not node.op and len(node.iterators) == 1:
            ((_, over),) = node.iterators
            ty = node.body.ty.array_of(*over.ty.dims[:1])
            return Comprehension(node.op, node.body, node.iterators, ty)
        return make.folded(node)

    return traverse.map_expr(e, typed)


def _size(node: Builtin) -> Expr:
    array, k = node.args
    dims = array.ty.dims
    size = dims[k.value - 1] if isinstance(k, Int) and 1 <= k.value <= len(dims) else None
    return node if size is None else Int(size)

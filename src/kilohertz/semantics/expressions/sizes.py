"""Sizes that an expression of a function gets where a call tells those of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS, builtin_type
from kilohertz.ir.expr import Builtin, Call, Comprehension, Expr, Int, Record, Ref
from kilohertz.ir.types import INTEGER, RecordType, TupleType, Type


def sized(
    e: Expr, known: Mapping[str, Expr], type_of: Callable[[Call], Type], number: Callable[[Expr], int | None]
) -> Expr:
    """`e` with variables replaced, and every type by the sizes of what it is made of.

    `type_of` tells the sizes of calls, `number` the values of those that are asked for (`fill(0, n + 1)`).
    """

    def typed(node: Expr) -> Expr:
        match node:
            case Ref():
                return known.get(node.name, node)
            case Builtin("size", (_, _)):
                return _size(node)
            case Builtin() if None in node.ty.dims and node.name in BUILTINS:
                ty = builtin_type(node.name, node.args)
                args = node.args if None not in ty.dims else tuple(_valued(a, number) for a in node.args)
                return Builtin(node.name, args, builtin_type(node.name, args))
            case Comprehension() if not node.op and len(node.iterators) == 1:
                ((_, over),) = node.iterators
                ty = node.body.ty.array_of(*over.ty.dims[:1])
                return Comprehension(node.op, node.body, node.iterators, ty)
            case Record() if is_open(node.ty):
                return Record(node.fields, _record_type(node))
            case Call() if is_unsized(node.ty):
                return Call(node.function, node.args, type_of(node))
        return make.folded(node)

    return traverse.map_expr(e, typed)


def is_open(ty: Type) -> bool:
    """Whether a record has arrays whose sizes its class leaves open."""
    return isinstance(ty.base, RecordType) and any(None in t.dims or is_open(t) for _, t in ty.base.fields)


def is_unsized(ty: Type) -> bool:
    """Whether a value has open sizes anywhere."""
    if isinstance(ty.base, TupleType):
        return any(is_unsized(t) for t in ty.base.elements)
    return None in ty.dims or is_open(ty)


def is_blank(e: Expr) -> bool:
    """Whether it stands for an array of open size that a body has yet to make: nothing, and of no size."""
    return isinstance(e, Builtin) and e.name == "fill" and None in e.ty.dims and all(type(n) is Int for n in e.args[1:])


def closed(ty: Type, told: Type) -> Type:
    """`ty` with the sizes it leaves open from another type of the same kind."""
    if len(ty.dims) != len(told.dims):
        return ty
    dims = tuple(b if a is None else a for a, b in zip(ty.dims, told.dims, strict=True))
    base = ty.base
    if isinstance(base, RecordType) and isinstance(told.base, RecordType) and base is not told.base:
        others = dict(told.base.fields)
        fields = tuple((n, closed(t, others[n]) if n in others else t) for n, t in base.fields)
        base = RecordType(base.name, fields)
    return Type(base, dims)


def _valued(e: Expr, number: Callable[[Expr], int | None]) -> Expr:
    value = number(e) if e.ty == INTEGER and not isinstance(e, Int) else None
    return e if value is None else Int(value)


def _record_type(node: Record) -> Type:
    assert isinstance(node.ty.base, RecordType)
    names = (n for n, _ in node.ty.base.fields)
    return Type(RecordType(node.ty.base.name, tuple((n, f.ty) for n, f in zip(names, node.fields, strict=True))))


def _size(node: Builtin) -> Expr:
    array, k = node.args
    dims = array.ty.dims
    size = dims[k.value - 1] if isinstance(k, Int) and 1 <= k.value <= len(dims) else None
    return node if size is None else Int(size)

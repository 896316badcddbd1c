"""Arrays and records as rows of scalars: a `Value` is a type with known dimensions and its scalar items in order.

Items are row-major; a record contributes its fields in order, so `{a, b}` of records is all of a, then all of b.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import NamedTuple

from kilohertz.base import InternalError
from kilohertz.ir.expr import Array, Expr, Record
from kilohertz.ir.types import RecordType, TupleType, Type

_TYPES = 4096  # remembered at a time


class Value(NamedTuple):
    ty: Type
    items: tuple[Expr, ...]

    @property
    def scalar(self) -> Expr:
        if len(self.items) != 1:
            raise InternalError(f"a scalar is wanted, not {self.ty}")
        return self.items[0]


def shape(ty: Type) -> tuple[int, ...]:
    dims = tuple(d for d in ty.dims if d is not None)
    if len(dims) != len(ty.dims):
        raise InternalError(f"a dimension of {ty} is not known")
    return dims


def count(dims: tuple[int, ...]) -> int:
    n = 1
    for d in dims:
        n *= d
    return n


@lru_cache(maxsize=_TYPES)
def width(ty: Type) -> int:
    """How many scalars one element of the type has (dimensions not counted)."""
    if isinstance(ty.base, RecordType):
        return sum(size(t) for _, t in ty.base.fields)
    if isinstance(ty.base, TupleType):
        return sum(size(t) for t in ty.base.elements)
    return 1


@lru_cache(maxsize=_TYPES)
def size(ty: Type) -> int:
    """How many scalars a value of the type has."""
    return count(shape(ty)) * width(ty.scalar())


@lru_cache(maxsize=_TYPES)
def leaves(ty: Type) -> tuple[tuple[str, Type], ...]:
    """What to append to a name for each scalar, with its type: `[1,2].T`."""
    element = element_leaves(ty)
    if not ty.dims:
        return element
    suffixes = []
    for position in product(*(range(1, d + 1) for d in shape(ty))):
        subscript = "[" + ",".join(map(str, position)) + "]"
        suffixes += [(subscript + suffix, t) for suffix, t in element]
    return tuple(suffixes)


def element_leaves(ty: Type) -> tuple[tuple[str, Type], ...]:
    if isinstance(ty.base, RecordType):
        return tuple((f".{name}{suffix}", t) for name, ft in ty.base.fields for suffix, t in leaves(ft))
    return (("", ty.scalar()),)


def pack(value: Value) -> Expr:
    """The value as one expression of `Array`s and `Record`s over its scalars."""
    return _packed(value.ty, value.items)


def _packed(ty: Type, items: tuple[Expr, ...]) -> Expr:
    if ty.dims:
        n = shape(ty)[0]
        element = ty.element()
        step = len(items) // n if n else 0
        return Array(tuple(_packed(element, items[i * step : (i + 1) * step]) for i in range(n)), ty)
    if isinstance(ty.base, RecordType):
        fields, at = [], 0
        for _, field_type in ty.base.fields:
            n = size(field_type)
            fields.append(_packed(field_type, items[at : at + n]))
            at += n
        return Record(tuple(fields), ty)
    return items[0]


def field_of(value: Value, name: str) -> Value:
    """One field of a record, or of every record of an array."""
    base = value.ty.base
    assert isinstance(base, RecordType)
    at = 0
    for field_name, field_type in base.fields:
        n = size(field_type)
        if field_name == name:
            step = width(value.ty.scalar())
            dims = shape(value.ty)
            items: tuple[Expr, ...] = ()
            for i in range(count(dims)):
                items += value.items[i * step + at : i * step + at + n]
            return Value(field_type.array_of(*dims), items)
        at += n
    raise InternalError(f"{value.ty} has no field {name}")


def elements(value: Value) -> list[Value]:
    """The elements along the first dimension."""
    n = shape(value.ty)[0]
    ty = value.ty.element()
    step = len(value.items) // n if n else 0
    return [Value(ty, value.items[i * step : (i + 1) * step]) for i in range(n)]


def stacked(parts: list[Value], element: Type) -> Value:
    """An array of values of one shape."""
    ty = parts[0].ty if parts else element
    items: list[Expr] = []
    for part in parts:
        items += part.items
    return Value(ty.array_of(len(parts)), tuple(items))

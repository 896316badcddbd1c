"""Literals and values as expressions: numbers, arrays, records, ranges, zeros of a type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir.expr import FALSE, Array, Bool, Builtin, Enum, Expr, Int, Range, Real, Record, Str
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, STRING, EnumType, RecordType, Type

ZERO, ONE = Real(0.0), Real(1.0)
LITERALS = (Real, Int, Bool, Str, Enum)
_INTEGER, _REAL = INTEGER.base, REAL.base


def is_literal(e: Expr) -> bool:
    """A literal, or an array or record of literals."""
    stack = [e]
    while stack:
        node = stack.pop()
        if isinstance(node, Array | Record):
            stack.extend(node.children())
        elif not isinstance(node, LITERALS):
            return False
    return True


def number(e: Expr) -> float | int | None:
    """The number a literal is; None for anything else."""
    return e.value if type(e) is Real or type(e) is Int else None


def plain(e: Real | Int | Bool | Str | Enum) -> float | int | bool | str:
    """A literal as a value of Python; an enumeration as its position."""
    return e.index if isinstance(e, Enum) else e.value


def to_real(e: Expr) -> Expr:
    """An Integer (or an array of them) as Real; a Real as it is."""
    if e.ty.base != _INTEGER:
        return e
    if isinstance(e, Int):
        return Real(float(e.value))
    if isinstance(e, Array):
        return Array(tuple(to_real(x) for x in e.elements), Type(REAL.base, e.ty.dims))
    return Builtin("real", (e,), Type(REAL.base, e.ty.dims) if e.ty.dims else REAL)


def literal(value: Any, ty: Type) -> Expr:
    """A value as a literal of a type.

    Scalars are Python's; arrays anything with `shape` and `tolist()` (numpy, `interp.ArrayValue`) or nested sequences;
    records are mappings by field name; enumeration values are positions from one.
    """
    if not ty.dims:
        return _scalar_literal(value, ty)
    shape = getattr(value, "shape", None)
    nested = value if shape is None else value.tolist()
    return _array_literal(nested, ty, shape)


def _array_literal(nested: Sequence[Any], ty: Type, shape: tuple[int, ...] | None) -> Expr:
    element = ty.element()
    inner = None if shape is None else shape[1:]
    if not ty.dims[1:]:
        elements = tuple(_scalar_literal(v, element) for v in nested)
    else:
        elements = tuple(_array_literal(v, element, inner) for v in nested)
    if elements:
        return Array(elements, elements[0].ty.array_of(len(elements)))
    dims: tuple[int | None, ...] = shape or (0, *ty.dims[1:])
    return Array((), Type(ty.base, dims))


def _scalar_literal(value: Any, ty: Type) -> Expr:
    base = ty.base
    if value is None:
        raise InternalError(f"no value for a literal of type {ty}")
    if base == _REAL:
        return Real(float(value))
    if base == _INTEGER:
        return Int(int(value))
    if base == BOOLEAN.base:
        return Bool(bool(value))
    if base == STRING.base:
        return Str(str(value))
    if isinstance(base, EnumType):
        return Enum(base, int(value))
    if isinstance(base, RecordType):
        fields = tuple(literal(value[name], field_ty) for name, field_ty in base.fields)
        return Record(fields, ty)
    raise InternalError(f"no literal of type {ty}")


def fill(value: Expr, dims: Sequence[int]) -> Expr:
    """An array with `value` in every element."""
    result = value
    for n in reversed(dims):
        result = Array((result,) * n, result.ty.array_of(n))
    return result


def zeros(ty: Type) -> Expr:
    """Zero of a Real, Integer or Boolean (false) type, or of a record of such, with its dimensions known."""
    base = ty.base
    if base == _REAL:
        scalar: Expr = ZERO
    elif base == _INTEGER:
        scalar = Int(0)
    elif base == BOOLEAN.base:
        scalar = FALSE
    elif isinstance(base, RecordType):
        scalar = Record(tuple(zeros(t) for _, t in base.fields), ty.scalar())
    else:
        raise InternalError(f"no zero of type {ty}")
    return fill(scalar, [_known(n, ty) for n in ty.dims])


def _known(n: int | None, ty: Type) -> int:
    if n is None:
        raise InternalError(f"a dimension of {ty} is not known")
    return n


def array(elements: Sequence[Expr], element_type: Type | None = None) -> Expr:
    """`{a, b, ...}`; Integer elements become Real beside Real ones; an empty one needs its element type."""
    if not elements:
        if element_type is None:
            raise InternalError("an empty array without its type")
        return Array((), element_type.array_of(0))
    if any(e.ty.base == _REAL for e in elements):
        elements = [to_real(e) for e in elements]
    return Array(tuple(elements), elements[0].ty.array_of(len(elements)))


def range_(first: Expr, step: Expr | None, last: Expr) -> Expr:
    """`first:step:last` with its length computed where the bounds are literal."""
    parts = [first, last] if step is None else [first, last, step]
    if any(p.ty.base == _REAL for p in parts):
        first, last = to_real(first), to_real(last)
        step = None if step is None else to_real(step)
    return Range(first, step, last, first.ty.array_of(_range_size(first, step, last)))


def _range_size(first: Expr, step: Expr | None, last: Expr) -> int | None:
    if not (isinstance(first, LITERALS) and isinstance(last, LITERALS) and not isinstance(first, Str)):
        return None
    a, b = plain(first), plain(last)
    by = 1 if step is None else number(step)
    if by is None or by == 0 or isinstance(a, str) or isinstance(b, str):
        return None
    if isinstance(first, Real):
        return max(0, math.floor((b - a) / by * (1 + 1e-15) + 1e-12) + 1)
    return max(0, (int(b) - int(a)) // int(by) + 1)

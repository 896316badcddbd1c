"""Which type can stand for which, and the conversion of Integer to Real (MLS 6, 10.6.13)."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.expr import Array, Expr, Record
from kilohertz.ir.types import EnumType, Primitive, RecordType, TupleType, Type


def coerce(expr: Expr, ty: Type) -> Expr:
    """Integer to Real where a Real is wanted (also inside records and arrays of them)."""
    base, want = expr.ty.base, ty.base
    if base is want or base == want:
        return expr
    if isinstance(want, Primitive) and want.name == "Real" and isinstance(base, Primitive) and base.name == "Integer":
        return make.to_real(expr)
    if isinstance(want, RecordType) and isinstance(base, RecordType) and base.name != want.name:
        return _coerce_record(expr, ty)
    if isinstance(want, RecordType) and isinstance(expr, Record):
        return _coerce_record(expr, ty)
    return expr


def _coerce_record(expr: Expr, ty: Type) -> Expr:
    want = ty.base
    assert isinstance(want, RecordType) and isinstance(expr.ty.base, RecordType)
    have = dict(expr.ty.base.fields)
    if isinstance(expr, Array):
        return make.array([_coerce_record(e, ty.element()) for e in expr.elements], None) if expr.elements else expr
    if expr.ty.dims or not isinstance(expr, Record):
        return expr
    if not all(name in have for name, _ in want.fields):
        return expr
    fields = tuple(coerce(make.field(expr, name), t) for name, t in want.fields)
    record = RecordType(want.name, tuple((n, f.ty) for (n, _), f in zip(want.fields, fields, strict=True)))
    return Record(fields, Type(record))


def compatible(have: Type, want: Type) -> bool:
    """Whether a value of one type can stand for another: equal dimensions where both are known, Integer for Real."""
    if len(have.dims) != len(want.dims):
        return False
    if any(a is not None and b is not None and a != b for a, b in zip(have.dims, want.dims, strict=True)):
        return False
    a, b = have.base, want.base
    if a == b:
        return True
    match a, b:
        case Primitive("Integer"), Primitive("Real"):
            return True
        case RecordType(name, fields), RecordType(other, others):
            if name == other:
                return True
            named = dict(fields)
            return all(n in named and compatible(named[n], t) for n, t in others)
        case TupleType(), TupleType():
            return True
        case EnumType(_, literals), EnumType(_, others):
            return literals == others
    return a == b


def fits(have: Type, want: Type) -> bool:
    """Like `compatible`, with more dimensions allowed in front (vectorised calls)."""
    surplus = len(have.dims) - len(want.dims)
    if surplus < 0:
        return False
    return compatible(Type(have.base, have.dims[surplus:]), want)

"""Subscripts and fields of expressions: their types computed, and folded through arrays, records and one another."""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.base import InternalError
from kilohertz.ir.expr import Array, Colon, Expr, Field, Index, Int, Range, Real, Record
from kilohertz.ir.types import RecordType, Type

__all__ = ["field", "index", "indexed_dims"]


def _number(e: Expr) -> float | int | None:
    return e.value if isinstance(e, Real | Int) else None


def index(base: Expr, subs: Sequence[Expr]) -> Expr:
    """`base[subs]`; subscripts may be fewer than dimensions.  Folds through arrays, records and earlier subscripts.

    A literal subscript out of range stays as it is: the caller knows where to complain.
    """
    subs = tuple(subs)
    while subs and isinstance(subs[-1], Colon):
        subs = subs[:-1]
    if not subs:
        return base
    if isinstance(base, Array):
        return _index_array(base, subs)
    if isinstance(base, Index):
        return index(base.base, _composed(base, subs))
    if isinstance(base, Field):
        n = len(base.base.ty.dims)
        if n and len(subs) >= n and all(not s.ty.dims for s in subs[:n]):
            return index(field(index(base.base, subs[:n]), base.name), subs[n:])
    if isinstance(base, Range):
        picked = _index_range(base, subs[0])
        if picked is not None:
            return picked
    return Index(base, subs, Type(base.ty.base, indexed_dims(base.ty, subs)))


def indexed_dims(ty: Type, subs: tuple[Expr, ...]) -> tuple[int | None, ...]:
    """The dimensions left of a type after subscripts."""
    if len(subs) > len(ty.dims):
        raise InternalError(f"{len(subs)} subscripts on {ty}")
    kept = [n if isinstance(s, Colon) else s.ty.dims[0] for s, n in zip(subs, ty.dims, strict=False) if s.ty.dims]
    return (*kept, *ty.dims[len(subs) :])


def _positions(sub: Expr, n: int) -> list[int] | None:
    """Literal positions a vector subscript picks, or None where they are not all known and in range."""
    if isinstance(sub, Colon):
        return list(range(1, n + 1))
    if isinstance(sub, Array):
        picked = [e.value for e in sub.elements if isinstance(e, Int)]
        if len(picked) < len(sub.elements):
            return None
    elif isinstance(sub, Range):
        first, last, step = _number(sub.first), _number(sub.last), 1 if sub.step is None else _number(sub.step)
        if first is None or last is None or not step:
            return None
        picked = list(range(int(first), int(last) + (1 if step > 0 else -1), int(step)))
    else:
        return None
    return picked if all(1 <= k <= n for k in picked) else None


def _index_array(base: Array, subs: tuple[Expr, ...]) -> Expr:
    first, rest = subs[0], subs[1:]
    if isinstance(first, Int) and 1 <= first.value <= len(base.elements):
        return index(base.elements[first.value - 1], rest)
    picked = _positions(first, len(base.elements)) if first.ty.dims else None
    if picked is None:
        return Index(base, subs, Type(base.ty.base, indexed_dims(base.ty, subs)))
    elements = tuple(index(base.elements[k - 1], rest) for k in picked)
    if elements:
        return Array(elements, elements[0].ty.array_of(len(elements)))
    return Array((), Type(base.ty.base, (0, *indexed_dims(base.ty.element(), rest))))


def _composed(inner: Index, subs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Subscripts on an indexed expression as subscripts on what it indexes."""
    waiting = list(subs)
    composed: list[Expr] = []
    for s in inner.subs:
        if not s.ty.dims or not waiting:
            composed.append(s)
        elif isinstance(s, Colon):
            composed.append(waiting.pop(0))
        else:
            composed.append(index(s, (waiting.pop(0),)))
    return (*composed, *waiting)


def _index_range(base: Range, sub: Expr) -> Expr | None:
    first, step = _number(base.first), 1 if base.step is None else _number(base.step)
    size = base.ty.dims[0]
    if not isinstance(sub, Int) or first is None or step is None or size is None or not 1 <= sub.value <= size:
        return None
    picked = first + (sub.value - 1) * step
    return Int(int(picked)) if isinstance(base.first, Int) else Real(picked)


def field(base: Expr, name: str) -> Expr:
    """`base.name` of a record, or of every record of an array."""
    if isinstance(base, Record):
        assert isinstance(base.ty.base, RecordType)
        for (field_name, _), value in zip(base.ty.base.fields, base.fields, strict=True):
            if field_name == name:
                return value
        raise InternalError(f"record {base.ty} has no field {name}")
    if isinstance(base, Array) and base.elements:
        elements = tuple(field(e, name) for e in base.elements)
        return Array(elements, elements[0].ty.array_of(len(elements)))
    return Field(base, name)

"""Places of a statement that are put together of several variables: records of a model and arrays of them.

(b, k) := push(b, u);  b an array of records   ->   b[1].v, b[1].n, b[2].v, ..., k of the results, all at once
"""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.ir import make
from kilohertz.ir.expr import Array, Expr, Int, Record
from kilohertz.ir.types import RecordType


def parted(target: Expr, value: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The variables of a place, each with its part of the value."""
    if isinstance(target, Record):
        assert isinstance(target.ty.base, RecordType)
        for (name, _), place in zip(target.ty.base.fields, target.fields, strict=True):
            yield from parted(place, make.field(value, name))
    elif isinstance(target, Array):
        for i, place in enumerate(target.elements, 1):
            yield from parted(place, make.index(value, (Int(i),)))
    else:
        yield target, value


def places(targets: tuple[Expr | None, ...]) -> Iterator[Expr]:
    """All variables, elements and fields that are assigned."""
    for target in targets:
        if target is not None:
            yield from (place for place, _ in parted(target, target))


def is_parted(target: Expr | None) -> bool:
    return isinstance(target, (Array, Record))

"""Functions of whole arrays (MLS 10.3) on their scalars, row by row: one meaning for numbers and for expressions.

The evaluator calls them with Python's numbers, scalarising with expressions, each with its own `Arithmetic`.  An
element may be several scalars (a record): sizes of blocks follow from the number of scalars, not from the shape alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[T]):
    """How scalars of one kind are negated, subtracted and multiplied."""

    negative: Callable[[T], T]
    difference: Callable[[T, T], T]
    product: Callable[[T, T], T]


def transpose(shape: Shape, items: Sequence[T]) -> tuple[Shape, list[T]]:
    """The first two dimensions exchanged."""
    n, m, *rest = shape
    block = len(items) // (n * m) if n * m else 0
    if block == 1:
        return (m, n, *rest), [x for j in range(m) for x in items[j::m]]
    places = [(i * m + j) * block for j in range(m) for i in range(n)]
    return (m, n, *rest), [x for at in places for x in items[at : at + block]]


def cat(axis: int, parts: Sequence[tuple[Shape, Sequence[T]]]) -> tuple[Shape, list[T]]:
    """Arrays that agree in all other dimensions joined along one, counted from zero."""
    first, _ = parts[0]
    n_rows = math.prod(first[:axis])
    items: list[T] = []
    for row in range(n_rows):
        for _, scalars in parts:
            width = len(scalars) // n_rows
            items += scalars[row * width : (row + 1) * width]
    return (*first[:axis], sum(shape[axis] for shape, _ in parts), *first[axis + 1 :]), items


def promoted(shape: Shape, n: int) -> Shape:
    """With dimensions of size one put after, up to n."""
    return shape + (1,) * (n - len(shape))


def identity(n: int, one: T, zero: T) -> list[T]:
    return [one if i == j else zero for i in range(n) for j in range(n)]


def diagonal(items: Sequence[T], zero: T) -> list[T]:
    n = len(items)
    return [items[i] if i == j else zero for i in range(n) for j in range(n)]


def symmetric(n: int, items: Sequence[T]) -> list[T]:
    """The upper triangle mirrored."""
    return [items[min(i, j) * n + max(i, j)] for i in range(n) for j in range(n)]


def skew(items: Sequence[T], zero: T, of: Arithmetic[T]) -> list[T]:
    x, y, z = items
    return [zero, of.negative(z), y, z, zero, of.negative(x), of.negative(y), x, zero]


def cross(a: Sequence[T], b: Sequence[T], of: Arithmetic[T]) -> list[T]:
    pairs = ((1, 2), (2, 0), (0, 1))
    return [of.difference(of.product(a[i], b[j]), of.product(a[j], b[i])) for i, j in pairs]


def outer_product(a: Sequence[T], b: Sequence[T], of: Arithmetic[T]) -> list[T]:
    return [of.product(x, y) for x in a for y in b]

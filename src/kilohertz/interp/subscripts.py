"""Reading and writing parts of arrays: subscripts count from one; None stands for a colon."""

from __future__ import annotations

import math
from itertools import product as pairs

from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.values import ArrayValue, Value


def read(array: ArrayValue, subs: list[Value]) -> Value:
    """`array[subs]`."""
    positions, shape = _positions(array, subs)
    data = array.data
    if not shape:
        return data[positions[0]]
    return ArrayValue(shape, [data[k] for k in positions])


def write(array: ArrayValue, subs: list[Value], value: Value) -> None:
    """`array[subs] := value`, in place."""
    positions, shape = _positions(array, subs)
    if not shape:
        array.data[positions[0]] = value
        return
    if not isinstance(value, ArrayValue) or value.shape != shape:
        assigned = list(value.shape) if isinstance(value, ArrayValue) else "a scalar"
        raise EvaluationError(f"assignment of {assigned} to a part of size {list(shape)}")
    for k, x in zip(positions, value.data, strict=True):
        array.data[k] = x


def _positions(array: ArrayValue, subs: list[Value]) -> tuple[list[int], tuple[int, ...]]:
    """Flat positions of the chosen elements, and the shape they form."""
    sizes = array.shape
    if len(subs) > len(sizes):
        raise EvaluationError(f"{len(subs)} subscripts on an array with {len(sizes)} dimensions")
    chosen: list[list[int] | range] = []
    shape: list[int] = []
    for dimension, (n, s) in enumerate(zip(sizes, subs, strict=False), 1):
        if s is None:
            chosen.append(range(n))
            shape.append(n)
        elif isinstance(s, ArrayValue):
            chosen.append([checked(k, n, dimension) for k in s.data])
            shape.append(len(s.data))
        else:
            chosen.append([checked(s, n, dimension)])
    rest = sizes[len(subs) :]
    block = math.prod(rest)
    at = [0]
    for n, picked in zip(sizes, chosen, strict=False):
        at = [a * n + k for a, k in pairs(at, picked)]
    if rest:
        at = [a * block + k for a in at for k in range(block)]
    return at, (*shape, *rest)


def checked(k: int, n: int, dimension: int) -> int:
    """A subscript as an offset from zero."""
    if 1 <= k <= n:
        return k - 1
    raise EvaluationError(f"subscript {k} is out of range 1:{n} in dimension {dimension}")

"""Ranges and comprehensions: what they run over and what becomes of it (MLS 10.4.1, 10.3.4.1)."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from kilohertz.interp.context import Frame
from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.values import ArrayValue, Value, stacked
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type


def maker(ty: Type) -> Callable[[Any, Any, Any], Iterable[Value]]:
    """The function (first, step, last) -> elements for a range of this type."""
    if ty.base == REAL.base:
        return real_range
    return boolean_range if ty.base == BOOLEAN.base else integer_range


def integer_range(first: int, step: int, last: int) -> range:
    """Of Integers or of an enumeration's positions."""
    if step == 0:
        raise EvaluationError("a range with step zero")
    return range(first, last + (1 if step > 0 else -1), step)


def boolean_range(first: bool, _: int, last: bool) -> list[bool]:
    return [bool(k) for k in range(int(first), int(last) + 1)]


def real_range(first: float, step: float, last: float) -> list[float]:
    """`floor((last-first)/step)+1` elements; a last one missed by rounding alone is kept."""
    if step == 0:
        raise EvaluationError("a range with step zero")
    n = math.floor((last - first) / step * (1 + 1e-15) + 1e-12)
    return [first + k * step for k in range(n + 1)]


def spread_over(
    f: Frame, loops: list[tuple[str, Callable[[Frame], Any]]], body: Callable[[Frame], Value]
) -> tuple[list[Value], list[int]]:
    """Values of the body with the last iterator outermost, and the sizes in that order."""
    values: list[Value] = []
    sizes = [0] * len(loops)

    def run(k: int) -> None:
        name, over = loops[k]
        elements = list(over(f))
        sizes[k] = len(elements)
        for x in elements:
            f[name] = x
            if k:
                run(k - 1)
            else:
                values.append(body(f))

    run(len(loops) - 1)
    return values, sizes[::-1]


def _collected(values: list[Value], sizes: list[int], ty: Type) -> Value:
    if not values:
        return ArrayValue((*sizes, *(n or 0 for n in ty.dims[len(sizes) :])), [])
    whole = stacked(values)
    return ArrayValue((*sizes, *whole.shape[1:]), whole.data)


def _summed(values: list[Value], _: list[int], ty: Type) -> Value:
    from kilohertz.interp.operators import elementwise

    if ty.dims and values:
        return reduce(lambda x, y: elementwise(operator.add, x, y), values)
    return reduce(operator.add, values) if values else _number(0, ty)


def _multiplied(values: list[Value], _: list[int], ty: Type) -> Value:
    return reduce(operator.mul, values) if values else _number(1, ty)


def _least(values: list[Value], _: list[int], ty: Type) -> Value:
    return min(values) if values else (2**31 - 1 if ty.base == INTEGER.base else sys.float_info.max)


def _greatest(values: list[Value], _: list[int], ty: Type) -> Value:
    return max(values) if values else (-(2**31) if ty.base == INTEGER.base else -sys.float_info.max)


def _number(n: int, ty: Type) -> Value:
    one = float(n) if ty.base == REAL.base else n
    if ty.dims:
        sizes = tuple(d or 0 for d in ty.dims)
        return ArrayValue(sizes, [one] * math.prod(sizes))
    return one


REDUCTIONS: dict[str, Callable[[list[Value], list[int], Type], Value]] = {
    "": _collected,
    "array": _collected,
    "sum": _summed,
    "product": _multiplied,
    "min": _least,
    "max": _greatest,
}

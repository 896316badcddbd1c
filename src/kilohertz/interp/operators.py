"""Operators on values: scalars with the manners of C's doubles, arrays element by element, matrix products."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.values import ArrayValue, Value

NUMPY_FROM = 1000  # multiplications in a matrix product from which numpy pays


def elementwise(f: Callable[[Any, Any], Any], x: Value, y: Value) -> Value:
    """`f` on every pair of elements; a scalar stands for all elements."""
    if isinstance(x, ArrayValue):
        if isinstance(y, ArrayValue):
            if x.shape != y.shape:
                raise EvaluationError(f"operands of sizes {list(x.shape)} and {list(y.shape)}")
            return ArrayValue(x.shape, list(map(f, x.data, y.data)))
        return ArrayValue(x.shape, [f(a, y) for a in x.data])
    if isinstance(y, ArrayValue):
        return ArrayValue(y.shape, [f(x, b) for b in y.data])
    return f(x, y)


def mapped(f: Callable[[Any], Any], x: Value) -> Value:
    """`f` on every element."""
    if isinstance(x, ArrayValue):
        return ArrayValue(x.shape, list(map(f, x.data)))
    return f(x)


def over_elements(f: Callable[..., Any], args: list[Value]) -> Value:
    """`f` on every row of elements; a scalar stands for all elements."""
    if len(args) == 1:
        return mapped(f, args[0])
    if len(args) == 2:
        return elementwise(f, args[0], args[1])
    arrays = [a for a in args if isinstance(a, ArrayValue)]
    if not arrays:
        return f(*args)
    shape, n = arrays[0].shape, len(arrays[0].data)
    if any(a.shape != shape for a in arrays):
        raise EvaluationError(f"operands of sizes {', '.join(str(list(a.shape)) for a in arrays)}")
    columns = [a.data if isinstance(a, ArrayValue) else [a] * n for a in args]
    return ArrayValue(shape, list(map(f, *columns)))


def dot(x: list[Any], y: list[Any], zero: Any) -> Any:
    """Sum of products, from left to right without compensation, as the generated code adds."""
    return reduce(operator.add, map(operator.mul, x, y)) if x else zero


def product(x: Value, y: Value, zero: Any = 0.0) -> Value:
    """`x * y`: scalars, scaling, and the products of vectors and matrices (MLS 10.6.4)."""
    if not isinstance(x, ArrayValue) or not isinstance(y, ArrayValue):
        return elementwise(operator.mul, x, y)
    if x.shape[-1] != y.shape[0] or len(x.shape) > 2 or len(y.shape) > 2:
        raise EvaluationError(f"product of arrays of sizes {list(x.shape)} and {list(y.shape)}")
    k = x.shape[-1]
    rows = [x.data[i : i + k] for i in range(0, len(x.data), k)] if k else [[]] * math.prod(x.shape[:-1])
    m = math.prod(y.shape[1:])
    if len(rows) * m * k > NUMPY_FROM and isinstance(x.data[0], float):
        return _large_product(x, y)
    columns = [y.data[j::m] for j in range(m)]
    shape = x.shape[:-1] + y.shape[1:]
    data = [dot(row, column, zero) for row in rows for column in columns]
    return ArrayValue(shape, data) if shape else data[0]


def _large_product(x: ArrayValue, y: ArrayValue) -> Value:
    result = x.to_numpy() @ y.to_numpy()
    return ArrayValue.of(result) if result.shape else float(result)


def matrix_power(x: Value, n: int) -> Value:
    """A square matrix to a non-negative Integer power."""
    if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
        raise EvaluationError(f"power of an array of size {list(x.shape)}")
    if n < 0:
        raise EvaluationError(f"a matrix to the power {n}")
    size = x.shape[0]
    result = ArrayValue(x.shape, [1.0 if i == j else 0.0 for i in range(size) for j in range(size)])
    base = x
    while n:
        if n & 1:
            result = product(result, base)
        n >>= 1
        if n:
            base = product(base, base)
    return result

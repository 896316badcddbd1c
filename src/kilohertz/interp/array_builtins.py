"""Built-in functions of whole arrays on values (MLS 10.3), by name; those of scalars are in `ir/builtins.py`.

Arguments come in the order of the language's signature; optional ones may only be missing at the end, except for
`String`, which tells them apart by their types.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.operators import over_elements
from kilohertz.interp.values import ArrayValue, Value, stacked
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.rules import array_functions
from kilohertz.ir.rules.arithmetic import maximum, minimum

_NUMBERS: array_functions.Arithmetic[Any] = array_functions.Arithmetic(operator.neg, operator.sub, operator.mul)

# ----------------------------------------------------------------------------------------------------- sizes and shapes


def size(a: Value, dimension: int | None = None) -> Value:
    shape = a.shape if isinstance(a, ArrayValue) else ()
    if dimension is None:
        return ArrayValue((len(shape),), list(shape))
    if not 1 <= dimension <= len(shape):
        raise EvaluationError(f"size(..., {dimension}) of an array with {len(shape)} dimensions")
    return shape[dimension - 1]


def ndims(a: Value) -> int:
    return len(a.shape) if isinstance(a, ArrayValue) else 0


def scalar(a: Value) -> Value:
    if not isinstance(a, ArrayValue):
        return a
    if len(a.data) != 1:
        raise EvaluationError(f"scalar() of an array of size {list(a.shape)}")
    return a.data[0]


def vector(a: Value) -> ArrayValue:
    if not isinstance(a, ArrayValue):
        return ArrayValue((1,), [a])
    if sum(n != 1 for n in a.shape) > 1:
        raise EvaluationError(f"vector() of an array of size {list(a.shape)}")
    return ArrayValue((len(a.data),), a.data)


def matrix(a: Value) -> ArrayValue:
    if not isinstance(a, ArrayValue):
        return ArrayValue((1, 1), [a])
    if any(n != 1 for n in a.shape[2:]):
        raise EvaluationError(f"matrix() of an array of size {list(a.shape)}")
    return ArrayValue((*a.shape, 1, 1)[:2], a.data)


def promote(a: Value, n: int) -> Value:
    """`a` with dimensions of size one put after, up to n."""
    if not isinstance(a, ArrayValue):
        return ArrayValue((1,) * n, [a]) if n else a
    return ArrayValue(array_functions.promoted(a.shape, n), a.data)


def cat(k: int, *arrays: ArrayValue) -> ArrayValue:
    """Arrays joined along dimension k."""
    first = arrays[0].shape
    for a in arrays:
        if a.shape[: k - 1] != first[: k - 1] or a.shape[k:] != first[k:]:
            raise EvaluationError(f"cat({k}, ...) of sizes {list(first)} and {list(a.shape)}")
    return ArrayValue(*array_functions.cat(k - 1, [(a.shape, a.data) for a in arrays]))


def transpose(a: ArrayValue) -> ArrayValue:
    """The first two dimensions exchanged."""
    return ArrayValue(*array_functions.transpose(a.shape, a.data))


# ------------------------------------------------------------------------------------------------------- constructors


def fill(value: Value, *dims: int) -> Value:
    if any(n < 0 for n in dims):
        raise EvaluationError(f"an array of size {list(dims)}")
    count = math.prod(dims)
    if isinstance(value, ArrayValue):
        return ArrayValue(dims + value.shape, value.data * count)
    return ArrayValue(dims, [value] * count)


def zeros(*dims: int) -> Value:
    return fill(0, *dims)


def ones(*dims: int) -> Value:
    return fill(1, *dims)


def identity(n: int) -> ArrayValue:
    return ArrayValue((n, n), array_functions.identity(n, 1, 0))


def diagonal(v: ArrayValue) -> ArrayValue:
    n = len(v.data)
    return ArrayValue((n, n), array_functions.diagonal(v.data, type(v.data[0])(0) if n else 0))


def linspace(first: float, last: float, n: int) -> ArrayValue:
    if n < 2:
        raise EvaluationError(f"linspace with {n} points")
    return ArrayValue((n,), [first + (last - first) * i / (n - 1) for i in range(n)])


def array(*parts: Value) -> ArrayValue:
    return stacked(list(parts))


# --------------------------------------------------------------------------------------------- reductions and products


def total(a: Value) -> Value:
    """Sum from left to right."""
    return reduce(operator.add, a.data) if a.data else 0


def product_of(a: Value) -> Value:
    return reduce(operator.mul, a.data) if a.data else 1


def smallest(a: ArrayValue) -> Value:
    """Of all elements; of none the greatest number there is (MLS 10.3.4)."""
    return reduce(minimum, a.data) if a.data else sys.float_info.max


def largest(a: ArrayValue) -> Value:
    return reduce(maximum, a.data) if a.data else -sys.float_info.max


def outer_product(x: ArrayValue, y: ArrayValue) -> ArrayValue:
    return ArrayValue((len(x.data), len(y.data)), array_functions.outer_product(x.data, y.data, _NUMBERS))


def symmetric(a: ArrayValue) -> ArrayValue:
    """The matrix with its upper triangle mirrored."""
    return ArrayValue(a.shape, array_functions.symmetric(a.shape[0], a.data))


def cross(x: ArrayValue, y: ArrayValue) -> ArrayValue:
    return ArrayValue((3,), array_functions.cross(x.data, y.data, _NUMBERS))


def skew(x: ArrayValue) -> ArrayValue:
    return ArrayValue((3, 3), array_functions.skew(x.data, type(x.data[0])(0), _NUMBERS))


WHOLE: dict[str, Callable[..., Any]] = {
    "size": size,
    "ndims": ndims,
    "scalar": scalar,
    "vector": vector,
    "matrix": matrix,
    "promote": promote,
    "cat": cat,
    "transpose": transpose,
    "fill": fill,
    "zeros": zeros,
    "ones": ones,
    "identity": identity,
    "diagonal": diagonal,
    "linspace": linspace,
    "array": array,
    "sum": total,
    "product": product_of,
    "min": smallest,
    "max": largest,
    "outerProduct": outer_product,
    "symmetric": symmetric,
    "cross": cross,
    "skew": skew,
}


def by_name(name: str) -> Callable[..., Any] | None:
    """A built-in function on values, elementwise where the language has it so (MLS 12.4.6); None for no such one."""
    function, whole = BUILTINS.get(name), WHOLE.get(name)
    if function is None or function.value is None:
        return whole
    value, count = function.value, function.count

    def apply(*args: Value) -> Value:
        return over_elements(value, list(args)) if whole is None or len(args) == count else whole(*args)

    return apply

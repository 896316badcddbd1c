"""Scalar arithmetic of the language on Python's numbers: the one place where `/`, `^`, div, mod, ... have a meaning.

Reals are floats with the manners of C's doubles: what is too large is infinite.  What has no value at all (a division
by zero, a root of something negative) raises `EvaluationError` and stays for whoever can tell the user where.  The
results are those of the generated C (`khz_math.h`): to the bit, functions of the C library to its last digits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

LARGEST, SMALLEST = 2**31 - 1, -(2**31)  # Integers have 32 bits


class EvaluationError(Exception):
    """The expression is wrong for these values: division by zero, subscript out of range, a failed assert, ...

    `calls` lists the functions it happened in, innermost first.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.calls: list[str] = []

    def __str__(self) -> str:
        if not self.calls:
            return self.message
        shown = self.calls if len(self.calls) <= 6 else [*self.calls[:3], "...", *self.calls[-2:]]
        return f"{self.message} (in {', called by '.join(shown)})"


# ---------------------------------------------------------------------------------------------------------- operators


def divide(x: float, y: float) -> float:
    """`x / y`."""
    if y == 0:
        raise EvaluationError(f"division by zero: {x!r} / {y!r}")
    return x / y


def power(x: float, y: float) -> float:
    """`x ^ y`."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        raise EvaluationError(f"{x!r} ^ {y!r} is not defined") from None


RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "<>": operator.ne,
}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": divide,
    "^": power,
    "and": lambda x, y: x and y,
    "or": lambda x, y: x or y,
    **RELATIONS,
}


def is_integer(x: int) -> bool:
    """Within the 32 bits of the language's Integers."""
    return SMALLEST <= x <= LARGEST


def checked(x: int) -> int:
    """An Integer result; beyond 32 bits there is none."""
    if SMALLEST <= x <= LARGEST:
        return x
    raise EvaluationError(f"{x} is beyond the Integers of 32 bits")


# ---------------------------------------------------------------------------------------------------------- functions


def of_library(f: Callable[[float], float]) -> Callable[[float], float]:
    """A function of <math.h>: errors of its domain speak of the model, overflow is infinite."""

    def call(x: float) -> float:
        try:
            return f(x)
        except ValueError:
            raise EvaluationError(f"{f.__name__}({x!r}) is not defined") from None
        except OverflowError:  # exp, sinh, cosh; sinh alone keeps the sign
            return math.copysign(math.inf, x) if f is math.sinh else math.inf

    return call


def sign(x: float) -> int:
    return (x > 0) - (x < 0)


def minimum(x: Any, y: Any) -> Any:
    return x if x < y else y


def maximum(x: Any, y: Any) -> Any:
    return x if x > y else y


def floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def ceil(x: float) -> float:
    return float(math.ceil(x)) if math.isfinite(x) else x


def truncate(x: float) -> float:
    return float(math.trunc(x)) if math.isfinite(x) else x


def integer(x: float) -> int:
    """The largest Integer not above x."""
    if not math.isfinite(x) or not is_integer(math.floor(x)):
        raise EvaluationError(f"integer({x!r}) is not defined")
    return math.floor(x)


def div(x: float, y: float) -> float:
    """Quotient with the fraction cut off."""
    if y == 0:
        raise EvaluationError(f"div({x}, {y}): division by zero")
    if isinstance(x, int) and isinstance(y, int):
        quotient = abs(x) // abs(y)
        return checked(quotient if (x < 0) == (y < 0) else -quotient)
    return truncate(x / y)


def mod(x: float, y: float) -> float:
    """`x - floor(x/y)*y`."""
    if y == 0:
        raise EvaluationError(f"mod({x}, {y}): division by zero")
    if isinstance(x, int) and isinstance(y, int):
        return x % y
    return x - floor(x / y) * y


def rem(x: float, y: float) -> float:
    """`x - div(x, y)*y`."""
    if y == 0:
        raise EvaluationError(f"rem({x}, {y}): division by zero")
    if isinstance(x, int) and isinstance(y, int):
        return x - y * div(x, y) if y != -1 else 0
    return x - truncate(x / y) * y


def semi_linear(x: float, positive: float, negative: float) -> float:
    return positive * x if x >= 0 else negative * x


def subscript(k: int, size: int) -> int:
    """A subscript, which must be one of 1 to size."""
    if not 1 <= k <= size:
        raise EvaluationError(f"subscript {k} outside 1 to {size}")
    return k

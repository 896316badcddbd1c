"""`String(...)`: values as text (MLS 3.7.1.1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.values import Value
from kilohertz.ir.types import REAL, EnumType, Type

# A C conversion without its `%`: flags, width, precision, conversion.
_FORMAT = re.compile(r"%?([-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|L|q|j|z|t)?([diouxXeEfFgGaAcs])\Z")


def to_text(value: Value, ty: Type, options: Sequence[Value]) -> str:
    """`String(value, ...)`.  Options by position: a string is `format`; for a Real come significantDigits,
    minimumLength, leftJustified, for the others minimumLength, leftJustified; a Boolean is always leftJustified."""
    digits, length, left = 6, 0, True
    numbers = [x for x in options if isinstance(x, int) and not isinstance(x, bool)]
    for option in options:
        if isinstance(option, str):
            return _formatted(value, option)
        if isinstance(option, bool):
            left = option
    if ty.base == REAL.base:
        digits = numbers.pop(0) if numbers else digits
    length = numbers[0] if numbers else length
    text = _plain(value, ty, digits)
    return text.ljust(length) if left else text.rjust(length)


def _plain(value: Value, ty: Type, digits: int) -> str:
    if isinstance(ty.base, EnumType):
        return ty.base.literals[int(value) - 1]
    if ty.base == REAL.base:
        return f"{float(value):.{max(digits, 1)}g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _formatted(value: Value, format: str) -> str:
    match = _FORMAT.match(format)
    if match is None:
        raise EvaluationError(f'"{format}" is not a format for a number')
    flags, conversion = match.groups()
    if conversion in "dioxXuc":
        value = int(value)
    return str(("%" + flags + ("d" if conversion == "u" else conversion)) % value)

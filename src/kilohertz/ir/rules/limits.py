"""The values that a variable may have, and what says them: by its type, its unit, and by `min` and `max` (MLS 4.8)."""

from __future__ import annotations

import math

from kilohertz.base import Dotted
from kilohertz.base.units import UnitError, quantity
from kilohertz.ir.expr import Bool, Builtin, Enum, Expr, Int, Real, Unary
from kilohertz.ir.types import BOOLEAN, INTEGER, EnumType, Type

_MOST = 2**31 - 1


def constant_value(value: Expr | None) -> float:
    """The number that a constant expression is; NaN where it is none."""
    match value:
        case Real(number) | Int(number):
            return float(number)
        case Bool(flag):
            return float(flag)
        case Enum(_, index):
            return float(index)
        case Unary("-", operand):
            return -constant_value(operand)
        case Builtin("real", (operand,)):
            return constant_value(operand)
        case _:
            return math.nan


def limit(value: Expr | None) -> float | None:
    """A `min` or `max` that is a number; None where there is none, or where it follows from parameters."""
    number = constant_value(value) if value is not None else math.nan
    return None if number != number else number


def setting(ty: Type, unit: str, value: float | str | bool) -> float:
    """The number that a setting means: `5`, `20 mm`, `true`, a literal of an enumeration; ValueError where none."""
    text = str(value).strip()
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    if isinstance(ty.base, EnumType):
        literal = Dotted.read(text).last
        if literal in ty.base.literals:
            return float(ty.base.literals.index(literal) + 1)
    try:
        return quantity(text, unit)
    except UnitError as wrong:
        raise UnitError(_of_its_type(ty) or str(wrong)) from None


def _of_its_type(ty: Type) -> str:
    """What a value of a type that is given by words may be; empty for numbers."""
    if isinstance(ty.base, EnumType):
        literals = ty.base.literals
        return f"it is one of {', '.join(literals)}, or their numbers from 1 to {len(literals)}"
    return "it is true or false" if ty.scalar() == BOOLEAN else ""


def refusal(ty: Type, value: float, least: float | None, most: float | None) -> str:
    """Why a variable of this type, with this min and max, cannot have a value; empty where it can."""
    base = ty.base
    if not math.isfinite(value):
        return "it is not a number"
    if isinstance(base, EnumType):
        if not (value.is_integer() and 1 <= value <= len(base.literals)):
            return _of_its_type(ty)
    elif ty.scalar() == BOOLEAN and value not in (0.0, 1.0):
        return _of_its_type(ty)
    elif ty.scalar() == INTEGER and not (value.is_integer() and abs(value) <= _MOST):
        return "it is an Integer"
    if least is not None and value < least:
        return f"its min is {least:g}"
    if most is not None and value > most:
        return f"its max is {most:g}"
    return ""

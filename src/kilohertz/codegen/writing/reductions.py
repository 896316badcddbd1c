"""Sums, products, least and greatest values: what they begin with, and one step of them in C."""

from __future__ import annotations

from kilohertz.base import InternalError
from kilohertz.codegen.writing.values import is_real
from kilohertz.ir.types import INTEGER, Type


def of_none(op: str, ty: Type) -> str:
    """What a reduction begins with, and gives for no elements (MLS 10.3.4)."""
    limits = {"min": "DBL_MAX", "max": "-DBL_MAX"} if is_real(ty) else {"min": "INT32_MAX", "max": "INT32_MIN"}
    return {"sum": "0", "product": "1", **limits}[op]


def accumulate(name: str, total: str, value: str, ty: Type, context: str) -> str:
    """One step of a reduction."""
    match name:
        case "sum" | "product" if ty == INTEGER:
            return f"{total} = khz_{'add' if name == 'sum' else 'mul'}_int({context}, {total}, {value});"
        case "sum":
            return f"{total} += {value};"
        case "product":
            return f"{total} *= {value};"
        case "min":
            return f"{total} = {value} < {total} ? {value} : {total};"
        case "max":
            return f"{total} = {value} > {total} ? {value} : {total};"
        case _:
            raise InternalError(f"reduction {name}")

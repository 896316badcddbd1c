"""The functions of tests/interp/functions.case and the names that calls of them may use."""

from __future__ import annotations

import re
from pathlib import Path

from kilohertz.ir import Flat, FunctionType, Scope
from kilohertz.ir.types import EnumType, RecordType

_CASE = re.compile(r"^\[case (.*?)\]\n(.*?)^\[expect\]\n(.*?)(?=^\[case|\Z)", re.M | re.S)


def function_cases() -> list[tuple[str, str, str]]:
    """Title, functions, and calls with their values."""
    return _CASE.findall((Path(__file__).parents[1] / "interp" / "functions.case").read_text(encoding="utf-8"))


def scope_of(flat: Flat) -> Scope:
    """Functions, and the enumerations and records in their variables."""
    functions = {
        f.id: FunctionType(tuple((x.name, x.ty) for x in f.inputs), tuple(x.ty for x in f.outputs))
        for f in flat.functions.values()
    }
    scope = Scope({}, functions)
    for f in flat.functions.values():
        for x in (*f.inputs, *f.outputs, *f.locals):
            if isinstance(x.ty.base, EnumType):
                scope.enums[x.ty.base.name] = x.ty.base
            if isinstance(x.ty.base, RecordType):
                scope.records[x.ty.base.name] = x.ty.base
    return scope

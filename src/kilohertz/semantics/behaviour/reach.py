"""What a piece of the flat form reaches: functions it calls, values it assigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from kilohertz.base import Origin
from kilohertz.ir.expr import Call, Expr, FunctionRef, Ref
from kilohertz.ir.flat import Assign, ForStatement, Function, IfStatement, Statement, WhenStatement, WhileStatement
from kilohertz.ir.types import ExternalObjectType


def expressions(item: Any) -> Iterator[Expr]:
    """All expressions in a piece of the flat form."""
    stack = [item]
    while stack:
        at = stack.pop()
        if isinstance(at, Expr):
            yield at
        elif isinstance(at, (list, tuple)) and not isinstance(at, Origin):
            stack.extend(reversed(at))
        elif isinstance(at, dict):
            stack.extend(reversed(list(at.values())))
        elif is_dataclass(at) and not isinstance(at, type):
            stack.extend(getattr(at, f.name) for f in reversed(fields(at)) if f.name not in ("origin", "ty"))


def called(exprs: Iterable[Expr], seen: set[Expr]) -> list[str]:
    """Ids of the functions called, in order of appearance; `seen` nodes are passed over."""
    names: dict[str, None] = {}
    for expr in exprs:
        stack = [expr]
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            if isinstance(at, (Call, FunctionRef)):
                names[at.function] = None
                base = at.ty.base
                if isinstance(base, ExternalObjectType):
                    names[base.destructor] = None
            stack.extend(reversed(at.children()))
    return list(names)


def called_functions(function: Function) -> list[str]:
    parts = [function.inputs, function.outputs, function.locals, function.body, function.external]
    return called(expressions(parts), set())


def assigned_values(statements: list[Statement], name: str) -> Iterator[Expr]:
    """What statements assign to a whole variable."""
    for statement in statements:
        match statement:
            case Assign(Ref() as target, value) if target.name == name:
                yield value
            case IfStatement(branches, otherwise):
                for _, body in branches:
                    yield from assigned_values(body, name)
                yield from assigned_values(otherwise, name)
            case WhenStatement(branches):
                for _, body in branches:
                    yield from assigned_values(body, name)
            case ForStatement() | WhileStatement():
                yield from assigned_values(statement.body, name)

"""What a piece of the flat form reaches: functions it calls, values it assigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from kilohertz.base import Origin
from kilohertz.ir import make
from kilohertz.ir.expr import Call, Expr, Field, FunctionRef, Ref
from kilohertz.ir.flat import (
    Assign,
    ForStatement,
    Function,
    IfStatement,
    Statement,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
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


def assigned_values(statements: list[Statement], name: str, path: tuple[str, ...] = ()) -> Iterator[Expr]:
    """What statements assign to a whole variable, or to one field of it: alone, or with the record it is in."""
    for statement in statements:
        match statement:
            case Assign(TupleTarget(targets), value):
                for k, target in enumerate(targets):
                    if target is not None:
                        yield from _assigned(target, make.item(value, k), name, path)
            case Assign(Expr() as target, value):
                yield from _assigned(target, value, name, path)
            case IfStatement(branches, otherwise):
                for _, body in branches:
                    yield from assigned_values(body, name, path)
                yield from assigned_values(otherwise, name, path)
            case WhenStatement(branches):
                for _, body in branches:
                    yield from assigned_values(body, name, path)
            case ForStatement() | WhileStatement():
                yield from assigned_values(statement.body, name, path)


def _assigned(target: Expr, value: Expr, name: str, path: tuple[str, ...]) -> Iterator[Expr]:
    """What an assignment gives the field: nothing where its target is another one, or an element of an array."""
    above: list[str] = []
    while isinstance(target, Field):
        above.insert(0, target.name)
        target = target.base
    if isinstance(target, Ref) and target.name == name and tuple(above) == path[: len(above)]:
        for step in path[len(above) :]:
            value = make.field(value, step)
        yield value

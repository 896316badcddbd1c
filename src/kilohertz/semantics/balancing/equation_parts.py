"""Equations and statements taken apart: what stands in one itself, what stands in its body, what it assigns."""

from __future__ import annotations

from collections.abc import Iterator

from kilohertz.ir.expr import Array, Expr, Record, Ref
from kilohertz.ir.flat import (
    Assert,
    Assign,
    CallEquation,
    Equality,
    Equation,
    ForStatement,
    IfEquation,
    IfStatement,
    Reinit,
    Statement,
    TupleTarget,
    WhenEquation,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.types import Type


def expressions(part: Equation | Statement) -> Iterator[Expr]:
    """The expressions of an equation or statement itself, not of its body; messages are left out."""
    match part:
        case Equality(left, right) | Assign(left, right):
            if isinstance(left, TupleTarget):
                yield from (e for e in left.elements if e is not None)
            else:
                yield left
            yield right
        case IfEquation(branches) | WhenEquation(branches):
            yield from (condition for condition, _ in branches)
        case IfStatement(choices) | WhenStatement(choices):
            yield from (condition for condition, _ in choices)
        case ForStatement(_, one) | WhileStatement(one) | Assert(one) | CallEquation(one):
            yield one
        case Reinit(target, value):
            yield target
            yield value
        case _:
            pass


def bodies(part: Equation | Statement) -> Iterator[Equation | Statement]:
    """The equations or statements directly inside one, branch after branch."""
    match part:
        case IfEquation(branches, otherwise):
            yield from (e for _, body in branches for e in body)
            yield from otherwise
        case IfStatement(choices, rest):
            yield from (s for _, body in choices for s in body)
            yield from rest
        case WhenEquation(branches):
            yield from (e for _, body in branches for e in body)
        case WhenStatement(choices):
            yield from (s for _, body in choices for s in body)
        case ForStatement(_, _, body) | WhileStatement(_, body):
            yield from body
        case _:
            pass


def assignments(statements: list[Statement]) -> Iterator[tuple[Expr | TupleTarget, Expr]]:
    """Every assignment, however deep, with its target."""
    pending = statements[::-1]
    while pending:
        match pending.pop():
            case Assign(target, value):
                yield target, value
            case IfStatement(branches, otherwise):
                pending += [s for _, body in branches for s in body] + otherwise
            case WhenStatement(branches):
                pending += [s for _, body in branches for s in body]
            case ForStatement(_, _, body) | WhileStatement(_, body):
                pending += body
            case _:
                pass


def assigned_variables(target: Expr | TupleTarget) -> Iterator[tuple[str, Type]]:
    """The whole variables that an assignment reaches."""
    parts = [e for e in target.elements if e is not None] if isinstance(target, TupleTarget) else [target]
    while parts:
        part = parts.pop()
        match part:
            case Ref(name, ty):
                yield name, ty
            case Array(elements):
                parts += elements
            case Record(fields):
                parts += fields
            case _:
                parts += part.children()[:1]

"""Which functions an expression or a function calls."""

from __future__ import annotations

from collections.abc import Iterable

from kilohertz.ir.expr import Call, Expr, FunctionRef
from kilohertz.ir.flat import (
    Assert,
    Assign,
    CallEquation,
    ForStatement,
    Function,
    IfStatement,
    Reinit,
    Statement,
    Terminate,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.types import ExternalObjectType, Type


def called_in_expressions(roots: Iterable[Expr]) -> list[str]:
    """Ids of functions called or handed over, and constructors and destructors of external objects met."""
    seen: set[Expr] = set()
    called: dict[str, None] = {}
    stack = list(roots)
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, (Call, FunctionRef)):
            called[e.function] = None
        _of_type(e.ty, called)
        stack.extend(e.children())
    return list(called)


def _of_type(ty: Type, called: dict[str, None]) -> None:
    if isinstance(ty.base, ExternalObjectType):
        called[ty.base.constructor] = None
        called[ty.base.destructor] = None


def called_in_function(f: Function) -> list[str]:
    roots: list[Expr] = list(statement_expressions(f.body))
    for local in (*f.inputs, *f.outputs, *f.locals):
        if local.default is not None:
            roots.append(local.default)
        roots += [d for d in local.dims if isinstance(d, Expr)]
    return called_in_expressions(roots)


def statement_expressions(body: Iterable[Statement]) -> list[Expr]:
    """Every expression in statements, nested ones included."""
    expressions: list[Expr] = []
    stack: list[Statement] = list(body)
    while stack:
        s = stack.pop()
        match s:
            case Assign(target, value):
                expressions.append(value)
                if isinstance(target, TupleTarget):
                    expressions += [t for t in target.elements if t is not None]
                else:
                    expressions.append(target)
            case IfStatement(branches, otherwise):
                expressions += [c for c, _ in branches]
                stack += [x for _, b in branches for x in b]
                stack += otherwise
            case WhenStatement(branches):
                expressions += [c for c, _ in branches]
                stack += [x for _, b in branches for x in b]
            case ForStatement(_, over, inner):
                expressions.append(over)
                stack += inner
            case WhileStatement(condition, inner):
                expressions.append(condition)
                stack += inner
            case Assert(condition, message):
                expressions += [condition, message]
            case Terminate(message):
                expressions.append(message)
            case Reinit(target_, value):
                expressions += [target_, value]
            case CallEquation(call):
                expressions.append(call)
            case _:
                pass
    return expressions


def asserts(body: Iterable[Statement]) -> bool:
    """Whether there is an assertion among statements, nested ones included."""
    for s in body:
        match s:
            case Assert():
                return True
            case IfStatement(branches, otherwise):
                if any(asserts(b) for _, b in branches) or asserts(otherwise):
                    return True
            case ForStatement() | WhileStatement():
                if asserts(s.body):
                    return True
    return False

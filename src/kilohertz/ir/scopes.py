"""Which operands of an expression are evaluated on a condition only, and what may fail there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, Self, TypeVar

from kilohertz.ir.expr import Binary, Builtin, Call, Comprehension, Expr, IfExp, Index


class Nested(Protocol):
    """A scope in a tree of them; the outermost has depth 0 and no parent."""

    @property
    def parent(self) -> Self | None: ...

    @property
    def depth(self) -> int: ...


_Scope = TypeVar("_Scope", bound=Nested)


def common(a: _Scope, b: _Scope) -> _Scope:
    """The innermost scope around both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.parent is not None
            a = a.parent
        else:
            assert b.parent is not None
            b = b.parent
    return a


def is_certain(home: _Scope, scopes: Iterable[_Scope], other: Mapping[_Scope, _Scope]) -> bool:
    """Whether what is used in some scopes is computed whenever `home` is: there, or in both branches of an `if`.

    `other`: of a branch the other one.
    """
    certain: set[_Scope] = set()
    stack = list(scopes)
    while stack:
        scope = stack.pop()
        if scope is home:
            return True
        certain.add(scope)
        if other.get(scope) in certain and scope.parent is not None:
            stack.append(scope.parent)
    return False


def opens_scope(node: Expr, child: int) -> bool:
    """Whether an operand stands in a scope of its own: a branch, the right side of `and`/`or`, the body of a loop."""
    match node:
        case IfExp():
            return child > 0
        case Binary("and" | "or", _, _):
            return child == 1
        case Comprehension():
            return child == 0
        case _:
            return False


def opens_scopes(node: Expr) -> bool:
    """Whether one of its operands does."""
    kind = type(node)
    return kind is IfExp or kind is Comprehension or (isinstance(node, Binary) and node.op in ("and", "or"))


def is_checked(node: Expr) -> bool:
    """A call, or a subscript that has to be in its bounds."""
    return isinstance(node, (Call, Index)) or (isinstance(node, Builtin) and node.name == "$subscript")

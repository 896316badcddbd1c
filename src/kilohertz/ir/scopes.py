"""Which operands of an expression are evaluated on a condition only, and what may fail there."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Protocol, Self, TypeVar

from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Binary, Builtin, Call, Comprehension, Expr, IfExp, Index, Int, Range, Ref, Unary
from kilohertz.ir.types import INTEGER, Type

_MOST_HOMES = 16  # scopes in each of which one value is computed, ...
_MOST_WRITTEN = 256  # ... and of what stands in more places as it is written
_SUMS = frozenset({"sum", "product"})
_DIVISIONS = frozenset({"div", "mod", "rem"})


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


def certain(scopes: Iterable[_Scope], other: Mapping[_Scope, _Scope]) -> list[_Scope]:
    """The outermost scopes in which what is used in some scopes is needed whatever further conditions say: it is used
    there, or in both branches of an `if`.  Each use is in one of them.

    `other`: of a branch the other one.
    """
    found = dict.fromkeys(scopes)
    stack = list(found)
    while stack:
        scope = stack.pop()
        outer = scope.parent
        if outer is not None and outer not in found and other.get(scope) in found:
            found[outer] = None
            stack.append(outer)
    return list(found) if len(found) < 2 else [scope for scope in found if around(scope.parent, found) is None]


def around(scope: _Scope | None, scopes: Container[_Scope]) -> _Scope | None:
    """The innermost one of some scopes that is this scope, or around it."""
    while scope is not None and scope not in scopes:
        scope = scope.parent
    return scope


def most_homes(order: Iterable[Expr]) -> dict[Expr, int]:
    """In how many scopes each node may be computed that may fail: as many as it, or what it is a part of, has places.

    Parents first.  What chains of values in branches of branches multiply has fewer places than homes.
    """
    places: dict[Expr, int] = {}
    most: dict[Expr, int] = {}
    for e in order:
        here = max(_MOST_HOMES, most.get(e, 0), min(_MOST_WRITTEN, places.get(e, 0)))
        most[e] = here
        for child in e.children():
            places[child] = places.get(child, 0) + 1
            most[child] = max(most.get(child, 0), here)
    return most


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


def may_fail(node: Expr) -> bool:
    """Whether a node may fail, its operands apart; what a condition guards is then not computed without it.

    Calls; subscripts that have to be in their bounds; numbers that have to be Integers, and divisions of them; ranges,
    and arrays whose size the run finds.
    """
    match node:
        case Ref():
            return False
        case Binary(_, left, right):
            return _is_integer(node.ty) or None in left.ty.dims or None in right.ty.dims
        case Call() | Index():
            return True
        case Unary("-", operand):
            return None in node.ty.dims or (_is_integer(node.ty) and not isinstance(operand, Int))
        case Builtin():
            return None in node.ty.dims or _function_fails(node)
        case Comprehension(op):
            return None in node.ty.dims or (op in _SUMS and _is_integer(node.ty))
        case Range():
            return not all(isinstance(part, Int) for part in node.children())
        case _:
            return None in node.ty.dims


def _is_integer(ty: Type) -> bool:
    return ty.base is INTEGER.base


def _function_fails(node: Builtin) -> bool:
    """A text may have a wrong format, and a function fails whose spelling in C has a context to say so in."""
    name, args = node.name, node.args
    function = BUILTINS.get(name)
    if name == "String" or (name in _SUMS and _is_integer(args[0].ty)):
        return True
    if function is None or (name in _DIVISIONS and isinstance(args[1], Int) and args[1].value not in (0, -1)):
        return False
    is_integer = bool(function.c_integers) and all(_is_integer(a.ty) for a in args)
    return "{c}" in (function.c_integers if is_integer else function.c)

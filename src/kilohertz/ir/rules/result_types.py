"""Types of operators and of the results of built-in functions, from their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from kilohertz.ir.expr import Expr, Int
from kilohertz.ir.rules.arithmetic import RELATIONS
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, TupleType, Type

TypeRule: TypeAlias = Callable[[Sequence[Expr]], Type]


def binary_type(op: str, a: Type, b: Type) -> Type:
    """The type of `a op b`, the operands being as the contract of `expr` wants them."""
    if op in RELATIONS:
        return BOOLEAN
    if op == "*" and a.dims and b.dims:
        return Type(a.base, a.dims[:-1] + b.dims[1:])
    if op == "^":
        return a
    if a.dims and b.dims and len(a.dims) == len(b.dims):
        return Type(a.base, tuple(y if x is None else x for x, y in zip(a.dims, b.dims, strict=True)))
    return Type(a.base, a.dims or b.dims)


def like_first(args: Sequence[Expr]) -> Type:
    return args[0].ty


def like_last(args: Sequence[Expr]) -> Type:
    return args[-1].ty


def alike(args: Sequence[Expr]) -> Type:
    """Elementwise, of the base of the first."""
    return Type(args[0].ty.base, next((a.ty.dims for a in args if a.ty.dims), ()))


def constant(ty: Type) -> TypeRule:
    return lambda args: ty


def elementwise(ty: Type) -> TypeRule:
    return lambda args: Type(ty.base, args[0].ty.dims or (args[-1].ty.dims if len(args) > 1 else ()))


def reduced(args: Sequence[Expr]) -> Type:
    return args[0].ty.scalar()


def size_of(e: Expr) -> int | None:
    return e.value if isinstance(e, Int) else None


def size(args: Sequence[Expr]) -> Type:
    return INTEGER if len(args) == 2 else INTEGER.array_of(len(args[0].ty.dims))


def filled(args: Sequence[Expr]) -> Type:
    return args[0].ty.array_of(*map(size_of, args[1:]))


def sized_integer(args: Sequence[Expr]) -> Type:
    return INTEGER.array_of(*map(size_of, args))


def identity(args: Sequence[Expr]) -> Type:
    return INTEGER.array_of(size_of(args[0]), size_of(args[0]))


def diagonal(args: Sequence[Expr]) -> Type:
    n = args[0].ty.dims[0]
    return Type(args[0].ty.base, (n, n))


def transposed(args: Sequence[Expr]) -> Type:
    n, m, *rest = args[0].ty.dims
    return Type(args[0].ty.base, (m, n, *rest))


def outer_product(args: Sequence[Expr]) -> Type:
    return Type(args[0].ty.base, (args[0].ty.dims[0], args[1].ty.dims[0]))


def vector(args: Sequence[Expr]) -> Type:
    dims = args[0].ty.dims
    longer = [n for n in dims if n != 1]
    return Type(args[0].ty.base, (longer[0] if longer else 1,))


def matrix(args: Sequence[Expr]) -> Type:
    return Type(args[0].ty.base, (*args[0].ty.dims, 1, 1)[:2])


def promoted(args: Sequence[Expr]) -> Type:
    n = size_of(args[1])
    dims = args[0].ty.dims
    return Type(args[0].ty.base, dims + (1,) * ((n or len(dims)) - len(dims)))


def joined(args: Sequence[Expr]) -> Type:
    first, k = args[1].ty, size_of(args[0])
    if k is None:
        return Type(first.base, (None,) * len(first.dims))
    sizes = [a.ty.dims[k - 1] for a in args[1:]]
    total = None if None in sizes else sum(n for n in sizes if n is not None)
    return Type(first.base, (*first.dims[: k - 1], total, *first.dims[k:]))


def skewed(args: Sequence[Expr]) -> Type:
    return Type(args[0].ty.base, (3, 3))


def spaced(args: Sequence[Expr]) -> Type:
    return REAL.array_of(size_of(args[2]))


def listed(args: Sequence[Expr]) -> Type:
    return args[0].ty.array_of(len(args))


def spatial(args: Sequence[Expr]) -> Type:
    """Both ends; in scalar form, with the end in front, one of them."""
    return REAL if isinstance(args[0], Int) else Type(TupleType((REAL, REAL)))

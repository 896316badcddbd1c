"""Types of built-in functions and of operators, from the types of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.base import InternalError
from kilohertz.ir.expr import Expr, Int
from kilohertz.ir.types import BOOLEAN, CLOCK, INTEGER, REAL, STRING, TupleType, Type

_RELATIONS = frozenset({"<", "<=", ">", ">=", "==", "<>"})


def binary_type(op: str, a: Type, b: Type) -> Type:
    """The type of `a op b`, the operands being as the contract of `expr` wants them."""
    if op in _RELATIONS:
        return BOOLEAN
    if op == "*" and a.dims and b.dims:
        return Type(a.base, a.dims[:-1] + b.dims[1:])
    if op == "^":
        return a
    if a.dims and b.dims and len(a.dims) == len(b.dims):
        return Type(a.base, tuple(y if x is None else x for x, y in zip(a.dims, b.dims, strict=True)))
    return Type(a.base, a.dims or b.dims)


def _like_first(args: Sequence[Expr]) -> Type:
    return args[0].ty


def _like_last(args: Sequence[Expr]) -> Type:
    return args[-1].ty


def _constant(ty: Type) -> Callable[[Sequence[Expr]], Type]:
    return lambda args: ty


def _elementwise(ty: Type) -> Callable[[Sequence[Expr]], Type]:
    return lambda args: Type(ty.base, args[0].ty.dims or (args[-1].ty.dims if len(args) > 1 else ()))


def _reduced(args: Sequence[Expr]) -> Type:
    return args[0].ty.scalar()


def _size_of(e: Expr) -> int | None:
    return e.value if isinstance(e, Int) else None


def _size(args: Sequence[Expr]) -> Type:
    return INTEGER if len(args) == 2 else INTEGER.array_of(len(args[0].ty.dims))


def _filled(args: Sequence[Expr]) -> Type:
    return args[0].ty.array_of(*map(_size_of, args[1:]))


def _sized_integer(args: Sequence[Expr]) -> Type:
    return INTEGER.array_of(*map(_size_of, args))


def _identity(args: Sequence[Expr]) -> Type:
    return INTEGER.array_of(_size_of(args[0]), _size_of(args[0]))


def _diagonal(args: Sequence[Expr]) -> Type:
    n = args[0].ty.dims[0]
    return Type(args[0].ty.base, (n, n))


def _transposed(args: Sequence[Expr]) -> Type:
    n, m, *rest = args[0].ty.dims
    return Type(args[0].ty.base, (m, n, *rest))


def _outer_product(args: Sequence[Expr]) -> Type:
    return Type(args[0].ty.base, (args[0].ty.dims[0], args[1].ty.dims[0]))


def _vector(args: Sequence[Expr]) -> Type:
    dims = args[0].ty.dims
    longer = [n for n in dims if n != 1]
    return Type(args[0].ty.base, (longer[0] if longer else 1,))


def _matrix(args: Sequence[Expr]) -> Type:
    return Type(args[0].ty.base, (*args[0].ty.dims, 1, 1)[:2])


def _promoted(args: Sequence[Expr]) -> Type:
    n = _size_of(args[1])
    dims = args[0].ty.dims
    return Type(args[0].ty.base, dims + (1,) * ((n or len(dims)) - len(dims)))


def _joined(args: Sequence[Expr]) -> Type:
    first, k = args[1].ty, _size_of(args[0])
    if k is None:
        return Type(first.base, (None,) * len(first.dims))
    sizes = [a.ty.dims[k - 1] for a in args[1:]]
    total = None if None in sizes else sum(n for n in sizes if n is not None)
    return Type(first.base, (*first.dims[: k - 1], total, *first.dims[k:]))


def _listed(args: Sequence[Expr]) -> Type:
    return args[0].ty.array_of(len(args))


def _spatial(args: Sequence[Expr]) -> Type:
    """Both ends; in scalar form, with the end in front, one of them."""
    return REAL if isinstance(args[0], Int) else Type(TupleType((REAL, REAL)))


_RULES: dict[str, Callable[[Sequence[Expr]], Type]] = {
    **dict.fromkeys(
        ["der", "pre", "previous", "noEvent", "abs", "homotopy", "delay", "hold", "subSample", "superSample"],
        _like_first,
    ),
    **dict.fromkeys(["shiftSample", "backSample", "noClock", "inStream", "actualStream", "symmetric"], _like_first),
    **dict.fromkeys(["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"], _elementwise(REAL)),
    **dict.fromkeys(["exp", "log", "log10", "sqrt", "floor", "ceil", "real", "atan2"], _elementwise(REAL)),
    **dict.fromkeys(["integer", "Integer", "sign"], _elementwise(INTEGER)),
    **dict.fromkeys(["div", "mod", "rem"], _like_first),
    **dict.fromkeys(["edge", "change"], _elementwise(BOOLEAN)),
    **dict.fromkeys(["initial", "terminal", "firstTick"], _constant(BOOLEAN)),
    **dict.fromkeys(["sum", "product", "scalar", "min", "max"], _reduced),
    **dict.fromkeys(["zeros", "ones"], _sized_integer),
    **dict.fromkeys(["cross"], _like_first),
    "skew": lambda args: Type(args[0].ty.base, (3, 3)),
    "smooth": _like_last,
    "semiLinear": _constant(REAL),
    "interval": _constant(REAL),
    "ndims": _constant(INTEGER),
    "String": _constant(STRING),
    "Clock": _constant(CLOCK),
    "sample": _constant(BOOLEAN),
    "sampled": _like_first,  # the clocked `sample`
    "spatialDistribution": _spatial,
    "transport": _constant(REAL),
    "size": _size,
    "fill": _filled,
    "identity": _identity,
    "diagonal": _diagonal,
    "transpose": _transposed,
    "outerProduct": _outer_product,
    "vector": _vector,
    "matrix": _matrix,
    "promote": _promoted,
    "cat": _joined,
    "array": _listed,
    "linspace": lambda args: REAL.array_of(_size_of(args[2])),
}


def builtin_type(name: str, args: Sequence[Expr]) -> Type:
    """The type of a built-in function's result."""
    rule = _RULES.get(name)
    if rule is None:
        raise InternalError(f"no built-in function `{name}`")
    return rule(args)

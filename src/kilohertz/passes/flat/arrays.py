"""Built-in functions and operators on arrays, scalar by scalar (MLS 10.3, 10.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product as positions
from math import prod

from kilohertz.ir import make
from kilohertz.ir.builtins import fold
from kilohertz.ir.expr import Bool, Builtin, Expr, Int, Real
from kilohertz.ir.make import ONE, ZERO, add, mul, neg, sub
from kilohertz.ir.rules import array_functions
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, RecordType, Type
from kilohertz.passes.algebra import simplify_node
from kilohertz.passes.flat.values import Value, count, shape, width

_EXPRESSIONS = array_functions.Arithmetic(neg, sub, mul)


def total(items: Sequence[Expr], ty: Type) -> Expr:
    """A sum; empty ones are zero."""
    if not items:
        return Int(0) if ty == INTEGER else ZERO
    result = items[0]
    for x in items[1:]:
        result = add(result, x)
    return result


def reduced(op: str, items: Sequence[Expr], ty: Type) -> Value:
    """product, min or max of scalars."""
    if op == "product":
        result: Expr = Int(1) if ty == INTEGER else ONE
        for x in items:
            result = mul(result, x)
        return Value(result.ty, (result,))
    if not items:
        limit = 1.7976931348623157e308
        return Value(REAL, (Real(limit if op == "min" else -limit),))
    result = items[0]
    for x in items[1:]:
        result = fold(Builtin(op, (result, x), result.ty))
    return Value(result.ty, (result,))


def elementwise(f: Callable[[Expr, Expr], Expr], a: Value, b: Value) -> Value:
    """One operand may be scalar."""
    like = a if a.ty.dims else b
    xs = a.items if a.ty.dims else a.items * len(b.items)
    ys = b.items if b.ty.dims else b.items * len(a.items)
    if len(xs) != len(ys):
        raise ValueError(f"operands of shapes {a.ty} and {b.ty}")
    items = tuple(f(x, y) for x, y in zip(xs, ys, strict=True))
    base = items[0].ty.base if items else like.ty.base
    return Value(Type(base, like.ty.dims), items)


def vectorised(f: Callable[[tuple[Expr, ...]], Expr], args: list[Value], ty: Type) -> Value:
    """A scalar function over arrays; scalar arguments stand for all elements."""
    like = next(a for a in args if a.ty.dims)
    n = len(like.items)
    columns = [a.items if a.ty.dims else a.items * n for a in args]
    return Value(Type(ty.base, like.ty.dims), tuple(f(row) for row in zip(*columns, strict=True)))


def by_fields(name: str, args: list[Value]) -> Value:
    """An operator of records, such as `previous`, is one of each field; what is no record stands for all fields."""
    like = next(a for a in args if isinstance(a.ty.base, RecordType))
    columns = [a.items if isinstance(a.ty.base, RecordType) else a.items * len(like.items) for a in args]
    rows = zip(like.items, zip(*columns, strict=True), strict=True)
    return Value(like.ty, tuple(fold(Builtin(name, row, x.ty)) for x, row in rows))


def product(a: Value, b: Value) -> Value:
    """The matrix product, with vectors as MLS 10.6.5 has it."""
    da, db = shape(a.ty), shape(b.ty)
    rows = da[0] if len(da) == 2 else 1
    inner = da[-1]
    columns = db[1] if len(db) == 2 else 1
    items = []
    for i in range(rows):
        for j in range(columns):
            terms = [mul(a.items[i * inner + k], b.items[k * columns + j]) for k in range(inner)]
            items.append(simplify_node(total(terms, a.ty.scalar())))
    dims = da[:-1] + db[1:]
    base = items[0].ty.base if items else a.ty.base
    return Value(Type(base, dims), tuple(items))


def power(a: Value, b: Value) -> Value:
    exponent = b.scalar
    if isinstance(exponent, Real) and exponent.value.is_integer():
        exponent = Int(int(exponent.value))
    if not isinstance(exponent, Int) or exponent.value < 0:
        raise ValueError("a matrix power whose exponent is not known")
    result = identity(shape(a.ty)[0], REAL)
    for _ in range(exponent.value):
        result = product(result, a)
    return result


def identity(n: int, ty: Type = INTEGER) -> Value:
    one, zero = (Int(1), Int(0)) if ty == INTEGER else (ONE, ZERO)
    return Value(ty.array_of(n, n), tuple(array_functions.identity(n, one, zero)))


# An element of an array by subscripts that are not known: its elements in order, dimensions, subscripts.
Choose = Callable[[tuple[Expr, ...], tuple[int, ...], tuple[Expr, ...]], Expr]
_MOST_CHOICES = 256


@dataclass(frozen=True, slots=True)
class Indexing:
    """How elements are found: `choose` takes those of arrays that are too large for a choice written out."""

    failure: type[Exception]
    choose: Choose | None = None


def indexed(value: Value, dims: tuple[int, ...], picks: list[Value | None], by: Indexing) -> Value:
    """Subscripts; one that is not literal becomes a choice over all positions."""
    axes: list[tuple[list[Expr], bool]] = []
    for n, pick in zip(dims, picks, strict=False):
        if pick is None:
            axes.append(([Int(i) for i in range(1, n + 1)], True))
        else:
            axes.append((list(pick.items), bool(pick.ty.dims)))
    axes += [([Int(i) for i in range(1, n + 1)], True) for n in dims[len(picks) :]]
    kept = tuple(len(items) for items, vector in axes if vector)
    result: list[Expr] = []
    for position in positions(*(items for items, _ in axes)):
        result += _found(value, dims, position, by)
    return Value(Type(value.ty.base, kept), tuple(result))


def _found(value: Value, dims: tuple[int, ...], position: tuple[Expr, ...], by: Indexing) -> tuple[Expr, ...]:
    step = width(value.ty.scalar())
    open_axes = [axis for axis, sub_ in enumerate(position) if not isinstance(sub_, Int)]
    sizes = tuple(dims[axis] for axis in open_axes)
    if not open_axes or prod(sizes) <= _MOST_CHOICES:
        return _picked(value, dims, position, step, by.failure)
    if by.choose is None:
        raise by.failure(f"a subscript over {prod(sizes)} elements that is not known")
    rows: list[tuple[Expr, ...]] = []
    for at in positions(*(range(1, n + 1) for n in sizes)):
        literal = list(position)
        for axis, i in zip(open_axes, at, strict=True):
            literal[axis] = Int(i)
        rows.append(_picked(value, dims, tuple(literal), step, by.failure))
    subs = tuple(position[axis] for axis in open_axes)
    return tuple(by.choose(items, sizes, subs) for items in zip(*rows, strict=True))


def _picked(
    value: Value, dims: tuple[int, ...], position: tuple[Expr, ...], step: int, failure: type[Exception]
) -> tuple[Expr, ...]:
    at = 0
    for axis, (n, sub_) in enumerate(zip(dims, position, strict=True)):
        if not isinstance(sub_, Int):
            return _chosen(value, dims, position, axis, step, failure)
        if not 1 <= sub_.value <= n:
            raise failure(f"subscript {sub_.value} outside 1 to {n}")
        at = at * n + sub_.value - 1
    return value.items[at * step : (at + 1) * step]


def _chosen(
    value: Value, dims: tuple[int, ...], position: tuple[Expr, ...], axis: int, step: int, failure: type[Exception]
) -> tuple[Expr, ...]:
    n = dims[axis]
    if n == 0:
        raise failure("a subscript of an array without elements")
    rows = [
        _picked(value, dims, (*position[:axis], Int(i), *position[axis + 1 :]), step, failure) for i in range(1, n + 1)
    ]
    chosen = rows[-1] if n > 1 else tuple(map(_nothing, rows[0]))
    for i in range(max(n - 1, 1), 0, -1):
        which = position[axis] if i > 1 else Builtin("$subscript", (position[axis], Int(n)), INTEGER)  # 1 to n, or R717
        here = make.relation("==", which, Int(i))
        chosen = tuple(make.if_(here, x, y) for x, y in zip(rows[i - 1], chosen, strict=True))
    return chosen


def _nothing(e: Expr) -> Expr:
    """In place of the only element, where a subscript is out of its bounds: its own value where there is no other."""
    return ZERO if e.ty == REAL else Int(0) if e.ty == INTEGER else Bool(False) if e.ty == BOOLEAN else e


# ---------------------------------------------------------------------------------------------------------- functions


def _zero(ty: Type) -> Expr:
    return Int(0) if ty.base == INTEGER.base else ZERO


def _literal_ints(values: list[Value]) -> list[int]:
    integers = []
    for v in values:
        e = v.scalar
        if not isinstance(e, Int):
            raise ValueError("a size that is not known")
        integers.append(e.value)
    return integers


def _filled(item: Expr, dims: list[int]) -> Value:
    return Value(item.ty.array_of(*dims), (item,) * count(tuple(dims)))


def _fill(args: list[Value]) -> Value:
    dims = _literal_ints(args[1:])
    return Value(args[0].ty.array_of(*dims), args[0].items * count(tuple(dims)))


def _sum(args: list[Value]) -> Value:
    result = total(args[0].items, args[0].ty.scalar())
    return Value(result.ty, (result,))


def _extreme(name: str) -> Callable[[list[Value]], Value | None]:
    def make(args: list[Value]) -> Value | None:
        if len(args) == 1:
            return reduced(name, args[0].items, args[0].ty.scalar())
        return None

    return make


def _transpose(args: list[Value]) -> Value:
    (a,) = args
    dims, items = array_functions.transpose(shape(a.ty), a.items)
    return Value(Type(a.ty.base, dims), tuple(items))


def _diagonal(args: list[Value]) -> Value:
    (v,) = args
    n = len(v.items)
    return Value(Type(v.ty.base, (n, n)), tuple(array_functions.diagonal(v.items, _zero(v.ty))))


def _cross(args: list[Value]) -> Value:
    a, b = args
    return Value(a.ty, tuple(array_functions.cross(a.items, b.items, _EXPRESSIONS)))


def _skew(args: list[Value]) -> Value:
    (a,) = args
    return Value(Type(a.ty.base, (3, 3)), tuple(array_functions.skew(a.items, _zero(a.ty), _EXPRESSIONS)))


def _outer(args: list[Value]) -> Value:
    a, b = args
    items = array_functions.outer_product(a.items, b.items, _EXPRESSIONS)
    return Value(Type(a.ty.base, (len(a.items), len(b.items))), tuple(items))


def _symmetric(args: list[Value]) -> Value:
    (a,) = args
    return Value(a.ty, tuple(array_functions.symmetric(shape(a.ty)[0], a.items)))


def _linspace(args: list[Value]) -> Value:
    n = _literal_ints(args[2:])[0]
    first, last = make.to_real(args[0].scalar), make.to_real(args[1].scalar)
    width_ = sub(last, first)
    items = [simplify_node(add(first, make.div(mul(width_, Real(float(i))), Real(float(n - 1))))) for i in range(n)]
    return Value(REAL.array_of(n), tuple(items))


def _vector(args: list[Value]) -> Value:
    return Value(Type(args[0].ty.base, (len(args[0].items),)), args[0].items)


def _matrix(args: list[Value]) -> Value:
    dims = shape(args[0].ty)
    two = (dims[0] if dims else 1, dims[1] if len(dims) > 1 else 1)
    return Value(Type(args[0].ty.base, two), args[0].items)


def _promote(args: list[Value]) -> Value:
    n = _literal_ints(args[1:])[0]
    return Value(Type(args[0].ty.base, array_functions.promoted(shape(args[0].ty), n)), args[0].items)


def _cat(args: list[Value]) -> Value:
    axis, parts = _literal_ints(args[:1])[0] - 1, args[1:]
    if any(p.ty.base == REAL.base for p in parts):
        parts = [_real([p]) for p in parts]
    dims, items = array_functions.cat(axis, [(shape(p.ty), p.items) for p in parts])
    return Value(Type(parts[0].ty.base, dims), tuple(items))


def _product_of(args: list[Value]) -> Value:
    return reduced("product", args[0].items, args[0].ty.scalar())


def _real(args: list[Value]) -> Value:
    return Value(Type(REAL.base, args[0].ty.dims), tuple(make.to_real(x) for x in args[0].items))


FUNCTIONS: dict[str, Callable[[list[Value]], Value | None]] = {
    "real": _real,
    "fill": _fill,
    "zeros": lambda args: _filled(Int(0), _literal_ints(args)),
    "ones": lambda args: _filled(Int(1), _literal_ints(args)),
    "identity": lambda args: identity(_literal_ints(args)[0]),
    "diagonal": _diagonal,
    "sum": _sum,
    "product": _product_of,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "transpose": _transpose,
    "cross": _cross,
    "skew": _skew,
    "outerProduct": _outer,
    "symmetric": _symmetric,
    "linspace": _linspace,
    "vector": _vector,
    "matrix": _matrix,
    "promote": _promote,
    "scalar": lambda args: Value(args[0].ty.scalar(), args[0].items),
    "cat": _cat,
}

"""Built-in functions of arrays: sizes, construction, reduction, and products (MLS 10.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.ir import make
from kilohertz.ir.builtins import REDUCTIONS
from kilohertz.ir.expr import Array, Builtin, Expr, Int, Real
from kilohertz.ir.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    Primitive,
    RecordType,
    Type,
)
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import coerce
from kilohertz.semantics.wording import are_given, counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.calls import Calls
    from kilohertz.semantics.expressions.elaborate import Elaborator


Row = Callable[[str, list[Expr], tree.Call, Ctx], Expr]


class ArrayBuiltins:
    """`table` has them by their Modelica names."""

    def __init__(self, elaborator: Elaborator, calls: Calls) -> None:
        self.elaborator, self.calls = elaborator, calls
        self.table: dict[str, Row] = {
            "min": self._extreme,
            "max": self._extreme,
            "sum": self._sum,
            "product": self._sum,
            "size": self._size,
            "ndims": self._ndims,
            "scalar": self._scalar,
            "vector": self._vector,
            "matrix": self._to_matrix,
            "promote": self._promote,
            "transpose": self._transpose,
            "outerProduct": self._outer,
            "symmetric": self._symmetric,
            "identity": self._identity,
            "diagonal": self._diagonal,
            "zeros": self._zeros,
            "ones": self._zeros,
            "fill": self._fill,
            "linspace": self._linspace,
            "cross": self._cross,
            "skew": self._skew,
            "cat": self._cat,
            "array": self._array,
        }

    def _ndims(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        return Int(len(args[0].ty.dims))

    def _size(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2 if len(args) > 1 else 1, node, ctx)
        if args[1:] and args[1].ty != INTEGER:
            raise wrong(self.elaborator, name, args, node, ctx)
        dims = args[0].ty.dims
        if len(args) == 1:
            if None not in dims:
                return make.array([Int(n) for n in dims if n is not None]) if dims else Array((), INTEGER.array_of(0))
            return Builtin(name, tuple(args), INTEGER.array_of(len(dims)))
        k = args[1] if isinstance(args[1], Int) else None
        if k is None and ctx.locals is None:
            value = self.elaborator.evaluation.known(args[1], node, ctx, "the dimension number in `size`")
            k = Int(value) if isinstance(value, int) else None
        if k is not None:
            if not 1 <= k.value <= len(dims):
                raise self.elaborator.error("S250", f"`size` asks for dimension {k.value} of {args[0].ty}", node, ctx)
            size = dims[k.value - 1]
            if size is not None:
                return Int(size)
        return Builtin(name, tuple(args), INTEGER)

    def _dims(self, args: list[Expr], node: Any, ctx: Ctx) -> tuple[int | None, ...]:
        dims: list[int | None] = []
        for arg in args:
            if arg.ty.dims or arg.ty.base in (REAL.base, STRING.base):
                raise self.elaborator.error("S237", "a dimension must be an Integer", node, ctx)
            if isinstance(arg, Int):
                dims.append(arg.value)
            elif ctx.locals is None and not (ctx.open and self.elaborator.evaluation.varies(arg)):
                value = self.elaborator.evaluation.known(arg, node, ctx, "the size of an array")
                if not isinstance(value, int):
                    raise self.elaborator.error("S237", "a dimension must be an Integer", node, ctx)
                dims.append(value)
            else:
                dims.append(None)
        if any(d is not None and d < 0 for d in dims):
            raise self.elaborator.error("S238", f"a dimension is negative: {min(d or 0 for d in dims)}", node, ctx)
        return tuple(dims)

    def _zeros(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        at_least(self.elaborator, name, args, 1, node, ctx)
        dims = self._dims(args, node, ctx)
        one = Int(0 if name == "zeros" else 1)
        if None in dims:
            return Builtin("fill", (one, *args), INTEGER.array_of(*dims))
        return self._filled(one, tuple(d for d in dims if d is not None))

    def _filled(self, value: Expr, dims: tuple[int, ...]) -> Expr:
        count = 1
        for d in dims:
            count *= d
        if count <= 400:
            return make.fill(value, dims)
        return Builtin("fill", (value, *(Int(d) for d in dims)), value.ty.array_of(*dims))

    def _fill(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        at_least(self.elaborator, name, args, 2, node, ctx)
        dims = self._dims(args[1:], node, ctx)
        if None in dims:
            return Builtin("fill", tuple(args), args[0].ty.array_of(*dims))
        return self._filled(args[0], tuple(d for d in dims if d is not None))

    def _identity(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        (n,) = self._dims(args, node, ctx)
        if n is None or n > 40:
            return Builtin(name, tuple(args), INTEGER.array_of(n, n))
        rows = [make.array([Int(1 if i == j else 0) for j in range(n)]) for i in range(n)]
        return make.array(rows) if rows else Array((), INTEGER.array_of(0, 0))

    def _diagonal(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        v = args[0]
        if not is_vector(v):
            raise wrong(self.elaborator, name, args, node, ctx)
        n = v.ty.dims[0]
        if n is None or n > 40:
            return Builtin(name, (v,), v.ty.element().array_of(n, n))
        zero = make.literal(0, v.ty.element())
        rows = [
            make.array([make.index(v, (Int(i),)) if i == j else zero for j in range(1, n + 1)]) for i in range(1, n + 1)
        ]
        return make.array(rows) if rows else Array((), v.ty.element().array_of(0, 0))

    def _linspace(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 3, node, ctx)
        (n,) = self._dims([args[2]], node, ctx)
        a, b = make.to_real(args[0]), make.to_real(args[1])
        if n is None or n > 400 or n < 2:
            return Builtin(name, (a, b, args[2] if n is None else Int(n)), REAL.array_of(n))
        step = make.div(make.sub(b, a), Real(float(n - 1)))
        return make.array([make.add(a, make.mul(step, Real(float(i)))) for i in range(n)])

    def _scalar(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        if all(d == 1 for d in args[0].ty.dims):
            return make.index(args[0], tuple(Int(1) for _ in args[0].ty.dims)) if args[0].ty.dims else args[0]
        if any(d not in (1, None) for d in args[0].ty.dims):
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, tuple(args), args[0].ty.scalar())

    def _vector(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        a = args[0]
        if not a.ty.dims:
            return make.array([a])
        if len(a.ty.dims) == 1:
            return a
        if None in a.ty.dims:
            return Builtin(name, (a,), a.ty.scalar().array_of(None))
        big = [(k, n) for k, n in enumerate(a.ty.dims) if n != 1]
        if len(big) > 1:
            raise wrong(self.elaborator, name, args, node, ctx)
        axis, n = big[0] if big else (0, 1)
        assert n is not None
        before, after = (Int(1),) * axis, (Int(1),) * (len(a.ty.dims) - axis - 1)
        parts = [make.index(a, (*before, Int(i), *after)) for i in range(1, n + 1)]
        return make.array(parts) if parts else Array((), a.ty.scalar().array_of(0))

    def _to_matrix(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        a = args[0]
        if len(a.ty.dims) == 2:
            return a
        if len(a.ty.dims) < 2:
            return self.elaborator.promoted(a, 2)
        if any(n not in (1, None) for n in a.ty.dims[2:]):
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, (a,), a.ty.scalar().array_of(*a.ty.dims[:2]))

    def _promote(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2, node, ctx)
        n = self.elaborator.evaluation.known(args[1], node, ctx, "the number of dimensions")
        if args[1].ty != INTEGER or not isinstance(n, int) or n < len(args[0].ty.dims):
            raise wrong(self.elaborator, name, args, node, ctx)
        return self.elaborator.promoted(args[0], n)

    def _transpose(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        a = args[0]
        if len(a.ty.dims) < 2:
            raise wrong(self.elaborator, name, args, node, ctx)
        rows, columns = a.ty.dims[:2]
        if isinstance(a, Array) and rows and columns and all(isinstance(r, Array) for r in a.elements):
            return make.array(
                [
                    make.array([make.index(a, (Int(i), Int(j))) for i in range(1, rows + 1)])
                    for j in range(1, columns + 1)
                ]
            )
        return Builtin(name, (a,), Type(a.ty.base, (columns, rows, *a.ty.dims[2:])))

    def _outer(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2, node, ctx)
        if not all(is_vector(a) and is_number(a) for a in args):
            raise wrong(self.elaborator, name, args, node, ctx)
        a, b = self._alike(args)
        return Builtin(name, (a, b), a.ty.scalar().array_of(a.ty.dims[0], b.ty.dims[0]))

    def _alike(self, args: list[Expr]) -> tuple[Expr, Expr]:
        a, b = args
        return (a, b) if a.ty.base == b.ty.base else (make.to_real(a), make.to_real(b))

    def _symmetric(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        dims = args[0].ty.dims
        if len(dims) != 2 or (None not in dims and dims[0] != dims[1]):
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, tuple(args), args[0].ty)

    def _cross(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2, node, ctx)
        if not all(is_vector(a, 3) and is_number(a) for a in args):
            raise wrong(self.elaborator, name, args, node, ctx)
        a, b = self._alike(args)
        return Builtin(name, (a, b), a.ty.scalar().array_of(3))

    def _skew(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        if not (is_vector(args[0], 3) and is_number(args[0])):
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, tuple(args), args[0].ty.scalar().array_of(3, 3))

    def _cat(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        at_least(self.elaborator, name, args, 2, node, ctx)
        parts = list(args[1:])
        if args[0].ty != INTEGER or not (all(map(is_number, parts)) or len({p.ty.base for p in parts}) == 1):
            raise wrong(self.elaborator, name, args, node, ctx)
        axis = self.elaborator.evaluation.known(args[0], node, ctx, "the dimension to join along")
        assert isinstance(axis, int)
        if any(p.ty.base == REAL.base for p in parts):
            parts = [make.to_real(p) for p in parts]
        if len({len(p.ty.dims) for p in parts}) > 1:
            raise wrong(self.elaborator, name, args, node, ctx)
        return self.calls.cat(axis, parts, node, ctx)

    def _array(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        ty = self.elaborator.common(args, node, ctx)
        return make.array([coerce(a, ty) for a in args])

    def _sum(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        arg = args[0]
        if not arg.ty.dims:
            raise wrong(self.elaborator, name, args, node, ctx)
        if isinstance(arg.ty.base, RecordType):
            return self.elaborator.operators.total(arg, node, ctx)
        if isinstance(arg, Array) and len(arg.ty.dims) == 1:
            if not arg.elements:
                return make.literal(0 if name == "sum" else 1, arg.ty.scalar())
            result = arg.elements[0]
            for e in arg.elements[1:]:
                result = make.add(result, e) if name == "sum" else make.mul(result, e)
            return result
        return Builtin(name, (arg,), arg.ty.scalar())

    def _extreme(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if not all(is_number(a) or a.ty.base == BOOLEAN.base or isinstance(a.ty.base, EnumType) for a in args):
            raise wrong(self.elaborator, name, args, node, ctx)
        if len(args) == 1 and args[0].ty.dims:
            return Builtin(name, tuple(args), args[0].ty.scalar())
        need(self.elaborator, name, args, 2, node, ctx)
        a, b = args
        if a.ty.base != b.ty.base:
            if not (is_number(a) and is_number(b)):
                raise wrong(self.elaborator, name, args, node, ctx)
            a, b = make.to_real(a), make.to_real(b)
        if a.ty.dims or b.ty.dims:
            return self.elementwise(lambda x, y: Builtin(name, (x, y), x.ty), a, b)
        return Builtin(name, (a, b), a.ty)

    def reduction_call(self, name: str, comprehension: tree.Comprehension, node: Any, ctx: Ctx) -> Expr:
        if name not in (*REDUCTIONS, "array"):
            raise self.elaborator.error("S278", f"`{name}` does not take `... for ...`", node, ctx)
        return self.elaborator.loops.comprehension("" if name == "array" else name, comprehension, ctx)

    def reduction(self, op: str, array: Expr, node: Any, ctx: Ctx) -> Expr:
        return self._sum(op, [array], node, ctx) if op in ("sum", "product") else self._extreme(op, [array], node, ctx)

    def elementwise(self, f: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
        return self.mapped(lambda row: f(*row), [a, b])

    def mapped(self, f: Callable[[tuple[Expr, ...]], Expr], args: list[Expr]) -> Expr:
        """`f` on every row of elements; a scalar stands for all elements."""
        like = next((a for a in args if a.ty.dims), None)
        if like is None:
            return f(tuple(args))
        n = like.ty.dims[0]
        assert n is not None
        return make.array([self.mapped(f, [pick(a, i) for a in args]) for i in range(1, n + 1)])


def need(elaborator: Elaborator, name: str, args: list[Expr], n: int, node: Any, ctx: Ctx) -> None:
    """A diagnostic where the number of arguments is not `n`."""
    if len(args) != n:
        raise elaborator.error("S278", f"`{name}` takes {counted(n, 'argument')}, {are_given(len(args))}", node, ctx)


def at_least(elaborator: Elaborator, name: str, args: list[Expr], n: int, node: Any, ctx: Ctx) -> None:
    """A diagnostic where there are fewer than `n` arguments."""
    if len(args) < n:
        text = f"`{name}` takes {counted(n, 'argument')} or more, {are_given(len(args))}"
        raise elaborator.error("S278", text, node, ctx)


def wrong(elaborator: Elaborator, name: str, args: list[Expr], node: Any, ctx: Ctx) -> ModelError:
    types = ", ".join(str(a.ty) for a in args)
    return elaborator.error("S278", f"`{name}` cannot be applied to ({types})", node, ctx)


def pick(expr: Expr, i: int) -> Expr:
    """Element i of an array; a scalar stands for all."""
    return make.index(expr, (Int(i),)) if expr.ty.dims else expr


def is_vector(expr: Expr, n: int | None = None) -> bool:
    """Of `n` elements, where that is asked for and known."""
    return len(expr.ty.dims) == 1 and (n is None or expr.ty.dims[0] in (n, None))


def is_number(expr: Expr) -> bool:
    return isinstance(expr.ty.base, Primitive) and expr.ty.base.name in ("Real", "Integer")

"""Built-in operators and functions (MLS 3.7, 10.3, 15.2, 16): argument names, checks and result types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.interp import ArrayValue
from kilohertz.ir import build
from kilohertz.ir.expr import Array, Binary, Bool, Builtin, Expr, Int, Real, Str
from kilohertz.ir.types import (
    BOOLEAN,
    CLOCK,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    Primitive,
    RecordType,
    TupleType,
    Type,
)
from kilohertz.semantics.modifiers import Ctx
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.calls import Calls
    from kilohertz.semantics.elaborate import Elaborator

_REAL_FUNCTIONS = (
    "sqrt sin cos tan asin acos atan sinh cosh tanh exp log log10 floor ceil".split()
)  # one Real argument, Real result, elementwise
_SAME_TYPE = ("noEvent", "pre", "previous", "hold", "noClock")
_PARAMETERS = {
    "smooth": ("p", "expr"),
    "homotopy": ("actual", "simplified"),
    "semiLinear": ("x", "positiveSlope", "negativeSlope"),
    "delay": ("expr", "delayTime", "delayMax"),
    "sample": ("u", "clock"),
    "subSample": ("u", "factor"),
    "superSample": ("u", "factor"),
    "shiftSample": ("u", "shiftCounter", "resolution"),
    "backSample": ("u", "backCounter", "resolution"),
    "spatialDistribution": ("in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"),
    "String": ("x", "significantDigits", "minimumLength", "leftJustified", "format"),
    "linspace": ("x1", "x2", "n"),
    "fill": ("s",),
    "loadResource": ("uri",),
}


class Builtins:
    """One method per built-in that needs more than a table row."""

    def __init__(self, elaborator: Elaborator, calls: Calls) -> None:
        self.elaborator, self.calls = elaborator, calls
        self._special: dict[str, Callable[[str, list[Expr], tree.Call, Ctx], Expr]] = {
            "der": self._der,
            "abs": self._abs,
            "sign": self._sign,
            "atan2": self._two_reals,
            "div": self._quotient,
            "mod": self._quotient,
            "rem": self._quotient,
            "integer": self._integer,
            "Integer": self._integer,
            "Real": self._real,
            "Boolean": self._boolean,
            "min": self._extreme,
            "max": self._extreme,
            "sum": self._sum,
            "product": self._sum,
            "size": self._size,
            "ndims": lambda name, args, node, ctx: Int(len(args[0].ty.dims)),
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
            "smooth": self._smooth,
            "homotopy": self._homotopy,
            "semiLinear": self._semi_linear,
            "delay": self._delay,
            "spatialDistribution": self._spatial,
            "edge": self._edge,
            "change": self._edge,
            "initial": self._flag,
            "terminal": self._flag,
            "firstTick": self._flag,
            "sample": self._sample,
            "subSample": self._resampled,
            "superSample": self._resampled,
            "shiftSample": self._resampled,
            "backSample": self._resampled,
            "interval": lambda name, args, node, ctx: Builtin(name, tuple(args), REAL),
            "Clock": self._clock,
            "String": self._string,
            "loadResource": self._load_resource,
            "getInstanceName": self._instance_name,
            "rooted": self._connections,
            "Connections.rooted": self._connections,
            "Connections.isRoot": self._connections,
            "cardinality": self._connections,
            "inStream": self._streams,
            "actualStream": self._streams,
        }

    # ------------------------------------------------------------------------------------------------------ entry points

    def call(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        if name in ("cardinality", "Connections.rooted", "Connections.isRoot", "rooted", "inStream", "actualStream"):
            return self._special[name](name, [], node, ctx)
        if len(node.args) == 1 and isinstance(node.args[0], tree.Comprehension):
            return self._reduction_call(name, node.args[0], node, ctx)
        args = self._arguments(name, node, ctx)
        if name in _REAL_FUNCTIONS:
            return self._real_function(name, args, node, ctx)
        if name in _SAME_TYPE:
            self._need(name, args, 1, node, ctx)
            return Builtin(name, tuple(args), args[0].ty)
        special = self._special.get(name)
        if special is None:
            raise self._unknown(name, node, ctx)
        return special(name, args, node, ctx)

    def _unknown(self, name: str, node: tree.Call, ctx: Ctx) -> ModelError:
        span_node = node.function
        diagnostic = self.elaborator.world.missing_class(ctx.view, span_node, name, ctx.span(span_node))
        return self.elaborator.error("S207", f"there is no function `{name}`", node.function, ctx, *diagnostic.notes)

    def _arguments(self, name: str, node: tree.Call, ctx: Ctx) -> list[Expr]:
        args = [self.elaborator.expr(a, ctx) for a in node.args]
        if not node.named:
            return args
        order = _PARAMETERS.get(name)
        named = {n: self.elaborator.expr(a, ctx) for n, a in node.named}
        if name == "Clock":  # its forms are told apart by the types of what follows
            return [*args, *named.values()]
        if order is None:
            raise self.elaborator.error("S277", f"`{name}` takes no named arguments", node, ctx)
        if name == "String":
            return self._string_arguments(args, named, node, ctx)
        for parameter in order[len(args) :]:
            if parameter in named:
                args.append(named.pop(parameter))
            elif named:
                raise self.elaborator.error("S277", f"`{name}` needs a value for `{parameter}`", node, ctx)
        if named:
            raise self.elaborator.error("S277", f"`{name}` has no argument `{next(iter(named))}`", node, ctx)
        return args

    def _need(self, name: str, args: list[Expr], n: int, node: Any, ctx: Ctx) -> None:
        if len(args) != n:
            raise self.elaborator.error("S278", f"`{name}` takes {n} arguments, {len(args)} are given", node, ctx)

    def _wrong(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> ModelError:
        types = ", ".join(str(a.ty) for a in args)
        return self.elaborator.error("S278", f"`{name}` cannot be applied to ({types})", node, ctx)

    # ----------------------------------------------------------------------------------------------------- elementwise

    def _real_function(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        if not _number(args[0]):
            raise self._wrong(name, args, node, ctx)
        arg = build.to_real(args[0])
        if isinstance(arg, Array):
            return build.array([self._real_function(name, [e], node, ctx) for e in arg.elements]) if arg.elements else arg
        return Builtin(name, (arg,), arg.ty)

    def _two_reals(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        a, b = build.to_real(args[0]), build.to_real(args[1])
        return self._elementwise(lambda x, y: Builtin(name, (x, y), REAL), a, b)

    def _elementwise(self, f: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
        if not a.ty.dims and not b.ty.dims:
            return f(a, b)
        n = a.ty.dims[0] if a.ty.dims else b.ty.dims[0]
        assert n is not None
        pick = lambda e, i: build.index(e, (Int(i),)) if e.ty.dims else e  # noqa: E731
        return build.array([self._elementwise(f, pick(a, i), pick(b, i)) for i in range(1, n + 1)])

    def _abs(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        if not _number(args[0]):
            raise self._wrong(name, args, node, ctx)
        return Builtin(name, tuple(args), args[0].ty)

    def _sign(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        return Builtin(name, (build.to_real(args[0]),), INTEGER.array_of(*args[0].ty.dims))

    def _quotient(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        integers = all(a.ty.base == INTEGER.base for a in args)
        a, b = args if integers else (build.to_real(args[0]), build.to_real(args[1]))
        return self._elementwise(lambda x, y: Builtin(name, (x, y), INTEGER if integers else REAL), a, b)

    def _integer(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        arg = args[0]
        if isinstance(arg.ty.base, EnumType):
            from kilohertz.ir.expr import Enum

            if isinstance(arg, Enum):
                return Int(arg.index)
            return Builtin("Integer", (arg,), INTEGER.array_of(*arg.ty.dims))
        if arg.ty.base == INTEGER.base:
            return arg
        if arg.ty.base != REAL.base:
            raise self._wrong(name, args, node, ctx)
        return Builtin("integer", (arg,), INTEGER.array_of(*arg.ty.dims))

    def _real(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        return build.to_real(args[0])

    def _boolean(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        return args[0]

    # ------------------------------------------------------------------------------------------------------- reductions

    def _reduction_call(self, name: str, comprehension: tree.Comprehension, node: Any, ctx: Ctx) -> Expr:
        if name not in ("sum", "product", "min", "max", "array"):
            raise self.elaborator.error("S278", f"`{name}` does not take `... for ...`", node, ctx)
        return self.elaborator.comprehension("" if name == "array" else name, comprehension, ctx)

    def reduction(self, op: str, array: Expr, node: Any, ctx: Ctx) -> Expr:
        return self._sum(op, [array], node, ctx) if op in ("sum", "product") else self._extreme(op, [array], node, ctx)

    def _sum(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        arg = args[0]
        if isinstance(arg.ty.base, RecordType):
            return self.elaborator.operators.total(arg, node, ctx)
        if not arg.ty.dims:
            return arg
        if isinstance(arg, Array) and len(arg.ty.dims) == 1:
            if not arg.elements:
                return build.literal(0 if name == "sum" else 1, arg.ty.scalar())
            result = arg.elements[0]
            for e in arg.elements[1:]:
                result = build.add(result, e) if name == "sum" else build.mul(result, e)
            return result
        return Builtin(name, (arg,), arg.ty.scalar())

    def _extreme(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) == 1 and args[0].ty.dims:
            return Builtin(name, tuple(args), args[0].ty.scalar())
        self._need(name, args, 2, node, ctx)
        a, b = args
        if a.ty.base != b.ty.base:
            a, b = build.to_real(a), build.to_real(b)
        if a.ty.dims or b.ty.dims:
            return self._elementwise(lambda x, y: Builtin(name, (x, y), x.ty), a, b)
        return Builtin(name, (a, b), a.ty)

    # ------------------------------------------------------------------------------------------------------------ arrays

    def _size(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        dims = args[0].ty.dims
        if len(args) == 1:
            if None not in dims:
                return build.array([Int(n) for n in dims if n is not None]) if dims else Array((), INTEGER.array_of(0))
            return Builtin(name, tuple(args), INTEGER.array_of(len(dims)))
        k = args[1] if isinstance(args[1], Int) else None
        if k is None and ctx.locals is None:
            value = self.elaborator.known(args[1], node, ctx, "the dimension number in `size`")
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
            if isinstance(arg, Int):
                dims.append(arg.value)
            elif ctx.locals is None:
                value = self.elaborator.known(arg, node, ctx, "the size of an array")
                if not isinstance(value, int):
                    raise self.elaborator.error("S237", "a dimension must be an Integer", node, ctx)
                dims.append(value)
            else:
                dims.append(None)
        return tuple(dims)

    def _zeros(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
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
            return build.fill(value, dims)
        return Builtin("fill", (value, *(Int(d) for d in dims)), value.ty.array_of(*dims))

    def _fill(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        dims = self._dims(args[1:], node, ctx)
        if None in dims:
            return Builtin("fill", tuple(args), args[0].ty.array_of(*dims))
        return self._filled(args[0], tuple(d for d in dims if d is not None))

    def _identity(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        (n,) = self._dims(args, node, ctx)
        if n is None or n > 40:
            return Builtin(name, tuple(args), REAL.array_of(n, n))
        rows = [build.array([Real(1.0 if i == j else 0.0) for j in range(n)]) for i in range(n)]
        return build.array(rows) if rows else Array((), REAL.array_of(0, 0))

    def _diagonal(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        v = args[0]
        n = v.ty.dims[0]
        if n is None or n > 40:
            return Builtin(name, (v,), v.ty.element().array_of(n, n))
        zero = build.literal(0, v.ty.element())
        rows = [build.array([build.index(v, (Int(i),)) if i == j else zero for j in range(1, n + 1)]) for i in range(1, n + 1)]
        return build.array(rows) if rows else Array((), v.ty.element().array_of(0, 0))

    def _linspace(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 3, node, ctx)
        (n,) = self._dims([args[2]], node, ctx)
        a, b = build.to_real(args[0]), build.to_real(args[1])
        if n is None or n > 400 or n < 2:
            return Builtin(name, (a, b, args[2] if n is None else Int(n)), REAL.array_of(n))
        step = build.div(build.sub(b, a), Real(float(n - 1)))
        return build.array([build.add(a, build.mul(step, Real(float(i)))) for i in range(n)])

    def _scalar(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        if all(d == 1 for d in args[0].ty.dims):
            return build.index(args[0], tuple(Int(1) for _ in args[0].ty.dims)) if args[0].ty.dims else args[0]
        return Builtin(name, tuple(args), args[0].ty.scalar())

    def _vector(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        a = args[0]
        if not a.ty.dims:
            return build.array([a])
        if len(a.ty.dims) == 1:
            return a
        if None in a.ty.dims:
            return Builtin(name, (a,), a.ty.scalar().array_of(None))
        big = [(k, n) for k, n in enumerate(a.ty.dims) if n != 1]
        if len(big) > 1:
            raise self._wrong(name, args, node, ctx)
        axis, n = big[0] if big else (0, 1)
        assert n is not None
        index = lambda i: tuple(Int(i if k == axis else 1) for k in range(len(a.ty.dims)))  # noqa: E731
        parts = [build.index(a, index(i)) for i in range(1, n + 1)]
        return build.array(parts) if parts else Array((), a.ty.scalar().array_of(0))

    def _to_matrix(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        a = args[0]
        if len(a.ty.dims) == 2:
            return a
        if len(a.ty.dims) < 2:
            return self.elaborator._promoted(a, 2)
        return Builtin(name, (a,), a.ty.scalar().array_of(*a.ty.dims[:2]))

    def _promote(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        n = self.elaborator.known(args[1], node, ctx, "the number of dimensions")
        assert isinstance(n, int)
        return self.elaborator._promoted(args[0], n)

    def _transpose(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        a = args[0]
        if len(a.ty.dims) < 2:
            raise self._wrong(name, args, node, ctx)
        rows, columns = a.ty.dims[:2]
        if isinstance(a, Array) and rows and columns and all(isinstance(r, Array) for r in a.elements):
            return build.array(
                [build.array([build.index(a, (Int(i), Int(j))) for i in range(1, rows + 1)]) for j in range(1, columns + 1)]
            )
        return Builtin(name, (a,), Type(a.ty.base, (columns, rows, *a.ty.dims[2:])))

    def _outer(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        a, b = self._alike(args)
        return Builtin(name, (a, b), a.ty.scalar().array_of(a.ty.dims[0], b.ty.dims[0]))

    def _alike(self, args: list[Expr]) -> tuple[Expr, Expr]:
        a, b = args
        return (a, b) if a.ty.base == b.ty.base else (build.to_real(a), build.to_real(b))

    def _symmetric(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        return Builtin(name, tuple(args), args[0].ty)

    def _cross(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        if any(len(a.ty.dims) != 1 or a.ty.dims[0] not in (3, None) for a in args):
            raise self._wrong(name, args, node, ctx)
        a, b = self._alike(args)
        return Builtin(name, (a, b), a.ty.scalar().array_of(3))

    def _skew(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        return Builtin(name, tuple(args), args[0].ty.scalar().array_of(3, 3))

    def _cat(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        axis = self.elaborator.known(args[0], node, ctx, "the dimension to join along")
        assert isinstance(axis, int)
        parts = [a for a in args[1:]]
        if any(p.ty.base == REAL.base for p in parts):
            parts = [build.to_real(p) for p in parts]
        n = max(len(p.ty.dims) for p in parts)
        return self.calls.cat(axis, [self.elaborator._promoted(p, n) for p in parts], node, ctx)

    def _array(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        ty = self.elaborator._common(args, node, ctx)
        return build.array([self.elaborator.coerce(a, ty) for a in args])

    # ------------------------------------------------------------------------------------------- derivatives and events

    def _der(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        arg = args[0]
        if isinstance(arg.ty.base, RecordType):
            return self._der_of_record(arg, node, ctx)
        if not _number(arg):
            raise self._wrong(name, args, node, ctx)
        arg = build.to_real(arg)
        if isinstance(arg, Array):
            return build.array([self._der(name, [e], node, ctx) for e in arg.elements]) if arg.elements else arg
        return Builtin("der", (arg,), arg.ty)

    def _der_of_record(self, arg: Expr, node: Any, ctx: Ctx) -> Expr:
        from kilohertz.ir.expr import Record

        base = arg.ty.base
        assert isinstance(base, RecordType)
        if isinstance(arg, Array):
            return build.array([self._der_of_record(e, node, ctx) for e in arg.elements])
        return Record(tuple(self._der("der", [build.field(arg, n)], node, ctx) for n, _ in base.fields), arg.ty)

    def _edge(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        if isinstance(args[0], Array):
            return build.array([self._edge(name, [e], node, ctx) for e in args[0].elements])
        return Builtin(name, tuple(args), BOOLEAN.array_of(*args[0].ty.dims))

    def _flag(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        return Builtin(name, tuple(args), BOOLEAN)

    def _smooth(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        return Builtin(name, tuple(args), args[1].ty)

    def _homotopy(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 2, node, ctx)
        actual, simplified = (self.elaborator.coerce(a, REAL.array_of(*a.ty.dims)) for a in args)
        return Builtin(name, (actual, simplified), actual.ty)

    def _semi_linear(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 3, node, ctx)
        x, positive, negative = (build.to_real(a) for a in args)
        if positive.ty.dims or negative.ty.dims or x.ty.dims:
            return self._semi_linear_arrays(x, positive, negative, node, ctx)
        return Builtin(name, (x, positive, negative), REAL)

    def _semi_linear_arrays(self, x: Expr, positive: Expr, negative: Expr, node: Any, ctx: Ctx) -> Expr:
        n = next(e.ty.dims[0] for e in (x, positive, negative) if e.ty.dims)
        assert n is not None
        pick = lambda e, i: build.index(e, (Int(i),)) if e.ty.dims else e  # noqa: E731
        rows = [
            self._semi_linear("semiLinear", [pick(x, i), pick(positive, i), pick(negative, i)], node, ctx)
            for i in range(1, n + 1)
        ]
        return build.array(rows) if rows else Array((), REAL.array_of(0))

    def _delay(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) not in (2, 3):
            self._need(name, args, 2, node, ctx)
        reals = tuple(build.to_real(a) for a in args)
        return Builtin(name, reals, reals[0].ty)

    def _spatial(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) == 4:
            args = [*args, build.array([Real(0.0), Real(1.0)]), build.array([Real(0.0), Real(0.0)])]
        self._need(name, args, 6, node, ctx)
        in0, in1, x, positive, points, values = args
        reals = [build.to_real(e) for e in (in0, in1, x)]
        more = [build.to_real(points), build.to_real(values)]
        return Builtin(name, (*reals, positive, *more), Type(TupleType((REAL, REAL))))

    # ---------------------------------------------------------------------------------------------------- synchronous

    def _sample(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) == 2 and args[1].ty != CLOCK and _number(args[0]) and _number(args[1]):
            return Builtin(name, (build.to_real(args[0]), build.to_real(args[1])), BOOLEAN)
        return Builtin("sampled", tuple(args), args[0].ty)

    def _resampled(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        return Builtin(name, tuple(args), args[0].ty)

    def _clock(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        return Builtin(name, tuple(args), CLOCK)

    # -------------------------------------------------------------------------------------------------------- strings

    def _string_arguments(self, args: list[Expr], named: dict[str, Expr], node: Any, ctx: Ctx) -> list[Expr]:
        """By position as `interp` and C want them: Real (digits, length, left) or (format); others (length, left)."""
        x = args[0] if args else named.pop("x")
        if "format" in named:
            return [x, named["format"]]
        real = x.ty.base == REAL.base
        rest = list(args[1:])
        order = ("significantDigits", "minimumLength", "leftJustified") if real else ("minimumLength", "leftJustified")
        defaults: dict[str, Expr] = {"significantDigits": Int(6), "minimumLength": Int(0), "leftJustified": Bool(True)}
        for parameter in order[len(rest) :]:
            rest.append(named.pop(parameter, defaults[parameter]))
        return [x, *rest]

    def _string(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        arg = args[0]
        if isinstance(arg.ty.base, RecordType):
            record = self.elaborator.types.record_nodes.get(arg.ty.base.name)
            from kilohertz.semantics.operators import operator_functions

            for function in operator_functions(record, "String") if record is not None else ():
                return self.calls.apply(function, args, {}, node, ctx)
            raise self._wrong(name, args, node, ctx)
        return Builtin(name, tuple(args), STRING)

    def _load_resource(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        self._need(name, args, 1, node, ctx)
        if ctx.locals is not None:
            return args[0]
        value = self.elaborator.try_value(args[0])
        if not isinstance(value, str):
            return args[0]
        path = self.elaborator.world.resource(value)
        return Str(value if path is None else path)

    def _instance_name(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        top = self.elaborator.maker.top
        path = ctx.inst.path if ctx.inst is not None else ""
        return Str(".".join(p for p in (top.name if top is not None else "", path) if p))

    # ----------------------------------------------------------------------------------------------------- connections

    def _connections(self, name: str, args: list[Expr], node: tree.Call, ctx: Ctx) -> Expr:
        return self.elaborator.graph.query(name, node, ctx)

    def _streams(self, name: str, args: list[Expr], node: tree.Call, ctx: Ctx) -> Expr:
        return self.elaborator.graph.stream(name, node, ctx)


def _number(expr: Expr) -> bool:
    return isinstance(expr.ty.base, Primitive) and expr.ty.base.name in ("Real", "Integer")


__all__ = ["ArrayValue", "Binary", "Builtins"]

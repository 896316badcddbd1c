"""Built-in operators and functions (MLS 3.7, 10.3, 15.2, 16): argument names, checks and result types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import BUILTINS, REDUCTIONS, named
from kilohertz.ir.expr import Array, Bool, Builtin, Enum, Expr, Int, Real, Record, Str
from kilohertz.ir.rules.function_record import BuiltinFunction, Event, Takes
from kilohertz.ir.types import (
    BOOLEAN,
    CLOCK,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    RecordType,
    TupleType,
    Type,
)
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import coerce
from kilohertz.semantics.expressions.array_builtins import ArrayBuiltins, is_number, need, pick, wrong
from kilohertz.semantics.expressions.constructors import first_fitting
from kilohertz.semantics.expressions.operators import operator_functions
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.calls import Calls
    from kilohertz.semantics.expressions.elaborate import Elaborator

_SAME_TYPE = ("noEvent", "pre", "previous", "hold", "noClock")
_CLOCKED = named(Event.CLOCKED)
_TRANSPARENT = ("pure",)  # says only that a call has no effects
_OF_COMPONENTS = (  # what is no value may be their argument
    *("cardinality", "Connections.rooted", "Connections.isRoot", "Connections.uniqueRootIndices", "rooted"),
    *("inStream", "actualStream", "activeState"),
)
_ARGUMENTS = {"loadResource": ("uri",)}  # of what leaves no operator behind


class Builtins:
    """One method per built-in that needs more than a table row."""

    def __init__(self, elaborator: Elaborator, calls: Calls) -> None:
        self.elaborator, self.calls = elaborator, calls
        self.arrays = ArrayBuiltins(elaborator, calls)
        self._special: dict[str, Callable[[str, list[Expr], tree.Call, Ctx], Expr]] = {
            "der": self._der,
            "integer": self._integer,
            "Integer": self._integer,
            "Real": self._real,
            "Boolean": self._boolean,
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
            "Connections.uniqueRootIndices": lambda name, args, node, ctx: self.elaborator.graph.root_indices(
                name, node, ctx
            ),
            "cardinality": self._connections,
            "activeState": lambda name, args, node, ctx: self.elaborator.machines.active(node, ctx),
            "ticksInState": lambda name, args, node, ctx: Builtin(name, (), INTEGER),
            "timeInState": lambda name, args, node, ctx: Builtin(name, (), REAL),
            "inStream": self._streams,
            "actualStream": self._streams,
        }

    # --------------------------------------------------------------------------------------------------- entry points

    def call(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        if name in _OF_COMPONENTS:
            return self._special[name](name, [], node, ctx)
        only = node.args[0] if len(node.args) == 1 else None
        if isinstance(only, tree.Comprehension) and (not only.braces or name in REDUCTIONS):
            return self.arrays.reduction_call(name, only, node, ctx)
        args = self._arguments(name, node, ctx)
        function = BUILTINS.get(name)
        if function is not None and function.takes is not None:
            return self._of_scalars(function, args, node, ctx)
        if name in _TRANSPARENT:
            need(self.elaborator, name, args, 1, node, ctx)
            if not isinstance(node.args[0], tree.Call):
                raise self.elaborator.error("S278", f"`{name}` takes a call of a function", node, ctx)
            return args[0]
        if name in _SAME_TYPE:
            need(self.elaborator, name, args, 1, node, ctx)
            if name == "previous":
                self._check_previous(args[0], node, ctx)
            return Builtin(name, tuple(args), args[0].ty)
        special = self._special.get(name) or self.arrays.table.get(name)
        if special is None:
            raise self._unknown(name, node, ctx)
        return special(name, args, node, ctx)

    def _check_previous(self, argument: Expr, node: tree.Call, ctx: Ctx) -> None:
        """MLS 16.4: of a variable.  Sums of variables do no harm, but a clock operator has values of its own."""
        inner = next((e for e in traverse.walk(argument) if isinstance(e, Builtin) and e.name in _CLOCKED), None)
        if inner is not None:
            shown = "sample" if inner.name == "sampled" else inner.name
            text = f"`previous` takes a variable: what `{shown}` gives needs a name"
            raise self.elaborator.error("S278", text, node, ctx)

    def _unknown(self, name: str, node: tree.Call, ctx: Ctx) -> ModelError:
        span_node = node.function
        diagnostic = self.elaborator.world.missing_class(ctx.view, span_node, name, ctx.span(span_node))
        return self.elaborator.error("S207", f"there is no function `{name}`", node.function, ctx, *diagnostic.notes)

    def _arguments(self, name: str, node: tree.Call, ctx: Ctx) -> list[Expr]:
        args = [self.elaborator.expr(a, ctx) for a in node.args]
        if not node.named:
            return args
        if name == "String" and args and isinstance(args[0].ty.base, RecordType):
            return args  # the names are of inputs of the record's own function
        function = BUILTINS.get(name)
        order = _ARGUMENTS.get(name, function.arguments if function is not None else ())
        named = {n: self.elaborator.expr(a, ctx) for n, a in node.named}
        if name == "Clock":  # its forms are told apart by the types of what follows
            return [*args, *named.values()]
        if not order:
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

    # ----------------------------------------------------------------------------------------------------- elementwise

    def _of_scalars(self, function: BuiltinFunction, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        """A function of scalars as the table has it, element by element over arrays."""
        need(self.elaborator, function.name, args, function.count, node, ctx)
        if not all(is_number(a) for a in args):
            raise wrong(self.elaborator, function.name, args, node, ctx)
        if function.takes is Takes.REALS or any(a.ty.base == REAL.base for a in args):
            args = [make.to_real(a) for a in args]
        whole = function.type(args)
        if None in whole.dims or (function.count == 1 and not isinstance(args[0], Array)):
            return Builtin(function.name, tuple(args), whole)
        if 0 in whole.dims:
            return Array((), whole)
        return self.arrays.mapped(lambda row: Builtin(function.name, row, function.type(row)), args)

    def _integer(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        arg = args[0]
        if isinstance(arg.ty.base, EnumType):
            if isinstance(arg, Enum):
                return Int(arg.index)
            return Builtin("Integer", (arg,), INTEGER.array_of(*arg.ty.dims))
        if arg.ty.base == INTEGER.base and name == "integer":
            return arg
        if arg.ty.base != REAL.base or name == "Integer":
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin("integer", (arg,), INTEGER.array_of(*arg.ty.dims))

    def _real(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        return make.to_real(args[0])

    def _boolean(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        return args[0]

    # ------------------------------------------------------------------------------------------- derivatives and events

    def _der(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        arg = args[0]
        if isinstance(arg.ty.base, RecordType):
            return self._der_of_record(arg, node, ctx)
        is_written = make.is_literal(arg) and not any(True for _ in tree.refs(node.args))  # a constant has its type
        if not is_number(arg) or (arg.ty.base == INTEGER.base and not is_written):
            raise wrong(self.elaborator, name, args, node, ctx)
        if ctx.locals is not None:
            raise self.elaborator.error("S278", "`der` cannot stand in a function", node, ctx)
        arg = make.to_real(arg)
        if isinstance(arg, Array):
            return make.array([self._der(name, [e], node, ctx) for e in arg.elements]) if arg.elements else arg
        return Builtin("der", (arg,), arg.ty)

    def _der_of_record(self, arg: Expr, node: Any, ctx: Ctx) -> Expr:
        base = arg.ty.base
        assert isinstance(base, RecordType)
        if isinstance(arg, Array):
            return make.array([self._der_of_record(e, node, ctx) for e in arg.elements])
        return Record(tuple(self._der("der", [make.field(arg, n)], node, ctx) for n, _ in base.fields), arg.ty)

    def _edge(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        if isinstance(args[0], Array):
            return make.array([self._edge(name, [e], node, ctx) for e in args[0].elements])
        if isinstance(args[0].ty.base, RecordType) or (name == "edge" and args[0].ty.base != BOOLEAN.base):
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, tuple(args), BOOLEAN.array_of(*args[0].ty.dims))

    def _flag(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        return Builtin(name, tuple(args), BOOLEAN)

    def _smooth(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2, node, ctx)
        return Builtin(name, tuple(args), args[1].ty)

    def _homotopy(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 2, node, ctx)
        self._need_numbers(name, args, node, ctx)
        actual, simplified = (coerce(a, REAL.array_of(*a.ty.dims)) for a in args)
        return self._vectorised(name, [actual, simplified], node, ctx)

    def _vectorised(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        """Element by element where arguments are arrays, which have one size; a scalar stands for all (MLS 12.4.6)."""
        shapes = [a.ty.dims for a in args]
        first = next((dims for dims in shapes if dims), ())
        if any(dims and not _alike(dims, first) for dims in shapes):
            raise wrong(self.elaborator, name, args, node, ctx)
        if None in first or all(dims == shapes[0] for dims in shapes):
            return Builtin(name, tuple(args), args[0].ty)
        return self.arrays.mapped(lambda row: Builtin(name, row, row[0].ty), args)

    def _need_numbers(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> None:
        """S278 where an argument is no number, and no record of Reals."""
        if not all(is_number(a) or _is_of_reals(a.ty) for a in args):
            raise wrong(self.elaborator, name, args, node, ctx)

    def _semi_linear(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 3, node, ctx)
        self._need_numbers(name, args, node, ctx)
        x, positive, negative = (make.to_real(a) for a in args)
        if positive.ty.dims or negative.ty.dims or x.ty.dims:
            return self._semi_linear_arrays(x, positive, negative, node, ctx)
        return Builtin(name, (x, positive, negative), REAL)

    def _semi_linear_arrays(self, x: Expr, positive: Expr, negative: Expr, node: Any, ctx: Ctx) -> Expr:
        n = next(e.ty.dims[0] for e in (x, positive, negative) if e.ty.dims)
        assert n is not None
        rows = [
            self._semi_linear("semiLinear", [pick(x, i), pick(positive, i), pick(negative, i)], node, ctx)
            for i in range(1, n + 1)
        ]
        return make.array(rows) if rows else Array((), REAL.array_of(0))

    def _delay(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) not in (2, 3):
            need(self.elaborator, name, args, 2, node, ctx)
        self._need_numbers(name, args, node, ctx)
        reals = [make.to_real(a) for a in args]
        if any(a.ty.dims for a in reals[1:]):
            return self._vectorised(name, reals, node, ctx)
        return Builtin(name, tuple(reals), reals[0].ty)

    def _spatial(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) == 4:
            args = [*args, make.array([Real(0.0), Real(1.0)]), make.array([Real(0.0), Real(0.0)])]
        need(self.elaborator, name, args, 6, node, ctx)
        in0, in1, x, positive, points, values = args
        self._need_numbers(name, [in0, in1, x, points, values], node, ctx)
        reals = [make.to_real(e) for e in (in0, in1, x)]
        more = [make.to_real(points), make.to_real(values)]
        at = [e.value for e in more[0].children() if isinstance(e, Real)]
        if make.is_literal(more[0]) and (at != sorted(at) or at[:1] != [0.0] or at[-1:] != [1.0]):
            text = "`initialPoints` of `spatialDistribution` do not go from 0 to 1 without turning back"
            raise self.elaborator.error("S278", text, node, ctx)
        if points.ty.dims != values.ty.dims and None not in (*points.ty.dims, *values.ty.dims):
            text = "`initialPoints` and `initialValues` of `spatialDistribution` are not as many"
            raise self.elaborator.error("S278", text, node, ctx)
        return Builtin(name, (*reals, positive, *more), Type(TupleType((REAL, REAL))))

    # ---------------------------------------------------------------------------------------------------- synchronous

    def _sample(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(args) == 2 and args[1].ty != CLOCK and is_number(args[0]) and is_number(args[1]):
            if args[0].ty.dims or args[1].ty.dims:
                raise wrong(self.elaborator, name, args, node, ctx)
            return Builtin(name, (make.to_real(args[0]), make.to_real(args[1])), BOOLEAN)
        if len(args) == 2 and args[1].ty != CLOCK:
            raise wrong(self.elaborator, name, args, node, ctx)
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
            functions = operator_functions(record, "String") if record is not None else []
            if functions:
                named = {n: self.elaborator.expr(a, ctx) for n, a in node.named}
                return first_fitting(self.calls, functions, args, named, node, ctx)
            raise wrong(self.elaborator, name, args, node, ctx)
        return Builtin(name, tuple(args), STRING)

    def _load_resource(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        need(self.elaborator, name, args, 1, node, ctx)
        return args[0] if ctx.locals is not None else self.resource(args[0])

    def resource(self, uri: Expr) -> Expr:
        """The path that a URI means, where it is known; anything else as it is."""
        value = self.elaborator.evaluation.try_value(uri) if uri.ty == STRING else None
        path = self.elaborator.world.resource(value) if isinstance(value, str) else None
        return uri if path is None else Str(path)

    def _instance_name(self, name: str, args: list[Expr], node: Any, ctx: Ctx) -> Expr:
        top = self.elaborator.maker.top
        path = ctx.inst.path if ctx.inst is not None else ""
        return Str(".".join(p for p in (top.name if top is not None else "", path) if p))

    # ----------------------------------------------------------------------------------------------------- connections

    def _connections(self, name: str, args: list[Expr], node: tree.Call, ctx: Ctx) -> Expr:
        return self.elaborator.graph.query(name, node, ctx)

    def _streams(self, name: str, args: list[Expr], node: tree.Call, ctx: Ctx) -> Expr:
        return self.elaborator.graph.stream(name, node, ctx)


def _is_of_reals(ty: Type) -> bool:
    """Whether a value has Reals only."""
    return all(_is_of_reals(t) for _, t in ty.base.fields) if isinstance(ty.base, RecordType) else ty.base == REAL.base


def _alike(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> bool:
    """Whether two sizes are one, as far as they are known."""
    return len(a) == len(b) and all(None in (m, n) or m == n for m, n in zip(a, b, strict=True))

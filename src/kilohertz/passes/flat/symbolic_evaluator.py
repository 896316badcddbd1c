"""Symbolic evaluation: an expression with arrays, records and calls to its scalars.

Every node answers with a `Value`.  What is literal folds, a condition that is literal picks its branch, loops in
functions unroll, calls are inlined or become call nodes (`calls.py`).  Where something is not known at compile time
that must be, `Unsupported` says so.  Recursion follows nesting only; sums and conjunctions are taken along their spine.
"""

from __future__ import annotations

from typing import Protocol

from kilohertz.ir import make
from kilohertz.ir.builtins import fold, named
from kilohertz.ir.expr import (
    FALSE,
    TRUE,
    Array,
    Binary,
    Bool,
    Builtin,
    Call,
    Colon,
    Comprehension,
    Enum,
    Expr,
    Field,
    FunctionRef,
    IfExp,
    Index,
    Int,
    Item,
    Range,
    Real,
    Record,
    Ref,
    Str,
    Unary,
)
from kilohertz.ir.rules.arithmetic import RELATIONS
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, RecordType, Type
from kilohertz.passes.algebra import simplify_node
from kilohertz.passes.flat import arrays
from kilohertz.passes.flat.values import Value, elements, field_of, pack, shape, size, stacked

Env = dict[str, Value]
_OF_BEFORE = frozenset({"pre", "edge", "change", "previous"})
_QUIET = named(Event.QUIET)
_STEPPING = (*named(Event.STEPS), *named(Event.QUOTIENT))


class Unsupported(Exception):
    """Something has no scalar form that is known at compile time."""


class Scope(Protocol):
    """What the evaluator asks about names and functions."""

    def model_value(self, ref: Ref) -> Value: ...

    def call(self, call: Call, args: list[Value]) -> list[Value]: ...


class Evaluator:
    """Expressions to Values.  `quiet` is set inside functions: comparisons there make no events."""

    def __init__(self, scope: Scope, choose: arrays.Choose | None = None) -> None:
        self._scope = scope
        self._in_model = arrays.Indexing(Unsupported, choose)
        self._memo: dict[Expr, Value] = {}
        self._plain: dict[Expr, bool] = {}
        self._eventful: dict[Expr, bool] = {}
        self.quiet = False
        self.conditions = 0  # that are not known, around what is evaluated
        self.targets: frozenset[str] = frozenset()  # of the algorithm that is being run

    def model(self, e: Expr) -> Value:
        """The value of an expression over model variables (memoised: shared parts are expanded once)."""
        return self.value(e, None)

    def value(self, e: Expr, env: Env | None) -> Value:
        if env is not None:
            return self._evaluate(e, env)
        value = self._memo.get(e)
        if value is None:
            value = self._memo[e] = self._evaluate(e, None)
        return value

    def scalar(self, e: Expr, env: Env | None) -> Expr:
        return self.value(e, env).scalar

    def _evaluate(self, e: Expr, env: Env | None) -> Value:
        match e:
            case Real() | Int() | Bool() | Str() | Enum():
                return Value(e.ty, (e,))
            case Ref(name):
                if env is not None and name in env:
                    return env[name]
                return self._scope.model_value(e)
            case Unary(op, operand):
                value = self.value(operand, env)
                apply = make.neg if op == "-" else make.not_
                return Value(value.ty, tuple(apply(x) for x in value.items))
            case Binary(op, left, right):
                if op in ("+", "-", "and", "or") and isinstance(left, Binary):
                    return self._spine(e, env)
                return self._binary(op, self.value(left, env), self.value(right, env))
            case IfExp():
                return self._if(e, env)
            case Builtin():
                return self._builtin(e, env)
            case Call():
                return self._single(self._call(e, env), e)
            case Item(base, index):
                return self.outputs(base, env)[index]
            case Array(items):
                return stacked([self.value(x, env) for x in items], e.ty.element())
            case Record(fields):
                parts = [self.value(x, env) for x in fields]
                return Value(e.ty, tuple(x for p in parts for x in p.items))
            case Field(base, name):
                return field_of(self.value(base, env), name)
            case Index(base, subs):
                return self._index(base, subs, env)
            case Range():
                return self._range(e, env)
            case Comprehension():
                return self._comprehension(e, env)
            case FunctionRef(function, bound):
                arguments = tuple((name, pack(self.value(x, env))) for name, x in bound)
                return Value(e.ty, (FunctionRef(function, arguments, e.ty),))
            case _:
                raise Unsupported(f"{type(e).__name__} here")

    # ------------------------------------------------------------------------------------------------------- operators

    def _spine(self, e: Binary, env: Env | None) -> Value:
        """A long `a + b + c - ...`: along the left operands, not down the stack."""
        chain: list[Binary] = []
        node: Expr = e
        while isinstance(node, Binary) and node.op in ("+", "-", "and", "or"):
            chain.append(node)
            node = node.left
        value = self.value(node, env)
        for link in reversed(chain):
            value = self._binary(link.op, value, self.value(link.right, env))
        return value

    def _binary(self, op: str, a: Value, b: Value) -> Value:
        if op == "*" and a.ty.dims and b.ty.dims:
            return arrays.product(a, b)
        if op == "^" and a.ty.dims:
            return arrays.power(a, b)
        plain = op[1:] if op[0] == "." else op
        if op in RELATIONS:
            return Value(BOOLEAN, (self._relation(op, a.scalar, b.scalar),))
        if not a.ty.dims and not b.ty.dims:
            result = _operate(plain, a.items[0], b.items[0])
            return Value(result.ty, (result,))
        return arrays.elementwise(lambda x, y: _operate(plain, x, y), a, b)

    def _relation(self, op: str, a: Expr, b: Expr) -> Expr:
        if a is b:
            return Bool(op in ("==", "<=", ">="))
        result = make.relation(op, a, b)
        return self._quietly(result) if self.quiet and isinstance(result, Binary) and a.ty == REAL else result

    def _quietly(self, e: Expr) -> Expr:
        """A comparison or rounding in a function makes no event, one of the model in its arguments does."""
        makes_some = any(bottom_up(c, _makes_events, self._eventful) for c in e.children())
        return Builtin("$noEvent" if makes_some else "noEvent", (e,), e.ty)

    def _if(self, e: IfExp, env: Env | None) -> Value:
        condition = self.scalar(e.condition, env)
        if condition is TRUE:
            return self.value(e.then, env)
        if condition is FALSE:
            return self.value(e.otherwise, env)
        self.conditions += 1
        try:
            then, otherwise = self.value(e.then, env), self.value(e.otherwise, env)
        finally:
            self.conditions -= 1
        if len(then.items) != len(otherwise.items):
            raise Unsupported(f"branches of shapes {then.ty} and {otherwise.ty}")
        items = tuple(make.if_(condition, x, y) for x, y in zip(then.items, otherwise.items, strict=True))
        return Value(then.ty if then.ty.base == REAL.base else otherwise.ty, items)

    # --------------------------------------------------------------------------------------------- built-ins and calls

    def _builtin(self, e: Builtin, env: Env | None) -> Value:
        name = e.name
        if name == "size":
            return self._size(e, env)
        if name == "ndims":
            return _int(len(self.value(e.args[0], env).ty.dims))
        if name in _QUIET:
            return self._quieted(e, env)
        if env is not None and self.targets and name in _OF_BEFORE:
            return self._with_pre(e, env)
        args = [self.value(a, env) for a in e.args]
        make = arrays.FUNCTIONS.get(name)
        if make is not None:
            result = make(args)
            if result is not None:
                return _integers(result) if e.ty.base == INTEGER.base else result
        if isinstance(e.ty.base, RecordType):
            return arrays.by_fields(name, args)
        if any(a.ty.dims for a in args):
            return arrays.vectorised(lambda xs: self._plain_builtin(name, xs, e.ty.scalar()), args, e.ty)
        result_expr = self._plain_builtin(name, tuple(a.scalar for a in args), e.ty.scalar())
        return Value(result_expr.ty, (result_expr,))

    def _plain_builtin(self, name: str, args: tuple[Expr, ...], ty: Type) -> Expr:
        """Of scalars; what steps makes no events inside functions."""
        result = fold(Builtin(name, args, ty))
        if self.quiet and isinstance(result, Builtin) and result.name in _STEPPING and args[0].ty == REAL:
            return self._quietly(result)
        return result

    def _with_pre(self, e: Builtin, env: Env) -> Value:
        """`pre(v)`, or `previous(v)`, is what the variable was before, whatever the algorithm has made of it by now."""
        outside = {n: v for n, v in env.items() if n not in self.targets}
        earlier = "previous" if e.name == "previous" else "pre"
        before = tuple(Builtin(earlier, (x,), x.ty) for x in self.value(e.args[0], outside).items)
        if e.name == earlier:
            return Value(e.ty, before)
        now = self.value(e.args[0], env).items
        if e.name == "edge":
            return Value(e.ty, tuple(make.and_(a, make.not_(b)) for a, b in zip(now, before, strict=True)))
        return Value(e.ty, tuple(make.relation("<>", a, b) for a, b in zip(now, before, strict=True)))

    def _size(self, e: Builtin, env: Env | None) -> Value:
        dims = shape(self.value(e.args[0], env).ty)
        if len(e.args) == 1:
            return Value(INTEGER.array_of(len(dims)), tuple(Int(d) for d in dims))
        axis = self.scalar(e.args[1], env)
        if not isinstance(axis, Int):
            raise Unsupported("size(...) of a dimension that is not known")
        return _int(dims[axis.value - 1])

    def _quieted(self, e: Builtin, env: Env | None) -> Value:
        before = [self.value(a, env).scalar for a in e.args[:-1]]
        inner = self.value(e.args[-1], env)
        items = tuple(fold(Builtin(e.name, (*before, x), x.ty)) for x in inner.items)
        return Value(inner.ty, items)

    def outputs(self, e: Expr, env: Env | None) -> list[Value]:
        """All results of a call, or both ends of a spatial distribution (as one operator each)."""
        if isinstance(e, Call):
            return self._call(e, env)
        assert isinstance(e, Builtin) and e.name == "spatialDistribution"
        args = tuple(pack(self.value(a, env)) for a in e.args)
        return [Value(REAL, (Builtin(e.name, (Int(end), *args), REAL),)) for end in (0, 1)]

    def _call(self, e: Call, env: Env | None) -> list[Value]:
        return self._scope.call(e, [self.value(a, env) for a in e.args])

    def _single(self, outputs: list[Value], e: Call) -> Value:
        if len(outputs) != 1:
            if not outputs:
                raise Unsupported(f"{e.function} gives nothing")
            return outputs[0]
        return outputs[0]

    # ---------------------------------------------------------------------------------------- subscripts, ranges, loops

    def _index(self, base: Expr, subs: tuple[Expr, ...], env: Env | None) -> Value:
        value = self.value(base, env)
        dims = shape(value.ty)
        picks: list[Value | None] = [None if isinstance(s, Colon) else self.value(s, env) for s in subs]
        by = self._in_model if env is None else arrays.Indexing(Unsupported)  # elsewhere code becomes a function
        return arrays.indexed(value, dims, picks, by)

    def _range(self, e: Range, env: Env | None) -> Value:
        first, last = self.scalar(e.first, env), self.scalar(e.last, env)
        step = None if e.step is None else self.scalar(e.step, env)
        whole = make.range_(first, step, last)
        n = whole.ty.dims[0]
        if n is None:
            raise Unsupported("a range whose bounds are not known")
        items = tuple(make.index(whole, (Int(i),)) for i in range(1, n + 1))
        return Value(whole.ty, items)

    def _comprehension(self, e: Comprehension, env: Env | None) -> Value:
        """The last iterator is the outermost dimension (MLS 10.4.1)."""
        results = self._unrolled(e, list(reversed(e.iterators)), dict(env or {}))
        if e.op == "":
            return results
        items = results.items
        if e.body.ty.dims:
            return _summed(results, len(e.iterators))
        if e.op == "sum":
            return Value(e.ty.scalar(), (arrays.total(items, e.ty.scalar()),))
        return arrays.reduced(e.op, items, e.ty.scalar())

    def _unrolled(self, e: Comprehension, iterators: list[tuple[str, Expr]], env: Env) -> Value:
        if not iterators:
            return self.value(e.body, env)
        (name, over), rest = iterators[0], iterators[1:]
        parts = []
        for element in elements(self.value(over, env)):
            parts.append(self._unrolled(e, rest, {**env, name: element}))
        return stacked(parts, e.body.ty)


def _makes_events(e: Expr, parts: list[bool]) -> bool:
    """Whether a comparison or rounding of Reals in it makes events where the model has it."""
    if isinstance(e, Builtin) and e.name in _QUIET and e.name != "$noEvent":
        return False
    compares = isinstance(e, Binary) and e.op in RELATIONS and e.left.ty == REAL
    steps = isinstance(e, Builtin) and e.name in _STEPPING and e.args[0].ty == REAL
    return compares or steps or any(parts)


def _summed(results: Value, depth: int) -> Value:
    """The sum of arrays over the first dimensions, element by element."""
    dims, scalar = results.ty.dims[depth:], results.ty.scalar()
    if None in dims:
        raise Unsupported("a sum of no arrays, of a size that is not known")
    ty = Type(results.ty.base, dims)
    n = size(ty)
    return Value(ty, tuple(arrays.total(results.items[i::n], scalar) for i in range(n)))


def _operate(op: str, a: Expr, b: Expr) -> Expr:
    return simplify_node(make.binary(op, a, b))


def _integers(value: Value) -> Value:
    """`zeros(3)` and the like where the language wants Integers."""
    if value.ty.base == INTEGER.base or not all(isinstance(x, Real) for x in value.items):
        return value
    items = tuple(Int(int(x.value)) for x in value.items if isinstance(x, Real))
    return Value(Type(INTEGER.base, value.ty.dims), items)


def _int(n: int) -> Value:
    return Value(INTEGER, (Int(n),))


def broadcast(value: Value, ty: Type) -> tuple[Expr, ...]:
    """Items of `value` for a variable of type `ty`: a scalar stands for all elements."""
    n = size(ty)
    if len(value.items) == n:
        return value.items
    if n == 0:
        return ()
    if len(value.items) and n % len(value.items) == 0:
        return value.items * (n // len(value.items))
    raise Unsupported(f"a value of type {value.ty} for {ty}")

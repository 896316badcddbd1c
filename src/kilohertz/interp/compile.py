"""Expressions as Python closures: compiled once per node, called with a frame of names.

Equal expressions are one object, so the table of closures is shared by all functions and models of an evaluator.
Compiling goes from the leaves up on a stack of its own.  Running nests as deep as the expression; calls between Python
functions need no C stack, so the evaluator only has to lift Python's limit for the rare deep one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from kilohertz import ir
from kilohertz.interp import array_builtins, ranges, subscripts
from kilohertz.interp.context import Context, Frame
from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.operators import elementwise, mapped, matrix_power, over_elements, product
from kilohertz.interp.text import to_text
from kilohertz.interp.values import ArrayValue, FunctionValue, Value, stacked
from kilohertz.ir.builtins import BUILTINS, same_as
from kilohertz.ir.rules.arithmetic import OPERATORS, checked, power
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import INTEGER, REAL, EnumType, RecordType, TupleType, Type

Code: TypeAlias = Callable[[Frame], Value]


class Linker(Protocol):
    """Finds functions by id."""

    def target(self, function: str) -> Callable[[list[Value]], Value]:
        """What to call for a function, with its inputs in order; looked up no earlier than when it is called."""
        ...

    def apply(self, function: FunctionValue, arguments: list[Value]) -> Value:
        """Call a function value with its open inputs."""
        ...


class Compiler:
    """Compiles expressions, and keeps what it compiled."""

    def __init__(self, linker: Linker, context: Context) -> None:
        self.linker = linker
        self.context = context
        self.constants: dict[ir.Expr, Value] = {}  # nodes that are literal throughout
        self._codes: dict[ir.Expr, Code] = {}

    def code(self, e: ir.Expr) -> Code:
        """The closure of an expression."""
        done = self._codes.get(e)
        return done if done is not None else bottom_up(e, self._compiled, self._codes)

    def _compiled(self, e: ir.Expr, _: list[Code]) -> Code:
        return _COMPILERS[type(e)](self, e)

    def codes(self, es: tuple[ir.Expr, ...]) -> list[Code]:
        """The closures of several expressions."""
        return [self.code(e) for e in es]


# ------------------------------------------------------------------------------------------------ literals and names


def _constant(compiler: Compiler, e: ir.Expr, value: Value) -> Code:
    compiler.constants[e] = value
    return lambda _: value


def _literal(compiler: Compiler, e: ir.Real | ir.Int | ir.Bool | ir.Str) -> Code:
    return _constant(compiler, e, e.value)


def _enum(compiler: Compiler, e: ir.Enum) -> Code:
    return _constant(compiler, e, e.index)


def _ref(_: Compiler, e: ir.Ref) -> Code:
    name = e.name
    return lambda f: f[name]


def _colon(_: Compiler, e: ir.Colon) -> Code:
    return lambda _: None


# ---------------------------------------------------------------------------------------------------------- operators


def _unary(compiler: Compiler, e: ir.Unary) -> Code:
    operand = compiler.code(e.operand)
    if e.operand in compiler.constants and e.op == "-" and not e.ty.dims:
        return _constant(compiler, e, -compiler.constants[e.operand])
    if e.op == "-":
        return (lambda f: mapped(_negated, operand(f))) if e.ty.dims else (lambda f: -operand(f))
    return (lambda f: mapped(_inverted, operand(f))) if e.ty.dims else (lambda f: not operand(f))


def _negated(x: Any) -> Any:
    return -x


def _inverted(x: bool) -> bool:
    return not x


_SCALAR_CODES: dict[str, Callable[[Code, Code], Code]] = {
    "+": lambda a, b: lambda f: a(f) + b(f),
    "-": lambda a, b: lambda f: a(f) - b(f),
    "*": lambda a, b: lambda f: a(f) * b(f),
    "/": lambda a, b: lambda f: a(f) / b(f),
    "^": lambda a, b: lambda f: power(a(f), b(f)),
    "<": lambda a, b: lambda f: a(f) < b(f),
    "<=": lambda a, b: lambda f: a(f) <= b(f),
    ">": lambda a, b: lambda f: a(f) > b(f),
    ">=": lambda a, b: lambda f: a(f) >= b(f),
    "==": lambda a, b: lambda f: a(f) == b(f),
    "<>": lambda a, b: lambda f: a(f) != b(f),
    "and": lambda a, b: lambda f: a(f) and b(f),
    "or": lambda a, b: lambda f: a(f) or b(f),
}


# The same with a literal on one side: half the work in polynomials and tables.
_LITERAL_LEFT: dict[str, Callable[[Any, Code], Code]] = {
    "+": lambda k, b: lambda f: k + b(f),
    "-": lambda k, b: lambda f: k - b(f),
    "*": lambda k, b: lambda f: k * b(f),
    "/": lambda k, b: lambda f: k / b(f),
}
_LITERAL_RIGHT: dict[str, Callable[[Code, Any], Code]] = {
    "+": lambda a, k: lambda f: a(f) + k,
    "-": lambda a, k: lambda f: a(f) - k,
    "*": lambda a, k: lambda f: a(f) * k,
    "/": lambda a, k: lambda f: a(f) / k,
}


def _binary(compiler: Compiler, e: ir.Binary) -> Code:
    left, right = compiler.code(e.left), compiler.code(e.right)
    plain = e.op.lstrip(".")
    if not e.left.ty.dims and not e.right.ty.dims:
        if e.ty == INTEGER:
            operate = OPERATORS[plain]
            return lambda f: checked(operate(left(f), right(f)))
        constants = compiler.constants
        if e.left in constants and plain in _LITERAL_LEFT:
            return _LITERAL_LEFT[plain](constants[e.left], right)
        if e.right in constants and plain in _LITERAL_RIGHT:
            return _LITERAL_RIGHT[plain](left, constants[e.right])
        return _SCALAR_CODES[plain](left, right)
    if e.op == "*":
        zero = 0 if e.ty.base == INTEGER.base else 0.0
        return lambda f: product(left(f), right(f), zero)
    if e.op == "^":
        return lambda f: matrix_power(left(f), right(f))
    apply = OPERATORS[plain]
    return lambda f: elementwise(apply, left(f), right(f))


def _if(compiler: Compiler, e: ir.IfExp) -> Code:
    condition, then, otherwise = compiler.codes((e.condition, e.then, e.otherwise))
    return lambda f: then(f) if condition(f) else otherwise(f)


# ----------------------------------------------------------------------------------------------------------- built-ins


def _builtin(compiler: Compiler, e: ir.Builtin) -> Code:
    special = _SPECIAL.get(e.name)
    if special is not None:
        code = special(compiler, e)
        if code is not None:
            return code
    same = same_as(e)
    if same is not None:
        return compiler.code(same)
    function, args = BUILTINS.get(e.name), compiler.codes(e.args)
    if function is not None and function.value is not None and len(args) == function.count:
        return _of_scalars(function.value, args, e)
    whole = array_builtins.WHOLE.get(e.name)
    if whole is not None:
        return _typed(lambda f: whole(*[a(f) for a in args]), e)
    if isinstance(e.ty.base, EnumType) and len(args) == 1 and e.args[0].ty.base == INTEGER.base:
        return _to_enum(args[0], e.ty.base)
    context = compiler.context
    return lambda f: context.apply(e, lambda argument: compiler.code(argument)(f))


def _of_scalars(function: Callable[..., Any], args: list[Code], e: ir.Builtin) -> Code:
    """A function of scalars, element by element over arrays."""
    if any(a.ty.dims for a in e.args):
        return lambda f: over_elements(function, [a(f) for a in args])
    if len(args) == 1:
        (only,) = args
        return lambda f: function(only(f))
    if len(args) == 2:
        left, right = args
        return lambda f: function(left(f), right(f))
    return lambda f: function(*[a(f) for a in args])


def _typed(code: Code, e: ir.Builtin) -> Code:
    """Constructors and empty reductions give Integers: make them Real where the expression is."""
    if e.name in _INTEGER_RESULT and e.ty.base == REAL.base:
        return lambda f: mapped(float, code(f))
    if e.name in ("min", "max") and e.ty.base == INTEGER.base:
        return lambda f: max(-(2**31), min(2**31 - 1, int(code(f))))
    return code


_INTEGER_RESULT = frozenset({"zeros", "ones", "identity", "fill", "sum", "product", "diagonal"})


def _to_enum(arg: Code, enum: EnumType) -> Code:
    def convert(f: Frame) -> int:
        position: int = arg(f)
        if not 1 <= position <= len(enum.literals):
            raise EvaluationError(f"{enum.name} has no literal number {position}")
        return position

    return convert


def _size(compiler: Compiler, e: ir.Builtin) -> Code | None:
    """Sizes the type knows need no value."""
    dims = e.args[0].ty.dims
    if len(e.args) == 1 and None not in dims:
        return _constant(compiler, e, ArrayValue((len(dims),), list(dims)))
    if len(e.args) == 2 and isinstance(e.args[1], ir.Int) and 1 <= e.args[1].value <= len(dims):
        n = dims[e.args[1].value - 1]
        return None if n is None else _constant(compiler, e, n)
    return None


def _ndims(compiler: Compiler, e: ir.Builtin) -> Code:
    return _constant(compiler, e, len(e.args[0].ty.dims))


def _string(compiler: Compiler, e: ir.Builtin) -> Code:
    first, *options = compiler.codes(e.args)
    ty: Type = e.args[0].ty
    return lambda f: to_text(first(f), ty, [o(f) for o in options])


_SPECIAL: dict[str, Callable[[Compiler, ir.Builtin], Code | None]] = {
    "size": _size,
    "ndims": _ndims,
    "String": _string,
}

# --------------------------------------------------------------------------------------------------- arrays and records


def _array(compiler: Compiler, e: ir.Array) -> Code:
    if not e.elements:
        return _constant(compiler, e, ArrayValue(tuple(n or 0 for n in e.ty.dims), []))
    constants = compiler.constants
    if all(x in constants for x in e.elements):
        return _constant(compiler, e, stacked([constants[x] for x in e.elements]))
    codes = compiler.codes(e.elements)
    n = len(codes)
    if e.elements[0].ty.dims:
        return lambda f: stacked([c(f) for c in codes])
    return lambda f: ArrayValue((n,), [c(f) for c in codes])


def _record(compiler: Compiler, e: ir.Record) -> Code:
    assert isinstance(e.ty.base, RecordType)
    names = [name for name, _ in e.ty.base.fields]
    constants = compiler.constants
    if all(x in constants for x in e.fields):
        return _constant(compiler, e, {n: constants[x] for n, x in zip(names, e.fields, strict=True)})
    parts = list(zip(names, compiler.codes(e.fields), strict=True))
    return lambda f: {name: code(f) for name, code in parts}


def _field(compiler: Compiler, e: ir.Field) -> Code:
    base, name = compiler.code(e.base), e.name
    if not e.base.ty.dims:
        return lambda f: base(f)[name]
    inner = len(e.ty.dims) - len(e.base.ty.dims)

    def of_array(f: Frame) -> ArrayValue:
        records = base(f)
        values = [r[name] for r in records.data]
        if not inner or not values:
            return ArrayValue(records.shape + tuple(n or 0 for n in e.ty.dims[len(records.shape) :]), values)
        whole = stacked(values)
        return ArrayValue(records.shape + whole.shape[1:], whole.data)

    return of_array


def _index(compiler: Compiler, e: ir.Index) -> Code:
    base = compiler.code(e.base)
    subs = compiler.codes(e.subs)
    if len(subs) == len(e.base.ty.dims) and not any(s.ty.dims for s in e.subs):
        if isinstance(e.base, ir.Ref) and isinstance(e.subs[0], ir.Int) and len(subs) == 1:
            return _element_of_ref(e.base.name, e.subs[0].value)
        if len(subs) == 1:
            return _element_1(base, subs[0])
        if len(subs) == 2:
            return _element_2(base, subs[0], subs[1])
    return lambda f: subscripts.read(base(f), [s(f) for s in subs])


def _element_of_ref(name: str, k: int) -> Code:
    def element(f: Frame) -> Value:
        array = f[name]
        if 1 <= k <= array.shape[0]:
            value = array.data[k - 1]
            if value is not None:
                return value
            raise EvaluationError(f"`{name}[{k}]` is used before it is assigned")
        raise EvaluationError(f"subscript {k} of `{name}` is out of range 1:{array.shape[0]}")

    return element


def _element_1(base: Code, sub: Code) -> Code:
    def element(f: Frame) -> Value:
        array, k = base(f), sub(f)
        if 1 <= k <= array.shape[0]:
            value = array.data[k - 1]
            if value is not None:
                return value
            raise EvaluationError(f"element {k} is used before it is assigned")
        raise EvaluationError(f"subscript {k} is out of range 1:{array.shape[0]}")

    return element


def _element_2(base: Code, row: Code, column: Code) -> Code:
    def element(f: Frame) -> Value:
        array, i, j = base(f), row(f), column(f)
        n, m = array.shape
        if 1 <= i <= n and 1 <= j <= m:
            value = array.data[(i - 1) * m + j - 1]
            if value is not None:
                return value
            raise EvaluationError(f"element [{i}, {j}] is used before it is assigned")
        raise EvaluationError(f"subscripts [{i}, {j}] are out of range [1:{n}, 1:{m}]")

    return element


def _item(compiler: Compiler, e: ir.Item) -> Code:
    base, k = compiler.code(e.base), e.index

    def output(f: Frame) -> Value:
        value = base(f)[k]
        if value is None:
            raise EvaluationError(f"output {k + 1} of a function is not assigned")
        return value

    return output


def _range(compiler: Compiler, e: ir.Range) -> Code:
    values = iteration(compiler, e)

    def whole(f: Frame) -> ArrayValue:
        data = list(values(f))
        return ArrayValue((len(data),), data)

    return whole


def iteration(compiler: Compiler, e: ir.Expr) -> Callable[[Frame], Any]:
    """What a loop runs over: a Range without making it an array, or a vector's elements."""
    if not isinstance(e, ir.Range):
        code = compiler.code(e)
        return lambda f: code(f).data
    first, last = compiler.code(e.first), compiler.code(e.last)
    step = None if e.step is None else compiler.code(e.step)
    spread = ranges.maker(e.ty)
    if step is None:
        return lambda f: spread(first(f), 1, last(f))
    return lambda f: spread(first(f), step(f), last(f))


def _comprehension(compiler: Compiler, e: ir.Comprehension) -> Code:
    body = compiler.code(e.body)
    loops = [(name, iteration(compiler, r)) for name, r in e.iterators]
    finish = ranges.REDUCTIONS[e.op]
    ty = e.ty

    def run(f: Frame) -> Value:
        hidden = {name: dict.get(f, name) for name, _ in loops}
        values, sizes = ranges.spread_over(f, loops, body)
        for name, value in hidden.items():
            if value is None:
                f.pop(name, None)
            else:
                f[name] = value
        return finish(values, sizes, ty)

    return run


# --------------------------------------------------------------------------------------------------------------- calls


def _call(compiler: Compiler, e: ir.Call) -> Code:
    """A function by its id, or the function an input by that name holds."""
    linker, name = compiler.linker, e.function
    target = linker.target(name)
    args = compiler.codes(e.args)
    wanted = len(e.ty.base.elements) if isinstance(e.ty.base, TupleType) else 1

    def call(f: Frame) -> Value:
        if name in f:  # what was handed over may have further outputs
            given = linker.apply(f[name], [a(f) for a in args])
            return given if not isinstance(given, tuple) else given[:wanted] if wanted > 1 else given[0]
        return target([a(f) for a in args])

    return call


def _function_ref(compiler: Compiler, e: ir.FunctionRef) -> Code:
    name = e.function
    bound = [(n, compiler.code(x)) for n, x in e.bound]

    def make(f: Frame) -> FunctionValue:
        values = {n: c(f) for n, c in bound}
        if name in f:
            held: FunctionValue = f[name]
            return FunctionValue(held.function, {**held.bound, **values})
        return FunctionValue(name, values)

    return make


_COMPILERS: dict[type[ir.Expr], Callable[[Compiler, Any], Code]] = {
    ir.Real: _literal,
    ir.Int: _literal,
    ir.Bool: _literal,
    ir.Str: _literal,
    ir.Enum: _enum,
    ir.Ref: _ref,
    ir.Colon: _colon,
    ir.Unary: _unary,
    ir.Binary: _binary,
    ir.IfExp: _if,
    ir.Builtin: _builtin,
    ir.Array: _array,
    ir.Record: _record,
    ir.Field: _field,
    ir.Index: _index,
    ir.Item: _item,
    ir.Range: _range,
    ir.Comprehension: _comprehension,
    ir.Call: _call,
    ir.FunctionRef: _function_ref,
}

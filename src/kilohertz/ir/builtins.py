"""The functions and operators of the language, one record each (MLS 3.7, 8.6, 10.3, 16): all rooms read this table.

  semantics   names of arguments, what is converted to Real, the type of the result
  interp      the value for Python's numbers; passes fold literals and settle parameters with the same function
  passes      the derivative, where events come from, what may be computed ahead
  codegen     the spelling in C
  cost        operations (a division counts 4, a function of the C library 20), instructions
  compare     the value, instant by instant

A new function of scalars is one record here, and a line in `khz_math.h` where C has none by that meaning.  Operators
that ask the running simulation (`pre`, `sample`, ...) and functions of whole arrays have their types and properties
here and their code where it is: `passes/dae/lowering/event_operators.py`, `codegen/layout.py`;
`interp/array_builtins.py`, `passes/flat/arrays.py`.
"""

from __future__ import annotations

import math
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir import make
from kilohertz.ir.expr import Binary, Builtin, Enum, Expr, Int, Real
from kilohertz.ir.make import ONE, ZERO, add, div, if_, mul, neg, sub
from kilohertz.ir.rules import arithmetic, result_types
from kilohertz.ir.rules.arithmetic import EvaluationError, of_library
from kilohertz.ir.rules.function_record import BuiltinFunction, Event, Form, Rule, Slope, Takes
from kilohertz.ir.rules.result_types import TypeRule
from kilohertz.ir.types import BOOLEAN, CLOCK, INTEGER, REAL, STRING, Type

REDUCTIONS = ("sum", "product", "min", "max")  # over an array, or over what iterators give (MLS 10.3.4)
COMPARISONS = frozenset({"<", "<=", ">", ">="})  # of Reals: where they change there is an event (MLS 8.5)


def _fn(name: str, *args: Expr) -> Expr:
    return fold(Builtin(name, args, REAL))


def _not_below(x: Expr, y: Expr) -> Expr:
    return Binary(">=", x, y, BOOLEAN)


def _truncated(x: Expr) -> Expr:
    return if_(_not_below(x, ZERO), _fn("floor", x), _fn("ceil", x))


def _elementary(
    name: str,
    derivative: Rule,
    domain: tuple[float, float] = (-math.inf, math.inf),
    instructions: int = 140,
    far_instructions: int = 0,
) -> BuiltinFunction:
    """A function of <math.h> by its own name, of one Real."""
    return BuiltinFunction(
        name,
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        value=of_library(getattr(math, name)),
        domain=domain,
        derivative=derivative,
        c=name + "({0})",
        instructions=instructions,
        far_instructions=far_instructions,
        is_elementary=True,
    )


_UNIT = (-1.0, 1.0)
_POSITIVE = (math.ulp(0.0), math.inf)  # open at zero: from the smallest positive number on
_ELEMENTARY = (
    _elementary("sin", lambda u, d, e: mul(_fn("cos", u[0]), d[0]), instructions=115, far_instructions=600),
    _elementary("cos", lambda u, d, e: neg(mul(_fn("sin", u[0]), d[0])), instructions=115, far_instructions=600),
    _elementary("tan", lambda u, d, e: mul(add(ONE, mul(e, e)), d[0]), instructions=130, far_instructions=600),
    _elementary("asin", lambda u, d, e: div(d[0], _fn("sqrt", sub(ONE, mul(u[0], u[0])))), _UNIT, 90),
    _elementary("acos", lambda u, d, e: neg(div(d[0], _fn("sqrt", sub(ONE, mul(u[0], u[0]))))), _UNIT, 95),
    _elementary("atan", lambda u, d, e: div(d[0], add(ONE, mul(u[0], u[0]))), instructions=85),
    _elementary("sinh", lambda u, d, e: mul(_fn("cosh", u[0]), d[0]), instructions=145),
    _elementary("cosh", lambda u, d, e: mul(_fn("sinh", u[0]), d[0]), instructions=95),
    _elementary("tanh", lambda u, d, e: mul(sub(ONE, mul(e, e)), d[0]), instructions=135),
    _elementary("exp", lambda u, d, e: mul(e, d[0]), instructions=62),
    _elementary("log", lambda u, d, e: div(d[0], u[0]), _POSITIVE, 62),
    _elementary("log10", lambda u, d, e: div(d[0], mul(Real(math.log(10.0)), u[0])), _POSITIVE, 100),
)

# Functions of scalars whose spelling in C, or type, or behaviour at events is their own.
_SCALAR = (
    BuiltinFunction(
        "sqrt",
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        value=of_library(math.sqrt),
        domain=(0.0, math.inf),
        derivative=lambda u, d, e: div(d[0], mul(Real(2.0), e)),
        c="sqrt({0})",
        instructions=5,
    ),
    BuiltinFunction(
        "atan2",
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        count=2,
        value=math.atan2,
        derivative=lambda u, d, e: div(sub(mul(u[1], d[0]), mul(u[0], d[1])), add(mul(u[0], u[0]), mul(u[1], u[1]))),
        c="atan2({0}, {1})",
        instructions=165,
    ),
    BuiltinFunction(
        "abs",
        result_types.like_first,
        takes=Takes.NUMBERS,
        value=abs,
        derivative=lambda u, d, e: if_(_not_below(u[0], ZERO), d[0], neg(d[0])),
        c="fabs({0})",
        c_integers="khz_abs_int({c}, {0})",
        operations=1,
        instructions=3,
    ),
    BuiltinFunction(
        "sign",
        result_types.elementwise(INTEGER),
        takes=Takes.REALS,
        value=arithmetic.sign,
        derivative=Slope.STILL,
        c="khz_sign({0})",
        operations=2,
        instructions=8,
    ),
    BuiltinFunction(
        "min",
        result_types.reduced,
        count=2,
        value=arithmetic.minimum,
        derivative=lambda u, d, e: if_(Binary("<=", u[0], u[1], BOOLEAN), d[0], d[1]),
        c="khz_min({0}, {1})",
        c_integers="khz_min_int({0}, {1})",
        operations=1,
        instructions=5,
    ),
    BuiltinFunction(
        "max",
        result_types.reduced,
        count=2,
        value=arithmetic.maximum,
        derivative=lambda u, d, e: if_(_not_below(u[0], u[1]), d[0], d[1]),
        c="khz_max({0}, {1})",
        c_integers="khz_max_int({0}, {1})",
        operations=1,
        instructions=5,
    ),
    BuiltinFunction(
        "floor",
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        value=arithmetic.floor,
        derivative=Slope.STILL,
        event=Event.STEPS,
        c="floor({0})",
        operations=1,
        instructions=20,
    ),
    BuiltinFunction(
        "ceil",
        result_types.elementwise(REAL),
        takes=Takes.REALS,
        value=arithmetic.ceil,
        derivative=Slope.STILL,
        event=Event.STEPS,
        c="ceil({0})",
        operations=1,
        instructions=20,
    ),
    BuiltinFunction(
        "integer",
        result_types.elementwise(INTEGER),
        value=arithmetic.integer,
        derivative=Slope.STILL,
        event=Event.STEPS,
        c="khz_integer({c}, {0})",
        operations=1,
        instructions=30,
    ),
    BuiltinFunction(
        "div",
        result_types.alike,
        takes=Takes.NUMBERS,
        count=2,
        value=arithmetic.div,
        derivative=Slope.STILL,
        event=Event.QUOTIENT,
        c="khz_div({0}, {1})",
        c_integers="khz_div_int({c}, {0}, {1})",
        operations=5,
        instructions=40,
    ),
    BuiltinFunction(
        "mod",
        result_types.alike,
        takes=Takes.NUMBERS,
        count=2,
        value=arithmetic.mod,
        derivative=lambda u, d, e: sub(d[0], mul(_fn("floor", div(u[0], u[1])), d[1])),
        event=Event.QUOTIENT,
        c="khz_mod({0}, {1})",
        c_integers="khz_mod_int({c}, {0}, {1})",
        operations=6,
        instructions=45,
    ),
    BuiltinFunction(
        "rem",
        result_types.alike,
        takes=Takes.NUMBERS,
        count=2,
        value=arithmetic.rem,
        derivative=lambda u, d, e: sub(d[0], mul(_truncated(div(u[0], u[1])), d[1])),
        event=Event.QUOTIENT,
        c="khz_rem({0}, {1})",
        c_integers="khz_rem_int({c}, {0}, {1})",
        operations=6,
        instructions=45,
    ),
    BuiltinFunction(
        "semiLinear",
        result_types.constant(REAL),
        ("x", "positiveSlope", "negativeSlope"),
        count=3,
        value=arithmetic.semi_linear,
        derivative=lambda u, d, e: if_(
            _not_below(u[0], ZERO), add(mul(d[1], u[0]), mul(u[1], d[0])), add(mul(d[2], u[0]), mul(u[2], d[0]))
        ),
        c="{0} >= 0.0 ? {1} * {0} : {2} * {0}",
        form=Form.CHOICE,
        operations=2,
        instructions=8,
    ),
    BuiltinFunction(  # Integer to Real; not written by users
        "real",
        result_types.elementwise(REAL),
        value=float,
        derivative=lambda u, d, e: d[0],
        c="(double){0}",
        form=Form.CAST,
        operations=0,
        instructions=2,
    ),
    BuiltinFunction(  # a subscript of a dimension with so many elements; not written by users
        "$subscript",
        result_types.constant(INTEGER),
        count=2,
        value=arithmetic.subscript,
        derivative=Slope.STILL,
        c="khz_subscript({c}, {0}, {1})",
        operations=2,
    ),
    BuiltinFunction(  # the position of an enumeration's literal
        "Integer",
        result_types.elementwise(INTEGER),
        value=int,
        same_as=0,
        derivative=Slope.STILL,
        operations=0,
        instructions=2,
    ),
)

# What has the value of one of its arguments.
_QUIETED = (
    BuiltinFunction(
        "noEvent",
        result_types.like_first,
        same_as=0,
        derivative=lambda u, d, e: d[0] if d[0] is ZERO else Builtin("noEvent", (d[0],), REAL),
        event=Event.QUIET,
        operations=0,
        instructions=2,
    ),
    BuiltinFunction(  # of a function that was written out: what it compares or rounds makes no event, its arguments do
        "$noEvent",
        result_types.like_first,
        same_as=0,
        derivative=lambda u, d, e: d[0] if d[0] is ZERO else Builtin("noEvent", (d[0],), REAL),
        event=Event.QUIET,
        operations=0,
        instructions=2,
    ),
    BuiltinFunction(
        "smooth",
        result_types.like_last,
        ("p", "expr"),
        same_as=1,
        derivative=lambda u, d, e: d[1] if d[1] is ZERO else Builtin("noEvent", (d[1],), REAL),
        event=Event.QUIET,
        operations=0,
        instructions=2,
    ),
    BuiltinFunction(  # in the initial system a mixture of both
        "homotopy",
        result_types.like_first,
        ("actual", "simplified"),
        same_as=0,
        derivative=lambda u, d, e: d[0] if d[0] is d[1] else Builtin("homotopy", (d[0], d[1]), REAL),
        operations=0,
        instructions=2,
    ),
)


def _asks(
    name: str,
    type_: TypeRule,
    event: Event,
    *arguments: str,
    still: bool = False,
    hides: bool = False,
    instructions: int = 160,
) -> BuiltinFunction:
    """An operator that asks the running simulation."""
    slope = Slope.STILL if still else None
    return BuiltinFunction(
        name, type_, arguments, event=event, derivative=slope, instructions=instructions, hides=hides
    )


_BOOLEAN = result_types.constant(BOOLEAN)
_OPERATORS = (
    _asks("der", result_types.like_first, Event.RATE),
    _asks("pre", result_types.like_first, Event.BEFORE, still=True, hides=True),
    _asks("edge", result_types.elementwise(BOOLEAN), Event.BEFORE),
    _asks("change", result_types.elementwise(BOOLEAN), Event.BEFORE),
    _asks("initial", _BOOLEAN, Event.INSTANT, still=True, hides=True),
    _asks("terminal", _BOOLEAN, Event.INSTANT, still=True, hides=True),
    _asks("sample", _BOOLEAN, Event.INSTANT, "u", "clock", still=True),
    _asks("$when", _BOOLEAN, Event.INSTANT),  # a condition that has just become true
    _asks("$tick", _BOOLEAN, Event.INSTANT),  # of a clock, by its number
    _asks("$unset", _BOOLEAN, Event.NONE),  # what an algorithm has not assigned
    _asks("delay", result_types.like_first, Event.PAST, "expr", "delayTime", "delayMax", still=True, instructions=400),
    _asks(
        "past", result_types.constant(REAL), Event.PAST, still=True, instructions=400
    ),  # of a delay without its present
    _asks("pace", result_types.constant(REAL), Event.PAST, still=True, instructions=400),  # at which it moves
    _asks("part", result_types.constant(REAL), Event.PAST, still=True, instructions=40),  # of the present in it
    _asks(
        "spatialDistribution",
        result_types.spatial,
        Event.PAST,
        *("in0", "in1", "x", "positiveVelocity", "initialPoints", "initialValues"),
    ),
    _asks("transport", result_types.constant(REAL), Event.PAST, still=True),  # one end of a spatialDistribution
    _asks("previous", result_types.like_first, Event.CLOCKED, hides=True),
    _asks("hold", result_types.like_first, Event.CLOCKED),
    _asks("noClock", result_types.like_first, Event.CLOCKED),
    _asks("sampled", result_types.like_first, Event.CLOCKED),  # the `sample` of a clock
    _asks("subSample", result_types.like_first, Event.CLOCKED, "u", "factor"),
    _asks("superSample", result_types.like_first, Event.CLOCKED, "u", "factor"),
    _asks("shiftSample", result_types.like_first, Event.CLOCKED, "u", "shiftCounter", "resolution"),
    _asks("backSample", result_types.like_first, Event.CLOCKED, "u", "backCounter", "resolution"),
    _asks("interval", result_types.constant(REAL), Event.CLOCKED, hides=True),
    _asks("firstTick", _BOOLEAN, Event.CLOCKED, hides=True),
    _asks("Clock", result_types.constant(CLOCK), Event.CLOCKED),
    _asks("$state", result_types.constant(CLOCK), Event.CLOCKED),  # the ticks of a clock at which a state is active
    _asks("inStream", result_types.like_first, Event.NONE),
    _asks("actualStream", result_types.like_first, Event.NONE),
)


def _shaped(
    name: str,
    type_: TypeRule,
    derivative: Slope | None,
    *arguments: str,
    operations: int = 20,
    instructions: int = 160,
    hides: bool = False,
    mixes: bool = False,
) -> BuiltinFunction:
    """A function of whole arrays, sizes or texts."""
    return BuiltinFunction(
        name,
        type_,
        arguments,
        derivative=derivative,
        operations=operations,
        instructions=instructions,
        hides=hides,
        mixes=mixes,
    )


_SHAPED = (
    _shaped("size", result_types.size, Slope.STILL, operations=0, instructions=2, hides=True),
    _shaped("ndims", result_types.constant(INTEGER), Slope.STILL, operations=0, instructions=2, hides=True),
    _shaped("zeros", result_types.sized_integer, Slope.STILL),
    _shaped("ones", result_types.sized_integer, Slope.STILL),
    _shaped("identity", result_types.identity, Slope.STILL),
    _shaped("fill", result_types.filled, Slope.LINEAR, "s"),
    _shaped("linspace", result_types.spaced, Slope.LINEAR, "x1", "x2", "n"),
    _shaped("diagonal", result_types.diagonal, Slope.LINEAR),
    _shaped("transpose", result_types.transposed, Slope.LINEAR),
    _shaped("symmetric", result_types.like_first, Slope.LINEAR, mixes=True),
    _shaped("skew", result_types.skewed, Slope.LINEAR, mixes=True),
    _shaped("cross", result_types.like_first, Slope.BILINEAR, mixes=True),
    _shaped("outerProduct", result_types.outer_product, Slope.BILINEAR, mixes=True),
    _shaped("sum", result_types.reduced, Slope.LINEAR, mixes=True),
    _shaped("product", result_types.reduced, None, mixes=True),
    _shaped("scalar", result_types.reduced, Slope.LINEAR, operations=0, instructions=2),
    _shaped("vector", result_types.vector, Slope.LINEAR),
    _shaped("matrix", result_types.matrix, Slope.LINEAR),
    _shaped("promote", result_types.promoted, Slope.LINEAR),
    _shaped("cat", result_types.joined, Slope.LINEAR, mixes=True),
    _shaped("array", result_types.listed, None),
    _shaped(
        "String",
        result_types.constant(STRING),
        Slope.STILL,
        *("x", "significantDigits", "minimumLength", "leftJustified", "format"),
        operations=0,
        instructions=4000,
    ),
)

BUILTINS: dict[str, BuiltinFunction] = {f.name: f for f in (*_ELEMENTARY, *_SCALAR, *_QUIETED, *_OPERATORS, *_SHAPED)}


# ------------------------------------------------------------------------------------------------------------ questions


def named(*events: Event) -> frozenset[str]:
    """Names of those that have to do with events in one of these ways."""
    return frozenset(f.name for f in BUILTINS.values() if f.event in events)


def changing_at_events() -> frozenset[str]:
    """Names of those whose value changes at events only, whatever their arguments do."""
    steps = {f.name for f in BUILTINS.values() if f.value is not None and f.derivative is Slope.STILL}
    return named(Event.BEFORE, Event.INSTANT, Event.CLOCKED) | steps


def builtin_type(name: str, args: tuple[Expr, ...] | list[Expr]) -> Type:
    """The type of a built-in function's result."""
    row = BUILTINS.get(name)
    if row is None:
        raise InternalError(f"no built-in function `{name}`")
    return row.type(args)


def same_as(e: Builtin) -> Expr | None:
    """The argument whose value it has; None where it has one of its own."""
    row = BUILTINS.get(e.name)
    return None if row is None or row.same_as is None else e.args[row.same_as]


def is_past(e: Expr) -> bool:
    """A value that was recorded."""
    return isinstance(e, Builtin) and e.name in _PAST


_PAST = named(Event.PAST)
_QUIET = named(Event.QUIET)


def fold(e: Builtin) -> Expr:
    """A built-in function of literals as a literal, where it has a finite value."""
    row, args = BUILTINS.get(e.name), e.args
    if row is None or not args:
        return e
    if row.value is None:
        return args[-1] if e.name in _QUIET and make.is_literal(args[-1]) else e
    values = [a.value for a in args if type(a) is Real or type(a) is Int]
    if len(values) != len(args):
        return _folded_symbols(e)
    try:
        return _literal(row.value(*values), e)
    except (EvaluationError, ArithmeticError, ValueError):
        return e


def _folded_symbols(e: Builtin) -> Expr:
    args = e.args
    if e.name == "real":
        return make.to_real(args[0])
    if e.name == "Integer" and type(args[0]) is Enum:
        return Int(args[0].index)
    if e.name in ("min", "max") and len(args) == 2 and args[0] is args[1]:
        return args[0]
    return e


def _literal(value: Any, like: Expr) -> Expr:
    if like.ty.base == INTEGER.base:
        return Int(int(value)) if arithmetic.is_integer(value) else like
    return Real(float(value)) if math.isfinite(value) else like

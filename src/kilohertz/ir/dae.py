"""The Dae form: scalar variables split by kind, scalar equations, events made explicit.

Contract.  Every variable is scalar.  Expressions are scalar and over `Ref`s of variables (plus `time`), except the
arguments of calls (`Array`, `Record` of scalars).  Gone are `pre`, `edge`,
`change`, `smooth`, `noEvent`, `reinit`, if- and when-equations; `initial()` stays until the initial system is split.
Instead:

  `der(x)`, `pre(v)`  variables named so, made by the passes; `der(x)` of a state, `der(der(x))` only between passes
  `$r3`               buffered relation number 3, a Boolean unknown with the equation `$r3 = (a > b)` (`crossings`)
  `$w2`               the condition of when-branch number 2; it acts where `$w2 and not pre($w2)`
  `$left1`            a copy of a continuous variable; `pre($left1)` is that variable's left limit at an event
  `sample(k)`, `terminal()`, `delay(k, dt)`, `transport(k, end, x)`, `homotopy(a, s)`   as in the Step form

A variable of Integer, Boolean, enumeration or String type, or a Real set in a when, is DISCRETE.  An `Equation` that
computes a `Ref` of a DISCRETE variable is never turned round (`directed`).  A comparison that is left in an expression
makes no event: it is evaluated as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from kilohertz.base import Diagnostic, Origin
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.ir.flat import Assert, Experiment, Function, Purpose
from kilohertz.ir.types import BOOLEAN, Type


class Role(Enum):
    """What a scalar variable is in the system of equations."""

    CONSTANT = "constant"
    PARAMETER = "parameter"
    INPUT = "input"  # known, set from outside
    STATE = "state"  # appears differentiated (before index reduction: a candidate)
    ALGEBRAIC = "algebraic"
    DISCRETE = "discrete"
    RELATION = "relation"
    OBJECT = "object"


class Select(Enum):
    """stateSelect, in rising order of preference (MLS 4.8.8.1)."""

    NEVER = 1
    AVOID = 2
    DEFAULT = 3
    PREFER = 4
    ALWAYS = 5


VALUES = ("binding", "start", "nominal", "min", "max")  # fields of a variable that are expressions


@dataclass(frozen=True, slots=True)
class DaeVariable:
    """A scalar variable.  `start` is None where the user gave none; `fixed` as it applies (parameters: True)."""

    name: str
    ty: Type
    role: Role
    binding: Expr | None = None  # parameters and constants
    start: Expr | None = None
    fixed: bool = False
    nominal: Expr | None = None
    min: Expr | None = None
    max: Expr | None = None
    select: Select = Select.DEFAULT
    unit: str = ""
    display_unit: str = ""
    description: str = ""
    causality: str = ""
    protected: bool = False
    final: bool = False  # a parameter `--set` may not change
    origin: Origin = Origin()
    typical_start: bool = False  # said by the type only
    purpose: Purpose = Purpose.DECLARED

    @property
    def ref(self) -> Ref:
        return Ref(self.name, self.ty)


@dataclass(frozen=True, slots=True)
class Equation:
    """`left = right`, scalar."""

    left: Expr
    right: Expr
    origin: Origin = Origin()
    directed: bool = False  # computes `left`, a Ref; may not be solved for anything else


@dataclass(frozen=True, slots=True)
class CallEquation:
    """Outputs of one call, scalar by scalar (None: dropped); with a guard they take `pre` where it does not hold."""

    targets: tuple[tuple[Expr | None, ...], ...]
    call: Call
    origin: Origin = Origin()
    guard: Expr | None = None


AnyEquation: TypeAlias = Equation | CallEquation


@dataclass(frozen=True, slots=True)
class Reinit:
    target: Ref
    value: Expr
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Effect:
    """What a when-branch does besides setting variables: an assert, a terminate or a call."""

    kind: str  # assert, terminate, call
    args: tuple[Expr, ...]
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class When:
    """Actions at the instant `guard` (Boolean over discrete variables) holds."""

    guard: Expr
    actions: tuple[Reinit | Effect, ...]
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Crossing:
    """Relation `index`: the variable `$r<index>` buffers `relation` (a comparison of two Reals).

    A passing one is false but for the instant at which it makes an event: a rounded value has left its interval, which
    follows it then.  It is due until that has happened, whatever was made of the relation itself.
    """

    index: int
    relation: Expr
    origin: Origin = Origin()
    passing: bool = False


@dataclass(frozen=True, slots=True)
class TimeEvent:
    """An event is due when time reaches `at` (over parameters and discrete values; read again after each event)."""

    at: Expr
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Sample:
    """Ticks at `start + i*interval`, i = 0, 1, ...; both over parameters."""

    index: int
    start: Expr
    interval: Expr
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Delay:
    """Delay line number `index` records the variable `source`; `maximum` is the longest delay asked of it.

    `past`: what it gives before the start, where the initial system leaves that open; else what goes in first.
    """

    index: int
    source: Ref
    maximum: Expr
    origin: Origin = Origin()
    past: Expr | None = None


@dataclass(frozen=True, slots=True)
class Transport:
    """What `spatialDistribution` remembers (MLS 3.7.4.2): a profile between 0 and 1 that moves with a position.

    `sources` are variables that are recorded at the end of each step: what enters at 0, what enters at 1, the position,
    and 1 where the movement is from 0 to 1.  `points` and `values`, over parameters, are the profile at the start.
    """

    index: int
    sources: tuple[Ref, Ref, Ref, Ref]
    points: tuple[Expr, ...]
    values: tuple[Expr, ...]
    origin: Origin = Origin()

    def recorded(self) -> tuple[Expr, ...]:
        """Everything that the run-time needs at the end of a step, in its order."""
        return (*self.sources, *self.points, *self.values)


@dataclass(frozen=True, slots=True)
class AliasOf:
    """An eliminated variable: `sign * target`, or the constant `value` (then `target` is None)."""

    variable: DaeVariable
    target: str | None
    sign: int = 1
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """States that are chosen in the run: each of `states` stands for one of `candidates` at a time.

    The candidates that are states at the start come first: their start values are the better initial values.
    """

    candidates: tuple[str, ...]
    states: tuple[str, ...]


@dataclass(slots=True)
class Dae:
    """The system: as many equations as unknowns (algebraics, discretes, relations, derivatives) in `equations`."""

    name: str
    variables: dict[str, DaeVariable] = field(default_factory=dict)
    equations: list[AnyEquation] = field(default_factory=list)
    initial_equations: list[AnyEquation] = field(default_factory=list)
    whens: list[When] = field(default_factory=list)
    crossings: list[Crossing] = field(default_factory=list)
    time_events: list[TimeEvent] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    delays: list[Delay] = field(default_factory=list)
    transports: list[Transport] = field(default_factory=list)
    asserts: list[Assert] = field(default_factory=list)
    aliases: dict[str, AliasOf] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    selections: list[Selection] = field(default_factory=list)
    preferred: tuple[str, ...] = ()  # made candidates for states because the user wants them, without a `der`
    experiment: Experiment = field(default_factory=Experiment)
    notes: list[str] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)  # what may not be what the user means
    description: str = ""


def der_name(name: str) -> str:
    return f"der({name})"


INITIAL = x.Builtin("initial", (), BOOLEAN)
NOT_INITIAL = x.Unary("not", INITIAL)


def pre_name(name: str) -> str:
    return f"pre({name})"


def made_of(names: Iterable[str]) -> dict[str, str]:
    """Which variable `der(x)` or `pre(v)` is made of, for the variables of these names."""
    return {made: name for name in names for made in (der_name(name), pre_name(name))}


def roots(equation: AnyEquation) -> Iterator[Expr]:
    """The expressions of an equation, targets included."""
    match equation:
        case Equation():
            yield equation.left
            yield equation.right
        case CallEquation():
            for output in equation.targets:
                yield from (t for t in output if t is not None)
            yield equation.call
            if equation.guard is not None:
                yield equation.guard


def print_equation(equation: AnyEquation) -> str:
    match equation:
        case Equation():
            return f"{show(equation.left)} {':=' if equation.directed else '='} {show(equation.right)}"
        case CallEquation():
            each = (", ".join("" if t is None else show(t) for t in output) for output in equation.targets)
            outputs = ", ".join(f"({text})" for text in each)
            return f"({outputs}) := {show(equation.call)}"


# ------------------------------------------------------------------------------------------------ expressions as text

_BINDS = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "<>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "^": 8}


def show(root: Expr) -> str:
    """An expression as short Modelica-like text (shared parts are written out; works on an explicit stack)."""
    done: dict[int, tuple[str, int]] = {}
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        e, ready = stack.pop()
        if id(e) in done:
            continue
        if ready:
            done[id(e)] = _show_node(e, [done[id(c)] for c in e.children()])
        else:
            stack.append((e, True))
            stack.extend((c, False) for c in e.children())
    return done[id(root)][0]


def _is_product(e: Expr) -> bool:
    return isinstance(e, x.Binary) and e.op == "*"


def _show_node(e: Expr, parts: list[tuple[str, int]]) -> tuple[str, int]:
    def wrapped(i: int, least: int) -> str:
        text, binds = parts[i]
        return text if binds >= least else f"({text})"

    def listed(start: int = 0) -> str:
        return ", ".join(text for text, _ in parts[start:])

    match e:
        case x.Real(value):
            text = format(value, ".15g") if float(format(value, ".15g")) == value else repr(value)
            return text, (9 if value >= 0 else 5)
        case x.Int(value):
            return str(value), (9 if value >= 0 else 5)
        case x.Bool(flag):
            return ("true" if flag else "false"), 9
        case x.Str(text):
            return '"' + text + '"', 9
        case x.Enum(enum, _):
            return f"{enum.name}.{e.literal}", 9
        case x.Ref(name):
            return name, 9
        case x.Unary(op, _):
            return (f"-{wrapped(0, 6)}", 5) if op == "-" else (f"not {wrapped(0, 4)}", 3)
        case x.Binary(op, _, _):
            binds = _BINDS.get(op, _BINDS.get(op.lstrip("."), 5))
            left_least = binds + 1 if binds in (4, 8) else binds
            right_least = binds if op in ("+", "and", "or") or (op == "*" and _is_product(e.right)) else binds + 1
            return f"{wrapped(0, left_least)} {op} {wrapped(1, right_least)}".replace(" ^ ", "^"), binds
        case x.IfExp():
            return f"if {parts[0][0]} then {parts[1][0]} else {parts[2][0]}", 0
        case x.Builtin("real", _):
            return parts[0]
        case x.Builtin(name, _):
            return f"{name}({listed()})", 9
        case x.Call(function, _):
            return f"{function}({listed()})", 9
        case x.Item(_, index):
            return f"{parts[0][0]}.{index + 1}", 9
        case x.Array():
            return "{" + listed() + "}", 9
        case x.Record():
            return f"{e.ty}({listed()})", 9
        case x.Field(_, name):
            return f"{wrapped(0, 9)}.{name}", 9
        case x.Index():
            return f"{wrapped(0, 9)}[{listed(1)}]", 9
        case x.Colon():
            return ":", 9
        case x.Range():
            return ":".join(wrapped(i, 5) for i in range(len(parts))), 3
        case x.Comprehension(op, _, iterators):
            over = ", ".join(f"{n} in {t}" for (n, _), (t, _) in zip(iterators, parts[1:], strict=True))
            return f"{op or 'array'}({parts[0][0]} for {over})", 9
        case x.FunctionRef(function, _):
            return f"function {function}({listed()})", 9
        case _:
            return repr(e), 9

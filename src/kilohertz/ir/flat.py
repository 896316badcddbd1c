"""The Flat form: one model without classes.

Contract: names are resolved and modifications applied; components are expanded to variables of primitive type (a
record's fields are variables of their own; arrays of components are expanded element by element: `r[2].p.v`), while an
array of primitive type stays whole (`x` with dims (3,)) and equations between arrays stay whole.  All dimensions are
known integers outside functions.  Connections are expanded into equations, inStream/actualStream resolved,
for-equations unrolled, structural if-equations decided, `cardinality` and `Connections.*` evaluated.  Functions keep
arrays, loops and records.  Structural parameters are constants with a literal binding (`structural`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from kilohertz.base import Origin
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import Type

CONSTANT, PARAMETER, DISCRETE, CONTINUOUS = "constant", "parameter", "discrete", "continuous"


class Purpose(Enum):
    """Why there is a variable; what its name looks like says nothing."""

    DECLARED = "declared"  # by the user
    OUTPUT = "output"  # of a call that stays one
    PASSED = "passed"  # likewise, and only other calls read it: a field of a record that it hands on may have no value
    LEFT_LIMIT = "left_limit"  # a discrete copy of a continuous variable: its `pre` at an event is the left limit
    MADE = "made"  # by a pass


@dataclass(slots=True)
class Variable:
    """A flat variable.  `attributes` holds those that were given: start, fixed, min, max, nominal, unit, ..., each an
    expression of the variable's own shape or a scalar that stands for all elements."""

    name: str
    ty: Type
    variability: str = CONTINUOUS  # as declared or implied by the type; Integer/Boolean/... without prefix: discrete
    causality: str = ""  # input, output: only at the top level of the model
    connection: str = ""  # flow, stream, or empty
    attributes: dict[str, Expr] = field(default_factory=dict)
    binding: Expr | None = None  # of a parameter or constant; a variable's binding is an equation
    description: str = ""
    final: bool = False
    protected: bool = False
    structural: bool = False  # evaluated while flattening: no longer tunable
    origin: Origin = Origin()
    typical_start: bool = False  # its start is what its type says of all such variables: a hint to solvers
    purpose: Purpose = Purpose.DECLARED


@dataclass(slots=True)
class Equality:
    """`left = right`; both of one type.  `left` is a `TupleTarget` only when `right` is a Call with several outputs."""

    left: Expr | TupleTarget
    right: Expr
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class TupleTarget:
    """`(a, , b)` on the left of a call with several outputs, Real for an Integer one; None where one is dropped."""

    elements: tuple[Expr | None, ...]


@dataclass(slots=True)
class IfEquation:
    """Branches have equal numbers of scalar equations (or the else is empty inside a when)."""

    branches: list[tuple[Expr, list[Equation]]]
    otherwise: list[Equation]
    origin: Origin = Origin()


@dataclass(slots=True)
class WhenEquation:
    """`when c1 then ... elsewhen c2 ...`; a vector condition is an `Array` of Booleans, a Clock makes it clocked."""

    branches: list[tuple[Expr, list[Equation]]]
    origin: Origin = Origin()


@dataclass(slots=True)
class Assert:
    condition: Expr
    message: Expr
    level: Expr | None = None  # an AssertionLevel
    origin: Origin = Origin()


@dataclass(slots=True)
class Terminate:
    message: Expr
    origin: Origin = Origin()


@dataclass(slots=True)
class Reinit:
    """`reinit(x, e)`: only inside a when."""

    target: Expr
    value: Expr
    origin: Origin = Origin()


@dataclass(slots=True)
class CallEquation:
    """A function called for its effect alone."""

    call: Expr
    origin: Origin = Origin()


Equation: TypeAlias = Equality | IfEquation | WhenEquation | Assert | Terminate | Reinit | CallEquation

# ------------------------------------------------------------------------------------------- algorithms and functions


@dataclass(slots=True)
class Assign:
    """`target := value`; target is a Ref, an Index or Field of one, or a TupleTarget.

    An element of a TupleTarget may be put together of such: a record of a model, an array of them (`Record`, `Array`).
    """

    target: Expr | TupleTarget
    value: Expr
    origin: Origin = Origin()


@dataclass(slots=True)
class IfStatement:
    branches: list[tuple[Expr, list[Statement]]]
    otherwise: list[Statement]
    origin: Origin = Origin()


@dataclass(slots=True)
class ForStatement:
    """One iterator over a vector (often a Range); several iterators are nested, the first one outermost."""

    name: str
    range: Expr
    body: list[Statement]
    origin: Origin = Origin()


@dataclass(slots=True)
class WhileStatement:
    condition: Expr
    body: list[Statement]
    origin: Origin = Origin()


@dataclass(slots=True)
class WhenStatement:
    branches: list[tuple[Expr, list[Statement]]]
    origin: Origin = Origin()


@dataclass(slots=True)
class Break:
    origin: Origin = Origin()


@dataclass(slots=True)
class Return:
    origin: Origin = Origin()


Statement: TypeAlias = (
    Assign
    | IfStatement
    | ForStatement
    | WhileStatement
    | WhenStatement
    | Break
    | Return
    | Assert
    | Terminate
    | Reinit
    | CallEquation
)


@dataclass(slots=True)
class Algorithm:
    statements: list[Statement]
    origin: Origin = Origin()


@dataclass(slots=True)
class Local:
    """An input, output or protected variable of a function.

    `dims` are expressions where they depend on other inputs (`Real b[size(a, 1)]`); None for a free `:`.
    """

    name: str
    ty: Type
    dims: tuple[Expr | None, ...] = ()
    default: Expr | None = None
    description: str = ""


@dataclass(slots=True)
class ExternalCall:
    """How a function is implemented in C: `result = symbol(args)` and what to compile and link."""

    language: str  # "C", "FORTRAN 77", "builtin"
    symbol: str
    args: tuple[Expr, ...]
    result: Expr | None
    includes: tuple[str, ...] = ()  # texts of Include annotations
    libraries: tuple[str, ...] = ()
    include_directories: tuple[str, ...] = ()  # resolved paths
    library_directories: tuple[str, ...] = ()
    source_directories: tuple[str, ...] = ()  # Resources/C-Sources beside them
    declared_pure: bool = False  # by the keyword; what has none counts as impure in doubt (MLS 12.3)


Inverse = tuple[str, str, tuple[str, ...]]  # the input it gives, the function, its arguments by their names


@dataclass(slots=True)
class Function:
    """A Modelica function.  `derivatives` and `inverses` keep what its annotations say, in order."""

    id: str
    inputs: list[Local]
    outputs: list[Local]
    locals: list[Local]
    body: list[Statement]
    external: ExternalCall | None = None
    pure: bool = True
    inline: bool | None = None  # Inline = ..., None where not said
    late_inline: bool = False
    smooth_order: int | None = None
    derivatives: list[DerivativeOf] = field(default_factory=list)
    # (input solved for, function id, arguments)
    inverses: list[Inverse] = field(default_factory=list)
    partial_of: tuple[str, ...] = ()  # `der(f, x, y)`: function id, inputs it is derived by; passes give it a body
    generate_events: bool = False
    is_record_constructor: bool = False
    kept: tuple[
        int, ...
    ] = ()  # of an algorithm made a function: outputs that whens alone set, none of them at initial()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class DerivativeOf:
    """`derivative(order=2, noDerivative=a, zeroDerivative=b)=f_d`."""

    function: str
    order: int = 1
    no_derivative: tuple[str, ...] = ()
    zero_derivative: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClockPartition:
    """What runs together.  The continuous partition (everything unclocked) has `base` None.

    A tick comes `shift` intervals of `clock` after its first tick, then every `factor` intervals.
    """

    base: int | None  # number of its base partition
    clock: Expr | None  # the `Clock(...)` that it goes by; None where the model gives none
    factor: Fraction
    shift: Fraction
    solver: Expr | None  # solverMethod of a discretised continuous partition
    equations: tuple[int, ...]  # numbers in Flat.equations
    algorithms: tuple[int, ...]  # numbers in Flat.algorithms
    variables: tuple[str, ...]  # their bindings, where they have one, belong here too


@dataclass(slots=True)
class Experiment:
    """From the experiment annotation; None where it does not say."""

    start: float | None = None
    stop: float | None = None
    interval: float | None = None
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A component that is a model or block: its class, where it is declared, what it leaves to its surroundings."""

    path: str
    class_name: str
    origin: Origin
    n_outside: int  # scalars of flows and inputs
    flows: frozenset[Origin]  # where they are declared: an equation from there is of one that nobody connects


@dataclass(slots=True)
class Flat:
    """A flattened model: everything that counts, in the order of declaration."""

    name: str
    variables: dict[str, Variable] = field(default_factory=dict)
    equations: list[Equation] = field(default_factory=list)
    initial_equations: list[Equation] = field(default_factory=list)
    algorithms: list[Algorithm] = field(default_factory=list)
    initial_algorithms: list[Algorithm] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    clocks: list[ClockPartition] = field(default_factory=list)  # the continuous one first (MLS 16)
    experiment: Experiment = field(default_factory=Experiment)
    description: str = ""
    # components that can be counted by themselves, outer ones first: for messages, not part of what the model is
    parts: list[Part] = field(default_factory=list, compare=False, repr=False)

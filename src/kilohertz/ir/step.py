"""The Step form: what is computed when, in which order, at what cost.  Nothing is left to decide but spelling.

Contract.  Every expression is scalar and over `Ref`s of variables (plus `time`); the exceptions are the arguments
of a `Call` (arrays and records of scalars as `Array` and `Record`).  Derivatives, pre values and buffered relations are
variables of their own, by name: `der(x)`, `pre(v)`, `$r3`.  No `der`, `pre`, `edge`, `change`, `initial`, `smooth` or
`noEvent` is left, and a comparison inside an expression is evaluated as it stands.  What remains of the operators with
time or events in them:

  `sample(k)`         true in the first iteration of an event at a tick of `samples[k]`, else false   (Int k)
  `terminal()`        true in the last event of a run
  `delay(k, dt, u)`   value of `delays[k].source` at `time - dt`, which is u now; `delay(k, dt)`: where that is not
                      known yet; where dt may be zero `past(k, dt) + part(k, dt)*u`
  `transport(k, e, x, a, b, positive)`  value at the end `e` (0 or 1) of the profile `transports[k]`, moved to the
                      position x, with a and b entering now at its ends; without them where they are not known yet
  `homotopy(a, s)`    only in `initial`: `lambda*a + (1 - lambda)*s`, `s` alone where lambda = 0; it is 1 unless
                      continuation runs

How it is run.
  1. `once`: parameters in order.  Then every variable gets its `start` (guesses), every `pre(v)` the start of v.
  2. `initial`: in order; solves for states, derivatives, algebraics, discretes, `fixed=false` parameters; where there
     is `simplified`, from what that gives with lambda = 0.  Relations and other discrete unknowns are computed afresh.
     Then start and interval of `samples` are read, pre := value, then an event (3) at the start time.
  3. Event: all of `blocks` in order (every partition), discrete blocks included; mixed loops iterate; WhenBlocks act
     where their guard holds; reinits are gathered and applied at the end of the pass.  If a state was reinitialised or
     some `pre(v) != v`: pre := value, run again (bounded).  `sample` is true in the first pass only.
  4. Between events: blocks of partition STEP in order (MixedLoop: only its `continuous` part); they leave every
     derivative set.  CROSSING adds what `crossings` and `delays` need; OUTPUT what outputs and asserts need, or has
     effects of its own; VIEW the rest, where somebody looks at it.
  `directional`, after STEP at the same point: from `seed(x)` the rates `dir(v)` of what depends on states, with
  `dir(der(x))` among them; time, discrete values and relations rest.  Rates of long sums may be given as well (`sums`):
  they are those of their terms, added up, which the blocks leave.  `time_slope`: rates `slope(v)` with states at
  rest and time moving at rate 1.  What is not set there does not move.  `inlined` solves
  `x = base(x) + $gamma_h*der(x)` for the implicit states and takes `x := base(x)` for others.
  Index-1 form, where `algebraic` is not empty: the unknowns z of the nonlinear loops of STEP are kept by the method of
  integration.  In a stage z is given, a loop runs its inner blocks once and leaves its residuals in `res(z)`; in events
  and initially it is solved.  `directional` and `state_sparsity` are over y = (x, z) and F = (der(x), res(z)) then.
  An event is due when a crossing function changes sign (the relation, evaluated, differs from its buffered value), at a
  sample tick, and at a `time_events` instant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias

from kilohertz.base import Origin
from kilohertz.ir.dae import Dae, Delay, Sample, TimeEvent, Transport
from kilohertz.ir.expr import Binary, Call, Expr, Ref
from kilohertz.ir.flat import Assert, CallEquation, Experiment, Function, Purpose, Terminate
from kilohertz.ir.types import Type
from kilohertz.runtime import constant


class Kind(Enum):
    """The storage area a scalar lives in; its value is the area's short name.  An int is Integer, Boolean or enum."""

    __hash__ = object.__hash__  # each member is one object; Enum's own hash is a function in Python

    PARAMETER = "p"  # double
    INT_PARAMETER = "pi"  # int
    STRING_PARAMETER = "ps"
    OBJECT = "o"  # external objects
    INPUT = "u"  # double, set from outside
    INT_INPUT = "ui"
    STATE = "x"
    DERIVATIVE = "xd"  # same index as its state
    ALGEBRAIC = "w"  # double, continuous in time between events
    DISCRETE = "d"  # double, changes at events only
    PRE_DISCRETE = "pre_d"  # same index as its variable
    INT_DISCRETE = "m"
    PRE_INT_DISCRETE = "pre_m"
    STRING_DISCRETE = "s"
    PRE_STRING_DISCRETE = "pre_s"
    RELATION = "r"  # int: buffered relation, same index as its crossing (whatever its name `$r7` says)
    SEED = "seed"  # double, `seed(x)`: a direction in the states, same index as its state; then `algebraic`, `sums`
    DERIVATIVE_DIRECTION = "xd_dir"  # double, `dir(der(x))`, same index as its state; then `dir(res(z))`, terms
    DIRECTION = "dir"  # double, `dir(v)`: the rate of v along the seeds
    DERIVATIVE_SLOPE = "xd_slope"  # double, `slope(der(x))`, same index as its state; `slope(res(z))` after them
    SLOPE = "slope"  # double, `slope(v)`: the rate of v along time
    BASE = "base"  # double, `base(x)`: of the inlined form, same index as its state
    GAMMA_H = "gamma_h"  # double, `$gamma_h`: of the inlined form
    RESIDUAL = "res"  # double, `res(z)`: of the index-1 form, same index as z in `Step.algebraic`


class Partition(Enum):
    """When a block is needed."""

    ONCE = "once"
    INITIAL = "initial"
    EVENT = "event"  # only in events: discrete unknowns, and Reals that depend on nothing else
    STEP = "step"  # for the derivatives
    CROSSING = "crossing"  # for crossing functions and delay lines, not for derivatives
    OUTPUT = "output"  # for outputs and asserts, or with effects of its own: loops, calls
    VIEW = "view"  # for who looks alone: rows, live values; it can neither fail nor remember anything

    __hash__ = object.__hash__


DIRECTIONS = (Kind.SEED, Kind.DERIVATIVE_DIRECTION, Kind.DIRECTION)  # areas of `directional`
SLOPES = (Kind.DERIVATIVE_SLOPE, Kind.SLOPE)  # of `time_slope`
HELPERS = frozenset(  # and of `inlined` and the index-1 form: no part of the model's own variables
    {*DIRECTIONS, *SLOPES, Kind.BASE, Kind.GAMMA_H, Kind.RESIDUAL}
)

EVENT_ORDER = (Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE, Kind.STATE)  # of `khz_model.discrete_block`
DISCRETE_KINDS = frozenset({Kind.DISCRETE, Kind.INT_DISCRETE, Kind.STRING_DISCRETE, Kind.RELATION})
TWINS = {  # areas that come with another, index by index: derivatives, and values before an event
    Kind.STATE: Kind.DERIVATIVE,
    Kind.DISCRETE: Kind.PRE_DISCRETE,
    Kind.INT_DISCRETE: Kind.PRE_INT_DISCRETE,
    Kind.STRING_DISCRETE: Kind.PRE_STRING_DISCRETE,
}


@dataclass(frozen=True, slots=True)
class Slot:
    kind: Kind
    index: int

    def __str__(self) -> str:
        return f"{self.kind.value}[{self.index}]"


@dataclass(frozen=True, slots=True)
class StepVariable:
    """A scalar with its place.  Attributes are expressions over parameters; None where neither given nor implied."""

    name: str
    ty: Type
    slot: Slot
    start: Expr | None = None
    fixed: bool = False
    nominal: Expr | None = None
    min: Expr | None = None
    max: Expr | None = None
    unit: str = ""
    display_unit: str = ""
    description: str = ""
    causality: str = ""  # input, output: at the top of the model
    protected: bool = False
    tunable: bool = False  # a parameter that `--set` may change: its value is `start`, no block computes it
    origin: Origin = Origin()
    purpose: Purpose = Purpose.DECLARED
    of: str = ""  # the variable this is the derivative or the `pre` of


@dataclass(frozen=True, slots=True)
class Alias:
    """What the recorder writes for an eliminated name: `sign * target`, or a constant (`target` is None).

    For Booleans `sign` -1 means `not target`.  `min` and `max` are those of the eliminated name itself.
    """

    target: str | None
    sign: int = 1
    value: Expr | None = None
    unit: str = ""
    description: str = ""
    causality: str = ""
    purpose: Purpose = Purpose.DECLARED
    min: Expr | None = None
    max: Expr | None = None
    origin: Origin = Origin()


# ---------------------------------------------------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class Assignment:
    """`target := value`."""

    target: Ref
    value: Expr
    partition: Partition
    cost: int = 0
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Entry:
    """One structural nonzero of a matrix."""

    row: int
    column: int
    value: Expr


@dataclass(frozen=True, slots=True)
class LinearLoop:
    """Solve `matrix * unknowns = rhs`, then run `inner` in order for the torn variables.

    Neither matrix nor rhs contains a variable of the loop.  `matrix_partition` says when the matrix changes: ONCE
    (parameters only), EVENT (discrete values too, and `$gamma_h`), else like `partition`; so the factorisation may be
    kept.
    `n_apart` more variables of the loop follow from the unknowns in blocks of their own.
    `residuals` are the equations the matrix was made from, kept where it moves: after running `through` (all of
    `inner`, and what stands apart) they vanish.  How they move is cheaper to compute than how the matrix does.
    `again` (in `directional`, and in `rates` of a loop): the unknowns of the loop that has this matrix, or Jacobian.
    `symmetric`: entries [i,j] and [j,i] are one expression, and the matrix was positive definite wherever it was tried.
    `pivots`: rows and columns in the order in which a sparse matrix is eliminated, where numbers chose it.
    """

    unknowns: tuple[Ref, ...]
    matrix: tuple[Entry, ...]
    rhs: tuple[Expr, ...]
    inner: tuple[Assignment, ...]
    partition: Partition
    matrix_partition: Partition
    cost: int = 0
    origin: Origin = Origin()
    again: tuple[Ref, ...] = ()
    n_apart: int = 0
    through: tuple[Assignment, ...] = ()
    residuals: tuple[Expr, ...] = ()
    symmetric: bool = False
    pivots: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class NonlinearLoop:
    """Find `unknowns` such that, after running `inner` in order, all `residuals` vanish.

    `jacobian` holds d residuals / d unknowns with `inner` differentiated through (over unknowns and inner targets);
    None where some function has no derivative: then take differences along `sparsity`.  In `inlined`, `inner` may hold
    loops of its own, solved for given unknowns; `rates` are then run before `jacobian` is evaluated: linear systems
    with the matrices of these loops (`again`) that give variables for how the loops' unknowns move.
    """

    unknowns: tuple[Ref, ...]
    inner: tuple[Inner, ...]
    residuals: tuple[Expr, ...]
    jacobian: tuple[Entry, ...] | None
    sparsity: tuple[tuple[int, int], ...]
    partition: Partition
    cost: int = 0
    origin: Origin = Origin()
    rates: tuple[LinearLoop, ...] = ()


@dataclass(frozen=True, slots=True)
class MixedLoop:
    """Real and discrete unknowns that need each other.

    In an event: run `continuous`, then `discrete`, until no discrete target of `discrete` changes (bounded; a cycle of
    relations is counted and reported, other values that do not settle are a failure).  Between events: `continuous`
    alone.  Discrete Reals that form a loop with Reals are solved for together with those, by a loop in `discrete`.
    """

    continuous: tuple[Block, ...]
    discrete: tuple[Block, ...]
    partition: Partition
    cost: int = 0
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class CallBlock:
    """`targets := call`: for each output of the function its scalars in row-major order (record fields in order), None
    where dropped.  With a guard: only where it holds; else each target takes its `pre`."""

    targets: tuple[tuple[Ref | None, ...], ...]
    call: Call
    partition: Partition
    guard: Expr | None = None
    cost: int = 0
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class SetState:
    """`reinit(target, value)`: the value is kept and the state set at the end of the event pass."""

    target: Ref
    value: Expr
    origin: Origin = Origin()


Action: TypeAlias = SetState | Assert | Terminate | CallEquation


@dataclass(frozen=True, slots=True)
class WhenBlock:
    """Effects that happen in the event pass in which `guard` holds."""

    guard: Expr
    actions: tuple[Action, ...]
    partition: Partition = Partition.EVENT
    cost: int = 0
    origin: Origin = Origin()


Inner: TypeAlias = Assignment | CallBlock | LinearLoop | NonlinearLoop
Block: TypeAlias = Assignment | LinearLoop | NonlinearLoop | MixedLoop | CallBlock | WhenBlock


# ---------------------------------------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class Crossing:
    """Relation number `index` (slot `r[index]`): `relation` gives its value in an event, `function` its crossing.

    A passing one is due wherever it holds (a rounded value has left its interval), others where they differ from `r`.
    """

    index: int
    relation: Expr
    function: Expr
    origin: Origin = Origin()
    passing: bool = False

    @property
    def at_zero(self) -> bool:
        """The value of the relation where both sides are equal."""
        return isinstance(self.relation, Binary) and self.relation.op in ("<=", ">=")


@dataclass(frozen=True, slots=True)
class Sum:
    """A long sum that rates depend on: `directional` reads its rate from `seed` and leaves those of its terms."""

    seed: Ref
    terms: tuple[Ref, ...]


@dataclass(slots=True)
class Step:
    """A model ready for code."""

    name: str
    variables: dict[str, StepVariable] = field(default_factory=dict)  # by slot order within each kind
    aliases: dict[str, Alias] = field(default_factory=dict)
    once: tuple[Block, ...] = ()
    initial: tuple[Block, ...] = ()
    simplified: tuple[Block, ...] | None = None
    blocks: tuple[Block, ...] = ()
    directional: tuple[Block, ...] | None = None  # docs/decisions/0006; None: not asked for, or no derivative
    time_slope: tuple[Block, ...] | None = None  # together with `directional`
    sums: tuple[Sum, ...] = ()  # of `directional`
    no_directional: str = ""  # what has no derivative
    inlined: tuple[Block, ...] | None = None
    algebraic: tuple[Ref, ...] = ()  # docs/decisions/0010: unknowns of the index-1 form, loop by loop
    crossings: tuple[Crossing, ...] = ()
    time_events: tuple[TimeEvent, ...] = ()
    samples: tuple[Sample, ...] = ()
    delays: tuple[Delay, ...] = ()
    transports: tuple[Transport, ...] = ()
    asserts: tuple[Assert, ...] = ()  # hold at every accepted step, and after initialisation
    initial_asserts: tuple[Assert, ...] = ()  # over parameters: checked once
    state_sparsity: tuple[tuple[int, ...], ...] = ()  # for each of F the y it depends on: derivatives, states
    functions: dict[str, Function] = field(default_factory=dict)  # those that are called, derivatives included
    experiment: Experiment = field(default_factory=Experiment)
    notes: tuple[str, ...] = ()  # what was completed or chosen for the user
    description: str = ""
    dae: Dae | None = None  # what the blocks were made from: optional passes go back to its equations

    def slot(self, name: str) -> Slot:
        return self.variables[name].slot

    def of_kind(self, kind: Kind) -> list[StepVariable]:
        """The variables of one storage area, in slot order."""
        variables = [v for v in self.variables.values() if v.slot.kind is kind]
        return sorted(variables, key=lambda v: v.slot.index)

    def in_partition(self, *partitions: Partition) -> list[Block]:
        return [b for b in self.blocks if b.partition in partitions]

    def views(self) -> frozenset[Slot]:
        """Places of what is computed only where somebody looks."""
        return frozenset(self.slot(t.name) for b in self.in_partition(Partition.VIEW) for t in targets(b))


def without_directional(step: Step) -> Step:
    """The same step without its directional derivatives."""
    left = {n: v for n, v in step.variables.items() if v.slot.kind not in (*DIRECTIONS, *SLOPES)}
    return replace(step, variables=left, directional=None, time_slope=None, sums=())


def targets(block: Block) -> tuple[Ref, ...]:
    """Every variable a block sets."""
    match block:
        case Assignment():
            return (block.target,)
        case LinearLoop() | NonlinearLoop():
            return (*block.unknowns, *(t for b in block.inner for t in targets(b)))
        case MixedLoop():
            return tuple(dict.fromkeys(t for b in (*block.continuous, *block.discrete) for t in targets(b)))
        case CallBlock():
            return tuple(t for output in block.targets for t in output if t is not None)
        case WhenBlock():
            return ()


def expressions(block: Block) -> Iterator[Expr]:
    """Every expression in a block."""
    match block:
        case Assignment():
            yield block.value
        case LinearLoop():
            yield from (e.value for e in block.matrix)
            yield from block.rhs
            for b in block.inner:
                yield from expressions(b)
        case NonlinearLoop():
            for inner in (*block.inner, *block.rates):
                yield from expressions(inner)
            yield from block.residuals
            yield from (e.value for e in block.jacobian or ())
        case MixedLoop():
            for sub in (*block.continuous, *block.discrete):
                yield from expressions(sub)
        case CallBlock():
            yield block.call
            if block.guard is not None:
                yield block.guard
        case WhenBlock():
            yield block.guard
            for action in block.actions:
                match action:
                    case SetState():
                        yield action.value
                    case Assert():
                        yield action.condition
                        yield action.message
                    case Terminate():
                        yield action.message
                    case CallEquation():
                        yield action.call


def iterated_on(step: Step) -> tuple[str, ...]:
    """What loops of the simulated system are iterated on, or solved for with a matrix: what tearing chose."""
    blocks = list(step.blocks)
    names: dict[str, None] = {}
    while blocks:
        block = blocks.pop(0)
        match block:
            case LinearLoop() | NonlinearLoop():
                names |= dict.fromkeys(u.name for u in block.unknowns)
                blocks += block.inner
            case MixedLoop():
                blocks += (*block.continuous, *block.discrete)
            case _:
                pass
    return tuple(names)


def lists(step: Step) -> list[tuple[str, tuple[Block, ...]]]:
    """Every list of blocks, by its name."""
    return [
        ("once", step.once),
        ("initial", step.initial),
        ("simplified", step.simplified or ()),
        ("blocks", step.blocks),
        ("directional", step.directional or ()),
        ("time_slope", step.time_slope or ()),
        ("inlined", step.inlined or ()),
    ]


def nonlinear_loops(step: Step) -> list[NonlinearLoop]:
    """All of a model: in its steps, events and inlined stages, those inside other loops included."""
    found: list[NonlinearLoop] = []
    stack: list[Block] = [*step.blocks, *(step.inlined or ())]
    while stack:
        match stack.pop():
            case NonlinearLoop(inner=inner) as loop:
                found.append(loop)
                stack.extend(inner)
            case MixedLoop(continuous=continuous, discrete=discrete):
                stack.extend((*continuous, *discrete))
            case _:
                pass
    return found


def mode_turns(step: Step) -> int:
    """Turns of mixed loops in a step where nobody gives them: by relations of the largest, or by their number."""
    inside = [[t.name for o in b.discrete for t in targets(o)] for b in step.blocks if isinstance(b, MixedLoop)]
    most = max((sum(step.slot(name).kind is Kind.RELATION for name in names) for names in inside), default=0)
    soon = constant("KHZ_MIXED_SOON")
    return max(soon, soon * (len(inside) + 1) // 2, 3 * most // 2)

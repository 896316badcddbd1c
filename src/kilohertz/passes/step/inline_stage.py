"""inline-stage: the formula of an implicit stage joined with the model's equations before they are matched and torn.

  der(x) = f(x, w);  0 = g(x, w)      ->   x = base(x) + $gamma_h*der(x)  for every implicit state, x unknown too

Every stage of a diagonally implicit method has this form, with its own `base(x)`: implicit Euler, trapezoidal rule,
SDIRK, TR-BDF2, ESDIRK (Elmqvist, Otter, Cellier 1995).  Parts that stay linear after joining are solved as linear
loops, chains such as `der(phi) = w` leave one unknown for two states, and what is nonlinear is torn: what is left to
iterate on is far smaller than the number of states.

Mixed mode: only the states in `implicit` are joined.  Another state is known when the stage begins, `x := base(x)`,
where the explicit half of a pair of methods has put it.
Sub-steps: with `part` only what the derivatives of these states need is computed; the others go on without them.

Discrete variables are known in a stage.  Cost: as for the step itself; the loops are larger.
Gives up (B201, B202) as `causalise` and `tear` do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import InternalError, Origin
from kilohertz.ir import make, step
from kilohertz.ir.dae import AnyEquation, Dae, Equation, der_name
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.ordered import Component
from kilohertz.ir.step import Assignment, Block, Kind, MixedLoop, NonlinearLoop, Partition, Slot, Step, StepVariable
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, cost
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.blocks import make_blocks
from kilohertz.passes.ordered.present import order_with_delays
from kilohertz.passes.ordered.simulation import simulation_equations, simulation_unknowns
from kilohertz.passes.ordered.solving_order import Vanishing, order
from kilohertz.passes.ordered.tear import make_context
from kilohertz.passes.ordered.trial_point import number_of, values_at_start
from kilohertz.passes.parameter_values import parameter_values
from kilohertz.passes.step.drop_unused_functions import used_functions
from kilohertz.passes.step.partition_blocks import Settle, inputs

LAST = -100_000  # a state follows from its derivative, not the other way round: it is guessed last
TYPICAL_STEP = 1e-3  # to try choices with
GAMMA_H = Ref("$gamma_h", REAL)


@dataclass(frozen=True, slots=True)
class Inlining:
    """What to join: the implicit states (None: all), and the states of the part that takes sub-steps (None: all)."""

    implicit: frozenset[str] | None = None
    part: frozenset[str] | None = None

    @property
    def label(self) -> str:
        """Both as one text: equal for equal choices, in every process."""
        return " of ".join("all" if names is None else repr(sorted(names)) for names in (self.implicit, self.part))


def base_name(state: str) -> str:
    return f"base({state})"


@dataclass(frozen=True, slots=True)
class InlineStage(Pass):
    """An implicit stage of the method joined with the equations."""

    name: ClassVar[str] = "inline-stage"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.STEP, Fact.PARTITIONED, Fact.CALLED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.STAGE})
    optional: ClassVar[bool] = True
    choice: Inlining = Inlining()

    def run(self, model: Step, log: Log) -> Step:
        if model.dae is None:
            raise InternalError("a stage can be inlined only where the equations of the model are at hand")
        return _inlined(model.dae, model, self.choice, log.occurrence)


def _inlined(dae: Dae, whole: Step, choice: Inlining, occurrence: Occurrence) -> Step:
    """The same step with `inlined` blocks; `dae` is what `whole` was made from."""
    states = [v.name for v in whole.of_kind(Kind.STATE)]
    implicit = [x for x in states if choice.implicit is None or x in choice.implicit]
    explicit = [x for x in states if choice.implicit is not None and x not in choice.implicit]
    unknown_states = set(implicit)
    derivatives = FunctionDerivatives(dict(dae.functions))
    values = parameter_values(dae)
    context = make_context(dae, values, derivatives, occurrence)
    context.guess_weight = lambda name: LAST if name in unknown_states else 0
    context.far = True
    at_start = values_at_start(whole, values)
    at_start |= {base_name(x): at_start[x] for x in states if x in at_start} | {GAMMA_H.name: TYPICAL_STEP}
    context.point = Numeric(at_start, number_of)
    vanishing = Vanishing(values, occurrence)
    variables = {**whole.variables, **_variables(states)}
    out = replace(whole, variables=variables, functions={**whole.functions, **dae.functions})
    equations, unknowns = _continuous(dae, whole, occurrence, vanishing, context.is_discrete)
    formulas = [_formula(x, whole.variables[x].origin) for x in implicit]
    context.formulas = {id(e): x for x, e in zip(implicit, formulas, strict=True)}
    rates = _Rates(whole)
    context.columns.fresh = rates.fresh
    equations += formulas
    unknowns += [Ref(x, REAL) for x in implicit]
    components = order_with_delays(dae, values, equations, unknowns, occurrence, vanishing)
    blocks: list[Block] = [_known(x, whole.variables[x].origin) for x in explicit]
    resting = {t.name for b in whole.blocks if b.partition is Partition.EVENT for t in step.targets(b)}
    settle = Settle(out, occurrence, resting)
    blocks += [settle(b, Partition.STEP) for b in make_blocks(components, context)]
    if choice.part is not None:
        blocks = _needed(blocks, [*states, *map(der_name, choice.part)], occurrence)
    out.inlined = tuple(blocks)
    used = [u.name for b in blocks if isinstance(b, NonlinearLoop) for rate in b.rates for u in rate.unknowns]
    out.variables |= rates.variables(used)
    out.functions = used_functions({**whole.functions, **derivatives.functions}, out)
    return out


class _Rates:
    """Makes variables for the rates of loops inside loops."""

    def __init__(self, whole: Step) -> None:
        self._first = 1 + max((v.slot.index for v in whole.of_kind(Kind.ALGEBRAIC)), default=-1)
        self._count = 0

    def fresh(self) -> Ref:
        self._count += 1
        return Ref(f"$j{self._count}", REAL)

    def variables(self, names: Sequence[str]) -> dict[str, StepVariable]:
        """Those that are used, with places behind the model's own."""
        places = (Slot(Kind.ALGEBRAIC, self._first + k) for k in range(len(names)))
        return {n: _made(n, p, make.ZERO) for n, p in zip(names, places, strict=True)}


def _variables(states: Sequence[str]) -> dict[str, StepVariable]:
    bases = [_made(base_name(x), Slot(Kind.BASE, i)) for i, x in enumerate(states)]
    return {v.name: v for v in (*bases, _made(GAMMA_H.name, Slot(Kind.GAMMA_H, 0)))}


def _made(name: str, place: Slot, start: Expr | None = None) -> StepVariable:
    return StepVariable(name, REAL, place, start, protected=True, purpose=Purpose.MADE)


def _formula(x: str, origin: Origin) -> Equation:
    value = make.add(Ref(base_name(x), REAL), make.mul(GAMMA_H, Ref(der_name(x), REAL)))
    return Equation(Ref(x, REAL), value, origin)


def _known(x: str, origin: Origin) -> Assignment:
    value = Ref(base_name(x), REAL)
    return Assignment(Ref(x, REAL), value, Partition.STEP, cost((value,)), origin)


def _continuous(
    dae: Dae, whole: Step, occurrence: Occurrence, vanishing: Vanishing, is_discrete: Callable[[str], bool]
) -> tuple[list[AnyEquation], list[Ref]]:
    """Equations and unknowns of the blocks of a step; what is computed in events only is known."""
    wanted = {t.name for b in whole.blocks if b.partition is Partition.STEP for t in _targets(b)}
    components = order(simulation_equations(dae), simulation_unknowns(dae), occurrence, vanishing)
    equations: dict[int, AnyEquation] = {}
    unknowns: list[Ref] = []
    for component in components:
        if not any(u.name in wanted for u in component.unknowns):
            continue
        # As a whole: of a loop that was written as assignments some may be needed by the recorder alone.
        for row, unknown in _matched(component):
            if unknown.name in wanted or not is_discrete(unknown.name):
                equations[id(row)] = row
                unknowns.append(unknown)
    return list(equations.values()), unknowns


def _matched(c: Component) -> list[tuple[AnyEquation, Ref]]:
    return [(row.equation, unknown) for row, unknown in zip(c.rows, c.unknowns, strict=True)]


def _targets(b: Block) -> tuple[Ref, ...]:
    if isinstance(b, MixedLoop):
        return tuple(t for inner in b.continuous for t in _targets(inner))
    return step.targets(b)


def _needed(blocks: Sequence[Block], wanted: Collection[str], occurrence: Occurrence) -> list[Block]:
    """Blocks that lead to the wanted names, in order."""
    names = set(wanted)
    leading: list[Block] = []
    for b in reversed(blocks):
        if any(t.name in names for t in step.targets(b)):
            names.update(inputs(b, occurrence))
            leading.append(b)
    return leading[::-1]

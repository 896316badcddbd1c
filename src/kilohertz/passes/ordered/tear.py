"""tear: the components of the initial and of the simulated system become blocks.

  2*x = u                        ->  x := u/2
  x + y = 3;  x - y = u          ->  y torn:  (-2)*y = u - 3;  x := 3 - y                       a linear loop
  x*y = 3;  x - y = u            ->  guess y:  x := y + u;  residual x*y - 3, its Jacobian      a nonlinear loop
  with discrete unknowns         ->  a mixed loop

Which unknowns of a loop are guessed: `guesses.py` (Cellier and Kofman, Continuous System Simulation, 7.8); what a
component becomes: `blocks.py`; Jacobians: `columns.py`.  A loop that stands in both systems is torn once.  Cost: near
linear in the equations, and for each loop its Jacobian.  Gives up (B202) where an equation cannot be solved for its
unknown; where a function has no derivative the Jacobian is left to differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir.dae import Dae, Equation, Role, der_name
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Ordered, System
from kilohertz.ir.step import Assignment, Partition
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.function_derivative import FunctionDerivatives
from kilohertz.passes.numeric import Numeric
from kilohertz.passes.ordered.blocks import make_blocks
from kilohertz.passes.ordered.columns import Columns
from kilohertz.passes.ordered.context import Context

FIRST = 500_000  # weight of what is to be guessed; less than what keeps an unknown from it
KNOWN = (Role.PARAMETER, Role.CONSTANT, Role.OBJECT)


@dataclass(frozen=True, slots=True)
class Tear(Pass):
    """Components become blocks: assignments, calls, and loops with a few unknowns that are guessed."""

    name: ClassVar[str] = "tear"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED, Fact.INITIAL, Fact.CAUSAL})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.TORN})
    whole: bool = False  # linear loops keep all their unknowns: to see what tearing is worth
    on: tuple[str, ...] = ()  # unknowns that are guessed before all others

    def run(self, model: Ordered, log: Log) -> Ordered:
        assert model.initial is not None and model.simulation is not None
        derivatives = FunctionDerivatives(dict(model.functions))
        context = replace(make_context(model.dae, model.values, derivatives, log.occurrence), whole=self.whole)
        once = {b.target.name: b.value for b in model.once if isinstance(b, Assignment)}
        context = replace(
            context, guess_weight=self._weight, sources=once, starts=_starts(model.dae, context.parameters)
        )
        first = replace(context, partition=Partition.INITIAL, has_start=_has_start(model.dae))
        initial = _torn(model.initial, first)
        simplified = None if model.simplified is None else _torn(model.simplified, first)
        simulation = _torn(model.simulation, context)
        log.warnings += dict.fromkeys(context.warnings)
        return replace(
            model, initial=initial, simplified=simplified, simulation=simulation, functions=derivatives.functions
        )

    def _weight(self, name: str) -> int:
        return FIRST if name in self.on else 0


def _torn(system: System, context: Context) -> System:
    blocks = make_blocks(system.components, context)
    return System((), (*blocks, *system.checks))


def _has_start(dae: Dae) -> Callable[[str], bool]:
    """Whether the model gives a value to begin from."""

    def has_start(name: str) -> bool:
        v = dae.variables.get(name)
        return v is not None and v.start is not None and not v.typical_start

    return has_start


def make_context(
    dae: Dae, values: Mapping[str, float], derivatives: FunctionDerivatives, occurrence: Occurrence
) -> Context:
    """What making blocks asks of this model."""
    variables = dae.variables

    def is_discrete(name: str) -> bool:
        v = variables.get(name)
        return v is not None and v.role in (Role.DISCRETE, Role.RELATION)

    def is_parameter(name: str) -> bool:
        v = variables.get(name)
        return v is not None and v.role in KNOWN

    columns = Columns(occurrence, derivatives.rule)
    context = Context(is_discrete, is_parameter, Numeric(values), values, columns, functions=derivatives.functions)
    return replace(context, is_rate=_rates(dae).__contains__)


def _starts(dae: Dae, parameters: Numeric) -> dict[str, float]:
    """Where states start, as translated."""
    states = (v for v in dae.variables.values() if v.role is Role.STATE)
    return {v.name: (None if v.start is None else parameters(v.start)) or 0.0 for v in states}


def _rates(dae: Dae) -> set[str]:
    """Derivatives of states, and what an equation says is one: `a` of `der(w) = a`."""
    rates = {der_name(v.name) for v in dae.variables.values() if v.role is Role.STATE}
    for e in dae.equations:
        if isinstance(e, Equation) and isinstance(e.left, Ref) and isinstance(e.right, Ref):
            names = {e.left.name, e.right.name}
            rates |= names if len(names - rates) == 1 else set()
    return rates

"""causalise: which equation of the simulated system computes which unknown, and in what order.

  a + b = u;  a = 2*b;  y = 3*a         ->   {a + b = u, a = 2*b} for a, b;   {y = 3*a} for y

A maximum matching of equations with unknowns (derivatives of states, algebraics, discretes, relations), then the strong
components of who needs whom, in order (Tarjan 1972).  Where a coefficient is a parameter that is zero the equation is
not matched with that unknown, if it can be done without.  What goes into a delay comes before what it gives where that
can be (`present.py`).  Cost: O(incidences * sqrt(n)) at worst, near-linear on
models.  Gives up (B201) where the system is structurally singular, and names what is over- and what is underdetermined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.ir.ordered import Ordered, System
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.ordered.present import order_with_delays
from kilohertz.passes.ordered.simulation import simulation_equations, simulation_unknowns
from kilohertz.passes.ordered.solving_order import Vanishing


@dataclass(frozen=True, slots=True)
class Causalise(Pass):
    """Equations of the simulation are matched with unknowns and put in order."""

    name: ClassVar[str] = "causalise"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.CAUSAL})

    def run(self, model: Ordered, log: Log) -> Ordered:
        equations, unknowns = simulation_equations(model.dae), simulation_unknowns(model.dae)
        vanishing = Vanishing(model.values, log.occurrence)
        found = order_with_delays(model.dae, model.values, equations, unknowns, log.occurrence, vanishing)
        return replace(model, simulation=System(found))

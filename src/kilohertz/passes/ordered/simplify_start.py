"""simplify-start: the initial system with every `homotopy` at its simplified expression (MLS 3.7.4.4).

  x = homotopy(sqrt(y), 3);  y = homotopy(x^2 - q, 5);  q = x + y    ->    {x} from 3;  {y} from 5;  {q} from x + y

The initial system itself is solved for all that actual and simplified expressions depend on, together; of simplified
ones alone hardly anything depends on anything: what is one loop of a thousand equations there falls into many small
ones, which are solved from poor guesses too.  Their solution is where the way to the actual equations begins: a guess,
so nothing is checked or told.

Cost: as for the initial system, where that has a loop of `LEAST` equations.  Gives up where the largest loop is not
half as large at most, and where simplified equations cannot be put in order.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import ModelError
from kilohertz.ir import traverse
from kilohertz.ir.dae import AnyEquation, Dae, roots
from kilohertz.ir.expr import Builtin, Expr
from kilohertz.ir.ordered import Ordered, System
from kilohertz.passes.algebra import simplify_node
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.ordered.initialise import Initialise
from kilohertz.passes.rewriting import rewritten_equation

LEAST = 10  # equations: smaller loops are solved as they are


@dataclass(frozen=True, slots=True)
class SimplifyStart(Pass):
    """Where homotopies make the initial system one large loop: the small ones they stand for in the beginning."""

    name: ClassVar[str] = "simplify-start"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.ORDERED, Fact.INITIAL})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.SIMPLIFIED})

    def run(self, model: Ordered, log: Log) -> Ordered:
        assert model.initial is not None
        if _largest(model.initial) < LEAST or (dae := _simplified(model.dae)) is None:
            return model
        try:
            found = Initialise().run(replace(model, dae=dae), Log(occurrence=log.occurrence))
        except ModelError:
            return model
        assert found.initial is not None
        if 2 * _largest(found.initial) > _largest(model.initial):
            return model
        return replace(model, simplified=System(found.initial.components))


def _largest(system: System) -> int:
    return max((len(c.rows) for c in system.components), default=0)


def _simplified(dae: Dae) -> Dae | None:
    """With simplified expressions alone; None where there are none."""
    equations, initial = list(map(_without, dae.equations)), list(map(_without, dae.initial_equations))
    if all(map(operator.is_, (*equations, *initial), (*dae.equations, *dae.initial_equations))):
        return None
    return replace(dae, equations=equations, initial_equations=initial)


def _without(e: AnyEquation) -> AnyEquation:
    """One equation; itself where no homotopy is in it."""
    if not any(isinstance(n, Builtin) and n.name == "homotopy" for root in roots(e) for n in traverse.walk(root)):
        return e
    return rewritten_equation(e, lambda root: traverse.map_expr(root, _beginning))


def _beginning(node: Expr) -> Expr:
    """The simplified expression of a homotopy; others with the values of what is known."""
    if isinstance(node, Builtin) and node.name == "homotopy":
        return node.args[1]
    return simplify_node(node)

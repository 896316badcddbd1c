"""The Ordered form: a Dae of index one on its way to a Step: which equation computes which unknown, in what order.

Contract.  `dae` has index one and its states are chosen.  A `System` is a list of components in order: the rows of a
component are solved together for its unknowns, one for each row, and read besides them only what components before it
give and what is known.  No unknown is given twice.  Known are time, inputs, parameters, and

  `initial`      nothing else: states, derivatives, pre values and parameters with fixed=false are unknowns too
  `simplified`   the same with every homotopy at its simplified expression: guesses for `initial`, where they help
  `simulation`   states and pre values

Once torn, a system has `blocks` in place of components.  `once` are the parameters' own blocks, in order of need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kilohertz.ir.dae import AnyEquation, Dae
from kilohertz.ir.expr import Ref
from kilohertz.ir.flat import Function
from kilohertz.ir.step import Block


@dataclass(frozen=True, slots=True)
class Row:
    """One scalar equation, or one target of a call."""

    equation: AnyEquation
    target: str | None = None  # what it must compute, where that is fixed
    head: int | None = None  # row that runs the call this is a target of
    invertible: bool = False  # a call's Real result: the call may be solved for its arguments, by iteration
    lead: str | None = None  # the head's target: where only that row is said to read the arguments


@dataclass(frozen=True, slots=True)
class Component:
    """A strong component: rows that must be solved together, with the unknown each was matched to."""

    rows: tuple[Row, ...]
    unknowns: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class System:
    """Equations in order: components, or what tearing made of them."""

    components: tuple[Component, ...] = ()
    blocks: tuple[Block, ...] | None = None
    checks: tuple[Block, ...] = ()  # equations that are not needed and have to hold all the same


@dataclass(frozen=True, slots=True)
class Ordered:
    """A model whose parameters are ordered; None for a system that is not."""

    dae: Dae
    once: tuple[Block, ...]
    values: Mapping[str, float]  # of parameters, as the model is translated
    initial: System | None = None
    simplified: System | None = None
    simulation: System | None = None
    functions: dict[str, Function] = field(default_factory=dict)  # derivatives that tearing made among them
    notes: tuple[str, ...] = ()  # what was completed or chosen for the user


def systems(ordered: Ordered) -> list[tuple[str, System | None]]:
    """Every system by its name, those that are not there as None."""
    return [
        ("initial", ordered.initial),
        ("simplified", ordered.simplified),
        ("simulation", ordered.simulation),
    ]

"""Clocked partitions as the scalar Flat carries them.

Clock inference is done in semantics; what it found is in `Flat.clocks`.  Scalarising turns the equations of partition k
into `when $tick(k) then ...`, and each clock into a `Tick`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Flat


@dataclass(frozen=True, slots=True)
class Tick:
    """A partition's clock: every `factor` intervals of its base, from `shift` intervals on.

    The base is periodic (`period`, in seconds) or ticks where `condition` becomes true.  `key` is one for partitions
    that go by the same base clock.
    """

    key: int
    factor: Fraction
    shift: Fraction
    period: Expr | None = None
    condition: Expr | None = None
    start_interval: Expr | None = None  # interval() at the first tick of a condition
    variables: tuple[str, ...] = ()
    solver: str = ""  # method of a discretised continuous partition


@dataclass(slots=True)
class ScalarFlat(Flat):
    """A Flat of scalars, with the clocks of its clocked equations (`when $tick(k)`)."""

    ticks: list[Tick] = field(default_factory=list)

"""Transport lines: what `spatialDistribution` (MLS 3.7.4.2) remembers."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.base import Origin
from kilohertz.ir.expr import Expr, Ref


@dataclass(frozen=True, slots=True)
class Transport:
    """A profile between 0 and 1 that moves with a position.

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

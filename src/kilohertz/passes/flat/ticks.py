"""Clocked partitions as the scalar Flat carries them.

Clock inference is done in semantics; what it found comes here as `ClockPartition`s (the shape is a Protocol, since
phases share data, not functions).  Scalarising turns the equations of partition k into `when $tick(k) then ...`, and
each clock into a `Tick`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Flat


class ClockPartition(Protocol):
    """What runs together; the continuous partition has `base` None."""

    @property
    def base(self) -> int | None: ...
    @property
    def clock(self) -> Expr | None: ...
    @property
    def factor(self) -> Fraction: ...
    @property
    def shift(self) -> Fraction: ...
    @property
    def solver(self) -> Expr | None: ...
    @property
    def equations(self) -> tuple[int, ...]: ...
    @property
    def algorithms(self) -> tuple[int, ...]: ...
    @property
    def variables(self) -> tuple[str, ...]: ...


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
    variables: tuple[str, ...] = ()
    solver: str = ""  # method of a discretised continuous partition


@dataclass(slots=True)
class ScalarFlat(Flat):
    """A Flat of scalars, with the clocks of its clocked equations (`when $tick(k)`)."""

    ticks: list[Tick] = field(default_factory=list)

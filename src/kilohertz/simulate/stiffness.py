"""How fast a model is along a reference run: its Jacobian and eigenvalues at points of a run with CVODE.

Each point is taken on a copy of the running instance, with the discrete values it has there, so that a locked clutch
and a slipping one both count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kilohertz.ir.step import Kind
from kilohertz.results import Result
from kilohertz.simulate.inputs import Driving
from kilohertz.simulate.modes import Complexes, Point, Watcher
from kilohertz.simulate.offline_run import Statistics, simulate
from kilohertz.simulate.program import Program

DEFAULT_POINTS = 25


@dataclass(frozen=True)
class Reference:
    """A run with CVODE and what was seen along it."""

    result: Result
    statistics: Statistics
    points: tuple[Point, ...]
    states: tuple[str, ...]
    span: float  # seconds simulated

    @cached_property
    def eigenvalues(self) -> Complexes:
        """Those of all points, in no order."""
        return np.concatenate([p.eigenvalues for p in self.points]) if self.points else np.zeros(0, np.complex128)

    @property
    def n_events(self) -> int:
        return self.statistics.state_events + self.statistics.time_events


def reference_run(
    program: Program,
    *,
    start: float | None = None,
    stop: float | None = None,
    tolerance: float | None = None,
    max_step: float | None = None,
    intervals: int | None = None,
    settings: Mapping[str, float | str] | None = None,
    inputs: Driving | None = None,
    record: str | Sequence[str] = "all",
    points: int = DEFAULT_POINTS,
) -> Reference:
    """Run with CVODE and linearise at about `points` instants, spread evenly over the rows of the result."""
    watcher = Watcher(program)
    statistics = Statistics()
    result = simulate(
        program,
        start=start,
        stop=stop,
        tolerance=tolerance,
        max_step=max_step,
        intervals=intervals,
        settings=settings,
        inputs=inputs,
        record=record,
        statistics=statistics,
        observe=watcher.look,
        waits=False,
    )
    span = float(result.time[-1] - result.time[0]) if len(result.time) else 0.0
    names = tuple(v.name for v in program.step.of_kind(Kind.STATE))
    return Reference(result, statistics, watcher.points(points), names, span)

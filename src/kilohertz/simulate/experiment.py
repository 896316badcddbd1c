"""From when to when a run goes, and at which instants it has rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.simulate.program import Program

DEFAULT_INTERVALS = 500
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Experiment:
    """From when to when, and into how many intervals of the output grid that is divided: equal ones, or at these."""

    start: float
    stop: float
    intervals: int
    instants: Floats | None = None


def experiment_of(program: Program, start: float | None, stop: float | None, intervals: int | None) -> Experiment:
    """What is not given, from the experiment annotation; R723 where that is no run."""
    annotated = program.step.experiment
    first, last = experiment_times(program, start, stop)
    if not (math.isfinite(first) and math.isfinite(last)):
        raise ModelError(Diagnostic("R723", f"a run starts and ends at a time: not from {first:g} to {last:g}"))
    if intervals is not None and intervals < 1:
        raise ModelError(Diagnostic("R723", f"there is at least one output interval, not {intervals}"))
    if not last >= first:
        raise ModelError(Diagnostic("R723", f"the run would end ({last:g}) before it starts ({first:g})"))
    count = intervals
    if count is None:
        count = round((last - first) / annotated.interval) if annotated.interval else DEFAULT_INTERVALS
    return Experiment(first, last, max(1, count))


def experiment_times(program: Program, start: float | None, stop: float | None) -> tuple[float, float]:
    """Start and stop as given, else those of the experiment annotation.

    Where none of them says it, the stop is at 1 s, as others have it; a second later where that is before the start, or
    a start was given.
    """
    annotated = program.step.experiment
    first = start if start is not None else annotated.start if annotated.start is not None else 0.0
    last = stop if stop is not None else annotated.stop
    if last is None:
        last = 1.0 if start is None and first < 1.0 else first + 1.0
    return first, last

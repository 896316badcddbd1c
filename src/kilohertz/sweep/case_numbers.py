"""From the runs of a case to its numbers, and which of them are exceptional.

A process that runs cases starts in a third of the time without what reads expressions and compares curves: both are
imported where a measure needs them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import ModelError
from kilohertz.results import Result
from kilohertz.sweep.runner import Run
from kilohertz.sweep.series_definition import ERROR, MODEL, VARIANT, Measure

Floats = NDArray[np.float64]
_NOMINAL = 1e-3  # ranges smaller than this count as small, as in a comparison


def measured(measures: Sequence[Measure], runs: Mapping[str, Run]) -> list[float | None]:
    """A number for each measure; None where its run failed."""
    return [_one(m, runs) for m in measures]


def exceeds(measures: Sequence[Measure], values: Sequence[float | None]) -> int:
    """Which thresholds are exceeded: bit k for measure k.  A value that is no number exceeds every threshold; one that
    is not there exceeds none: its case has failed, which is told as such."""
    bits = 0
    for k, (m, value) in enumerate(zip(measures, values, strict=True)):
        if value is None:
            continue
        above = m.above is not None and not value <= m.above
        below = m.below is not None and not value >= m.below
        bits |= (above or below) << k
    return bits


def _one(m: Measure, runs: Mapping[str, Run]) -> float | None:
    if any(not runs[side].ok for side in m.sides):
        return None
    if m.cost:
        return runs[m.of].cost[m.cost]
    try:
        if m.of == ERROR:
            return _error(m, runs[MODEL].rows, runs[VARIANT].rows)
        rows = runs[m.of].rows
        return _taken(m.take, rows.time, _values(m.expression(m.of), rows))
    except ModelError:  # an expression was tried when the series began: what fails now has no value
        return math.nan


def _values(expression: str, rows: Result) -> Floats:
    if expression in rows:
        return rows[expression]
    from kilohertz.compare.signal_expressions import values_of

    return values_of(expression, rows)


def _error(m: Measure, reference: Result, variant: Result) -> float:
    """In parts of the range that the signal of the model has."""
    from kilohertz.compare.curve import Curve
    from kilohertz.compare.measures import errors, tube_size

    mine = Curve(variant.time, np.ascontiguousarray(_values(m.expression(VARIANT), variant)))
    theirs = Curve(reference.time, np.ascontiguousarray(_values(m.expression(MODEL), reference)))
    if not (np.isfinite(mine.value).all() and np.isfinite(theirs.value).all()):
        return math.nan
    return float(getattr(errors(mine, theirs, tube_size(theirs, 1.0, _NOMINAL)), m.take))


def _taken(take: str, time: Floats, y: Floats) -> float:
    match take:
        case "largest":
            return float(np.abs(y).max())
        case "max":
            return float(y.max())
        case "min":
            return float(y.min())
        case "range":
            return float(np.ptp(y))
        case "final":
            return float(y[-1])
        case "mean":
            return _mean(time, y)
        case "rms":
            return math.sqrt(_mean(time, y * y))
    raise AssertionError(take)


def _mean(time: Floats, y: Floats) -> float:
    """By the trapezoidal rule; of an instant its last value."""
    span = float(time[-1] - time[0])
    return float(np.trapezoid(y, time)) / span if span > 0 else float(y[-1])

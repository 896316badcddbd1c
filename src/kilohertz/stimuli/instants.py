"""The instants at which a formula decides anew, for solvers that stop at events.

Where what decides is linear in time they are known; else it is looked at on a grid over the run and each change is
bisected to the last bit.  Two changes between two points of the grid that undo each other are not seen then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.stimuli.formula import Code, Decision, Formula

Floats: TypeAlias = NDArray[np.float64]
Evaluate: TypeAlias = Callable[[Code, Floats], Floats]  # code at instants
_GRID, _MOST = 10_000, 20_000_000
_APART = 1e-10  # seconds


def breaks(formula: Formula, start: float, stop: float, evaluate: Evaluate) -> Floats:
    """After the start until the stop, rising; one at the stop is executed, so what rounding put behind it is there."""
    instants = [_breaks(d, formula, start, stop, evaluate) for d in formula.decisions]
    every = np.unique(np.concatenate([np.empty(0), *instants]))
    reached = every[(every > start) & (every <= stop + apart(stop))]
    return np.unique(np.minimum(reached, stop))


def apart(instants: Floats | float) -> Floats:
    """Seconds: instants that are closer are one."""
    gaps: Floats = np.maximum(_APART, 4 * np.spacing(instants))
    return gaps


def _breaks(d: Decision, formula: Formula, start: float, stop: float, evaluate: Evaluate) -> Floats:
    if d.line is None:
        return np.array(list(_searched(d, start, stop, evaluate)))
    slope, offset = d.line
    if d.kind == "rows":
        return np.array(d.rows)
    if d.kind == "sign":
        return np.array([-offset / slope])
    first, last = sorted((slope * start + offset, slope * stop + offset))
    if last - first > _MOST:
        text = f"`{formula.text}` changes {last - first:.3g} times in this run: too often for events"
        raise ModelError(Diagnostic("R763", f"{text}; take a fixed step, or a longer `sample`"))
    return (np.arange(math.ceil(first), math.floor(last) + 1, dtype=np.float64) - offset) / slope


def _searched(d: Decision, start: float, stop: float, evaluate: Evaluate) -> Iterator[float]:
    def mode(at: Floats) -> Floats:
        value = evaluate(d.code, at)
        return np.sign(value) if d.kind == "sign" else np.floor(value)

    grid = np.linspace(start, stop, _GRID + 1)
    seen = mode(grid)
    for i in np.flatnonzero(seen[1:] != seen[:-1]):
        low, high = float(grid[i]), float(grid[i + 1])
        while (middle := low + (high - low) / 2) not in (low, high):
            if mode(np.array([middle]))[0] == seen[i]:
                low = middle
            else:
                high = middle
        yield high

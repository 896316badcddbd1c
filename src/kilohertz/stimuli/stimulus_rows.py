"""Rows of a stimulus: what can be used, wherever they come from; and what they leave of values that were set."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError

Floats: TypeAlias = NDArray[np.float64]


def check_rows(name: str, time: Floats, values: Floats) -> None:
    """R763 where there are no rows, a time falls, or a number is not finite."""
    problem = _problem(time, values)
    if problem:
        raise ModelError(Diagnostic("R763", f"input `{name}`{problem}"))


def _problem(time: Floats, values: Floats) -> str:
    if time.shape != values.shape or time.ndim != 1 or not len(time):
        return f": {time.size} times and {values.size} values; as many of both, one at least"
    wild = ~(np.isfinite(time) & np.isfinite(values))
    if wild.any():
        row = int(np.argmax(wild))
        return f" has a value or a time that is not a finite number: row {row + 1}, t = {time[row]:g}"
    falls = np.diff(time) < 0
    return f": time runs backwards after t = {time[int(np.argmax(falls))]:g}" if falls.any() else ""


def overridden(driven: Iterable[str], given: Container[str]) -> tuple[str, ...]:
    """The sentence about inputs with a value that was set, and that something drives from the start on."""
    names = sorted(name for name in driven if name in given)
    return (f"driven over time, so what they were set to does not count: {', '.join(names)}",) if names else ()

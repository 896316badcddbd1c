"""Values outside `min` and `max`: looked for in what a run recorded, so that a step costs nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, Note, Origin, Severity
from kilohertz.ir.step import StepVariable
from kilohertz.results import Result, Signal

_MOST = 5  # signals named
_SLACK = 1e-6  # of the largest value: solvers come so near to a limit


def outside(result: Result, variables: Mapping[str, StepVariable]) -> list[Diagnostic]:
    """One warning for each variable or parameter that left its limits, those that did so first before the others."""
    messages: list[tuple[int, str, Diagnostic]] = []
    for name, signal in result.signals.items():
        if (signal.min is None and signal.max is None) or not len(result.time):
            continue
        rows, least, most = _rows(result, name, signal)
        where = np.flatnonzero((rows < least) | (rows > most))
        if len(where):
            k = int(where[0])
            limit = f"min is {signal.min:g}" if rows[k] < least else f"max is {signal.max:g}"
            often = f", in {len(where)} of {len(rows)} rows" if signal.column is not None else ""
            variable = variables.get(name)
            origin = variable.origin if variable is not None else Origin()
            text = f"`{name}` was {rows[k]:g} although its {limit}{often}"
            messages.append((k, name, _warning(text, origin, Note(f"first at time = {result.time[k]:g}"))))
    messages.sort(key=lambda f: f[:2])
    shown = [said for _, _, said in messages[:_MOST]]
    if len(messages) > _MOST:
        shown.append(_warning(f"{len(messages) - _MOST} more were outside their limits", Origin()))
    return shown


def _rows(result: Result, name: str, signal: Signal) -> tuple[NDArray[np.float64], float, float]:
    """The values of a signal, and what they may come down or up to."""
    rows = result[name] if signal.column is not None else np.array([signal.value])
    largest = float(np.max(np.abs(rows), initial=0.0, where=np.isfinite(rows)))
    least = signal.min if signal.min is not None else -np.inf
    most = signal.max if signal.max is not None else np.inf
    return rows, least - _SLACK * largest, most + _SLACK * largest


def _warning(text: str, origin: Origin, *notes: Note) -> Diagnostic:
    span = origin.spans[0] if origin.spans else None
    return Diagnostic("R737", text, span, notes=notes, severity=Severity.WARNING)

"""Inputs over time: from arrays, numbers, functions of time, results and files, for an off-line run.

All become points with lines between them, and a jump where two points have one time:

    hold       a row holds from its time on                      (a jump at every row that differs from the one before)
    linear     lines between rows; a doubled time is a jump
    recorded   a row holds up to its time, as in a recording, where it has the inputs of the step that ended there

With CVODE and IDA a jump is an event; with a fixed step inputs are sampled at the beginning of each step, as a periodic
task samples them (`[[stimulus]]` of a scenario).  Initial equations see the values at the start.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.ir.step import Kind, Step, StepVariable
from kilohertz.results import Result, read
from kilohertz.results.result import Floats
from kilohertz.runtime import fields, words
from kilohertz.simulate.program import Program

INTERPOLATIONS = words("KHZ_STIMULUS_")
HOLD, LINEAR, RECORDED = INTERPOLATIONS
Signal: TypeAlias = "float | Callable[[float], float] | tuple[ArrayLike, ArrayLike]"  # or times and values
InputValues: TypeAlias = "str | Path | Result | Mapping[str, Signal]"
_SAMPLES = 10_000  # of a function of time, over the run


@dataclass(frozen=True, slots=True)
class Inputs:
    """What drives a model, and how it goes on between rows.  `signals`: a file, a result, or by the inputs' names."""

    signals: InputValues
    interpolation: str = HOLD


@dataclass(frozen=True, slots=True)
class Points:
    """All driven inputs on one grid, from the start on; `initial` is what initial equations see."""

    variables: tuple[StepVariable, ...]
    time: Floats
    values: Floats  # [point, variable]
    initial: tuple[float, ...]
    notes: tuple[str, ...] = ()

    @property
    def spacing(self) -> float:
        """How far points are apart, in the middle; infinite where there is one only."""
        steps = np.diff(self.time)
        return float(np.median(steps[steps > 0])) if (steps > 0).any() else float("inf")


class InputTable(ctypes.Structure):
    """`khz_offline_inputs`."""

    _fields_ = fields("khz_offline_inputs")


@dataclass(slots=True)
class Table:
    """The points as the runtime reads them; keeps what the structure points to."""

    program: Program
    points: Points
    structure: InputTable = field(init=False)
    _kept: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        p = self.points
        offset = np.array([self.program.offset(v) for v in p.variables], np.int64)
        kind = np.array([int(self.program.is_int(v)) for v in p.variables], np.int32)
        time, values = np.ascontiguousarray(p.time), np.ascontiguousarray(p.values)
        self._kept = [offset, kind, time, values]
        self.structure = InputTable(
            n_points=len(time),
            time=time.ctypes.data,
            values=values.ctypes.data,
            offset=offset.ctypes.data,
            kind=kind.ctypes.data,
            n=len(offset),
        )

    @property
    def address(self) -> int:
        return ctypes.addressof(self.structure)


def points_of(inputs: Inputs | InputValues, step: Step, start: float, stop: float) -> Points:
    """What drives which input; R744 where a name is none, R763 where values cannot be used."""
    asked = inputs if isinstance(inputs, Inputs) else Inputs(inputs)
    if asked.interpolation not in INTERPOLATIONS:
        hint = near(asked.interpolation, INTERPOLATIONS)
        raise _unusable(f"inputs are {', '.join(INTERPOLATIONS)}, not `{asked.interpolation}`{hint}")
    known = {v.name: v for kind in (Kind.INPUT, Kind.INT_INPUT) for v in step.of_kind(kind)}
    signals, unused = _signals(asked.signals, known)
    wrong = [n for n in signals if n not in known]
    if wrong:
        have = f"; the inputs are {', '.join(list(known)[:8])}" if known else "; the model has none"
        raise ModelError(*(Diagnostic("R744", f"there is no input `{n}`{near(n, known) or have}") for n in wrong))
    curves = {n: _curve(n, s, asked.interpolation, start, stop) for n, s in signals.items()}
    notes = _notes(unused, [n for n in known if n not in signals])
    return _on_one_grid({known[n]: c for n, c in curves.items()}, start, asked.interpolation, notes)


def _signals(source: InputValues, known: Mapping[str, StepVariable]) -> tuple[Mapping[str, Signal], list[str]]:
    """By name; and the columns of a file that are no inputs."""
    if not isinstance(source, str | Path | Result):
        return source, []
    result = source if isinstance(source, Result) else read(source)
    driven: dict[str, Signal] = {n: (result.time, result[n]) for n in result if n in known}
    if not driven:
        raise ModelError(Diagnostic("R744", f"no signal of `{result.name}` has the name of an input"))
    return driven, [n for n in result.names if n not in known] if isinstance(source, str | Path) else []


def _notes(unused: list[str], undriven: list[str]) -> tuple[str, ...]:
    few = ", ".join(unused[:3]) + (f" and {len(unused) - 3} more" if len(unused) > 3 else "")
    notes = [f"no inputs, so not used: {few}"] if unused else []
    notes += [f"inputs that nothing drives keep their start values: {', '.join(undriven)}"] if undriven else []
    return tuple(notes)


Line: TypeAlias = tuple[Floats, Floats]  # times that never fall, and values; two points with one time are a jump


def _curve(name: str, signal: Signal, interpolation: str, start: float, stop: float) -> Line:
    if callable(signal):
        time = np.linspace(start, stop, _SAMPLES + 1)
        return _checked(name, time, np.array([float(signal(t)) for t in time.tolist()]))
    if isinstance(signal, int | float):
        return _checked(name, np.array([start]), np.array([float(signal)]))
    time, values = _checked(name, *(np.asarray(part, np.float64) for part in signal))
    if interpolation == LINEAR:
        return time, values
    doubled = np.repeat(time, 2)
    out = np.empty(2 * len(time) - 1)
    out[0::2] = values  # hold: v0 | v0 v1 | v1 v2; recorded: v0 v1 | v1 v2 | v2
    out[1::2] = values[:-1] if interpolation == HOLD else values[1:]
    return doubled[1:] if interpolation == HOLD else doubled[:-1], out


def _checked(name: str, time: Floats, values: Floats) -> Line:
    if time.shape != values.shape or time.ndim != 1 or not len(time):
        raise _unusable(f"input `{name}`: {time.size} times and {values.size} values; as many of both, one at least")
    if not (np.isfinite(time).all() and np.isfinite(values).all()):
        raise _unusable(f"input `{name}` has a value or a time that is not a finite number")
    if (np.diff(time) < 0).any():
        raise _unusable(f"input `{name}`: time runs backwards after t = {time[int(np.argmax(np.diff(time) < 0))]:g}")
    return time, values


def _on_one_grid(
    lines: Mapping[StepVariable, Line], start: float, interpolation: str, notes: tuple[str, ...]
) -> Points:
    times = np.unique(np.concatenate([[start], *(t[t > start] for t, _ in lines.values())]))
    left = np.column_stack([_limit(t, y, times, "left") for t, y in lines.values()])
    right = np.column_stack([_limit(t, y, times, "right") for t, y in lines.values()])
    jumps = (left != right).any(axis=1)
    jumps[0] &= interpolation == RECORDED  # else the run begins after it
    first = left if interpolation == RECORDED else right
    left[0] = first[0]
    order = np.argsort(np.concatenate([times, times[jumps]]), kind="stable")
    values = np.concatenate([left, right[jumps]])[order]
    grid = np.concatenate([times, times[jumps]])[order]
    return Points(tuple(lines), grid, values, tuple(first[0].tolist()), notes)


def _limit(t: Floats, y: Floats, at: Floats, side: str) -> Floats:
    """Values at these times, from the left or from the right; constant beyond the ends."""
    i = np.searchsorted(t, at, "right") - 1 if side == "right" else np.searchsorted(t, at, "left") - 1
    low, high = np.clip(i, 0, len(t) - 1), np.clip(i + 1, 0, len(t) - 1)
    width = t[high] - t[low]
    part = np.divide(at - t[low], width, out=np.zeros_like(at), where=width > 0)
    inside = y[low] + np.clip(part, 0.0, 1.0) * (y[high] - y[low])
    exact = (t[high] == at) if side == "left" else (t[low] == at)
    return np.where(exact, y[high] if side == "left" else y[low], np.where(i < 0, y[0], inside))


def _unusable(text: str) -> ModelError:
    return ModelError(Diagnostic("R763", text))

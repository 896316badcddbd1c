"""Inputs over time: from arrays, numbers, formulas, functions of time, results and files, for an off-line run.

A text is a formula (room `stimuli`) that the runtime evaluates.  All else become points with lines between them, and a
jump where two points have one time:

    hold       a row holds from its time on                      (a jump at every row that differs from the one before)
    linear     lines between rows; a doubled time is a jump
    recorded   a row holds up to its time, as in a recording, where it has the inputs of the step that ended there

With CVODE and IDA a jump is an event; with a fixed step inputs are sampled at the beginning of each step, as a periodic
task samples them (`[[stimulus]]` of a scenario).  Initial equations see the values at the start.

An input that is no Real gets the nearest whole number.  A solver with events gets a jump wherever that changes: lines
become stairs, a formula decides wherever it passes a half.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.ir.step import Kind, Step, StepVariable
from kilohertz.ir.types import BOOLEAN
from kilohertz.results import Result, read
from kilohertz.results.result import Floats
from kilohertz.runtime import constant, fields, words
from kilohertz.simulate.program import Program

if TYPE_CHECKING:
    from kilohertz.stimuli import Formula

INTERPOLATIONS = words("KHZ_STIMULUS_")
HOLD, LINEAR, RECORDED = INTERPOLATIONS
_REAL, _INTEGER, _BOOLEAN = (constant(f"KHZ_SIGNAL_{kind}") for kind in ("REAL", "INTEGER", "BOOLEAN"))
Signal: TypeAlias = "float | str | Callable[[float], float] | tuple[ArrayLike, ArrayLike]"  # or times and values
InputValues: TypeAlias = "str | Path | Result | Mapping[str, Signal]"
_SAMPLES = 10_000  # of a function of time, over the run


@dataclass(frozen=True, slots=True)
class Inputs:
    """What drives a model, and how it goes on between rows.

    `signals`: a file, a result, or by the inputs' names; `columns`: of a file or result, the signal for each input.
    """

    signals: InputValues
    interpolation: str = HOLD
    columns: Mapping[str, str] = field(default_factory=dict)


Driving: TypeAlias = "Inputs | InputValues | Sequence[Inputs]"


@dataclass(frozen=True, slots=True)
class Points:
    """All driven inputs: those by points on one grid, from the start on, and those by formulas.

    `initial` is what initial equations see of the points.
    """

    variables: tuple[StepVariable, ...]
    time: Floats
    values: Floats  # [point, variable]
    initial: tuple[float, ...]
    formulas: Mapping[StepVariable, Formula] = field(default_factory=dict)
    start: float = 0.0
    stop: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def spacing(self) -> float:
        """How far points are apart, in the middle; infinite where there is one only."""
        steps = np.diff(self.time)
        return float(np.median(steps[steps > 0])) if (steps > 0).any() else float("inf")


class InputTable(ctypes.Structure):
    """`khz_offline_inputs`."""

    _fields_ = fields("khz_offline_inputs")


class _FormulaStructure(ctypes.Structure):
    """`khz_formula`."""

    _fields_ = fields("khz_formula")


@dataclass(frozen=True, slots=True)
class Driven:
    """Points and formulas as plain data, ready for the runtime of any process: inputs by points first."""

    time: Floats
    values: Floats  # [point, input]
    offsets: Sequence[int]  # of all driven inputs in an instance
    kinds: Sequence[int]  # KHZ_SIGNAL_REAL, ...
    codes: Sequence[Sequence[tuple[int, float]]]  # of those by formulas
    breaks: Floats  # the start, and where formulas decide anew
    middles: Floats  # of the pieces between: both ends of a piece belong to it
    initial: Sequence[float]  # what initial equations see


class FormulaMemory:
    """`khz_formula`, and what it points to."""

    def __init__(self, code: Sequence[tuple[int, float]]) -> None:
        self._operations = np.array([operation for operation, _ in code], np.int32)
        self._numbers = np.array([number for _, number in code], np.float64)
        at = self._operations.ctypes.data, self._numbers.ctypes.data
        self.structure = _FormulaStructure(*at, len(code))

    @property
    def address(self) -> int:
        return ctypes.addressof(self.structure)


class InputMemory:
    """`khz_offline_inputs`, and what it points to, as long as this lives."""

    def __init__(self, d: Driven) -> None:
        self._kept: list[Any] = []
        self._codes = [FormulaMemory(code) for code in d.codes]
        self._formulas = (_FormulaStructure * max(1, len(d.codes)))(*(m.structure for m in self._codes))
        self.structure = InputTable(
            n_points=len(d.time),
            time=self._address(d.time),
            values=self._address(d.values),
            offset=self._address(np.array(d.offsets, np.int64)),
            kind=self._address(np.array(d.kinds, np.int32)),
            formulas=ctypes.addressof(self._formulas),
            breaks=self._address(d.breaks),
            when=self._address(d.middles),
            n_breaks=len(d.breaks),
            n=len(d.offsets) - len(d.codes),
            n_formulas=len(d.codes),
        )

    @property
    def address(self) -> int:
        return ctypes.addressof(self.structure)

    def _address(self, array: np.ndarray[Any, Any]) -> int:
        kept = np.ascontiguousarray(array)
        self._kept.append(kept)
        return int(kept.ctypes.data)


class Table:
    """The points and formulas of a program as its runtime reads them."""

    def __init__(self, program: Program, points: Points) -> None:
        self.points, self._library = points, program.library
        self._variables = (*points.variables, *points.formulas)
        instants, middles = self._breaks()
        self.driven = Driven(
            points.time,
            points.values,
            tuple(program.offset(v) for v in self._variables),
            tuple(_kind(v) for v in self._variables),
            tuple(f.code for f in points.formulas.values()),
            instants,
            middles,
            self._first((*points.initial, *(self._sample(f.code) for f in points.formulas.values()))),
        )
        self._memory = InputMemory(self.driven)

    @property
    def address(self) -> int:
        return self._memory.address

    @property
    def initial(self) -> dict[StepVariable, float]:
        """What initial equations see: of a formula what a step at the start would."""
        return dict(zip(self._variables, self.driven.initial, strict=True))

    def _first(self, values: Sequence[float]) -> tuple[float, ...]:
        return tuple(_stored(v, value) for v, value in zip(self._variables, values, strict=True))

    def _sample(self, code: Sequence[tuple[int, float]]) -> float:
        sample, memory = self._library.khz_formula_sample, FormulaMemory(code)
        sample.argtypes, sample.restype = [ctypes.c_void_p, ctypes.c_double], ctypes.c_double
        return float(sample(memory.address, self.points.start))

    def _values(self, code: Sequence[tuple[int, float]], when: Floats, time: Floats) -> Floats:
        out, memory = np.empty(len(when)), FormulaMemory(code)
        evaluate = self._library.khz_formula_values
        evaluate.argtypes, evaluate.restype = [ctypes.c_void_p] * 3 + [ctypes.c_int64, ctypes.c_void_p], None
        when, time = np.ascontiguousarray(when), np.ascontiguousarray(time)
        evaluate(memory.address, when.ctypes.data, time.ctypes.data, len(when), out.ctypes.data)
        return out

    def _breaks(self) -> tuple[Floats, Floats]:
        """The start and where formulas decide anew; the instants they decide by from then on."""
        from kilohertz.stimuli import apart, breaks

        p = self.points
        instants = [
            breaks(f, p.start, p.stop, lambda code, at: self._values(code, at, at)) for f in p.formulas.values()
        ]
        every: Floats = np.unique(np.concatenate([[p.start], *instants]))
        kept: Floats = every[np.concatenate([[True], np.diff(every) > apart(every[1:])])]
        end = max(p.stop, kept[-1] + 2 * apart(p.stop))  # behind a jump at the stop
        return kept, (kept + np.append(kept[1:], end)) / 2


def points_of(
    inputs: Driving, step: Step, start: float, stop: float, *, events: bool, given: Container[str] = ()
) -> Points:
    """What drives which input; R744 where a name is none, R763 and R764 where values cannot be used.

    `events`: for a solver that stops at them; `given`: inputs with a value that was set.
    """
    known = {v.name: v for kind in (Kind.INPUT, Kind.INT_INPUT) for v in step.of_kind(kind)}
    lines: dict[StepVariable, _Line] = {}
    formulas: dict[StepVariable, Formula] = {}
    unused: list[str] = []
    for asked in several(inputs):
        if asked.interpolation not in INTERPOLATIONS:
            hint = near(asked.interpolation, INTERPOLATIONS)
            raise _unusable(f"inputs are {', '.join(INTERPOLATIONS)}, not `{asked.interpolation}`{hint}")
        signals, more = _signals(asked, known)
        unused += more
        for name, signal in signals.items():
            if known[name] in lines or known[name] in formulas:
                raise ModelError(Diagnostic("R744", f"input `{name}` is driven twice"))
            if isinstance(signal, str):
                from kilohertz.stimuli import formula_of  # where an input is one

                formulas[known[name]] = formula_of(signal, events and _kind(known[name]) != _REAL)
            else:
                line = _curve(name, signal, asked.interpolation, start, stop)
                lines[known[name]] = _stairs(line) if events and _kind(known[name]) != _REAL else line
    driven = {v.name for v in (*lines, *formulas)}
    notes = _notes(unused, [n for n in known if n not in driven and n not in given])
    if any(name in given for name in driven):
        from kilohertz.stimuli import overridden

        notes += overridden(driven, given)
    return _on_one_grid(lines, formulas, start, stop, notes)


def undriven(step: Step, given: Container[str] = ()) -> tuple[str, ...]:
    """The sentence about the inputs of a model that nothing drives, without those `given` a value."""
    inputs = (v.name for kind in (Kind.INPUT, Kind.INT_INPUT) for v in step.of_kind(kind))
    return _notes([], [name for name in inputs if name not in given])


def several(inputs: Driving) -> Sequence[Inputs]:
    """Whatever was given, as a list."""
    if isinstance(inputs, Inputs):
        return [inputs]
    if isinstance(inputs, str | Path | Result | Mapping):
        return [Inputs(inputs)]
    return inputs


def _signals(asked: Inputs, known: Mapping[str, StepVariable]) -> tuple[Mapping[str, Signal], list[str]]:
    """By name; and the columns of a file that are no inputs."""
    source = asked.signals
    if not isinstance(source, str | Path | Result):
        _check_names(source, known)
        return source, []
    result = source if isinstance(source, Result) else read(source)
    if asked.columns:
        _check_names(asked.columns, known)
        missing = [c for c in asked.columns.values() if c not in result]
        if missing:
            where = f"`{result.name}` has no signal `{missing[0]}`{near(missing[0], list(result))}"
            raise ModelError(Diagnostic("R744", where))
        return {n: (result.time, result[c]) for n, c in asked.columns.items()}, []
    signals: dict[str, Signal] = {n: (result.time, result[n]) for n in result if n in known}
    if not signals:
        raise ModelError(Diagnostic("R744", f"no signal of `{result.name}` has the name of an input"))
    return signals, [n for n in result.names if n not in known] if isinstance(source, str | Path) else []


def _check_names(names: Mapping[str, Any], known: Mapping[str, StepVariable]) -> None:
    wrong = [n for n in names if n not in known]
    if wrong:
        have = f"; the inputs are {', '.join(list(known)[:8])}" if known else "; the model has none"
        raise ModelError(*(Diagnostic("R744", f"there is no input `{n}`{near(n, known) or have}") for n in wrong))


def _notes(unused: list[str], undriven: list[str]) -> tuple[str, ...]:
    few = ", ".join(unused[:3]) + (f" and {len(unused) - 3} more" if len(unused) > 3 else "")
    notes = [f"columns that are no inputs are not used: {few}"] if unused else []
    notes += [f"inputs that nothing drives keep their start values: {', '.join(undriven)}"] if undriven else []
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Line:
    """Times that never fall, and values; two points with one time are a jump."""

    time: Floats
    value: Floats
    is_recorded: bool = False  # the run begins before a jump at its start


def _curve(name: str, signal: Any, interpolation: str, start: float, stop: float) -> _Line:
    if callable(signal):
        time = np.linspace(start, stop, _SAMPLES + 1)
        return _checked(name, time, np.array([float(signal(t)) for t in time.tolist()]))
    if isinstance(signal, int | float):
        return _checked(name, np.array([start]), np.array([float(signal)]))
    line = _checked(name, *(np.asarray(part, np.float64) for part in signal))
    if interpolation == LINEAR:
        return line
    doubled, values = np.repeat(line.time, 2), line.value
    out = np.empty(2 * len(values) - 1)
    out[0::2] = values  # hold: v0 | v0 v1 | v1 v2; recorded: v0 v1 | v1 v2 | v2
    out[1::2] = values[:-1] if interpolation == HOLD else values[1:]
    return _Line(doubled[1:], out) if interpolation == HOLD else _Line(doubled[:-1], out, True)


def _stairs(line: _Line) -> _Line:
    """The whole numbers nearest to a line: between two points it jumps where it passes a half."""
    times, values = [line.time[:1]], [_nearest(line.value[:1])]
    for k in range(len(line.time) - 1):
        (t0, t1), (y0, y1) = line.time[k : k + 2].tolist(), line.value[k : k + 2].tolist()
        low, high = min(y0, y1), max(y0, y1)
        halves = np.arange(np.floor(low + 0.5), np.floor(high + 0.5)) + 0.5  # between them
        if t1 > t0 and len(halves):
            rising = halves if y1 > y0 else halves[::-1]
            stays = np.concatenate([_nearest(np.array([y0])), rising + (0.5 if y1 > y0 else -0.5)])
            times.append(np.repeat(t0 + (rising - y0) / (y1 - y0) * (t1 - t0), 2))
            values.append(np.column_stack([stays[:-1], stays[1:]]).ravel())
        times.append(line.time[k + 1 : k + 2])
        values.append(_nearest(line.value[k + 1 : k + 2]))
    return _Line(np.concatenate(times), np.concatenate(values), line.is_recorded)


def _nearest(values: Floats) -> Floats:
    """Whole numbers as `khz_whole` makes them: halves go away from zero."""
    size = np.abs(values)
    whole = np.floor(size)
    rounded: Floats = np.copysign(whole + (size - whole >= 0.5), values)
    return rounded


def _kind(v: StepVariable) -> int:
    return _REAL if v.slot.kind is not Kind.INT_INPUT else _BOOLEAN if v.ty == BOOLEAN else _INTEGER


def _stored(v: StepVariable, value: float) -> float:
    """What an input makes of a number."""
    if _kind(v) == _REAL:
        return value
    whole = float(np.clip(_nearest(np.array([value])), -(2.0**31), 2.0**31 - 1)[0])
    return float(whole != 0.0) if _kind(v) == _BOOLEAN else whole


def _checked(name: str, time: Floats, values: Floats) -> _Line:
    from kilohertz.stimuli import check_rows

    check_rows(name, time, values)
    return _Line(time, values)


def _on_one_grid(
    lines: Mapping[StepVariable, _Line],
    formulas: Mapping[StepVariable, Formula],
    start: float,
    stop: float,
    notes: tuple[str, ...],
) -> Points:
    if not lines:
        return Points((), np.empty(0), np.empty((0, 0)), (), formulas, start, stop, notes)
    times = np.unique(np.concatenate([[start], *(c.time[c.time > start] for c in lines.values())]))
    left = np.column_stack([_limit(c.time, c.value, times, "left") for c in lines.values()])
    right = np.column_stack([_limit(c.time, c.value, times, "right") for c in lines.values()])
    left[0] = np.where([c.is_recorded for c in lines.values()], left[0], right[0])
    jumps = (left != right).any(axis=1)
    order = np.argsort(np.concatenate([times, times[jumps]]), kind="stable")
    values = np.concatenate([left, right[jumps]])[order]
    grid = np.concatenate([times, times[jumps]])[order]
    return Points(tuple(lines), grid, values, tuple(left[0].tolist()), formulas, start, stop, notes)


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

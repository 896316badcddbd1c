"""A built model as plain data that any process can load and run: nothing of what it was made from.

The parent makes a kit once (`make_kit`); processes of this machine and workers of a cluster get it once and then the
values of one case after the other (`runner.py`).
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError, Origin, SourceMap, short_name
from kilohertz.ir.rules.limits import constant_value
from kilohertz.ir.step import StepVariable
from kilohertz.ir.types import BOOLEAN
from kilohertz.results import Selection
from kilohertz.simulate import Inputs, Instance, Program, offline
from kilohertz.simulate.assertions import are_moving
from kilohertz.simulate.experiment import experiment_of
from kilohertz.simulate.inputs import Driven, Points, Table, points_of
from kilohertz.simulate.offline_run import as_annotated, longest_step
from kilohertz.simulate.recorder import NUMBERS, is_number
from kilohertz.solvers import StepSettings

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in an instance: bytes from its beginning, int32 or double; a text says itself what it is."""

    offset: int
    is_int: bool


@dataclass(frozen=True, slots=True)
class Varied:
    """A parameter of the series: where it stands, and what is written for a case that chooses among texts."""

    place: Place
    choices: tuple[float | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """How a signal is read: a column of the rows with a sign, `not` of it, or a constant where there is no column."""

    column: int = -1
    sign: int = 1
    negated: bool = False
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Kit:
    """What a run needs."""

    name: str
    digest: str
    machine: str
    library: bytes  # the shared library
    getter: str
    stepping: StepSettings
    start: float
    stop: float
    intervals: int
    longest: float  # step of CVODE and IDA
    checks: bool
    parameters: tuple[Varied, ...]  # in the order of a case's values
    settings: tuple[tuple[Place, float | str], ...]
    columns: tuple[Place, ...]
    signals: Mapping[str, Read]
    driven: Driven | None
    blocks: tuple[str, ...]  # where each block stands in the model: component and line
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a built model a series needs."""

    # as this model calls them, with the numbers of all cases, or with the texts that cases choose from
    parameters: Sequence[tuple[str, Floats | tuple[str, ...]]]
    settings: Mapping[str, float | str]
    signals: Sequence[str]  # names, patterns, all, outputs
    start: float | None
    stop: float | None
    intervals: int | None
    inputs: Sequence[Inputs]


def _refuse_driven(points: Points | None, wanted: Wanted) -> None:
    """An input that varies from case to case is not driven over time as well: all cases would be the same."""
    driven = {v.name for v in (*points.variables, *points.formulas)} if points is not None else set()
    for name, _ in wanted.parameters:
        if name in driven:
            raise ModelError(Diagnostic("R744", f"input `{name}` varies from case to case and is driven over time"))


def make_kit(program: Program, stepping: StepSettings, wanted: Wanted, sources: SourceMap) -> Kit:
    """Look everything up once; ModelError where a name is not there."""
    stepping = as_annotated(program, offline(stepping)).check()
    e = experiment_of(program, wanted.start, wanted.stop, wanted.intervals)
    instance = Instance(program)
    try:
        settings = tuple(_setting(instance, n, v) for n, v in wanted.settings.items())
        parameters = tuple(_varied(instance, n, values) for n, values in wanted.parameters)
    finally:
        instance.close()
    columns = _Columns(program)
    signals = {name: columns.read(name) for name in _names(program, wanted.signals)}
    has_events = not stepping.is_fixed
    points = points_of(wanted.inputs, program.step, e.start, e.stop, events=has_events) if wanted.inputs else None
    _refuse_driven(points, wanted)
    library = Path(program.library._name).read_bytes()
    return Kit(
        program.step.name,
        sha256(library).hexdigest()[:32],
        platform.machine(),
        library,
        program.code.getter,
        stepping,
        e.start,
        e.stop,
        e.intervals,
        longest_step(program, e, stepping.max_step, points.spacing if points is not None else math.inf),
        are_moving(program.step),
        parameters,
        settings,
        tuple(columns.places),
        signals,
        None if points is None else Table(program, points).driven,
        tuple(_words(b.origin, sources) for b in program.code.blocks),
        tuple(_words(p, sources) for p in program.code.places),
    )


class _Columns:
    """Columns that rows have, each variable once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.places: list[Place] = []
        self._at: dict[str, int] = {}

    def read(self, name: str) -> Read:
        """How this signal is read; parameters are columns too, since they differ from case to case."""
        step = self.program.step
        alias = step.aliases.get(name)
        v = step.variables.get(name if alias is None else alias.target or "")
        if v is None:
            assert alias is not None
            return Read(value=constant_value(alias.value))
        sign = 1 if alias is None else alias.sign
        column = self._at.get(v.name)
        if column is None:
            column = self._at[v.name] = len(self.places)
            self.places.append(_place(self.program, v))
        return Read(column, sign, sign < 0 and v.ty == BOOLEAN)


def _names(program: Program, wanted: Sequence[str]) -> list[str]:
    """The signals that are asked for; ModelError R744 where one is none."""
    step, selection = program.step, Selection(tuple(wanted))
    known = [n for n in (*step.variables, *step.aliases) if is_number(step, n)]
    names = [n for n in known if selection.takes(n, is_output=_is_output(program, n), is_in_all=True)]
    problems = selection.problems(known)
    if problems:
        raise ModelError(*problems)
    return names


def _is_output(program: Program, name: str) -> bool:
    known = program.step.aliases.get(name) or program.step.variables[name]
    return known.causality == "output"


def _place(program: Program, v: StepVariable) -> Place:
    return Place(program.offset(v), program.is_int(v))


def _setting(instance: Instance, name: str, value: float | str) -> tuple[Place, float | str]:
    instance.set(name, value)
    v = instance.settable(name)
    return _place(instance.program, v), instance.read(v)


def _varied(instance: Instance, name: str, values: Floats | tuple[str, ...]) -> Varied:
    """ModelError where the parameter cannot have one of the values."""
    v = instance.settable(name)
    place = _place(instance.program, v)
    if isinstance(values, tuple):
        return Varied(place, tuple(_setting(instance, name, text)[1] for text in values))
    if v.slot.kind not in NUMBERS:
        text = f"`{name}` is a String, and cases have {values[0]:g}: texts stand in quotes"
        raise ModelError(Diagnostic("R720", text))
    for number in np.unique(values).tolist() if place.is_int else (values.min(), values.max()):
        instance.set(name, float(number))
    return Varied(place)


def _words(origin: Origin, sources: SourceMap) -> str:
    """Component and line."""
    position = sources.position(origin.spans[0]) if origin.spans else None
    line = f"{short_name(origin.spans[0].file)}:{position[0]}" if position is not None else ""
    component = f"component `{origin.path}`" if origin.path else ""
    return ", ".join(part for part in (component, line) if part)

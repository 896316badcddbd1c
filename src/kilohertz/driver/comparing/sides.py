"""A side of a comparison: a result file or a recording, or a model with all that it is simulated with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.driver.exchange import is_fmu, simulate_fmu
from kilohertz.solvers import SETTINGS, StepSettings

if TYPE_CHECKING:
    from kilohertz.driver.api import Model, Session
    from kilohertz.results import Result
    from kilohertz.simulate import Inputs

_SLACK = 1e-9  # seconds: times that were moved are rounded
_MOST_ROWS = 20_000  # of a model that is compared with a file: as many as the file has, but no more than this


@dataclass(frozen=True, slots=True)
class Side:
    """A file, or a model; most of the rest is for a model: a file is cut to `start` and `stop`, and moved by `offset`.

    What is not given comes from the other side, or the model.
    """

    source: str
    title: str = ""
    settings: Mapping[str, float | str] = field(default_factory=dict)
    stepping: StepSettings = field(default_factory=StepSettings)
    start: float | None = None
    stop: float | None = None
    intervals: int | None = None
    inputs: Sequence[Inputs] = ()
    offset: float = 0.0  # seconds that are added to the times of a file

    @property
    def is_file(self) -> bool:
        """Whether nothing has to be simulated."""
        from kilohertz.results import is_result

        return is_result(self.source)

    @property
    def name(self) -> str:
        """What the report calls it."""
        if self.title:
            return self.title
        if self.is_file:
            return Path(self.source).name
        if is_fmu(self.source):
            return Path(self.source).name
        solver = self.stepping.solver if "solver" in self.stepping.given else SETTINGS["solver"].offline
        how = f"{solver}, step {self.stepping.step:g} s" if "step" in self.stepping.given else solver
        return f"{Path(self.source).name} ({how})"

    def filled(self, other: Side, rows: Result | None) -> Side:
        """The same with times that were not given as on the other side; `rows` are the other side's, of a file.

        A file is cut only where its own side says so.
        """
        if self.is_file:
            return self
        if rows is not None and len(rows.time):
            start, stop = float(rows.time[0]), float(rows.time[-1])
            intervals = max(500, min(len(rows.time) - 1, _MOST_ROWS))
            return self._or(start, stop, intervals)
        return self._or(other.start, other.stop, other.intervals)

    def _or(self, start: float | None, stop: float | None, intervals: int | None) -> Side:
        return replace(
            self,
            start=start if self.start is None else self.start,
            stop=stop if self.stop is None else self.stop,
            intervals=intervals if self.intervals is None else self.intervals,
        )


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What a side gave, and its model where it is known."""

    result: Result
    side: Side
    model: Model | None = None
    notes: tuple[str, ...] = ()  # what was chosen for it; inputs that nothing drives
    stepping: StepSettings | None = None  # what a model was simulated with

    @property
    def is_by_tolerance(self) -> bool:
        """Simulated with steps as the tolerance asks for."""
        return self.stepping is not None and not self.stepping.is_fixed

    def tighter(self, factor: float) -> Side:
        """The side with a smaller tolerance."""
        assert self.stepping is not None
        return replace(self.side, stepping=self.side.stepping.but(tolerance=factor * self.stepping.tolerance))


def trajectory(side: Side, session: Session) -> Trajectory:
    """Read the file, or simulate the model."""
    from kilohertz.results import read
    from kilohertz.simulate import Statistics

    if side.is_file:
        return Trajectory(_cut(read(side.source), side), side)
    keywords, statistics = {name: getattr(side.stepping, name) for name in side.stepping.given}, Statistics()
    if is_fmu(side.source):
        return Trajectory(_of_fmu(side, keywords), side)
    model = session.kept(side.source)
    result = model.simulate(
        start=side.start,
        stop=side.stop,
        intervals=side.intervals,
        settings=dict(side.settings),
        inputs=side.inputs or None,
        statistics=statistics,
        **keywords,
    )
    notes = tuple(f"{side.name}: {note}" for note in statistics.notes)
    return Trajectory(result, side, model, notes, statistics.stepping)


def _of_fmu(side: Side, keywords: Mapping[str, Any]) -> Result:
    """An FMU runs in a process of its own; what it says of no time is as it says itself."""
    return simulate_fmu(
        side.source,
        start=side.start,
        stop=side.stop,
        intervals=side.intervals,
        settings=dict(side.settings),
        inputs=side.inputs or None,
        **keywords,
    )


def _cut(result: Result, side: Side) -> Result:
    """A file with its times moved, from `start` to `stop` of the side; R765 where no row is left."""
    if not side.offset and side.start is None and side.stop is None:
        return result
    time = result.time + side.offset
    low, high = (-inf if side.start is None else side.start), (inf if side.stop is None else side.stop)
    kept = (time >= low - _SLACK) & (time <= high + _SLACK)
    if not kept.any() and len(time):
        span = f"{time[0]:g} to {time[-1]:g} s"
        raise ModelError(
            Diagnostic("R765", f"`{side.name}` has no row from {low:g} to {high:g} s; it lasts from {span}")
        )
    return replace(result, time=time[kept], data=result.data[kept])

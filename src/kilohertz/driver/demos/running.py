"""Build a bundled example, run it in real time, hold it against CVODE on all of it in one model, draw it.

CVODE has the same equations, no sampling between models and a tight tolerance.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import Announce, Diagnostic, ModelError
from kilohertz.driver.analysing.analysis_text import bound_lines
from kilohertz.driver.demos.catalogue import DEFAULT, Curve, Example, find
from kilohertz.driver.demos.picture import draw

if TYPE_CHECKING:
    from kilohertz.realtime import Report, Scenario
    from kilohertz.realtime.launch import Progress
    from kilohertz.results import Result


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a signal of the run was from CVODE's, at most and on average."""

    name: str
    unit: str
    largest: float
    rms: float


@dataclass(frozen=True)
class Demo:
    """What the demo came to."""

    example: Example
    report: Report
    deviations: tuple[Deviation, ...]
    cost: dict[str, Any]  # cost bound by task
    folder: Path
    picture: Path

    def as_text(self) -> str:
        tolerance = f"against CVODE with a tolerance of {self.example.tolerance:g}, all as one model:"
        lines = [self.report.as_text(), tolerance]
        for d in self.deviations:
            lines.append(f"  {d.name:22} off by at most {d.largest:.3g} {d.unit}, rms {d.rms:.3g} {d.unit}")
        return "\n".join([*lines, *self._costs()])

    def _costs(self) -> Iterator[str]:
        """The bound of each task, and the largest that was seen."""
        for task in self.report.data["tasks"]:
            bound = self.cost.get(task["name"])
            if bound:
                head, *details = bound_lines(bound)
                yield f"cost bound of the {task['name']}, {head}"
                yield from details
                yield f"  seen     {task['counts']['max_step_rhs']} right-hand sides"


def demo(
    folder: str | Path,
    name: str = DEFAULT,
    *,
    level: int = 1,
    duration: float | None = None,
    fast: bool = False,
    announce: Announce | None = None,
    progress: Progress | None = None,
) -> Demo:
    """Build, run in real time, compare, draw; `folder` gets the scenario, the recording and the picture.

    `level` is that of detail, for examples that have some.
    """
    from kilohertz.driver.tasks import run

    example = find(name, level)
    place = Path(folder)
    scenario = demo_scenario(place, name, duration, fast, level)
    say = announce if announce is not None else lambda _: None
    report = run(scenario, folder=place / "build", announce=announce, progress=progress)
    say("simulating the same with CVODE")
    result, reference = report.result, _reference(example, scenario)
    deviations = tuple(_deviation(result, reference, curve) for curve in example.compared)
    say("drawing")
    picture = place / f"{example.name}.png"
    draw(picture, example, result, reference, scenario.period_ns * 1e-9)
    return Demo(example, report, deviations, _cost(place / "build", scenario), place, picture)


def demo_scenario(
    folder: Path, name: str = DEFAULT, duration: float | None = None, fast: bool = False, level: int = 1
) -> Scenario:
    """The bundled scenario, copied to the folder so that it can be changed and run again."""
    from kilohertz.realtime import read_scenario, running

    example = find(name, level)
    source = example.scenario
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / source.name
        copy.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write to `{folder}`: {error.strerror}")) from error
    scenario = read_scenario(copy).lasting(duration)
    recording = replace(scenario.recording, file=str(folder / f"{example.name}.csv"))
    scenario = replace(scenario, recording=recording, scale=None if fast else scenario.scale)
    if scenario.name in running():  # another demo: both may run
        scenario = replace(scenario, name=f"{scenario.name}_{os.getpid()}")
    return scenario


def _reference(example: Example, scenario: Scenario) -> Result:
    from kilohertz.driver.api import load

    return load(example.model).simulate(stop=scenario.duration, intervals=scenario.cycles, tolerance=example.tolerance)


def _deviation(run: Result, reference: Result, curve: Curve) -> Deviation:
    """Both have a row for every period; the run may have lost some."""
    assert curve.compared is not None, "of what is compared"
    unit, factor = curve.compared
    off = factor * (run[curve.signal] - np.interp(run.time, reference.time, reference[curve.signal]))
    return Deviation(curve.name, unit, float(np.abs(off).max()), float(np.sqrt(np.mean(off**2))))


def _cost(folder: Path, scenario: Scenario) -> dict[str, Any]:
    try:
        bounds: dict[str, Any] = json.loads((folder / f"{scenario.name}.cost.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return bounds

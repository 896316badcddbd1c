"""The main job on a bundled example: a hydraulic axis and its position controller, two compiled models, in real time.

The run is held against CVODE on both models joined in one: same equations, no sampling, a tight tolerance.
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
from kilohertz.driver.locate import BUNDLED

if TYPE_CHECKING:
    from kilohertz.realtime import Report, Scenario
    from kilohertz.realtime.launch import Progress
    from kilohertz.results import Result

SCENARIO = BUNDLED / "hydraulic_axis.toml"
REFERENCE = "Kilohertz.Examples.HydraulicAxis.Controlled"
TOLERANCE = 1e-9
# signal, what it is called, unit of the text, factor to it
WATCHED = (
    ("plant.x", "position", "um", 1e6),
    ("plant.p_a", "pressure a", "bar", 1e-5),
    ("plant.p_b", "pressure b", "bar", 1e-5),
    ("controller.u", "command", "mV", 1e3),
)


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

    report: Report
    deviations: tuple[Deviation, ...]
    cost: dict[str, Any]  # cost bound by task
    folder: Path
    picture: Path

    def as_text(self) -> str:
        lines = [self.report.as_text(), f"against CVODE with a tolerance of {TOLERANCE:g}, both models as one:"]
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
    *,
    duration: float | None = None,
    fast: bool = False,
    announce: Announce | None = None,
    progress: Progress | None = None,
) -> Demo:
    """Build, run in real time, compare, draw; `folder` gets the scenario, the recording and the picture."""
    from kilohertz.driver.tasks import run

    place = Path(folder)
    scenario = demo_scenario(place, duration, fast)
    say = announce if announce is not None else lambda _: None
    report = run(scenario, folder=place / "build", announce=announce, progress=progress)
    say("simulating the same with CVODE")
    result, reference = report.result, _reference(scenario)
    deviations = tuple(_deviation(result, reference, *watched) for watched in WATCHED)
    say("drawing")
    picture = place / f"{SCENARIO.stem}.png"
    draw(picture, result, reference, scenario.period_ns * 1e-9)
    return Demo(report, deviations, _cost(place / "build", scenario), place, picture)


def demo_scenario(folder: Path, duration: float | None = None, fast: bool = False) -> Scenario:
    """The bundled scenario, copied to the folder so that it can be changed and run again."""
    from kilohertz.realtime import read_scenario, running

    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / SCENARIO.name
        copy.write_text(SCENARIO.read_text(encoding="utf-8"), encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write to `{folder}`: {error.strerror}")) from error
    scenario = read_scenario(copy).lasting(duration)
    recording = replace(scenario.recording, file=str(folder / f"{SCENARIO.stem}.csv"))
    scenario = replace(scenario, recording=recording, scale=None if fast else scenario.scale)
    if scenario.name in running():  # another demo: both may run
        scenario = replace(scenario, name=f"{scenario.name}_{os.getpid()}")
    return scenario


def _reference(scenario: Scenario) -> Result:
    from kilohertz.driver.api import load

    stop = scenario.duration
    return load(REFERENCE).simulate(stop=stop, intervals=scenario.cycles, tolerance=TOLERANCE)


def _deviation(run: Result, reference: Result, signal: str, name: str, unit: str, factor: float) -> Deviation:
    """Both have a row for every period; the run may have lost some."""
    off = factor * (run[signal] - np.interp(run.time, reference.time, reference[signal]))
    return Deviation(name, unit, float(np.abs(off).max()), float(np.sqrt(np.mean(off**2))))


def _cost(folder: Path, scenario: Scenario) -> dict[str, Any]:
    try:
        bounds: dict[str, Any] = json.loads((folder / f"{scenario.name}.cost.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return bounds


def draw(path: Path, run: Result, reference: Result, period: float) -> None:
    """Position, its error, pressures, and the slack of every cycle."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 10), layout="constrained")
    FigureCanvasAgg(figure)
    position, error, pressure, slack = figure.subplots(4, 1, sharex=True, height_ratios=(3, 2, 3, 2))
    figure.suptitle("Hydraulic axis under its position controller, in real time")
    position.plot(run.time, 1e3 * run["controller.x_ref"], "k--", lw=1, label="reference")
    position.plot(run.time, 1e3 * run["plant.x"], lw=1.5, label="real time")
    position.set_ylabel("position [mm]")
    off = run["plant.x"] - np.interp(run.time, reference.time, reference["plant.x"])
    error.plot(run.time, 1e6 * off, lw=1, label="real time minus CVODE")
    error.set_ylabel("error [µm]")
    for name, label in (("plant.p_a", "piston side"), ("plant.p_b", "rod side")):
        pressure.plot(run.time, 1e-5 * run[name], lw=1, label=label)
    pressure.set_ylabel("pressure [bar]")
    _draw_slack(slack, run, period)
    slack.set_xlabel("time [s]")
    for axes in (position, error, pressure, slack):
        axes.grid(alpha=0.3)
        axes.legend(loc="center right", fontsize="small")
    try:
        figure.savefig(path, dpi=100)
    except OSError as failure:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {failure.strerror}")) from failure


def _draw_slack(axes: Any, run: Result, period: float) -> None:
    """Down to half a period too late; what is later than that stands at the lower edge."""
    time, floor = run.time[2:], -0.5 * period  # the first two rows have no cycle before them
    slack = run["cycle.slack"][2:]
    late = slack < floor
    axes.plot(time[~late], 1e6 * slack[~late], ".", ms=2, label="slack left")
    axes.plot(time, 1e6 * run["cycle.compute"][2:], ".", ms=2, label="compute")
    axes.axhline(0, color="tab:red", lw=1, label="deadline")
    if late.any():
        axes.plot(time[late], np.full(late.sum(), 1e6 * floor), "v", color="tab:red", ms=5, label="later than that")
    axes.set_ylabel("cycle [µs]")
    axes.set_ylim(1.1e6 * floor, 1.05e6 * period)

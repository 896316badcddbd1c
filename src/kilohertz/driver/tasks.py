"""Real time in one call: a scenario file, a model's name or a `Scenario` in, an executable or a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.driver import realtime
from kilohertz.driver.api import Session

if TYPE_CHECKING:
    from kilohertz.driver.realtime import Told
    from kilohertz.realtime import Built, Live, Report, Scenario


def open_scenario(
    what: str | Path | Scenario,
    *,
    step: float | None = None,
    solver: str | None = None,
    duration: float | None = None,
    internal_steps: int | None = None,
    libraries: Iterable[str | Path] = (),
) -> tuple[Session, Scenario]:
    """A scenario from its file, from a model's name, or as it is, with what is given instead; and its session."""
    from kilohertz.realtime import Scenario, read_scenario

    more = tuple(str(p) for p in libraries)
    if isinstance(what, Scenario):
        session, scenario = Session((*more, *what.libraries)), what
    elif str(what).endswith(".toml"):
        read = read_scenario(what)
        scenario = replace(read, libraries=(*more, *read.libraries))
        session = Session(scenario.libraries)
    else:
        session = Session(more)
        scenario = realtime.model_scenario(session, str(what), more)
    changed = realtime.adjusted(scenario, step=step, solver=solver, duration=duration, internal_steps=internal_steps)
    return session, changed


def scenario_of(
    what: str | Path | Scenario,
    *,
    step: float | None = None,
    solver: str | None = None,
    duration: float | None = None,
    libraries: Iterable[str | Path] = (),
) -> Scenario:
    """The scenario alone, as `open_scenario` finds it."""
    return open_scenario(what, step=step, solver=solver, duration=duration, libraries=libraries)[1]


def build(
    what: str | Path | Scenario,
    *,
    folder: str | Path | None = None,
    target: str = "",
    step: float | None = None,
    solver: str | None = None,
    duration: float | None = None,
    libraries: Iterable[str | Path] = (),
    told: Told | None = None,
) -> Built:
    """Compile the models of a scenario into one executable.  `told` hears what is being done."""
    session, scenario = open_scenario(what, step=step, solver=solver, duration=duration, libraries=libraries)
    return realtime.build(session, scenario, folder=folder, target=target, told=told)


def run(
    what: str | Path | Scenario,
    *,
    folder: str | Path | None = None,
    step: float | None = None,
    solver: str | None = None,
    duration: float | None = None,
    libraries: Iterable[str | Path] = (),
    told: Told | None = None,
    progress: Callable[[float, Live | None], None] | None = None,
    check: bool = True,
) -> Report:
    """Build a scenario, start it, wait for its end and bring back the report.

    `what` is a scenario.toml, a model (1 kHz and other defaults) or a `Scenario`; step, solver, duration override it.
    Before the start a short run without waiting says whether the period can be kept (`report.predicted`; `check=False`
    leaves it out).  `progress` is told the model time and the live values as it runs.  Ctrl-C ends the task, not the
    report.
    """
    session, scenario = open_scenario(what, step=step, solver=solver, duration=duration, libraries=libraries)
    return realtime.run(session, scenario, folder=folder, told=told, progress=progress, check=check)

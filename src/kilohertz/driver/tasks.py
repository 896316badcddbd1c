"""Real time in one call: a scenario file, a model's name or a `Scenario` in, an executable or a report out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, ModelError
from kilohertz.driver.api import Session
from kilohertz.driver.exchange import is_system, job_of_system, open_system
from kilohertz.driver.job import Job, job_of_model
from kilohertz.driver.keywords import takes_settings
from kilohertz.driver.realtime_block import brought
from kilohertz.solvers import StepSettings

if TYPE_CHECKING:
    from kilohertz.realtime import Built, Report, Scenario
    from kilohertz.realtime.launch import Progress
    from kilohertz.simulate.inputs import Driving


@takes_settings()
def open_job(
    what: str | Path | Scenario,
    *,
    duration: float | None = None,
    settings: Mapping[str, Any] | None = None,
    inputs: Driving | None = None,
    faults: Iterable[Mapping[str, Any]] = (),
    libraries: Iterable[str | Path] = (),
    profile: str = "",
    iterate: int | None = None,
    **stepping: Any,
) -> Job:
    """A scenario from its file, from a model or as it is, with what is given instead.

    `settings` are values of parameters and inputs; where there are several tasks, by `task.name`.  `inputs` are files
    and formulas that drive inputs over time, beside the scenario's own; `faults` are faults on signals by their keys
    (docs/reference/scenario.md), beside those of the scenario.  `profile` (`always`, `burst`, or
    `off` until a running task is told otherwise) builds it with probes.  `iterate`: turns in which outputs and inputs
    that need each other settle at the end of a period.
    """
    asked = StepSettings.of(**stepping)
    job = _opened(what, tuple(str(p) for p in libraries), iterate)
    return job.changed(asked, duration=duration, settings=settings, inputs=inputs, faults=faults, profile=profile)


def _opened(what: str | Path | Scenario, libraries: tuple[str, ...], iterate: int | None) -> Job:
    from kilohertz.realtime import Scenario

    if not isinstance(what, Scenario) and is_system(what):
        return job_of_system(open_system(what, iterate or 0), libraries)
    if isinstance(what, Scenario):
        job = Job(Session((*libraries, *what.libraries)), what)
    elif str(what).endswith(".toml"):
        job = _job_of_file(what, libraries)
    else:
        job = job_of_model(Session(libraries).model(str(what)), str(what), libraries)
    return job if iterate is None else replace(job, scenario=replace(job.scenario, iterate=iterate))


def _job_of_file(path: str | Path, libraries: tuple[str, ...]) -> Job:
    """A scenario file, with what blocks in its models say where it says nothing."""
    from kilohertz.realtime import read_outline, read_scenario

    try:
        read_scenario(path)
    except ModelError as error:
        if any(d.code != "R743" for d in error.diagnostics):  # keys that are missing may be those of a block
            raise
    outline = read_outline(path)
    folders = (*libraries, *outline.libraries)
    session = Session(folders)
    scenario = read_scenario(path, brought(session, outline.models))
    return Job(session, replace(scenario, libraries=folders))


@takes_settings()
def build(
    what: str | Path | Scenario,
    *,
    folder: str | Path | None = None,
    target: str = "",
    duration: float | None = None,
    settings: Mapping[str, Any] | None = None,
    inputs: Driving | None = None,
    faults: Iterable[Mapping[str, Any]] = (),
    libraries: Iterable[str | Path] = (),
    profile: str = "",
    announce: Announce | None = None,
    **stepping: Any,
) -> Built:
    """Compile the models of a scenario into one executable.  `announce` hears what is being done."""
    overrides = {"settings": settings, "inputs": inputs, "faults": faults, **stepping}
    job = open_job(what, duration=duration, libraries=libraries, profile=profile, **overrides)
    return job.build(folder=folder, target=target, announce=announce)


@takes_settings()
def run(
    what: str | Path | Scenario,
    *,
    folder: str | Path | None = None,
    duration: float | None = None,
    settings: Mapping[str, Any] | None = None,
    inputs: Driving | None = None,
    faults: Iterable[Mapping[str, Any]] = (),
    libraries: Iterable[str | Path] = (),
    profile: str = "",
    announce: Announce | None = None,
    progress: Progress | None = None,
    check: bool = True,
    **stepping: Any,
) -> Report:
    """Build a scenario, start it, wait for its end and bring back the report (see `Job.run`).

    `what` is a scenario.toml, a model (its own RealTime block, or 1 kHz and other defaults) or a `Scenario`; what is
    given besides overrides it.
    """
    overrides = {"settings": settings, "inputs": inputs, "faults": faults, **stepping}
    job = open_job(what, duration=duration, libraries=libraries, profile=profile, **overrides)
    return job.run(folder=folder, announce=announce, progress=progress, check=check)

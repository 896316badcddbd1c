"""A scenario with the session that knows its models: opened for a model, changed, planned, built and run.

The one road to a running task: `driver/tasks.py` and `Model.run` make a `Job`, `Job.build` and `Job.run` do the rest.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, ModelError, Note, render
from kilohertz.driver.driven import inputs_of, stimuli_of
from kilohertz.driver.foreign import with_fmu
from kilohertz.solvers.settings import NS, StepSettings, not_fixed

if TYPE_CHECKING:
    from kilohertz.driver.api import Model, Session
    from kilohertz.driver.plan import Experiment
    from kilohertz.realtime import Built, ModelCode, Prediction, Report, Scenario, Task
    from kilohertz.realtime.launch import Progress
    from kilohertz.simulate.inputs import Driving

_MOST_BYTES = 1 << 28  # of a recording that is looked through after a run


@dataclass(frozen=True, slots=True)
class Job:
    """A scenario, and the session that knows its models."""

    session: Session
    scenario: Scenario
    notes: tuple[Diagnostic, ...] = ()  # on what it was made from

    def build(self, *, folder: str | Path | None = None, target: str = "", announce: Announce | None = None) -> Built:
        """Compile the models of the scenario into one executable.  `announce` hears what is being done."""
        from kilohertz.realtime import build
        from kilohertz.simulate.outside import refused

        say: Announce = announce if announce is not None else lambda text: None
        for finding in self.notes:
            say(render(finding, self.session.libraries.sources))
        tasks, codes, compiled = [], [], set()
        for task in self.scenario.tasks:
            if task.model not in compiled:
                say(f"compiling {task.model}")
                compiled.add(task.model)
            place = _Place(say, target, bool(self.scenario.profile))
            told = with_fmu(task, self.scenario, say)
            model, values = self.session.kept(task.model).with_values(task.settings, texts=False)
            planned, code = _planned(model, replace(told, settings=values), self.scenario, place)
            for warning in model.warnings_with(task.settings):
                say(render(warning, self.session.libraries.sources))
            tasks.append(planned)
            codes.append(code)
        say("building the executable")
        where = Path(folder) if folder is not None else default_folder(self.scenario.name)
        built = build(replace(self.scenario, tasks=tuple(tasks)), codes, where, target)
        if wrong := [d for t, c in zip(tasks, codes, strict=True) for d in refused(c.built.step, t.settings)]:
            raise ModelError(*wrong)  # by limits that follow from what was set: `build` knows the others
        for note in built.notes:
            say(note)
        return built

    def run(
        self,
        *,
        folder: str | Path | None = None,
        announce: Announce | None = None,
        progress: Progress | None = None,
        check: bool = True,
    ) -> Report:
        """Build, start, wait for the end and bring back the report.

        Before the start a short run without waiting says whether the period can be kept (`report.predicted`;
        `check=False` leaves it out).  `progress` is told the model time and the live values as it runs.  Ctrl-C ends
        the task, not the report.
        """
        from kilohertz.driver.profiling import keep_profiles
        from kilohertz.realtime import predict, start
        from kilohertz.realtime.predict import blamed
        from kilohertz.results import check_output

        if self.scenario.recording.file:
            check_output(self.scenario.recording.file)
        built = self.build(folder=folder, announce=announce)
        said: Prediction | None = None
        if check:
            said = predict(built)
            if announce is not None:
                announce(said.as_text())
        if announce is not None:
            announce(f"running {built.name}")
        try:
            report = start(built).wait(progress)
        except ModelError as error:
            raise ModelError(*self._with_profile(error, built)) from error
        profiles = keep_profiles(built, self.session.libraries) if built.scenario.profile else ()
        words = said.as_text() if said is not None else ""
        return self._with_outside(replace(report, predicted=words, blame=blamed(built), profiles=profiles))

    def _with_profile(self, error: ModelError, built: Built) -> tuple[Diagnostic, ...]:
        """Of a run that did not come to its end: what is left of its profile."""
        from kilohertz.driver.profiling import keep_profiles

        if not built.scenario.profile:
            return error.diagnostics
        try:
            notes = [Note(f"its profile until then: {f}") for f in keep_profiles(built, self.session.libraries)]
        except ModelError as none:
            notes = [Note(f"nothing is left of its profile: {none.diagnostics[0].message}")]
        first, *others = error.diagnostics
        return replace(first, notes=(*first.notes, *notes)), *others

    def _with_outside(self, report: Report) -> Report:
        """The same with the variables that left their `min` and `max` in what was recorded, and what nobody knows."""
        from kilohertz.simulate.outside import outside

        if report.recording is None or report.recording.stat().st_size == 0:
            return report
        if report.recording.stat().st_size > _MOST_BYTES:
            return replace(report, unseen=("everything, in a recording this large",))
        found: list[Diagnostic] = []
        unseen: list[str] = []
        for task in self.scenario.tasks:
            step = self.session.kept(task.model).process()
            head = f"{task.name}." if len(self.scenario.tasks) > 1 else ""
            left, missing = outside(report.result, step, head)
            found += left
            unseen += missing
        return replace(report, outside=tuple(found), unseen=tuple(unseen))

    def changed(
        self,
        asked: StepSettings,
        *,
        duration: float | None = None,
        settings: Mapping[str, Any] | None = None,
        inputs: Driving | None = None,
        faults: Iterable[Mapping[str, Any]] = (),
        profile: str = "",
    ) -> Job:
        """The same with what is given instead; `settings` are values of parameters and inputs, `inputs` stimuli more.

        Where there are several tasks, they are called `task.name`, and `step` is the base period: slower tasks stay as
        much slower as they were.
        """
        from kilohertz.realtime.faults import more_faults

        scenario = _with_values(self.scenario, settings or {})
        scenario = replace(scenario, profile=_known(profile) or scenario.profile)
        scenario = replace(scenario, faults=more_faults(scenario.faults, faults))
        if inputs is not None:
            scenario = replace(scenario, stimuli=(*scenario.stimuli, *stimuli_of(inputs)))
        tasks = tuple(replace(t, stepping=asked.over(t.stepping).but(step=t.stepping.step)) for t in scenario.tasks)
        for task in tasks:
            if not task.stepping.is_fixed:
                raise ModelError(not_fixed(task.stepping.solver))
        scenario = replace(scenario, tasks=tasks)
        if "step" in asked.given:
            scenario = _at_step(scenario, asked)
        return replace(self, scenario=scenario.lasting(duration))


def job_of_model(model: Model, called: str = "", libraries: tuple[str, ...] = ()) -> Job:
    """Defaults for a model, or what RealTime and Device blocks in it say; what is known about the model is used again.

    `called`: what the user calls it (a file, say), where that is not its full name.
    """
    from kilohertz.driver.realtime_block import block_scenario, device_blocks, real_time_block
    from kilohertz.realtime import plain_scenario

    name = called or model.name
    model.session.keep(name, model)
    plain = plain_scenario(name, libraries=libraries)
    plain = replace(plain, name=re.sub(r"[^\w.-]", "_", plain.name)[:48])
    block, devices = real_time_block(model.flatten()), device_blocks(model.flatten())
    scenario = block_scenario(name, block, devices, plain.name, libraries) if block is not None or devices else plain
    return Job(model.session, scenario)


_taken: dict[Path, Path] = {}  # by the folder that a name asks for: the one that this process has for it


def default_folder(name: str) -> Path:
    """Where a run without a folder of its own puts its files: `run/NAME` of the cache, or `run/NAME.2`, ... while
    other processes have those: none runs what another one has just built."""
    from kilohertz.toolchain import cache_directory

    wanted = cache_directory().parent / "run" / name
    if wanted not in _taken:
        folder, k = wanted, 1
        while not _is_ours(folder):
            k += 1
            folder = wanted.with_name(f"{name}.{k}")
        _taken[wanted] = folder
    return _taken[wanted]


def _is_ours(folder: Path) -> bool:
    """Until this process ends, unless another one has it: a lock on a file beside it, which nobody closes."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder.with_name(f"{folder.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # whoever writes there says so
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    except OSError:  # a file system without locks
        os.close(lock)
    return True


def _known(profile: str) -> str:
    from kilohertz.realtime import PROFILES

    if profile and profile not in PROFILES:
        raise ModelError(Diagnostic("R742", f"`profile` is `{profile}`, but must be one of {', '.join(PROFILES)}"))
    return profile


def _with_values(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with other values of parameters and inputs; their names are checked with the compiled models."""
    of_tasks: list[dict[str, Any]] = [dict(t.settings) for t in scenario.tasks]
    for name, value in values.items():
        if len(scenario.tasks) == 1:
            of_tasks[0][name] = value
            continue
        owner = next((i for i, t in enumerate(scenario.tasks) if name.startswith(f"{t.name}.")), None)
        if owner is None:
            known = ", ".join(t.name for t in scenario.tasks)
            raise ModelError(Diagnostic("R744", f"`{name}` names no task; write `task.name`, a task is one of {known}"))
        of_tasks[owner][name.removeprefix(f"{scenario.tasks[owner].name}.")] = value
    changed = (replace(t, settings=v) for t, v in zip(scenario.tasks, of_tasks, strict=True))
    return replace(scenario, tasks=tuple(changed))


def _at_step(scenario: Scenario, asked: StepSettings) -> Scenario:
    """Another base period; slower tasks stay as much slower as they were, the duration stays."""
    lasts = scenario.duration
    period = asked.period_ns  # whole nanoseconds: multiples of it, not of the step in seconds
    tasks = tuple(replace(t, stepping=t.stepping.but(step=period * t.every / NS)) for t in scenario.tasks)
    scenario = replace(scenario, tasks=tasks, period_ns=period, cycles=0)
    return scenario.lasting(lasts if lasts != float("inf") else None)


@dataclass(frozen=True, slots=True)
class _Place:
    """What a task is compiled for: who hears of it, which machine, with probes or without."""

    say: Announce
    machine: str
    probes: bool


def _planned(model: Model, task: Task, scenario: Scenario, place: _Place) -> tuple[Task, ModelCode]:
    """The task with its method decided (`auto`, mixed mode, inlining), and the code for it with its cost bound."""
    from kilohertz.building.single_range import lost_in, refuse_values
    from kilohertz.driver.analysing.prices_here import bound_here
    from kilohertz.driver.plan import make_plan
    from kilohertz.realtime import ModelCode
    from kilohertz.realtime.executable import compile_ahead

    def ahead() -> None:
        if not (place.machine or place.probes):
            compile_ahead(model.built(model.process()), scenario)

    plan = make_plan(model, task.stepping, _experiment(model, task, scenario), place.say, ahead)
    for note in plan.notes:
        place.say(f"{task.name}: {note}" if task.name != "model" else note)
    stepping, step = plan.stepping.check_fixed(), model.planned(plan)
    cost = bound_here(model, step, stepping, place.machine, probes=place.probes)
    built = model.built(step, probes=place.probes).in_numbers(stepping.number)
    refuse_values(built.number, task.settings)
    for lost in lost_in(built.number, step, scenario.start + scenario.duration, stepping.step):
        place.say(render(lost, model.session.libraries.sources))
    return replace(task, stepping=stepping), ModelCode(built, cost)


def _experiment(model: Model, task: Task, scenario: Scenario) -> Experiment:
    """The run that something is decided from: with the stimuli that the task will have, over their time."""
    from kilohertz.driver.plan import Experiment
    from kilohertz.ir.step import Kind
    from kilohertz.solvers import METHODS

    if not scenario.stimuli or (task.stepping.solver in METHODS and not task.stepping.implicit):
        return Experiment(settings=task.settings)
    known = [v.name for kind in (Kind.INPUT, Kind.INT_INPUT) for v in model.process().of_kind(kind)]
    inputs = inputs_of(scenario, task, known)
    if not inputs:
        return Experiment(settings=task.settings)
    stop = scenario.start + scenario.duration if scenario.cycles else None
    return Experiment(scenario.start, stop, task.settings, inputs)

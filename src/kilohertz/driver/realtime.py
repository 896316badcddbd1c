"""Building and running scenarios with the models of a session: the compiler's stages, then the real-time room."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError

if TYPE_CHECKING:
    from kilohertz.driver.api import Model, Session
    from kilohertz.realtime import Built, Live, ModelCode, Prediction, Report, Scenario
    from kilohertz.realtime.scenario import Task

DEFAULT_SOLVER = "auto"
Told = Callable[[str], None]


def adjusted(
    what: Scenario,
    *,
    step: float | None = None,
    solver: str | None = None,
    duration: float | None = None,
    internal_steps: int | None = None,
) -> Scenario:
    """The scenario with what is given instead, every task with a solver."""
    tasks = tuple(replace(t, solver=solver or t.solver or DEFAULT_SOLVER) for t in what.tasks)
    if internal_steps is not None:
        tasks = tuple(replace(t, options={**t.options, "internal_steps": internal_steps}) for t in tasks)
    scenario = replace(what, tasks=tasks)
    if step is not None:
        scenario = _at_step(scenario, step)
    _check_solvers(scenario)
    return scenario.lasting(duration)


def model_scenario(session: Session, model: str, libraries: tuple[str, ...] = ()) -> Scenario:
    """Defaults for a model, or what a RealTime block in it says."""
    from kilohertz.driver.realtime_block import block_scenario, real_time_block
    from kilohertz.realtime import plain_scenario

    plain = plain_scenario(model, libraries=libraries)
    plain = replace(plain, name=re.sub(r"[^\w.-]", "_", plain.name)[:48])
    block = real_time_block(session.kept(model).flatten())
    return plain if block is None else block_scenario(model, block, plain.name, libraries)


def _at_step(scenario: Scenario, step: float) -> Scenario:
    """Another base period; slower tasks stay as much slower as they were, the duration stays."""
    from kilohertz.realtime.scenario import nanoseconds

    period, lasts = max(1, nanoseconds(step)), scenario.duration
    tasks = tuple(replace(t, period_ns=period * t.every) for t in scenario.tasks)
    scenario = replace(scenario, tasks=tasks, period_ns=period, cycles=0)
    return scenario.lasting(lasts if lasts != float("inf") else None)


def _check_solvers(scenario: Scenario) -> None:
    from kilohertz.solvers import SOLVERS

    for task in scenario.tasks:
        if task.solver != "auto" and task.solver not in SOLVERS:
            known = ", ".join(("auto", *SOLVERS))
            raise ModelError(Diagnostic("R721", f"no fixed-step method is called `{task.solver}`; there are {known}"))


def build(
    session: Session,
    scenario: Scenario,
    *,
    folder: str | Path | None = None,
    target: str = "",
    told: Told | None = None,
) -> Built:
    """Compile the models of a scenario into one executable.  `told` hears what is being done."""
    from kilohertz.realtime import build as build_task

    say: Told = told if told is not None else lambda text: None
    models: dict[str, Model] = {}
    tasks, codes = [], []
    for task in scenario.tasks:
        if task.model not in models:
            say(f"compiling {task.model}")
            models[task.model] = session.kept(task.model)
        planned, code = _planned(models[task.model], task, say)
        tasks.append(planned)
        codes.append(_with_cost(code, planned))
    say("building the executable")
    place = Path(folder) if folder is not None else default_folder(scenario.name)
    return build_task(replace(scenario, tasks=tuple(tasks)), codes, place, target)


def _planned(model: Model, task: Task, say: Told) -> tuple[Task, ModelCode]:
    """The task with its method decided (`auto`, mixed mode, inlining), and the code for it."""
    from kilohertz.driver.plan import Request, make_plan
    from kilohertz.realtime import ModelCode
    from kilohertz.realtime.scenario import EVENTS
    from kilohertz.simulate import Stepping

    most = task.options.get("internal_steps") or None
    given: dict[str, Any] = {"internal_steps": most, "told": say, "index1": task.index1}
    asked = Request(task.solver, task.period_ns * 1e-9, task.inlined, task.implicit, task.substeps, **given)
    plan = make_plan(model, asked)
    for note in plan.notes:
        say(f"{task.name}: {note}" if task.name != "model" else note)
    options = dict(task.options)
    if "events" in plan.stepping and not options.get("events"):
        options["events"] = EVENTS.index(plan.stepping["events"])
    options |= {k: int(plan.stepping[k]) for k in ("substeps", "internal_steps") if k in plan.stepping}
    if "internal_steps" in options:
        Stepping(plan.solver, task.period_ns, internal_steps=max(1, options["internal_steps"]))  # says what is wrong
    step = model.process() if plan.inlining is None else model.inlined(plan.inlining)
    if plan.stepping.get("index1"):
        newton = int(options.get("newton") or plan.stepping.get("newton", 2))
        Stepping(plan.solver, 1, newton=newton, index1=True)  # says what is wrong with them
        options["newton"], step = newton, model.index1()
    planned = replace(task, solver=plan.solver, options=options, inlined=bool(plan.stepping.get("inlined")))
    return planned, ModelCode(model.built(step))


def _with_cost(code: ModelCode, task: Task) -> ModelCode:
    """The bound of one period of this task beside the code."""
    from kilohertz.cost import cost_bound
    from kilohertz.realtime.scenario import EVENTS, INPUTS
    from kilohertz.solvers import SOLVERS

    if task.solver not in SOLVERS:
        return code
    caps = ("newton", "loop_newton", "event_cap", "events_per_step", "substeps", "internal_steps")
    given: dict[str, Any] = {k: v for k, v in task.options.items() if v and k in caps}
    given |= {"events": EVENTS[task.options.get("events", 0)], "inlined": task.inlined}
    given["input_mode"] = INPUTS[task.options.get("input_mode", 0)]
    return replace(code, cost=cost_bound(code.step, task.solver, **given))


def default_folder(name: str) -> Path:
    """Where a run without a folder of its own puts its files."""
    from kilohertz.toolchain import cache_directory

    return cache_directory().parent / "run" / name


def run(
    session: Session,
    scenario: Scenario,
    *,
    folder: str | Path | None = None,
    told: Told | None = None,
    progress: Callable[[float, Live | None], None] | None = None,
    check: bool = True,
) -> Report:
    """Build a scenario, start it, wait for its end and bring back the report.

    Before the start a short run without waiting says whether the period can be kept (`report.predicted`; `check=False`
    leaves it out).  `progress` is told the model time and the live values as it runs.  Ctrl-C ends the task, not the
    report.
    """
    from kilohertz.realtime import predict, start
    from kilohertz.realtime.predict import blamed

    built = build(session, scenario, folder=folder, told=told)
    said: Prediction | None = None
    if check:
        said = predict(built)
        if told is not None:
            told(said.as_text())
    if told is not None:
        told(f"running {built.name}")
    report = start(built).wait(progress)
    return replace(report, predicted=said.as_text() if said is not None else "", blame=blamed(built))

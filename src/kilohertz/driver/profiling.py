"""Profiles of a model: planned, built with probes, stepped off-line."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, ModelError, near
from kilohertz.driver.plan import Experiment, make_plan
from kilohertz.solvers import SOLVERS
from kilohertz.solvers.settings import SETTINGS, StepSettings, not_fixed

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.driver.plan import Plan
    from kilohertz.profiler import Advice, Counted, Deviation, Profile, Tried, Versus
    from kilohertz.realtime import Built
    from kilohertz.simulate import Program, Stepper
    from kilohertz.syntax import Libraries

MOST_STEPS, MOST_BYTES = 100_000, 1 << 30  # where nobody says how many; of all records


@dataclass(frozen=True, slots=True)
class Wanted:
    """How far to step, and with which values of parameters."""

    steps: int | None = None
    start: float | None = None
    stop: float | None = None
    settings: Mapping[str, float | str] = field(default_factory=dict)


def profile_model(
    model: Model,
    asked: StepSettings,
    wanted: Wanted,
    progress: Callable[[float], None] | None = None,
    announce: Announce | None = None,
) -> Profile:
    """Every place of every step timed."""
    from kilohertz.profiler import profile_steps

    plan, program = probed(model, asked, wanted, announce)
    start, n_steps = _extent(program, plan, wanted)

    def enter(stepper: Stepper) -> None:
        for name, value in wanted.settings.items():
            stepper.instance.set(name, value)

    return profile_steps(
        program,
        plan.stepping,
        n_steps,
        libraries=model.session.libraries,
        start=start,
        parameters=enter,
        progress=progress,
        about=_about(model, plan, program, n_steps),
    )


def probed(model: Model, asked: StepSettings, wanted: Wanted, announce: Announce | None = None) -> tuple[Plan, Program]:
    """How the model is stepped, and its program with probes."""
    from kilohertz.building import PROBES, model_units
    from kilohertz.simulate import load_program

    if not asked.is_fixed:
        raise ModelError(not_fixed(asked.solver))
    asked = asked.or_else(step=model.process().experiment.interval or asked.step)
    plan = make_plan(model, asked, Experiment(wanted.start, wanted.stop, wanted.settings), announce)
    plan.stepping.check_fixed()
    units = model_units(model.planned(plan), model.session.libraries.sources, PROBES)
    return plan, load_program(units.in_numbers(plan.stepping.number))


def instructions(model: Model, asked: StepSettings, wanted: Wanted, steps: int = 100) -> Counted:
    """Instructions of a step by C function, of the program without probes."""
    from kilohertz.profiler import count_instructions
    from kilohertz.simulate import Instance
    from kilohertz.simulate.experiment import experiment_times

    plan, _ = probed(model, asked, wanted)
    program = model.compile(plan.inlining, index1=plan.stepping.index1, number=plan.stepping.number)
    instance, values = Instance(program), dict[int, float]()
    for name, value in wanted.settings.items():
        instance.set(name, value)
        v = instance.settable(name)
        number = instance.read(v)
        if isinstance(number, str):
            raise ModelError(Diagnostic("R793", f"instructions cannot be counted with another text for `{name}`"))
        values[program.offset(v)] = number
    instance.close()
    start, _ = experiment_times(program, wanted.start, wanted.stop)
    return count_instructions(program.built, plan.stepping, steps, start, values)


def _extent(program: Program, plan: Plan, wanted: Wanted) -> tuple[float, int]:
    """Start and number of steps."""
    from kilohertz.profiler import record_type
    from kilohertz.simulate.experiment import experiment_times

    start, stop = experiment_times(program, wanted.start, wanted.stop)
    if wanted.steps is not None and wanted.stop is not None:
        raise ModelError(Diagnostic("R793", "a number of steps and a stop time were given: one of them says how far"))
    n_steps = wanted.steps
    if n_steps is None:
        n_steps = math.ceil((stop - start) / plan.stepping.step - 1e-9)
        n_steps = n_steps if wanted.stop is not None else min(n_steps, MOST_STEPS)
    if n_steps < 1:
        raise ModelError(Diagnostic("R793", f"there must be a step to profile, not {n_steps} of them"))
    most = MOST_BYTES // record_type(len(program.code.timed) + len(program.code.functions) + 16).itemsize
    if n_steps > most:
        raise ModelError(Diagnostic("R793", f"{n_steps} steps are too many: records of at most {most} are kept"))
    return start, n_steps


def _about(model: Model, plan: Plan, program: Program, n_steps: int) -> dict[str, Any]:
    from kilohertz.profiler import relations
    from kilohertz.toolchain import find_compiler

    return {
        "model": model.name,
        "solver": plan.stepping.solver,
        "step": plan.stepping.step,
        "internal_steps": plan.stepping.internal_steps,
        "stages": {"": _n_stages(plan.stepping)},
        "steps": n_steps,
        "notes": list(plan.notes),
        "machine": processor(),
        "compiler": find_compiler().version.partition("\n")[0],
        "build": build_id(program),
        "relations": relations(program.code, model.session.libraries),
    }


def profile_versus(
    model: Model, variant: Model, asked: StepSettings, wanted: Wanted, signals: Sequence[str], rounds: int = 5
) -> Versus:
    """Both in turn, `rounds` times; how far `signals` of the variant are from the model's is told by CVODE."""
    from kilohertz.profiler import Side, Versus

    pairs = [(profile_model(model, asked, wanted), profile_model(variant, asked, wanted)) for _ in range(rounds)]
    one, two = Side(model.name, tuple(a for a, _ in pairs)), Side(variant.name, tuple(b for _, b in pairs))
    return Versus(one, two, tuple(_deviations(model, variant, wanted, signals)) if signals else ())


def _deviations(model: Model, variant: Model, wanted: Wanted, signals: Sequence[str]) -> Iterator[Deviation]:
    import numpy as np

    from kilohertz.profiler import Deviation

    results = []
    for m in (model, variant):
        result = m.simulate(start=wanted.start, stop=wanted.stop, settings=wanted.settings, tolerance=1e-9)
        missing = next((s for s in signals if s not in result.names), None)
        if missing is not None:
            raise ModelError(Diagnostic("R744", f"`{m.name}` has no signal `{missing}`{near(missing, result.names)}"))
        results.append(result)
    for name in signals:
        one, two = results[0][name], np.interp(results[0].time, results[1].time, results[1][name])
        size = float(np.ptp(one))
        largest = float(np.abs(two - one).max())
        yield Deviation(name, largest, largest / size if size > 0 else math.inf, results[0].time, one, two)


def try_advice(
    model: Model,
    profile: Profile,
    asked: StepSettings,
    wanted: Wanted,
    rounds: int = 3,
    announce: Callable[[str], None] | None = None,
) -> list[Tried]:
    """What a profile suggests, tried where other settings are all it takes: in turn with the present ones."""
    from kilohertz.profiler import Tried, advise

    plan, _ = probed(model, asked, wanted)
    tried = []
    for advice in advise(profile, plan.stepping):
        if not advice.options:
            tried.append(Tried(advice))
            continue
        if announce is not None:
            announce(f"trying {advice.options}")
        try:
            tried.append(_try(model, plan.stepping, wanted, advice, rounds))
        except ModelError as error:
            tried.append(Tried(advice, refused=error.diagnostics[0].message))
    return tried


def _try(model: Model, now: StepSettings, wanted: Wanted, advice: Advice, rounds: int) -> Tried:
    from kilohertz.ir.step import iterated_on
    from kilohertz.profiler import Tried

    other = now.but(**advice.settings)
    variant = model.torn_on(advice.tear_on) if advice.tear_on else model
    few, many = (len(iterated_on(m.process())) for m in (model, variant))
    if many > few:
        return Tried(advice, refused=f"loops would be iterated on {many} unknowns, now on {few}")
    pairs = [(profile_model(model, now, wanted), profile_model(variant, other, wanted)) for _ in range(rounds)]
    saved = median(1.0 - without_probes(b) / without_probes(a) for a, b in pairs)
    return Tried(advice, saved, _state_deviation((model, now), (variant, other), wanted))


def _state_deviation(now: tuple[Model, StepSettings], other: tuple[Model, StepSettings], wanted: Wanted) -> float:
    """The largest difference of a state between both, in parts of its range."""
    import numpy as np

    from kilohertz.ir.step import Kind

    one, two = (
        model.simulate(start=wanted.start, stop=wanted.stop, settings=wanted.settings, **_fixed(how))
        for model, how in (now, other)
    )
    largest = 0.0
    for name in (v.name for v in now[0].process().of_kind(Kind.STATE) if v.name in one.names):
        size = float(np.ptp(one[name]))
        if size > 0:
            largest = max(largest, float(np.abs(np.interp(one.time, two.time, two[name]) - one[name]).max()) / size)
    return largest


def without_probes(profile: Profile, least: int = 16) -> float:
    """The mean cycle, of those that went without probes where there are so many: what is taken off for probes may be
    as much as a small cycle.  Of the mean: what is done in few steps only is no saving of the median."""
    import numpy as np

    times = profile.times
    return float(np.mean(times.wall_ns[times.plain])) if times.plain.sum() >= least else profile.mean_ns


def _fixed(how: StepSettings) -> dict[str, Any]:
    """Settings of a fixed-step solver, as keywords."""
    return {
        name: getattr(how, name) for name, setting in SETTINGS.items() if setting.fixed or name in ("solver", "step")
    }


def keep_profiles(built: Built, libraries: Libraries) -> tuple[Path, ...]:
    """Read what the threads of a task left, and keep it as profiles beside the executable."""
    from kilohertz.profiler import read_trace
    from kilohertz.realtime import placed, trace_path

    codes = {task.name: m.built.code for task, m in zip(built.scenario.tasks, built.models, strict=True)}
    about = {"machine": processor(), "mode": built.scenario.profile}
    kept = []
    for i, thread in enumerate(placed(built.scenario)):
        name = built.name if len(placed(built.scenario)) == 1 else f"{built.name}.{thread.name}"
        trace = trace_path(built).with_name(f"{trace_path(built).name}.{i}")
        tasks = [built.scenario.tasks[n] for n in thread.tasks]
        stages = {task.name if len(tasks) > 1 else "": _n_stages(task.stepping) for task in tasks}
        profile = read_trace(trace, name, codes, libraries, built.build_id, {**about, "stages": stages})
        kept.append(profile.write(built.folder / f"{name}.profile.json"))
        trace.unlink()  # the profile has all of it
    return tuple(kept)


def _n_stages(stepping: StepSettings) -> int:
    """Of one step without events."""
    return SOLVERS[stepping.solver].n_stages * stepping.internal_steps


def build_id(program: Program) -> str:
    """What tells one build of a model from another: its C."""
    return sha256("".join(f.text for f in program.code.files).encode()).hexdigest()[:16]


def processor() -> str:
    """The name of this machine's processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    named = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next(named, platform.machine())

"""Exchange with other tools: a model out as an FMU and a scenario as an SSP, both in as something to check and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, ModelError, Severity
from kilohertz.driver.keywords import takes_settings
from kilohertz.driver.locate import fmu_of
from kilohertz.solvers import StepSettings
from kilohertz.solvers.settings import in_doubles

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.driver.job import Job
    from kilohertz.fmi import Exported, FmuReport, OpenedSystem, Wrapped, WrittenSystem
    from kilohertz.realtime import Report, Scenario
    from kilohertz.results import Result
    from kilohertz.simulate.inputs import Driving

_MOST_SAID = 8  # findings on a system when it is run


def is_fmu(model: str | Path) -> bool:
    """Whether what the user calls a model is the file of an FMU."""
    return fmu_of(str(model)) is not None


def is_system(model: str | Path) -> bool:
    """Whether what the user calls a model is a system of FMUs."""
    return str(model).endswith(".ssp")


@takes_settings()
def export(
    model: Model,
    path: str | Path,
    *,
    fmi: int = 2,
    kinds: Sequence[str] = ("me", "cs"),
    targets: Sequence[str] = (),
    sources: bool = True,
    clocks: bool = False,
    announce: Announce | None = None,
    **stepping: Any,
) -> Exported:
    """Write a model as an FMU for other tools: Model Exchange, Co-Simulation or both (docs/reference/fmi.md).

    Co-Simulation steps with the method that the settings say, with the same bits as `simulate` and a task have.
    `targets` are machines besides this one, by their names in FMI 3 (`x86_64-windows`).  `clocks` makes periodic input
    clocks of the model's samples and clocked partitions, which then tick when the importer says so (FMI 3).
    """
    from kilohertz.cost import cost_bound
    from kilohertz.driver.analysing.prices_here import prices_here
    from kilohertz.driver.plan import make_plan
    from kilohertz.fmi import Wanted, export_fmu

    wanted = Wanted(fmi, tuple(kinds), tuple(targets), sources, clocks).check()
    asked = in_doubles(StepSettings.of(**stepping), "an FMU speaks and computes")
    plan = make_plan(model, asked.but(step=asked.step), announce=announce)  # `auto` wants to be told a step
    if announce is not None:
        for note in plan.notes:
            announce(note)
    stepping_now, step = plan.stepping.check_fixed(), model.planned(plan)
    cost = cost_bound(step, stepping_now, prices_here())
    return export_fmu(model.built(step), stepping_now, cost, Path(path), wanted)


@takes_settings()
def export_step(model: Model, path: str | Path, *, announce: Announce | None = None, **stepping: Any) -> str:
    """Write the step of a model for many instances as one file of C and CUDA (docs/guides/many-instances.md); what it
    is, in words."""
    from kilohertz.building.ensemble import ensemble_text
    from kilohertz.driver.plan import make_plan

    asked = StepSettings.of(**stepping)
    plan = make_plan(model, asked.but(step=asked.step), announce=announce)
    if announce is not None:
        for note in plan.notes:
            announce(note)
    settings = plan.stepping.check_fixed()
    units = model.built(model.planned(plan)).in_numbers(settings.number)
    text = ensemble_text(units, settings)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write to `{path}`: {error.strerror}")) from error
    return f"a step of {settings.period_ns * 1e-6:g} ms by {settings.solver}{units.number.word}, for many instances"


def import_fmu(
    path: str | Path, package: str | Path | None = None, *, kind: str = "", shown: Sequence[str] = ()
) -> Wrapped:
    """Write an FMU as a Modelica package (default: in this folder, by the FMU's name), the unpacked FMU beside it.

    `kind` is `cs` (default, where the FMU has it) or `me`; `shown` are patterns of local variables that become outputs.
    """
    from kilohertz.fmi import package_name, wrap_fmu

    file = Path(package) if package is not None else Path(f"{package_name(Path(path).stem)}.mo")
    return wrap_fmu(Path(path), file, kind=kind, shown=shown)


def check_fmu(path: str | Path) -> FmuReport:
    """What an FMU is and what is wrong with it; its binaries are loaded in a process of their own."""
    from kilohertz.fmi import check_fmu, opened

    with opened(Path(path)) as fmu:
        return check_fmu(fmu)


def simulate_fmu(
    path: str | Path,
    *,
    start: float | None = None,
    stop: float | None = None,
    intervals: int | None = None,
    settings: Mapping[str, float | str] | None = None,
    inputs: Driving | None = None,
    record: str | Sequence[str] = "all",
    patience: float | None = None,
    kind: str = "",
    isolate: bool = False,
    **stepping: Any,
) -> Result:
    """Run an FMU off-line, in a process of its own; what is not given is as the FMU says (docs/reference/fmi.md).

    `kind` is `cs` (default, where the FMU has it) or `me`.  Of the settings of a step Co-Simulation has `step` alone:
    its method is its own.  Model Exchange is run with `solver="cvode"`, which has a `tolerance` and a `max_step`.
    `patience`: seconds that one call of the FMU may take (default: 60).  `isolate`: its process computes and reads; it
    writes no file, opens no connection and starts no program.
    """
    from kilohertz.fmi import Run, opened, simulate_fmu

    asked, named = StepSettings.of(**stepping), fmu_of(str(path))
    if named is not None:
        path, kind = named.path, kind or named.kind
    with opened(Path(path)) as fmu:
        offered = "cs" if "cs" in fmu.description.identifiers else "me"
        chosen = kind or ("me" if "solver" in asked.given else offered)
        _check_settings(asked, chosen)
        run = Run(start, stop, asked.step if "step" in asked.given else None, intervals, settings, inputs, record)
        run = replace(run, kind=chosen, patience=patience or run.patience, isolate=isolate)
        run = replace(run, tolerance=asked.tolerance if "tolerance" in asked.given else None, max_step=asked.max_step)
        return simulate_fmu(fmu, run)


def _check_settings(asked: StepSettings, kind: str) -> None:
    """R815 where a setting of the step means nothing for an FMU."""
    is_exchange = kind == "me"
    foreign = asked.given - ({"solver", "tolerance", "max_step"} if is_exchange else {"step"})
    if foreign or ("solver" in asked.given and asked.solver != "cvode"):
        exchange = "Model Exchange takes `solver = cvode`, `tolerance` and `max_step`"
        takes = exchange if is_exchange else "Co-Simulation takes `step`"
        raise ModelError(Diagnostic("R815", f"these settings are not for an FMU: {takes} alone"))


# ------------------------------------------------------------------------------------------------------------- systems


def open_system(path: str | Path, iterate: int = 0) -> OpenedSystem:
    """A system of FMUs (SSP) with the scenario it is run as (docs/reference/ssp.md); nothing of it is executed.

    `iterate`: turns in which algebraic loops settle at the end of each period; 0: the value that closes one is older.
    """
    from kilohertz.fmi import open_system

    return open_system(Path(path), iterate)


def job_of_system(system: OpenedSystem, libraries: Sequence[str] = ()) -> Job:
    """The scenario of a system, ready to be built and run."""
    from kilohertz.driver.api import Session
    from kilohertz.driver.job import Job

    said, more = system.findings[:_MOST_SAID], len(system.findings) - _MOST_SAID
    if more > 0:
        text = f"{more} more findings on the system: `khz check {system.path.name}` lists them"
        said = (*said, Diagnostic(system.findings[_MOST_SAID].code, text, severity=Severity.WARNING))
    return Job(Session(libraries), replace(system.scenario, libraries=tuple(libraries)), said)


def check_system(path: str | Path) -> tuple[OpenedSystem, dict[str, FmuReport]]:
    """A system, and what each of its FMUs is, by the name of the component; each file is loaded once."""
    system = open_system(path)
    files = {part.component.fmu for part in system.flat.parts}
    reports = {file: check_fmu(file) for file in sorted(files)}
    return system, {part.name: reports[part.component.fmu] for part in system.flat.parts}


def simulate_system(
    path: str | Path,
    *,
    start: float | None = None,
    stop: float | None = None,
    settings: Mapping[str, float | str] | None = None,
    inputs: Driving | None = None,
    record: str | Sequence[str] = "all",
    iterate: int = 0,
    folder: str | Path | None = None,
    announce: Announce | None = None,
    **stepping: Any,
) -> Report:
    """Run a system of FMUs without waiting, in a process of its own: the bits of `run`; `report.result` holds them.

    Start and stop are those of the system, or 0 and start + 1, where they are not given.  `iterate`: see `open_system`.
    """
    job = job_of_system(open_system(path, iterate))
    first = start if start is not None else job.scenario.start
    duration = stop - first if stop is not None else None if job.scenario.cycles else 1.0
    if duration is not None and duration <= 0:
        raise ModelError(Diagnostic("R723", f"the run would end at {stop:g} s, before it begins at {first:g} s"))
    signals = (record,) if isinstance(record, str) else tuple(record)
    recording = replace(job.scenario.recording, signals=signals)
    scenario = replace(job.scenario, start=first, scale=None, recording=recording, live=False)
    asked = StepSettings.of(**stepping)
    changed = replace(job, scenario=scenario).changed(asked, duration=duration, settings=settings, inputs=inputs)
    return changed.run(folder=folder, announce=announce, check=False)


def export_system(
    scenario: Scenario,
    path: str | Path,
    *,
    fmi: int = 2,
    targets: Sequence[str] = (),
    sources: bool = True,
    announce: Announce | None = None,
) -> WrittenSystem:
    """Write a scenario as an SSP: each model as an FMU with the method and step of its task, FMUs as they are.

    `fmi`, `targets` and `sources` are for the FMUs that are written (see `export`); each offers Co-Simulation.
    """
    import tempfile

    from kilohertz.driver.api import Session
    from kilohertz.fmi import write_system

    session = Session(scenario.libraries)
    with tempfile.TemporaryDirectory(prefix="khz-ssp-") as scratch:
        fmus: dict[str, Path] = {}
        for i, task in enumerate(scenario.tasks):
            named = fmu_of(task.model)
            if named is not None:
                fmus[task.name] = named.path
                continue
            if announce is not None:
                announce(f"exporting {task.model}")
            said = {name: getattr(task.stepping, name) for name in task.stepping.given}
            wanted = {**said, "step": task.stepping.step, "fmi": fmi, "targets": targets, "sources": sources}
            fmus[task.name] = Path(scratch) / f"task{i}.fmu"
            export(session.kept(task.model), fmus[task.name], kinds=("cs",), announce=announce, **wanted)
        return write_system(scenario, fmus, Path(path))

"""Exchange with other tools: a model out as an FMU, an FMU in as something that can be checked and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce, Diagnostic, ModelError
from kilohertz.driver.keywords import takes_settings
from kilohertz.driver.locate import fmu_of
from kilohertz.solvers import StepSettings

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.fmi import Exported, FmuReport, Wrapped
    from kilohertz.results import Result
    from kilohertz.simulate.inputs import Driving


def is_fmu(model: str | Path) -> bool:
    """Whether what the user calls a model is the file of an FMU."""
    return fmu_of(str(model)) is not None


@takes_settings()
def export(
    model: Model,
    path: str | Path,
    *,
    fmi: int = 2,
    kinds: Sequence[str] = ("me", "cs"),
    targets: Sequence[str] = (),
    sources: bool = True,
    announce: Announce | None = None,
    **stepping: Any,
) -> Exported:
    """Write a model as an FMU for other tools: Model Exchange, Co-Simulation or both (docs/reference/fmi.md).

    Co-Simulation steps with the method that the settings say, with the same bits as `simulate` and a task have.
    `targets` are machines besides this one, by their names in FMI 3 (`x86_64-windows`).
    """
    from kilohertz.cost import cost_bound
    from kilohertz.driver.analysing.prices_here import prices_here
    from kilohertz.driver.plan import make_plan
    from kilohertz.fmi import Wanted, export_fmu

    wanted = Wanted(fmi, tuple(kinds), tuple(targets), sources).check()
    plan = make_plan(model, StepSettings.of(**stepping), announce=announce)
    if announce is not None:
        for note in plan.notes:
            announce(note)
    stepping_now, step = plan.stepping.check_fixed(), model.planned(plan)
    cost = cost_bound(step, stepping_now, prices_here())
    return export_fmu(model.built(step), stepping_now, cost, Path(path), wanted)


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
    **stepping: Any,
) -> Result:
    """Run an FMU off-line, in a process of its own; what is not given is as the FMU says (docs/reference/fmi.md).

    `kind` is `cs` (default, where the FMU has it) or `me`.  Of the settings of a step Co-Simulation has `step` alone:
    its method is its own.  Model Exchange is run with `solver="cvode"`, which has a `tolerance`.  `patience`: seconds
    that one call of the FMU may take (default: 60).
    """
    from kilohertz.fmi import Run, opened, simulate_fmu

    asked = StepSettings.of(**stepping)
    with opened(Path(path)) as fmu:
        offered = "cs" if "cs" in fmu.description.identifiers else "me"
        chosen = kind or ("me" if "solver" in asked.given else offered)
        _check_settings(asked, chosen)
        run = Run(start, stop, asked.step if "step" in asked.given else None, intervals, settings, inputs, record)
        run = replace(run, kind=chosen, patience=patience or run.patience)
        run = replace(run, tolerance=asked.tolerance if "tolerance" in asked.given else None)
        return simulate_fmu(fmu, run)


def _check_settings(asked: StepSettings, kind: str) -> None:
    """R815 where a setting of the step means nothing for an FMU."""
    is_exchange = kind == "me"
    foreign = asked.given - ({"solver", "tolerance"} if is_exchange else {"step"})
    if foreign or ("solver" in asked.given and asked.solver != "cvode"):
        takes = "Model Exchange takes `solver = cvode` and `tolerance`" if is_exchange else "Co-Simulation takes `step`"
        raise ModelError(Diagnostic("R815", f"these settings are not for an FMU: {takes} alone"))

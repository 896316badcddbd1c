"""Exchange with other tools: a model out as an FMU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Announce
from kilohertz.driver.keywords import takes_settings
from kilohertz.solvers import StepSettings

if TYPE_CHECKING:
    from kilohertz.driver.api import Model
    from kilohertz.fmi import Exported


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

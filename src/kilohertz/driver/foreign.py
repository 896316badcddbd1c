"""FMUs as tasks: what a wrapper must be told about the task that runs it.

Foreign code never runs in this process, so nothing is tried before the start: where `auto` is asked for, Co-Simulation
gets the method that does nothing between its calls, and Model Exchange one that is stable whatever the FMU holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kilohertz.base import Announce, Severity
from kilohertz.driver.locate import fmu_of
from kilohertz.solvers import AUTO

if TYPE_CHECKING:
    from kilohertz.realtime import Scenario, Task

_CO_SIMULATION, _EXCHANGE = "euler", "ros3prl"


def with_fmu(task: Task, scenario: Scenario, say: Announce) -> Task:
    """The task as it is, or for an FMU with its method, and its calls one period apart from the start on."""
    from kilohertz.fmi import wrapped_in_cache

    fmu = fmu_of(task.model)
    if fmu is None:
        return task
    wrapped = wrapped_in_cache(fmu.path, fmu.shown, fmu.kind)
    if not wrapped.ports.outputs:
        say(f"`{fmu.path.name}` has no outputs; `{fmu.path.name}:PATTERN` shows local variables")
    for finding in wrapped.ports.left_out:
        if finding.severity is Severity.WARNING:
            say(f"{task.name}: {finding.message}" if task.name != "model" else finding.message)
    stepping = task.stepping
    if stepping.solver == AUTO:
        stepping = stepping.but(solver=_CO_SIMULATION if wrapped.kind == "cs" else _EXCHANGE)
        if wrapped.kind == "me":
            say(f"auto takes {_EXCHANGE}: stable for any FMU, and without a trial of foreign code in this process")
    calls = {wrapped.step_name: stepping.period_ns / 1e9, wrapped.first_name: scenario.start}
    told = calls if wrapped.has_calls else {}
    return replace(task, stepping=stepping, settings={**told, **task.settings})

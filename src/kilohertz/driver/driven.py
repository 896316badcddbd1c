"""What drives the models of a scenario: from the words of the Python API to its stimuli, and back to inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError

if TYPE_CHECKING:
    from kilohertz.realtime import Scenario, Stimulus, Task
    from kilohertz.simulate import Inputs
    from kilohertz.simulate.inputs import Driving


def stimuli_of(inputs: Driving) -> tuple[Stimulus, ...]:
    """Files and formulas as stimuli of a scenario; R763 where something is neither."""
    from kilohertz.simulate.inputs import several

    return tuple(_stimulus(asked) for asked in several(inputs))


def _stimulus(asked: Inputs) -> Stimulus:
    from kilohertz.realtime import Stimulus
    from kilohertz.results import Result

    source = asked.signals
    if isinstance(source, str | Path):
        return Stimulus(Path(source), asked.interpolation, asked.columns)
    if isinstance(source, Result):
        raise _not_for_a_task("a result: write it to a file")
    formulas: dict[str, str] = {}
    for name, signal in source.items():
        if not isinstance(signal, int | float | str):
            raise _not_for_a_task(f"`{name}` is neither a number nor a formula")
        formulas[name] = signal if isinstance(signal, str) else repr(float(signal))
    return Stimulus(formulas=formulas)


def _not_for_a_task(text: str) -> ModelError:
    return ModelError(Diagnostic("R763", f"a task takes inputs from files and formulas, not from {text}"))


def inputs_of(scenario: Scenario, task: Task, known: Sequence[str]) -> tuple[Inputs, ...]:
    """What stimuli drive of a task's inputs (`known`), by their names in the model; devices and other tasks are not."""
    from kilohertz.results import read
    from kilohertz.simulate import Inputs

    head = f"{task.name}." if len(scenario.tasks) > 1 else ""
    names = {head + name: name for name in known}
    driving = []
    for s in scenario.stimuli:
        if s.formulas:
            mine: dict[str, str] = {names[n]: text for n, text in s.formulas.items() if n in names}
            driving += [Inputs(dict(mine))] if mine else []
        elif s.file is not None:
            rows = read(s.file)
            columns = {names[n]: c for n, c in (s.signals or {c: c for c in rows}).items() if n in names and c in rows}
            driving += [Inputs(rows, s.interpolation, columns)] if columns else []
    return tuple(driving)

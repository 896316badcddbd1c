"""State machines (MLS 17) against what the specification says of small ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result

FILE = Path(__file__).with_name("machines.mo")
SOLVERS = [{}, {"solver": "euler", "step": 0.001}]  # with variable steps, and as a real-time task makes them


def run(name: str, stop: float, **options: Any) -> Result:
    return kilohertz.load(f"{FILE}:Machines.{name}").simulate(stop=stop, **options)


def changes(result: Result, name: str) -> list[tuple[float, float]]:
    """When a signal changes, and to what."""
    seen: list[tuple[float, float]] = []
    for time, value in zip(result.time, result[name], strict=True):
        if not seen or seen[-1][1] != value:
            seen.append((round(float(time), 3), float(value)))
    return seen


@pytest.mark.parametrize("options", SOLVERS)
def test_a_delayed_transition_counts_ticks(options: dict[str, Any]) -> None:
    """The example of MLS 17.1: active at 10, 11, 12, 13 and 14 ms."""
    result = run("Delayed", 0.03, **options)
    assert (result.final("begins"), result.final("ends")) == (10, 14)


def test_time_in_a_state() -> None:
    assert changes(run("Timed", 1.05), "light") == [(0.0, 0.0), (0.3, 1.0), (0.6, 0.0), (0.9, 1.0)]


@pytest.mark.parametrize("options", SOLVERS)
def test_states_share_an_outer_output(options: dict[str, Any]) -> None:
    values = [4, 6, 5, 4, 3, 2, 1, 0, 2, 4]
    assert changes(run("Merged", 1.05, **options), "y")[-10:] == [(k / 10, v) for k, v in enumerate(values, 1)]


def test_a_transition_resets_its_target_or_does_not() -> None:
    result = run("Reset", 1.25)
    assert [v for _, v in changes(result, "ia")] == [1, 2, 3, 1, 2, 1, 2, 1, 2]
    assert [v for _, v in changes(result, "ib")] == [0, 10, 20, 30, 40]


def test_the_smaller_priority_wins() -> None:
    result = run("Priorities", 0.55)
    assert changes(result, "atD") == [(0.0, 0.0), (0.2, 1.0)]
    assert result.final("atB") == 0


def test_outputs_of_states_meet_in_one_variable() -> None:
    assert changes(run("Connected", 1.05), "seen") == [(0.0, 1.0), (0.4, 2.0)]


@pytest.mark.parametrize("options", SOLVERS)
def test_parallel_machines_in_a_state_are_left_together(options: dict[str, Any]) -> None:
    """Both are done at 0.7; the second time they and what they count begin anew."""
    result = run("Hierarchical", 2.05, **options)
    assert changes(result, "at") == [(0.0, 0.0), (0.8, 1.0), (1.2, 0.0), (2.0, 1.0)]
    assert changes(result, "y")[-5:] == [(1.1, 24.0), (1.2, 26.0), (1.3, 25.0), (1.4, 24.0), (2.0, 29.0)]
    assert changes(result, "counted")[-7:] == [(round(1.2 + k / 10, 3), k + 1.0) for k in range(7)]


@pytest.mark.parametrize("options", SOLVERS)
def test_a_state_gives_a_variable_of_its_own(options: dict[str, Any]) -> None:
    """Three ticks in each; the second time a goes on."""
    values = [value for _, value in changes(run("Kept", 0.85, **options), "y")]
    assert values == [1, 2, 3, 1, 2, 3, 4, 5, 6]


def test_a_task_goes_through_the_same_states(tmp_path: Path) -> None:
    """Two parallel machines inside a state of a third one, as a real-time task."""
    model = kilohertz.load(f"{FILE}:Machines.Hierarchical")
    result = model.run(duration=1.3, solver="euler", folder=tmp_path).result
    assert changes(result, "at") == [(0.0, 0.0), (0.8, 1.0), (1.2, 0.0)]
    offline = run("Hierarchical", 1.3, solver="euler", step=0.001, intervals=1300)
    for name in ("y", "at", "counted"):
        assert changes(result, name) == changes(offline, name)


def test_a_state_keeps_what_its_algorithm_gave() -> None:
    result = run("InAlgorithm", 1.05)
    assert (result.final("x2"), result.final("n")) == (16.0, 3)


@pytest.mark.parametrize("options", SOLVERS)
def test_a_when_of_the_clock_in_a_state_says_nothing_more(options: dict[str, Any]) -> None:
    """Its equations and assertions count where the state is active: `n < 7` fails at 0.7 s, in the other state."""
    result = run("WithWhens", 1.05, **options)
    values = [2, 4, 6, 5, 4, 3, 5, 7, 6, 5, 4]
    assert changes(result, "n")[-11:] == [(k / 10, v) for k, v in enumerate(values)]
    assert changes(result, "up.k")[-5:] == [(0.0, 1), (0.1, 2), (0.2, 3), (0.6, 1), (0.7, 2)]
    assert changes(result, "down.low")[:2] == [(0.0, 0), (0.4, 1)]


def test_an_assertion_in_a_when_of_a_state_fails() -> None:
    with pytest.raises(ModelError, match="below"):
        run("FailingInside", 1.05)


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("NoBlock", "S475", "`b` is no block"),
        ("WaitsForItself", "S475", "whether the machines of `first` have ended depends on this transition"),
        ("TwoInitial", "S476", "has 2 initial states, not one"),
        ("SamePriority", "S476", "two transitions from `a` have the priority 1"),
        ("FiresByWhatItDecides", "B106", "this condition depends on itself in a clocked partition"),
        ("NoState", "S477", "`d` is no state of a state machine"),
        ("Outside", "S478", "`ticksInState` stands only in a state machine"),
        ("ContinuousInside", "B218", "continuous equations in the clocked partition of a state machine"),
    ],
)
def test_what_is_no_state_machine_is_refused(model: str, code: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        kilohertz.load(f"{FILE}:Machines.{model}").process()
    assert [d.code for d in caught.value.diagnostics] == [code]

"""Continuous equations, whens and algorithms in clocked partitions, against values known by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result
from kilohertz.solvers.clocked import CLOCKED

FILE = Path(__file__).with_name("clocked.mo")
SOLVERS = [{}, {"solver": "rk4", "step": 0.025}]  # with variable steps, and as a real-time task makes them


def run(name: str, stop: float, **options: Any) -> Result:
    return kilohertz.load(f"{FILE}:Clocked.{name}").simulate(stop=stop, **options)


def error(name: str, method: str, rate: int, path: Path) -> float:
    """Of the oscillator after one second, where the method steps it at so many ticks a second."""
    text = FILE.read_text().replace("Clock(1, 40)", f"Clock(1, {rate})")
    path.write_text(text.replace('method = "ExplicitEuler"', f'method = "{method}"'))
    found = kilohertz.load(f"{path}:Clocked.{name}").simulate(stop=1.0 + 0.5 / rate).final("y")
    return abs(found - math.cos(2.0))


@pytest.mark.parametrize("method", sorted(CLOCKED))
def test_a_method_reaches_its_order_from_tick_to_tick(method: str, tmp_path: Path) -> None:
    coarse, fine = (error("Oscillator", method, rate, tmp_path / "model.mo") for rate in (20, 40))
    order = CLOCKED[method].order
    assert fine < 2.0 / 40**order * 2 ** (order + 1)
    assert math.log2(coarse / fine) > order - 0.3


@pytest.mark.parametrize("method", ["ExplicitMidPoint2", "ExplicitRungeKutta4", "ImplicitTrapezoid", "rodas4"])
def test_inputs_move_on_a_line_between_ticks(method: str, tmp_path: Path) -> None:
    path = tmp_path / "model.mo"
    path.write_text(FILE.read_text().replace('method = "ExplicitEuler"', f'method = "{method}"'))
    found = kilohertz.load(f"{path}:Clocked.Driven").simulate(stop=1.01).final("y")
    assert found == pytest.approx(2 * math.exp(-1.0), rel=6e-4)  # time - 1 + 2*exp(-time)


def test_a_method_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.mo"
    path.write_text(FILE.read_text().replace('method = "ExplicitEuler"', 'method = "Dopri5"'))
    with pytest.raises(ModelError, match="the solverMethod `Dopri5` of a clock is not supported") as caught:
        kilohertz.load(f"{path}:Clocked.Driven").process()
    (said,) = caught.value.diagnostics
    assert said.code == "B211" and said.span is not None
    assert "ImplicitTrapezoid" in said.notes[0].text


def test_several_rates_of_another_tool_are_one_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "model.mo"
    text = FILE.read_text()
    path.write_text(text.replace('method = "ExplicitEuler"', 'method = "MultiRate_ExplicitEuler"'))
    model = kilohertz.load(f"{path}:Clocked.Driven")
    assert model.simulate(stop=1.01).final("y") == run("Driven", 1.01).final("y")
    assert [d.code for d in model.warnings if d.code == "B219"] == ["B219"]


def test_a_method_that_is_left_to_the_tool_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.mo"
    path.write_text(FILE.read_text().replace('method = "ExplicitEuler"', 'method = "External"'))
    model = kilohertz.load(f"{path}:Clocked.Driven")
    model.process()
    (said,) = [d for d in model.warnings if d.code == "B220"]
    assert "trbdf2 is taken" in said.message and said.span is not None


@pytest.mark.parametrize("options", [{}, {"solver": "euler", "step": 0.001}])
def test_an_inverse_model_differentiates_what_a_filter_gives(options: dict[str, Any]) -> None:
    found = run("Inverse", 3.0, **options).final("force")
    gain = (5 - 2 + 3j) / (1 + 1j / 20) ** 2  # of the model and the filter at 1 rad/s
    assert found == pytest.approx((gain * complex(math.cos(3.0), math.sin(3.0))).imag, rel=2e-3)


@pytest.mark.parametrize("options", SOLVERS)
def test_states_that_a_gear_ties_are_one(options: dict[str, Any]) -> None:
    """(3*3 + 3)*w2' = 3*2: implicit Euler over two ticks of half a second."""
    found, w, phi = run("Geared", 1.25, **options), 0.25, 0.5
    for _ in range(2):
        w += 0.5 * 0.5
        phi += 0.5 * w
    assert found.final("angle") == pytest.approx(phi, rel=1e-9)


@pytest.mark.parametrize("options", SOLVERS)
def test_a_when_acts_at_the_tick_where_its_condition_becomes_true(options: dict[str, Any]) -> None:
    found = run("Reset", 0.95, **options)
    assert found.final("count") == 1
    assert found.final("last") == pytest.approx(2.4)  # at 0.5: what x was at 0.4
    assert found.final("y") == pytest.approx(5.4)


@pytest.mark.parametrize("options", SOLVERS)
def test_a_reset_by_what_the_state_was_a_tick_before(options: dict[str, Any]) -> None:
    assert run("ResetByLast", 0.75, **options).final("y") == pytest.approx(-0.15)


@pytest.mark.parametrize("options", SOLVERS)
def test_algorithms_run_at_ticks(options: dict[str, Any]) -> None:
    found = run("Algorithms", 1.05, **options)  # eleven ticks
    assert (found.final("rounds"), found.final("total")) == (3, 4)


@pytest.mark.parametrize("options", SOLVERS)
def test_a_call_is_solved_for_its_argument(options: dict[str, Any]) -> None:
    found = run("CallInLoop", 0.25, **options)
    assert found.final("root") == pytest.approx(2.0)
    assert found.final("slope") == pytest.approx(14.0)


@pytest.mark.parametrize("options", SOLVERS)
def test_initial_equations_hold_at_the_first_tick(options: dict[str, Any]) -> None:
    assert run("SteadyStart", 0.55, **options).final("y") == pytest.approx(4.0)


@pytest.mark.parametrize("model", ["FixedRate", "SaidTwice"])
@pytest.mark.parametrize("options", SOLVERS)
def test_fixed_starts_hold_at_the_first_tick(model: str, options: dict[str, Any]) -> None:
    found = run(model, 0.55, **options)  # x = 3 at the first of six ticks
    assert found.final("y") == pytest.approx(4 - 1 / 1.05**5, rel=1e-9)


@pytest.mark.parametrize("options", SOLVERS)
def test_an_initial_algorithm_gives_what_holds_at_the_first_tick(options: dict[str, Any]) -> None:
    assert run("InitialAlgorithm", 0.35, **options).final("y") == pytest.approx(4 + 1 / 1.1**3, rel=1e-9)


def test_starts_of_a_partition_that_contradict_one_another_are_said() -> None:
    with pytest.raises(ModelError, match="more initial equations than needed, and this one contradicts the others"):
        run("TooManyStarts", 0.55)


def test_a_method_is_inferred_from_a_neighbour() -> None:
    assert run("Inferred", 0.95).final("y") == pytest.approx(1 / 1.2**4)


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("OfAnInput", "B206", "index reduction has to differentiate this equation"),
        ("Directly", "B215", "x comes from outside of this clocked partition"),
        ("Pendulum", "B216", "the states of a clocked partition must be chosen when it is translated"),
        ("ResetByItself", "B222", "its condition or value depends on x, which is set there"),
        ("ResetToItself", "B222", "its condition or value depends on x, which is set there"),
    ],
)
def test_what_cannot_be_stepped_is_refused(model: str, code: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        kilohertz.load(f"{FILE}:Clocked.{model}").process()
    (said,) = caught.value.diagnostics
    assert said.code == code and said.span is not None


@pytest.mark.parametrize("options", SOLVERS)
def test_an_algorithm_that_calls_is_run_once_at_every_tick(options: dict[str, Any]) -> None:
    result = run("CallsInAlgorithm", 0.325, **options)
    calls = np.unique(result["calls"])
    assert np.diff(calls).tolist() == [2, 2, 2]  # what is called until it is on, is not called any more
    assert result.final("n") == 15
    assert [result.final(f"v[{i}]") for i in (1, 2, 3)] == pytest.approx([0.6, 1.2, 1.8])
    assert result.final("since") == pytest.approx(1.3)

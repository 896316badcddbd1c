"""Inputs over time: seen at initialisation, jumps as events, sampled by fixed steps, a recorded run to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import Model, load
from kilohertz.results import Result, read
from kilohertz.simulate import Inputs, Statistics

MODEL = """
model Driven "What an input does to a model"
  input Real u(start = 0);
  input Boolean on(start = false);
  output Real area;
  Real lag;
  Integer n(start = 0, fixed = true) "times that u has risen above 2";
  Real half = u/2;
  Real gate = if on then 1 else 0;
initial equation
  area = 0;
  lag = u;
equation
  der(area) = u;
  der(lag) = 5*(u - lag);
  when u > 2 then
    n = pre(n) + 1;
  end when;
end Driven;
"""
SOLVERS: tuple[dict[str, Any], ...] = ({}, {"solver": "ida"}, {"solver": "rk4", "step": 1e-3})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    file = tmp_path_factory.mktemp("inputs") / "driven.mo"
    file.write_text(MODEL)
    return load(str(file))


@pytest.mark.parametrize("solver", SOLVERS)
def test_initial_equations_see_the_first_value(model: Model, solver: dict[str, Any]) -> None:
    result = model.simulate(stop=1, inputs={"u": 5.0}, **solver)
    assert (result["u"][0], result["lag"][0], result["half"][0]) == (5.0, 5.0, 2.5)
    assert result.final("area") == pytest.approx(5.0, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_held_input_jumps_at_its_rows(model: Model, solver: dict[str, Any]) -> None:
    u = ([0.0, 0.25, 0.5, 0.75], [1.0, 3.0, 1.0, 3.0])
    result = model.simulate(stop=1, inputs={"u": u, "on": ([0, 0.5], [0, 1])}, **solver)
    assert result.final("area") == pytest.approx(2.0, rel=1e-5)
    assert result.final("n") == 2
    at = np.flatnonzero(result.time == 0.25)
    assert result["u"][at[-1]] == 3.0 or result["u"][at[-1] + 1] == 3.0  # a fixed step samples it at its beginning
    assert np.interp([0.4, 0.6], result.time, result["gate"]).tolist() == [0.0, 1.0]


def test_a_jump_is_an_event_of_cvode(model: Model) -> None:
    result = model.simulate(stop=1, intervals=7, inputs={"u": ([0, 0.3, 0.3, 1.0], [0, 0.3, 2.3, 3.0])})
    held = model.simulate(stop=1, intervals=7, inputs={"u": ([0, 0.3], [1.0, 2.0])})
    assert held["u"][held.time == 0.3].tolist() == [1.0, 2.0]
    linear = model.simulate(
        stop=1, intervals=7, inputs=Inputs({"u": ([0, 0.3, 0.3, 1.0], [0, 0.3, 2.3, 3.0])}, "linear")
    )
    assert linear["u"][linear.time == 0.3].tolist() == [0.3, 2.3]
    assert linear.final("area") == pytest.approx(0.5 * 0.3 * 0.3 + 0.7 * (2.3 + 3.0) / 2, rel=1e-6)
    assert result.final("u") == 3.0


def test_a_function_of_time(model: Model) -> None:
    result = model.simulate(stop=2, inputs=Inputs({"u": lambda t: np.sin(5 * t)}, "linear"))
    assert result.final("area") == pytest.approx((1 - np.cos(10)) / 5, abs=1e-5)


def test_a_fixed_step_samples_at_its_beginning(model: Model) -> None:
    result = model.simulate(stop=1, solver="euler", step=0.1, inputs=Inputs({"u": ([0, 1], [0, 1])}, "linear"))
    assert result.final("area") == pytest.approx(sum(0.1 * k * 0.1 for k in range(10)), rel=1e-12)


def test_playback_of_a_recorded_run_gives_the_same_bits(model: Model, tmp_path: Path) -> None:
    rows = np.arange(100) * 1e-2
    u = (rows, np.random.default_rng(3).normal(1.5, 1.0, 100))
    how: dict[str, Any] = {"stop": 1, "intervals": 1000, "solver": "rk4", "step": 1e-3}
    first = model.simulate(inputs={"u": u}, **how)
    first.to_csv(tmp_path / "recorded.csv")
    grid = Result.of_columns("again", first.time, {"u": first["u"]})
    for source in (grid, tmp_path / "recorded.csv"):
        again = model.simulate(inputs=Inputs(source, "recorded"), **how)
        for name in first.names:
            assert np.array_equal(again[name], first[name]), name


@pytest.mark.parametrize(
    ("inputs", "code", "message"),
    [
        ({"v": 1.0}, "R744", "there is no input `v`"),
        ({"area": 1.0}, "R744", "there is no input `area`"),
        ({"u": ([0, 1, 0.5], [0, 1, 2])}, "R763", "time runs backwards after t = 1"),
        ({"u": ([0, 1], [0, float("nan")])}, "R763", "not a finite number"),
        ({"u": ([0, 1], [0])}, "R763", "2 times and 1 values"),
        (Inputs({"u": 1.0}, "helt"), "R763", "not `helt`"),
        (Result.of_columns("R", np.array([0.0]), {"w": np.array([1.0])}), "R744", "has the name of an input"),
    ],
)
def test_inputs_that_cannot_be_used(model: Model, inputs: Any, code: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        model.simulate(stop=1, inputs=inputs)
    assert caught.value.diagnostics[0].code == code
    assert message in caught.value.diagnostics[0].message


def test_what_is_not_driven_and_not_used_is_said(model: Model, tmp_path: Path) -> None:
    (tmp_path / "u.csv").write_text("time,u,speed\n0,1,2\n")
    statistics = Statistics()
    model.simulate(stop=0.1, inputs=tmp_path / "u.csv", statistics=statistics)
    assert statistics.notes == (
        "columns that are no inputs are not used: speed",
        "inputs that nothing drives keep their start values: on",
    )


@pytest.mark.parametrize("inputs", [None, {"on": True}])
def test_an_input_with_a_value_that_was_set_does_not_keep_its_start(tmp_path: Path, inputs: Any) -> None:
    text = "model M input Real u; input Boolean on; output Real same = u; Real y = 2*u; end M;"
    (file := tmp_path / "M.mo").write_text(text)
    for settings in ({"u": 3}, {"same": 3}):
        statistics = Statistics()
        result = load(file).simulate(stop=0.1, settings=settings, inputs=inputs, statistics=statistics)
        assert result.final("y") == 6
        said = [n for n in statistics.notes if "keep their start values" in n]
        assert said == ([] if inputs else ["inputs that nothing drives keep their start values: on"])


def test_an_input_that_is_set_and_driven_is_told(model: Model) -> None:
    said = "driven over time, so what they were set to does not count: u"
    choices: list[dict[str, Any]] = [{}, {"solver": "rk4", "step": "10ms"}]
    drivers: list[dict[str, Any]] = [{"u": "sine()"}, {"u": 2.0}]
    for stepping in choices:
        for inputs in drivers:
            statistics = Statistics()
            model.simulate(stop=0.1, settings={"u": 3, "on": 1}, inputs=inputs, statistics=statistics, **stepping)
            assert statistics.notes == (said,)


def test_the_command_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "driven.mo").write_text(MODEL)
    (tmp_path / "u.csv").write_text("time,u\n0,0\n1,1\n")
    words = ["simulate", str(tmp_path / "driven.mo"), "--stop", "1", "-o", str(tmp_path / "out.csv")]
    assert main([*words, "--input", str(tmp_path / "u.csv"), "--interpolation", "linear"]) == 0
    assert "keep their start values: on" in capsys.readouterr().out
    assert read(tmp_path / "out.csv").final("area") == pytest.approx(0.5, rel=1e-6)
    assert main([*words, "--input", str(tmp_path / "no.csv")]) == 1
    assert "R701" in capsys.readouterr().err


WHOLE = """
model Whole "Inputs that are no Reals"
  type Gear = enumeration(first, second, third);
  input Integer n(start = 0);
  input Boolean on(start = false);
  input Gear gear(start = Gear.first);
  Integer next = n + 1;
  Real gate = if on == true then 1 else 0;
  Real passed(start = 0, fixed = true) = 0;
  Integer changes(start = 0, fixed = true);
equation
  when change(n) then
    changes = pre(changes) + 1;
  end when;
end Whole;
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Model:
    file = tmp_path_factory.mktemp("whole") / "whole.mo"
    file.write_text(WHOLE)
    return load(str(file))


@pytest.mark.parametrize("n", ["-3*time", "4*sin(3*time)", "floor(5*time + 0.1)", ([0.0, 0.3, 1.0], [0.0, -2.6, 3.4])])
@pytest.mark.parametrize("solver", SOLVERS)
def test_an_input_that_is_no_real_gets_the_nearest_whole_number(whole: Model, solver: dict[str, Any], n: Any) -> None:
    result = whole.simulate(stop=1, inputs=Inputs({"n": n}, "linear"), **solver)
    assert (result["n"] == np.round(result["n"])).all()
    settled = np.append(result.time[1:] > result.time[:-1], True)  # rows after events
    assert (result["next"] == result["n"] + 1)[settled].all()
    assert result.final("changes") == len(np.flatnonzero(np.diff(result["n"])))
    wanted = {"-3*time": -3, "4*sin(3*time)": 1, "floor(5*time + 0.1)": 5}
    assert result.final("n") == wanted.get(n if isinstance(n, str) else "", 3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_boolean_input_is_true_or_false_whatever_drives_it(whole: Model, solver: dict[str, Any]) -> None:
    result = whole.simulate(stop=1, inputs={"on": ([0, 0.5], [0.4, 0.7]), "n": 5.7}, **solver)
    assert set(result["on"]) == {0.0, 1.0}
    assert result.final("gate") == 1.0
    assert result.final("n") == 6  # as a device or a stimulus of a task would give it


def test_a_number_that_is_no_literal_is_told(whole: Model) -> None:
    result = whole.simulate(stop=1, inputs={"gear": "if time < 0.5 then 2 else 7"})
    assert [p.code for p in result.problems] == ["R737"]
    assert "`gear` was 7 although its max is 3" in result.problems[0].message
    assert not whole.simulate(stop=1, inputs={"gear": "3"}).problems

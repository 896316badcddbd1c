"""IDA against exact solutions and against CVODE: two integrators that share events, recorder and Jacobian."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import hand_made
import numpy as np
import pytest

import kilohertz
from kilohertz.base import Diagnostic, ModelError
from kilohertz.compare import Bars, compare
from kilohertz.results import Result
from kilohertz.simulate import Statistics, build_program, offline_run, simulate
from kilohertz.simulate.failure import RunFailed
from kilohertz.simulate.program import Program
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import STRICT


def test_decay_is_an_exponential() -> None:
    statistics = Statistics()
    program = build_program(hand_made.decay(), flags=STRICT)
    result = simulate(program, stop=2.0, solver="ida", tolerance=1e-8, statistics=statistics)
    assert np.abs(result["x"] - np.exp(-result.time)).max() < 1e-6
    assert len(result.time) == 501
    assert statistics.jacobians >= 1 and statistics.rhs > statistics.steps


def test_a_tighter_tolerance_gives_a_smaller_error() -> None:
    program = build_program(hand_made.decay(), flags=STRICT)
    errors = []
    for tolerance in (1e-4, 1e-7, 1e-10):
        result = simulate(program, stop=2.0, solver="ida", tolerance=tolerance)
        errors.append(np.abs(result["x"] - np.exp(-result.time)).max())
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_a_rate_that_is_zero_at_the_start_only(tmp_path: Path) -> None:
    """The first step, chosen by that rate, is too long by ten decades."""
    text = "model M Real x(start = 0, fixed = true); equation 1e-10*der(x) = 1e6*time - x; end M;"
    (tmp_path / "M.mo").write_text(text)
    result = kilohertz.load(str(tmp_path / "M.mo")).simulate(stop=1.0, solver="ida", tolerance=1e-9)
    assert result.final("x") == pytest.approx(1e6 * (1 - 1e-10))


def test_the_ball_bounces_when_it_should() -> None:
    program = build_program(hand_made.ball(), flags=STRICT)
    result = simulate(program, stop=1.2, solver="ida", tolerance=1e-9)
    first = math.sqrt(2.0 / 9.81)
    jumps = result.time[:-1][(np.diff(result.time) == 0) & (np.diff(result["v"]) > 1.0)]
    assert jumps == pytest.approx([first, first * (1 + 2 * 0.7)], rel=1e-7)
    assert result["h"].min() > -1e-9


def test_samples_and_time_events_are_exact() -> None:
    result = simulate(build_program(hand_made.sampled(), flags=STRICT), stop=1.0, solver="ida")
    assert result.time[1:][np.diff(result["n"]) > 0] == pytest.approx([0.1 * i for i in range(1, 11)], abs=1e-15)
    assert result.time[1:][np.diff(result["y"]) > 0] == [0.55]


@pytest.mark.parametrize("name", ["DriveTrain", "RCCircuit", "HydraulicAxis.OpenLoop", "HydraulicAxis.Controlled"])
def test_both_integrators_agree(name: str) -> None:
    model = kilohertz.load(f"Kilohertz.Examples.{name}")
    cvode, ida = (model.simulate(solver=solver, tolerance=1e-9, intervals=200) for solver in ("cvode", "ida"))
    assert not np.array_equal(cvode.data, ida.data)  # not the same integrator twice
    verdict = compare(cvode, ida, bars=Bars(1e-5, symmetric=True))
    assert verdict.ok, verdict.failed


def test_a_model_without_states_runs() -> None:
    result = kilohertz.load("Kilohertz.Examples.TwoResistors").simulate(solver="ida")
    assert result.final("lower.v") == pytest.approx(20)


def test_a_right_hand_side_that_fails_is_reported(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "Wall.mo"
    path.write_text(
        'model Wall Real x(start=0, fixed=true); equation der(x) = 1; assert(x < 0.5, "hit the wall"); end Wall;',
        encoding="utf-8",
    )
    with pytest.raises(ModelError, match="hit the wall"):
        kilohertz.load(str(path)).simulate(solver="ida")


def _giving_up(monkeypatch: pytest.MonkeyPatch, *solvers: str) -> None:
    """Some solvers give up as soon as they are asked."""
    whole = offline_run._simulated

    def simulated(program: Program, experiment: Any, asked: Any, stepping: StepSettings, statistics: Any) -> Result:
        result = whole(program, experiment, asked, stepping, statistics)
        if stepping.solver in solvers:
            raise RunFailed(Diagnostic("R718", f"{stepping.solver} gave up"), result)
        return result

    monkeypatch.setattr(offline_run, "_simulated", simulated)


def test_where_cvode_gives_up_ida_is_tried_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    _giving_up(monkeypatch, "cvode")
    statistics = Statistics()
    program = build_program(hand_made.decay(), flags=STRICT)
    result = simulate(program, stop=2.0, statistics=statistics)
    assert np.abs(result["x"] - np.exp(-result.time)).max() < 1e-4
    assert statistics.stepping is not None and statistics.stepping.solver == "ida"
    (said,) = statistics.warnings
    assert said.code == "R796" and "cvode gave up" in said.notes[0].text and result.ok


def test_a_solver_that_was_asked_for_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    _giving_up(monkeypatch, "cvode")
    program = build_program(hand_made.decay(), flags=STRICT)
    with pytest.raises(ModelError, match="cvode gave up"):
        simulate(program, stop=2.0, solver="cvode")


def test_where_both_give_up_the_first_one_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    _giving_up(monkeypatch, "cvode", "ida")
    program = build_program(hand_made.decay(), flags=STRICT)
    with pytest.raises(ModelError, match="cvode gave up") as error:
        simulate(program, stop=2.0)
    assert error.value.diagnostics[0].notes[-1].text == "so did ida: ida gave up"

"""What rests, and is moved by time alone without an event: no step passes over it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import ModelError, load
from kilohertz.results import Result
from kilohertz.simulate import Statistics

PULSE = "  Real x(start = 0, fixed = true);\nequation\n  der(x) = exp(-((time - 50)/{width})^2)"
HALF_WAVES = "  Real x(start = 0, fixed = true);\nequation\n  der(x) = noEvent(max(sin(time), 0)^2);"
# an error of 1e-8 in y is a rate of 1: the rate alone tells nothing
STIFF = (
    "  Real x(start = 1, fixed = true), y(start = 1, fixed = true);\n"
    "equation\n  der(x) = -0.1*x;\n  der(y) = -1e8*(y - cos(0.3*time));"
)
# what moves is a state, itself as smooth as time
BY_AN_ANGLE = (
    "  Real x(start = 0, fixed = true), phi(start = 0, fixed = true);\n"
    "equation\n  der(phi) = 2;\n  der(x) = exp(-((phi - 100)/1)^2);"
)
# its temperature is next to nothing by next to nothing: derivatives tell errors of the mass alone
EMPTY = (
    "  Real m(start = 1, fixed = true), U(start = 300, fixed = true), T = U/m;\n"
    "equation\n  der(m) = -noEvent(if m > 1e-9 then sqrt(m) else m);\n  der(U) = der(m)*T;"
)
COUNT = (
    "  Integer n(start = 0, fixed = true);\nequation\n  when sin(time) > 0.99 then\n    n = pre(n) + 1;\n  end when;"
)


def run(folder: Path, body: str, **how: Any) -> tuple[Result, Statistics]:
    file, statistics = folder / "M.mo", Statistics()
    file.write_text(f"model M\n{body}\nend M;\n")
    return load(file).simulate(stop=100.0, statistics=statistics, **how), statistics


@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_a_pulse_after_a_rest(tmp_path: Path, solver: str, tolerance: float) -> None:
    """However far rows are apart."""
    for intervals in (5, 500):
        how: dict[str, Any] = {"solver": solver, "tolerance": tolerance, "intervals": intervals}
        result, statistics = run(tmp_path, PULSE.format(width=0.5) + ";", **how)
        assert result.final("x") == pytest.approx(0.5 * math.sqrt(math.pi), rel=20 * tolerance)
        assert 0 < statistics.overlooked < 10
        assert statistics.steps < 400


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_rests_that_return(tmp_path: Path, solver: str) -> None:
    result, _ = run(tmp_path, HALF_WAVES, solver=solver, tolerance=1e-8)
    t, whole = result.time, np.floor(result.time / (2 * math.pi))
    part = np.minimum(t - 2 * math.pi * whole, math.pi)
    exact = whole * math.pi / 2 + part / 2 - np.sin(2 * part) / 4
    assert np.abs(result["x"] - exact).max() < 1e-4


def test_a_stiff_state_is_not_doubted(tmp_path: Path) -> None:
    for solver in ("cvode", "ida"):
        result, statistics = run(tmp_path, STIFF, solver=solver, tolerance=1e-6)
        assert result.final("y") == pytest.approx(math.cos(30), abs=1e-4)
        assert statistics.overlooked == 0


@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_a_pulse_at_an_angle(tmp_path: Path, solver: str, tolerance: float) -> None:
    result, statistics = run(tmp_path, BY_AN_ANGLE, solver=solver, tolerance=tolerance, intervals=5)
    assert result.final("x") == pytest.approx(0.5 * math.sqrt(math.pi), rel=20 * tolerance)
    assert 0 < statistics.overlooked < 10


def test_a_singular_point_is_not_doubted(tmp_path: Path) -> None:
    for tolerance in (1e-4, 1e-6, 1e-8):
        result, statistics = run(tmp_path, EMPTY, tolerance=tolerance)
        assert np.abs(result["T"] - 300).max() < 300 * tolerance
        assert statistics.overlooked == 0


@pytest.mark.parametrize("with_state", [True, False])
def test_events_between_rows_that_are_far_apart(tmp_path: Path, with_state: bool) -> None:
    body = f"  Real x(start = 0, fixed = true);\n{COUNT}\n  der(x) = 0;" if with_state else COUNT
    result, _ = run(tmp_path, body, intervals=2)
    assert result.final("n") == 16


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_what_is_shorter_needs_a_longest_step(tmp_path: Path, solver: str) -> None:
    body = PULSE.format(width=0.01) + " + 0*x;"
    result, _ = run(tmp_path, body, solver=solver, tolerance=1e-8, max_step=0.01)
    assert result.final("x") == pytest.approx(0.01 * math.sqrt(math.pi), rel=1e-6)
    _, longer = run(tmp_path, body, solver=solver, tolerance=1e-8, max_step=1.0)
    assert longer.steps >= 100


def test_a_longest_step_is_for_solvers_that_choose_theirs(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"`max_step` is for solvers that choose their steps, not for `rk4`"):
        run(tmp_path, HALF_WAVES, solver="rk4", max_step=0.1)

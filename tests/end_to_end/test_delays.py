"""Delays (MLS 3.7.4.1) at the start, where they give what goes into them then, and short ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result

CHAIN = """
model Chain "Declared against their order"
  parameter Real T = 0.1;
  Real y4 = delay(y3, T, 1) + 1;
  Real y3 = delay(y2, T, 1) + 1;
  Real y2 = delay(y1, T, 1) + 1;
  Real y1 = delay(x, T, 1) + 1;
  Real x = 10 + time;
end Chain;
"""

FEEDBACK = """
model Feedback "The start is steady: y = 0.5*(1 - y), and s = sqrt(s)"
  Real y = 0.5*delay(e, 0.1);
  Real e = 1 + time - y;
  Real s(start = 0.5) = sqrt(delay(s, 0.1) + time);
end Feedback;
"""


def load(tmp_path: Path, text: str) -> kilohertz.Model:
    path = tmp_path / "m.mo"
    path.write_text(text, encoding="utf-8")
    return kilohertz.load(str(path))


def run(tmp_path: Path, text: str, **options: Any) -> Result:
    return load(tmp_path, text).simulate(stop=1.0, **options)


@pytest.mark.parametrize("options", [{}, {"solver": "euler", "step": 0.01}])
def test_a_chain_of_delays_starts_with_what_goes_into_it(tmp_path: Path, options: dict[str, Any]) -> None:
    result = run(tmp_path, CHAIN, **options)
    for k in range(1, 5):
        expected = 10 + k + np.maximum(result.time - k * 0.1, 0)
        assert result[f"y{k}"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"solver": "euler", "step": 0.01}])
def test_a_loop_through_a_delay_is_solved_at_the_start(tmp_path: Path, options: dict[str, Any]) -> None:
    result = run(tmp_path, FEEDBACK, **options)
    assert (result["y"][0], result["s"][0]) == pytest.approx((1 / 3, 1))
    early = result.time < 0.095
    assert result["y"][early] == pytest.approx(1 / 3)
    assert result["s"][early] == pytest.approx(np.sqrt(1 + result.time[early]))


@pytest.mark.parametrize(
    "equations",
    [
        "y = delay(y, 0.1) + u;",
        "y = k*g + u; g = k*delay(y, 0.1);",
        "y = delay(k*y + y, 0.1)/2 + u;",
    ],
)
def test_a_delay_that_determines_nothing_begins_with_the_start_value(tmp_path: Path, equations: str) -> None:
    declared = "parameter Real k = 1; Real y(start = 3); Real u = sin(time);"
    text = f"model M {declared} {'Real g;' if 'g ' in equations else ''} equation {equations} end M;"
    model = load(tmp_path, text)
    model.process()
    assert [w.code for w in model.warnings] == ["B223"]
    result = model.simulate(stop=0.3)
    assert result["y"][0] == pytest.approx(3)
    late = (result.time > 0.11) & (result.time < 0.19)
    expected = 3 + np.sin(result.time) + np.sin(result.time - 0.1)
    assert result["y"][late] == pytest.approx(expected[late], abs=1e-4)


METHODS = [{}, {"solver": "ida"}] + [
    {"solver": solver, "step": 0.01} for solver in ("rk4", "sdirk2", "ros34pw2", "rodas4", "ieuler")
]


def _of_first_order(options: dict[str, Any]) -> bool:
    return options.get("solver") == "ieuler"


@pytest.mark.parametrize("delay", [0.0, 1e-4, 0.003, 0.1])
@pytest.mark.parametrize("options", METHODS)
def test_a_delay_shorter_than_a_step_does_not_lag_one(tmp_path: Path, delay: float, options: dict[str, Any]) -> None:
    text = f"model M parameter Real T = {delay}; Real z(start = 0, fixed = true), y, x; equation der(z) = y;"
    result = run(tmp_path, text + " y = delay(x, T); x = sin(5*time); end M;", **options)
    past = np.maximum(result.time - delay, 0)
    assert result["y"] == pytest.approx(np.sin(5 * past), abs=4e-4)
    assert result["z"] == pytest.approx((1 - np.cos(5 * past)) / 5, abs=6e-3 if _of_first_order(options) else 1e-4)


@pytest.mark.parametrize("options", [m for m in METHODS if m.get("solver") != "rk4"])
def test_a_delay_of_zero_is_what_goes_into_it(tmp_path: Path, options: dict[str, Any]) -> None:
    """Also where it is stiff: the Jacobian knows it."""
    text = "model M Real x(start = 0, fixed = true); equation der(x) = -1e5*delay(x, 0) + 1e5; end M;"
    result = run(tmp_path, text, **options)
    assert result["x"] == pytest.approx(1 - np.exp(-1e5 * result.time), abs=1e-2)


@pytest.mark.parametrize("options", METHODS)
def test_a_delay_that_passes_through_zero_in_a_loop(tmp_path: Path, options: dict[str, Any]) -> None:
    text = "model M Real y, d, u; equation d = max(0, 0.5 - time); u = 1 + time; y = 0.5*delay(y, d, 1) + u; end M;"
    result = run(tmp_path, text, **options)

    def exact(t: float) -> float:
        if t <= 0:
            return 2.0
        return 2 * (1 + t) if t >= 0.5 else 0.5 * exact(2 * t - 0.5) + 1 + t

    assert result["y"] == pytest.approx(np.array([exact(t) for t in result.time]), abs=1e-4)


RING = "model M parameter Real T = 1e-3; Real y(start = 2), u; equation u = 1 + time; y = 0.5*delay(y, T) + u; end M;"


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_steps_of_solvers_are_not_longer_than_a_delay_in_a_ring(tmp_path: Path, solver: str) -> None:
    result = run(tmp_path, RING, solver=solver)
    exact = sum(0.5**k * (1 + np.maximum(result.time - k * 1e-3, 0)) for k in range(60))
    assert result["y"] == pytest.approx(exact, abs=1e-4)
    assert not result.problems


@pytest.mark.parametrize("solver", ["euler", "lie"])
def test_a_fixed_step_longer_than_a_delay_in_a_ring_is_said_once(tmp_path: Path, solver: str) -> None:
    result = run(tmp_path, RING, solver=solver, step=0.01)
    (problem,) = result.problems
    assert problem.code == "R748" and "a delay of 0.001 s is shorter than a step" in problem.message


@pytest.mark.parametrize("options", METHODS)
@pytest.mark.parametrize(("speed", "positive"), [(0.5, True), (-0.5, False), (5000.0, True)])
def test_what_enters_a_pipe_is_at_its_end_at_once(
    tmp_path: Path, speed: float, positive: bool, options: dict[str, Any]
) -> None:
    ends = "sin(5*time), 0" if positive else "0, sin(5*time)"
    text = f"model M Real a, b, x(start = 0, fixed = true); equation der(x) = {speed};"
    text += f" (a, b) = spatialDistribution({ends}, x, {str(positive).lower()}, {{0, 1}}, {{0, 0}}); end M;"
    result = load(tmp_path, text).simulate(stop=3.0, **options)
    near, far = ("a", "b") if positive else ("b", "a")
    assert result[near] == pytest.approx(np.sin(5 * result.time), abs=1e-6)
    past = np.maximum(result.time - 1 / abs(speed), 0)
    assert result[far] == pytest.approx(np.sin(5 * past), abs=4e-4)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model M Real x, y; equation x = delay(sin(time), 0.1); y = der(x); end M;", "B206"),
        ("model M Real y; equation y = der(delay(sin(time), 0.1)); end M;", "B102"),
    ],
)
def test_a_delay_has_no_derivative(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(kilohertz.ModelError) as refused:
        load(tmp_path, text).process()
    assert refused.value.diagnostics[0].code == code


@pytest.mark.parametrize("options", [{}, {"solver": "rk4", "step": 0.01}])
def test_where_the_equations_contradict_each_other_the_start_value_is_the_past(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    text = "model M Real y(start = 3), u; equation u = 1; y = delay(y, 0.1) + u; end M;"
    result = run(tmp_path, text, **options)
    clear = np.abs(result.time * 10 - np.round(result.time * 10)) > 0.01  # of the jumps
    assert result["y"][clear] == pytest.approx(4 + np.floor(result.time[clear] * 10), abs=1e-9)

"""How many steps the solvers make: neither noise of their own nor output intervals force short ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.simulate import Statistics

# The flow hangs on a difference far below the tolerance of the pressure, with a slope that is steep near zero alone.
VALVE = """model Valve
  Real p(start = 2e5, fixed = true, nominal = 1e5);
  Real dp, m;
equation
  dp = p - 2e5;
  m = 20*dp/(dp*dp + 1e-6)^0.25;
  der(p) = 1e6*((if time < 0.5 then 10 else 0) - m);
end Valve;
"""
STATELESS = """model Signals
  Real u = sin(6.283185307179586*time), v = if u > 0.5 then 3 else time;
  discrete Integer n(start = 0, fixed = true);
equation
  when sample(0.1, 0.1) then
    n = pre(n) + 1;
  end when;
end Signals;
"""


@pytest.mark.parametrize("tolerance", [1e-4, 2e-5])
def test_newton_leaves_no_noise(tmp_path: Path, tolerance: float) -> None:
    (tmp_path / "Valve.mo").write_text(VALVE)
    statistics = Statistics()
    result = load(tmp_path / "Valve.mo").simulate(stop=1.0, tolerance=tolerance, statistics=statistics)
    assert statistics.steps < 300  # millions, where iterations end at a tenth of the tolerance
    assert result.problems == ()
    expected = np.where(result.time < 0.5, 0.2507, 0.0)  # 20*sqrt(dp) = 10
    assert np.abs(result["dp"] - expected).max() < 10 * tolerance * 2e5


# Every speed is that of all the others: a Jacobian has as many directions as there are states.
COUPLED = """model Coupled
  parameter Integer n = 4;
  Real x[n](start = linspace(0.1, 0.2, n), each fixed = true), v[n](each start = 0, each fixed = true), s = sum(x);
equation
  der(x) = v;
  for i in 1:n loop
    der(v[i]) = -(10 + i)*x[i]^3 - sin(i*s);
  end for;
end Coupled;
"""


@pytest.mark.parametrize(("n", "steps"), [(4, 10), (24, 45)], ids=["few directions", "many directions"])
def test_a_jacobian_of_many_directions_is_kept_longer(tmp_path: Path, n: int, steps: int) -> None:
    (tmp_path / "Coupled.mo").write_text(COUPLED)
    statistics = Statistics()
    model = load(f"{tmp_path / 'Coupled.mo'}:Coupled(n = {n})")
    model.simulate(stop=10.0, tolerance=1e-8, statistics=statistics)
    assert steps * statistics.jacobians <= statistics.steps <= 3 * steps * statistics.jacobians


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_no_state_no_steps(tmp_path: Path, solver: str) -> None:
    (tmp_path / "Signals.mo").write_text(STATELESS)
    statistics = Statistics()
    model = load(tmp_path / "Signals.mo")
    result = model.simulate(stop=2.0, intervals=2000, solver=solver, statistics=statistics)
    assert statistics.steps < 100
    assert (statistics.state_events, statistics.time_events) == (4, 20)
    assert len(result.time) == 2001 + 2 * 4 + 20  # both sides of events; those of time are on the grid
    edges = result.time[np.flatnonzero(np.diff(result["v"] == 3)) + 1]
    assert edges == pytest.approx([1 / 12, 5 / 12, 13 / 12, 17 / 12], abs=1e-9)
    assert result.final("n") == 20


# Two solutions, ten apart, that move by up to 13 from one output point to the next.
SOLUTIONS = """model Solutions
  Real x(start = 0), u = 100*time;
equation
  (x - u)*(x - u + 10)*(3 + sin(0.3*x)) = 0;
end Solutions;
"""


def test_a_loop_without_states_is_followed(tmp_path: Path) -> None:
    (tmp_path / "Solutions.mo").write_text(SOLUTIONS)
    model = load(tmp_path / "Solutions.mo")
    for intervals in (6, 9, 10, 14, 50):
        result = model.simulate(stop=0.8, intervals=intervals)
        assert result["x"] == pytest.approx(result["u"], abs=1e-9)

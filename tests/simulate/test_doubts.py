"""A Jacobian that is steeper than the equations: small corrections of Newton's iteration are no proof then.

The derivative of x jumps at 0, inside of a function whose derivative is not known.  A difference over the jump is a
slope of 1e10, with which every correction is small, wherever x ought to go.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.simulate import Statistics

JUMP = """  function jump
    input Real x;
    input Real low;
    input Real high;
    output Real y;
    external "C" y = jump(x, low, high)
      annotation(Include = "static double jump(double x, double a, double b) { return x > 0 ? b : a; }");
  end jump;
"""
PULLED = f"""model Pulled "x rests at the jump until it is pulled off; y tells on which side it is"
{JUMP}
  parameter Integer power = 1;
  parameter Real from = 1;
  Real x(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(x) = jump(x, 1.1e-16, -2) - 0.1*max(time - from, 0)^power;
  der(y) = jump(x, 2/3, 2);
end Pulled;
"""
FED = f"""model Fed "Three lines that are shut stand at the jump, a fourth one is fed slowly; all share a fast state"
{JUMP}
  parameter Real feed = 1e-3;
  Real x[4](each start = 0, each fixed = true);
  Real y(start = 0, fixed = true);
  Real z(start = 1, fixed = true);
equation
  for i in 1:3 loop
    der(x[i]) = jump(x[i], 1.1e-16, -2);
  end for;
  der(x[4]) = jump(x[4], 0, -2) - feed*time^2;
  der(y) = sum(jump(x[i], 1/3, 1) for i in 1:3);
  der(z) = -1e4*(z - cos(time));
end Fed;
"""
SMOOTH = """model Smooth "Stiff, with derivatives that are known"
  Real x(start = 1, fixed = true);
  Real y(start = 0, fixed = true);
equation
  der(x) = -1e6*(x - cos(time));
  der(y) = x;
end Smooth;
"""


def pulled(time: float, power: int) -> float:
    return -0.1 * time ** (power + 1) / (power + 1)


@pytest.mark.parametrize(("solver", "tolerance"), [("cvode", 1e-9), ("cvode", 1e-6), ("ida", 1e-6)])
@pytest.mark.parametrize(("power", "begin"), [(1, 1.0), (3, 0.0)])
def test_a_state_leaves_a_jump(tmp_path: Path, solver: str, tolerance: float, power: int, begin: float) -> None:
    file = tmp_path / "Pulled.mo"
    file.write_text(PULLED)
    values = {"power": power, "from": begin}
    result = load(file).simulate(stop=5.0, solver=solver, tolerance=tolerance, settings=values)
    x = pulled(5.0 - begin, power)
    assert abs(result["x"][-1] - x) < 50 * tolerance * abs(x)
    assert abs(result["y"][-1] - 10 / 3) < 50 * tolerance * abs(x)


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_states_of_many_kinds(tmp_path: Path, solver: str) -> None:
    file = tmp_path / "Fed.mo"
    file.write_text(FED)
    result = load(file).simulate(stop=10.0, solver=solver, tolerance=1e-6)
    assert np.abs(result["x[1]"]).max() < 1e-6
    assert abs(result["y"][-1] - 10.0) < 1e-5
    assert abs(result["x[4]"][-1] + 1 / 3) < 1e-5


def test_a_stiff_model_is_not_dearer(tmp_path: Path) -> None:
    file = tmp_path / "Smooth.mo"
    file.write_text(SMOOTH)
    statistics = Statistics()
    result = load(file).simulate(stop=10.0, tolerance=1e-6, statistics=statistics)
    assert abs(result["y"][-1] - np.sin(10.0)) < 2e-5
    assert statistics.rhs < 2.2 * statistics.steps

"""Changes that are over sooner than time can tell: one implicit step goes over them; a pole stays one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import ModelError, load

STOP = """model Stop "A mass meets a damper: the speed it had is gone within 1e-13 s"
  Real x(start = -1, fixed = true);
  Real v(start = 0.5, fixed = true);
equation
  der(x) = v;
  0.1*der(v) = if x > 0 then 2e4 - 1e12*v - 1e9*x else 0;
end Stop;
"""
POLE = """model Pole
  Real x(start = 1, fixed = true);
  Real y(start = 1, fixed = true);
equation
  der(x) = x*x;
  der(y) = -1e3*y;
end Pole;
"""


def test_a_stop_within_rounding_errors_of_time(tmp_path: Path) -> None:
    file = tmp_path / "Stop.mo"
    file.write_text(STOP)
    for solver in ("cvode", "ida"):
        result = load(file).simulate(stop=4.0, tolerance=1e-8, solver=solver)
        after = result.time > 2.001
        creep = 2e-5 * (1 - np.exp(-1e-3 * (result.time - 2)))
        assert np.abs(result["x"] - np.where(result.time < 2, -1 + 0.5 * result.time, creep)).max() < 1e-9
        assert np.abs(result["v"][after] - (2e4 - 1e9 * creep[after]) / 1e12).max() < 1e-10
        assert [p.code for p in result.problems] == ["R798"]
        assert result.ok


def test_a_pole_is_none(tmp_path: Path) -> None:
    file = tmp_path / "Pole.mo"
    file.write_text(POLE)
    with pytest.raises(ModelError, match="gave up"):
        load(file).simulate(stop=2.0)

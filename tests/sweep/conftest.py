"""A swing whose parameters a series varies; with `n = 3` it fails, with weak damping it swings too far."""

from __future__ import annotations

from pathlib import Path

import pytest

SWING = """model Swing
  parameter Real k = 10 "Stiffness";
  parameter Real d = 1 "Damping";
  parameter Integer n = 1;
  Real x(start=1, fixed=true), v(start=0, fixed=true);
  output Real e = k*x^2/2 + v^2/2;
  Real y = -x;
  Boolean low = x < 0;
equation
  der(x) = v;
  der(v) = -k*x - d*v;
  assert(n < 3 or time < 0.5, "n is too large");
  annotation(experiment(StopTime=2, Interval=0.01));
end Swing;
"""
SERIES = """[model]
model = "swing.mo"

[variant]
model = "swing.mo"
solver = "rk2"
step = "10ms"

[parameters]
k = { from = 5, to = 20, count = 4 }
d = [0.1, 1, 4]

[[measure]]
signal = "x"
take = "min"
below = -0.7

[[measure]]
signal = "k*x^2/2"
name = "spring"

[[measure]]
signal = "e"
of = "error"
above = 0.01

[[measure]]
cost = "steps"
of = "variant"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With the model and a series of 12 cases."""
    (tmp_path / "swing.mo").write_text(SWING, encoding="utf-8")
    (tmp_path / "swing.toml").write_text(SERIES, encoding="utf-8")
    return tmp_path

"""Values that tell for all others whether one is no number: those that go nowhere else as they are."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.cost import ends
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Kind
from kilohertz.simulate import Stepper
from kilohertz.solvers import StepSettings

ENDS = """
model Ends
  input Real u[6];
  Real x(start = 1, fixed = true);
  Real a = u[1]*u[1] + x, b = 2*a - x, c = b/3, d = sqrt(abs(c)) "a, b and c go on as they are";
  Real e = u[2]*u[2] + x, f = 1/e "infinity is lost in a quotient";
  Real g = u[3]*u[3] + x, h = if g > 3 then x else 2*x "and in a branch";
  Real i = u[4]*u[4] + x, j = exp(-i) "and in a function";
  Real k = u[5]*u[5] + x, l = k - 0.5*k*k "which is no number then";
  Real m = u[6]*u[6] + x, n = max(-1, min(m, 1));
equation
  der(x) = -x + 0*time;
end Ends;
"""


@pytest.fixture
def stepper(tmp_path: Path) -> Stepper:
    path = tmp_path / "Ends.mo"
    path.write_text(ENDS)
    made = Stepper(load(str(path)).compile(), StepSettings("euler", 1e-3))
    assert made.start(0.0) == 0
    return made


def test_each_value_that_is_no_number_is_told(stepper: Stepper) -> None:
    step = stepper.program.step
    told = ends(step)
    assert told is not None and len(told) < len(step.of_kind(Kind.ALGEBRAIC))
    inputs = [step.variables[f"u[{k}]"] for k in range(1, 7)]
    for k in range(-1, 6):
        for i, u in enumerate(inputs):
            stepper.instance.write(u, 1e200 if i == k else 0.5)
        flags = stepper.step()
        values = [float(stepper.instance.read(v)) for v in step.of_kind(Kind.ALGEBRAIC)]
        assert all(map(math.isfinite, values)) == (k < 0)
        assert ("not_finite" in flags) == (k >= 0), k


def test_what_goes_on_as_it_is_is_not_looked_at(stepper: Stepper) -> None:
    told = {v.name for v in ends(stepper.program.step) or ()}
    assert {"d", "e", "f", "g", "h", "i", "j", "l", "m", "n"} <= told and told.isdisjoint({"a", "b", "c", "k"})


def test_a_view_does_not_tell_for_what_every_step_computes() -> None:
    text = """
model Late
  Real x(start = 1.0, fixed = true);
  Real a;
  Real b;
  Real c;
  Real d;
equation
  a = x*x;
  der(x) = if a > 0.5 then -x else -2.0*x;
  b = 2.0*a;
  c = b + x;
  d = c - x;
end Late;
"""
    step = compile_flat(read_flat(text))
    told = {v.name for v in ends(step) or ()}
    assert told == {"a", "d"}

"""lighten-modes: the same numbers, to the bit, and less to do in each turn of a search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.driver.pipeline import selected
from kilohertz.ir.expr import Ref
from kilohertz.ir.step import Kind, MixedLoop, Step, expressions
from kilohertz.ir.traverse import walk_all
from kilohertz.passes.algebra import cost
from kilohertz.passes.contract import Log, run_passes
from kilohertz.passes.step import lighten_modes
from kilohertz.passes.step.lighten_modes import LightenModes
from kilohertz.simulate.program import build_program
from kilohertz.simulate.stepper import Stepper
from kilohertz.solvers import StepSettings

SEEN = (Kind.STATE, Kind.DERIVATIVE)

# Three masses in a row on rough ground: which of them stick is found together with all accelerations.
ROW = """
model Row
  parameter Integer n = 3;
  Real x[n](start = {0.0, 0.1, 0.3}, each fixed = true);
  Real v[n](each start = 0.0, each fixed = true);
  Real s[n] "force or acceleration", a[n], f[n], pull[n];
  Boolean slides[n], forward[n], backward[n];
equation
  for i in 1:n loop
    der(x[i]) = v[i];
    der(v[i]) = a[i];
    pull[i] = 9*sin(3*time + i) + (if i > 1 then 20*(sin(x[i - 1]) - sin(x[i])) - a[i - 1]*cos(x[i]) else 0)
      + (if i < n then 20*(sin(x[i + 1]) - sin(x[i])) - a[i + 1]*cos(x[i + 1]) else 0);
    (2 + sin(x[i])^2)*a[i] = pull[i] - f[i];
    forward[i] = pre(slides[i]) and v[i] > 0 or s[i] > 2;
    backward[i] = pre(slides[i]) and v[i] < 0 or s[i] < -2;
    slides[i] = forward[i] or backward[i];
    a[i] = if slides[i] then s[i] - (if forward[i] then 2 else -2) else 0;
    f[i] = if forward[i] then 2 else if backward[i] then -2 else s[i];
  end for;
end Row;
"""


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> kilohertz.Model:
    path: Path = tmp_path_factory.mktemp("row") / "row.mo"
    path.write_text(ROW, encoding="utf-8")
    return kilohertz.load(str(path))


def made(model: kilohertz.Model, *, light: bool) -> Step:
    passes = [p for p in selected() if light or not isinstance(p, LightenModes)]
    step: Step = run_passes(passes, model.flatten(), Log(), verify=True)
    return step


def turn(step: Step) -> int:
    loop = next(b for b in step.blocks if isinstance(b, MixedLoop))
    return cost(e for c in loop.continuous for e in expressions(c))


def run(step: Step) -> tuple[list[np.ndarray], int]:
    stepper = Stepper(build_program(step), StepSettings("euler", 1e-3))
    stepper.start(0.0)
    rows, events = [], 0
    for _ in range(2000):
        events += "event" in stepper.step()
        rows.append(np.array([stepper.instance.read(v) for v in step.variables.values() if v.slot.kind in SEEN]))
    stepper.close()
    return rows, events


def test_a_turn_is_shorter_and_the_bits_are_the_same(flat: kilohertz.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lighten_modes, "_LEAST", 30)
    plain, light = made(flat, light=False), made(flat, light=True)
    assert turn(light) < 0.7 * turn(plain)
    before, after = run(plain), run(light)
    assert before[1] == after[1] > 10
    assert all(np.array_equal(a, b) for a, b in zip(before[0], after[0], strict=True))


def test_directions_know_nothing_of_it(flat: kilohertz.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lighten_modes, "_LEAST", 30)
    step = made(flat, light=True)
    names = {e.name for b in (*(step.directional or ()), *(step.time_slope or ()))
             for e in walk_all(expressions(b)) if isinstance(e, Ref)}  # fmt: skip
    assert step.directional is not None
    assert not any(name.startswith("$m") for name in names)

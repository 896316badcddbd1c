"""`Kilohertz.RealTime` in a model sets its real-time run; what is given from outside overrides it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.driver.tasks import open_job

MODEL = """
model M
  parameter Integer n = 2;
  {block}
  Real x(start=1, fixed=true);
equation
  der(x) = -x;
end M;
"""


def written(folder: Path, block: str) -> str:
    path = folder / "M.mo"
    path.write_text(MODEL.replace("{block}", block), encoding="utf-8")
    return str(path)


def test_the_block_sets_the_scenario(tmp_path: Path) -> None:
    block = """Kilohertz.RealTime rt(step=n*1e-3, solver="lie", duration=5, priority=50 + n, cpu=1, grace=7,
      overrun=if n > 1 then "skip" else "stop", newton=3, events="linear", input_mode="quadratic", time_scale=0.5);"""
    scenario = open_job(written(tmp_path, block)).scenario
    (s,) = (task.stepping for task in scenario.tasks)
    assert (scenario.name, scenario.period_ns, scenario.duration) == ("M", 2_000_000, 5)
    assert scenario.scale == Fraction(1, 2)
    assert (s.solver, s.newton, s.events, s.input_mode) == ("lie", 3, "linear", "quadratic")
    machine = scenario.realtime
    assert (machine.priority, machine.cpu, machine.policy, machine.grace) == (52, 1, "skip", 7)


def test_what_is_given_from_outside_counts_more(tmp_path: Path) -> None:
    model = written(tmp_path, 'Kilohertz.RealTime rt(step=2e-3, solver="lie", duration=5);')
    scenario = open_job(model, step=1e-4, solver="rk4", duration=0.5).scenario
    assert (scenario.period_ns, scenario.tasks[0].stepping.solver, scenario.duration) == (100_000, "rk4", 0.5)


def test_defaults_of_the_block_are_those_of_a_run_without_it(tmp_path: Path) -> None:
    plain = open_job(written(tmp_path, "")).scenario
    (tmp_path / "other").mkdir()
    other = open_job(written(tmp_path / "other", "Kilohertz.RealTime rt;")).scenario
    assert (other.period_ns, other.cycles, other.scale) == (plain.period_ns, plain.cycles, plain.scale)
    assert other.realtime == plain.realtime
    assert other.tasks[0].stepping.solver == plain.tasks[0].stepping.solver


@pytest.mark.parametrize(
    ("block", "code", "words"),
    [
        ('Kilohertz.RealTime rt(overrun="hope");', "R742", "RealTime block `rt`: `overrun`"),
        ('Kilohertz.RealTime rt(solver="magic");', "R721", "RealTime block `rt`: `solver` is `magic`"),
        ("Kilohertz.RealTime a; Kilohertz.RealTime b;", "R750", "not a and b"),
    ],
)
def test_wrong_settings_are_diagnostics(tmp_path: Path, block: str, code: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_job(written(tmp_path, block))
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == code
    assert words in diagnostic.message


def test_a_value_that_is_not_constant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        open_job(written(tmp_path, "Kilohertz.RealTime rt(step=q); parameter Real q(fixed=false, start=1e-3);"))
    assert caught.value.diagnostics[0].code == "R751"

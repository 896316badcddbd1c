"""Advice: what is suggested, and what came of it where it was tried."""

from __future__ import annotations

import pytest

import kilohertz
from kilohertz.cli import main
from kilohertz.driver import Session
from kilohertz.driver.profiling import Wanted, try_advice
from kilohertz.ir.step import iterated_on
from kilohertz.profiler import advise
from kilohertz.solvers import StepSettings

INDUCTORS = "Kilohertz.Examples.SaturatingInductors.Original"


def test_the_index_1_form_is_tried() -> None:
    model, how = kilohertz.load(INDUCTORS), StepSettings.of(solver="ros3prl", step=1e-4)
    profile = model.profile(solver="ros3prl", step=1e-4, steps=600)
    tried = try_advice(model, profile, how, Wanted(steps=600))
    broken = next(t for t in tried if "break the nonlinear loop of 2 for first.i" in t.advice.text)
    assert broken.saved is None  # nobody but the user can change the model
    index1 = next(t for t in tried if t.advice.options == "--index1")
    assert index1.advice.at_most > 0.0
    assert index1.saved is not None  # how much: benchmarks/advised_savings.py
    assert index1.deviation is not None
    assert index1.deviation < 1e-3
    assert any(t.advice.options == "--jacobian-every 10 --jacobian-spread" for t in tried)


def test_where_nothing_stands_out_nothing_is_advised() -> None:
    profile = kilohertz.load("Kilohertz.Examples.Decay").profile(solver="euler", step=1e-3, steps=200)
    assert advise(profile, StepSettings.of(solver="euler", step=1e-3)) == []


def test_fewer_internal_steps_are_tried() -> None:
    model = kilohertz.load("Kilohertz.Examples.HydraulicAxis.OpenLoop")
    settings = StepSettings.of(solver="rodas4", step=1e-3, internal_steps=4)
    profile = model.profile(solver="rodas4", step=1e-3, internal_steps=4, steps=300)
    tried = {t.advice.options: t for t in try_advice(model, profile, settings, Wanted(steps=300), rounds=1)}
    half = tried["--internal-steps 2"]
    assert half.saved is not None
    assert half.advice.at_most > 0.0
    assert half.deviation is not None
    assert half.deviation < 1e-2
    data = half.as_data()
    assert data["settings"] == {"internal_steps": 2}
    assert data["saved"] == half.saved


def test_a_cheaper_method_and_fewer_iterations_are_advised() -> None:
    profile = kilohertz.load(INDUCTORS).profile(solver="rk4", step=5e-4, steps=300)  # of long steps: several
    found = {a.options: a for a in advise(profile, StepSettings.of(solver="rk4", step=5e-4))}
    assert 0.0 < found["--solver rk3"].at_most <= 0.25
    assert profile.places[found["--loop-newton 2"].places[0]].name == "solve first.i"


EITHER = """
model Either "Its loop can be iterated on a or on b"
  Real x(start = 1, fixed = true);
  Real a(start = 1);
  Real b(start = 0);
equation
  a = 40*exp(b);
  b = 1 - a + x;
  der(x) = a - x + sin(20*time);
end Either;
"""


def test_another_tearing_variable_is_tried() -> None:
    session = Session()
    session.libraries.load_text(EITHER, "either.mo")
    model, how = session.model("Either"), StepSettings.of(solver="rk4", step=1e-3)
    profile = model.profile(solver="rk4", step=1e-3, steps=300)
    tried = {t.advice.options: t for t in try_advice(model, profile, how, Wanted(stop=0.3), rounds=1)}
    other = tried["--tear-on a"]
    assert "iterate the loop of 2 on a instead of b" in other.advice.text
    assert 0.0 < other.advice.at_most < 1.0
    assert other.saved is not None
    assert other.deviation is not None
    assert other.deviation < 1e-12
    assert other.as_data()["tear_on"] == "a"


def test_a_tearing_variable_that_takes_more_unknowns_is_refused() -> None:
    model, how = kilohertz.load(INDUCTORS), StepSettings.of(solver="rk4", step=1e-5)
    profile = model.profile(solver="rk4", step=1e-5, steps=300)
    tried = {t.advice.options: t for t in try_advice(model, profile, how, Wanted(steps=300), rounds=1)}
    assert tried["--tear-on first.L"].refused == "loops would be iterated on 2 unknowns, now on 1"


def test_a_loop_is_iterated_on_what_was_asked_for() -> None:
    session = Session()
    session.libraries.load_text(EITHER, "either.mo")
    model = session.model("Either")
    assert (iterated_on(model.process()), iterated_on(model.torn_on("a").process())) == (("b",), ("a",))
    with pytest.raises(kilohertz.ModelError, match="no loop of `Either` can be iterated on `c`") as caught:
        model.torn_on("c")
    assert caught.value.diagnostics[0].code == "R793"
    assert caught.value.diagnostics[0].notes[0].text == "its loops are iterated on b"


def test_what_to_iterate_on_is_for_one_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", INDUCTORS, "--tear-on", "first.L", "--against", INDUCTORS]) == 1
    assert "`--tear-on` is for one model" in capsys.readouterr().err


def test_the_command_shows_it_after_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", INDUCTORS, "--solver", "rk4", "--steps", "200", "--advise", "--by", "phases"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{INDUCTORS}: ")
    assert "needs a change of the model" in shown
    assert main(["profile", "p.json", "--advise"]) == 1
    assert "R793" in capsys.readouterr().err

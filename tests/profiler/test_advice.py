"""Advice: what is suggested, and what came of it where it was tried."""

from __future__ import annotations

import pytest

import kilohertz
from kilohertz.cli import main
from kilohertz.driver.profiling import Wanted, try_advice
from kilohertz.profiler import advise
from kilohertz.solvers import StepSettings

INDUCTORS = "Kilohertz.Examples.SaturatingInductors.Original"


def test_the_index_1_form_is_tried() -> None:
    model, how = kilohertz.load(INDUCTORS), StepSettings.of(solver="ros3prl", step=1e-4)
    profile = model.profile(solver="ros3prl", step=1e-4, steps=600)
    tried = try_advice(model, profile, how, Wanted(steps=600))
    assert "break the nonlinear loop of 2 for first.i" in tried[0].advice.text
    assert tried[0].saved is None  # nobody but the user can change the model
    index1 = next(t for t in tried if t.advice.options == "--index1")
    assert index1.advice.at_most > 0.0
    assert index1.saved is not None  # how much: benchmarks/advised_savings.py
    assert index1.deviation is not None
    assert index1.deviation < 1e-3
    assert any(t.advice.options == "--jacobian-every 10" for t in tried)


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
    profile = kilohertz.load(INDUCTORS).profile(solver="rk4", step=1e-5, steps=300)
    found = {a.options: a for a in advise(profile, StepSettings.of(solver="rk4", step=1e-5))}
    assert 0.05 < found["--solver rk3"].at_most < 0.25
    assert profile.places[found["--loop-newton 2"].places[0]].name == "solve first.i"


def test_the_command_shows_it_after_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", INDUCTORS, "--solver", "rk4", "--steps", "200", "--advise", "--by", "phases"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{INDUCTORS}: ")
    assert "needs a change of the model" in shown
    assert main(["profile", "p.json", "--advise"]) == 1
    assert "R793" in capsys.readouterr().err

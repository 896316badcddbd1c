"""`tune` on models: accurate enough, no dearer than `auto`, remembered."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver.plan import Experiment, make_plan, reference_of
from kilohertz.driver.studies import tune as studied
from kilohertz.driver.studies.tune import Trials, goal_of, space_of
from kilohertz.realtime import read_scenario
from kilohertz.solvers import StepSettings
from kilohertz.tuning import Bench, Goal, Point, Prices, Search
from kilohertz.tuning.search_outcome import rejection

STIFF = """model Stiff "A fast mode beside a slow one, driven; a switch"
  parameter Real a = 500;
  Real x(start=1, fixed=true), y(start=0, fixed=true);
  Real u = if time > 0.3 then 1 else 0;
equation
  der(x) = -a*(x - sin(6*time)*u);
  der(y) = x - y;
  annotation(experiment(StopTime=1));
end Stiff;
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> kilohertz.Model:
    monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path / "choices"))
    (tmp_path / "stiff.mo").write_text(STIFF, encoding="utf-8")
    return kilohertz.load(str(tmp_path / "stiff.mo"))


def test_the_choice_is_accurate_and_no_dearer_than_what_auto_takes(model: kilohertz.Model) -> None:
    auto = make_plan(model, StepSettings.of(step=1e-3, solver="auto"))
    tuned = model.tune(step=1e-3, error=0.005)
    assert tuned.ok and tuned.chosen.error <= 0.005
    reference = reference_of(model, StepSettings.of(step=1e-3), Experiment())
    bench = Trials(model, reference, Experiment()).bench()
    mine, theirs = (bench.point(s) for s in (tuned.settings, auto.stepping))
    assert mine is not None and theirs is not None and mine.price <= theirs.price
    exact = model.simulate(tolerance=1e-9, intervals=1000)
    fixed = model.simulate(intervals=1000, **tuned.keywords)
    assert abs(fixed.final("y") - exact.final("y")) <= 0.005


LATE = """model Late "Slow for a second, then fast: what is stable at the beginning is not at the end"
  Real x(start=1, fixed=true), y(start=0, fixed=true);
  Real a = if time > 1.5 then 3000 else 1;
equation
  der(x) = -a*(x - cos(time));
  der(y) = x - y;
  annotation(experiment(StopTime=2));
end Late;
"""


def test_what_the_trial_does_not_reach_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial is cut before the fast part: explicit methods pass it and are rejected with a reason."""
    monkeypatch.setattr(studied, "_INSTRUCTIONS_OF_TRIAL", 0.0)
    (tmp_path / "late.mo").write_text(LATE, encoding="utf-8")
    late = kilohertz.load(str(tmp_path / "late.mo"))
    reference = reference_of(late, StepSettings.of(step=1e-3), Experiment())
    short = replace(reference, points=tuple(p for p in reference.points if p.time < 1))  # eigenvalues of the slow part
    trials, goal = Trials(late, short, Experiment()), goal_of(0.005, None)
    search = Search(space_of(late, StepSettings.of(step=1e-3), (1e-3,), short), short, goal, trials.bench())
    best = search.run()
    assert best is not None and best.error <= 0.005
    assert search.rejected and all(p.error > 0.005 and p.why for p in search.rejected)
    text = rejection(search.rejected[0])
    assert "over the whole run" in text and search.rejected[0].why in text


def test_where_nothing_meets_the_goal_the_nearest_is_told() -> None:
    """Of all that was tried, over the whole run; what is about as near, or misleads in its trial, does not count."""

    def point(solver: str, badness: float, period: float = 1e3) -> Point:
        return Point(StepSettings.of(solver=solver, step=1e-3), 1e6, period, 1e4, 0.02, 0.02, badness)

    def nearest(auto: Point, *tried: Point, deadline: float | None = None, **wholes: float) -> tuple[str, str]:
        bench = Bench(
            lambda s: Prices(1e6, 1e3, 1e4, 1e6),
            lambda s, p: next(t for t in (auto, *tried) if t.settings == s),
            lambda s, p: point(s.solver, wholes.get(s.solver, math.inf)),
        )
        for p in (auto, *tried):
            bench.point(p.settings)
        chosen, notes = studied._nearest(bench, Goal(0.005, deadline, 1e9), auto, ("why",))
        return chosen.settings.solver, notes[0]

    auto, near, far = point("rk4", 1.0), point("lie", 0.5), point("euler", math.inf)
    assert nearest(auto) == ("rk4", "why")
    assert nearest(auto, far) == ("rk4", "why")
    assert nearest(auto, far, point("lie", 0.95), lie=0.95) == ("rk4", "why")
    assert nearest(auto, near, lie=2.0) == ("rk4", "why")
    assert nearest(auto, far, near, lie=0.6)[0] == "lie"
    assert "lie is nearer over the whole run than what auto takes, rk4" in nearest(auto, near, lie=0.6)[1]
    assert nearest(auto, point("litr", 0.4), near, litr=3.0, lie=0.6)[0] == "lie"
    assert nearest(replace(auto, badness=math.inf), near, lie=0.6)[0] == "lie"
    assert nearest(replace(auto, late=0.001), near, lie=0.6) == ("rk4", "why")  # it is but a step late
    assert nearest(auto, point("lie", 0.5, 1e9), lie=0.6, deadline=1e-3) == ("rk4", "why")


def test_the_choice_is_remembered(model: kilohertz.Model) -> None:
    asked = StepSettings.of(step=1e-3)
    before = make_plan(model, asked)
    assert before.notes[0].startswith("auto takes") and "known" not in before.notes[0]
    again = make_plan(model, asked)
    assert again.notes == (f"{before.notes[0]} (known from before)",) and again.stepping == before.stepping
    tuned = model.tune(step=1e-3)
    after = make_plan(model, StepSettings.of(step=1e-3, solver="auto"))
    assert "tune takes" in after.notes[0] and after.stepping.solver == tuned.settings.solver
    assert "known" not in make_plan(model, StepSettings.of(step=2e-3)).notes[0]


def test_another_model_or_other_parameters_are_tried_anew(model: kilohertz.Model, tmp_path: Path) -> None:
    from kilohertz.driver.plan import Experiment

    make_plan(model, StepSettings.of(step=1e-3))
    other = make_plan(model, StepSettings.of(step=1e-3), Experiment(settings={"a": 5.0}))
    assert "known" not in other.notes[0]
    (tmp_path / "stiff.mo").write_text(STIFF.replace("x - y", "x - 2*y"), encoding="utf-8")
    changed = make_plan(kilohertz.load(str(tmp_path / "stiff.mo")), StepSettings.of(step=1e-3))
    assert "known" not in changed.notes[0]


def test_a_damaged_memory_is_no_memory(model: kilohertz.Model, tmp_path: Path) -> None:
    make_plan(model, StepSettings.of(step=1e-3))
    (file,) = (tmp_path / "choices").glob("*.json")
    file.write_text('{"settings": {"solver": "no such"}, "reason": ""}')
    assert "known" not in make_plan(model, StepSettings.of(step=1e-3)).notes[0]


def test_the_command_writes_a_scenario_that_runs(
    model: kilohertz.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, page = tmp_path / "stiff_tuned.toml", tmp_path / "page.html"
    words = ["tune", str(tmp_path / "stiff.mo"), "--step", "1ms", "--deadline", "200us", "--error", "0.5%"]
    assert main([*words, "-o", str(scenario), "--page", str(page)]) == 0
    shown = capsys.readouterr()
    assert "tune takes" in shown.out and "->" in shown.out
    assert "Price and error" in page.read_text(encoding="utf-8")
    (task,) = read_scenario(scenario).tasks
    assert task.stepping.solver in shown.out and task.stepping.step == 1e-3
    assert main([*words, "-q", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chosen"]["settings"]["solver"] == task.stepping.solver


def test_chosen_signals_narrow_what_is_compared(model: kilohertz.Model) -> None:
    assert model.tune(step=1e-3, signals=["y"]).ok
    with pytest.raises(ModelError) as caught:
        model.tune(step=1e-3, signals=["nothing"])
    assert caught.value.diagnostics[0].code == "R744"


def test_an_error_that_is_no_share(model: kilohertz.Model) -> None:
    with pytest.raises(ModelError) as caught:
        model.tune(step=1e-3, error=2.0)
    assert caught.value.diagnostics[0].code == "R775"


def test_nothing_fits_into_the_deadline(model: kilohertz.Model) -> None:
    tuned = model.tune(step=1e-3, deadline=1e-9)
    assert not tuned.ok and tuned.notes and "nothing meets the goal" in tuned.as_text()

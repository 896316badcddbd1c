"""R755: a condition that came late and never ended again, because the step met it late; off-line and as a task."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import Diagnostic
from kilohertz.results import Result
from kilohertz.simulate import Statistics

BALL = """model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation
  der(h) = v; der(v) = -9.81; when h <= 0 then reinit(v, -0.5*pre(v)); end when; end M;"""
RESTS = """model M Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  Boolean flies(start = true, fixed = true);
  equation der(h) = if flies then v else 0; der(v) = if flies then -9.81 else 0;
  when h <= 0 then flies = -0.5*v > 0.1; reinit(v, if -0.5*v > 0.1 then -0.5*v else 0); end when; end M;"""
# reset on its way up, and on its way down by itself long before it is over: nothing is missed
SAW = """model M Real x(start = 0, fixed = true), n(start = 0, fixed = true); equation
  der(x) = 1; der(n) = 0; when sin(7*x) > 0.5 then reinit(n, pre(n) + 1); end when; end M;"""
BACK = "model M Real x(start = 0, fixed = true); equation der(x) = 1; when x > 0.3 then reinit(x, 0); end when; end M;"


def run(folder: Path, text: str, **more: object) -> tuple[Result, list[Diagnostic]]:
    """Two seconds of it by rk4 at 2 ms, and R755."""
    (folder / "M.mo").write_text(text)
    statistics = Statistics()
    model = kilohertz.load(str(folder / "M.mo"))
    result = model.simulate(stop=2.0, solver="rk4", step=2e-3, statistics=statistics, **more)  # type: ignore[arg-type]
    return result, [d for d in statistics.warnings if d.code == "R755"]


def test_a_ball_that_falls_through_its_floor_is_told(tmp_path: Path) -> None:
    result, (told,) = run(tmp_path, BALL)
    assert result.final("h") < -1.0
    assert told.message == "`h <= 0.0` came late and did not end again: what its event had set turned back before"
    assert told.span is not None and BALL[told.span.start : told.span.end].startswith("when h <= 0")


def test_before_it_falls_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "M.mo").write_text(BALL)
    statistics = Statistics()
    model = kilohertz.load(str(tmp_path / "M.mo"))
    result = model.simulate(stop=1.0, solver="rk4", step=2e-3, statistics=statistics)
    assert result.final("h") > 0.0
    assert not [d for d in statistics.warnings if d.code == "R755"]


@pytest.mark.parametrize("events", ["catch-up", "exact"])
def test_met_in_time_it_does_not_fall(tmp_path: Path, events: str) -> None:
    result, told = run(tmp_path, RESTS, events=events)
    assert not told
    assert abs(result["h"]).max() <= 1.0 and abs(result.final("h")) < 1e-9


@pytest.mark.parametrize("text", [SAW, BACK], ids=["saw", "back"])
def test_other_resets_are_not(tmp_path: Path, text: str) -> None:
    assert run(tmp_path, text)[1] == []


def test_a_task_says_so(tmp_path: Path) -> None:
    (tmp_path / "M.mo").write_text(BALL)
    model = kilohertz.load(str(tmp_path / "M.mo"))
    report = model.run(duration=2.0, solver="rk4", step=2e-3, folder=tmp_path / "out")
    assert report.data["tasks"][0]["counts"]["unended"] == 1
    assert "1 times a condition that came late did not end again (R755)" in report.as_text()

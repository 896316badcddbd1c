"""After an event the solver begins anew where derivatives or states changed, and only there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.results import Result
from kilohertz.simulate import Statistics


def run(folder: Path, body: str, stop: float = 1.0, solver: str = "cvode") -> tuple[Result, Statistics]:
    file, statistics = folder / "M.mo", Statistics()
    file.write_text(f"model M\n{body}\nend M;\n")
    result = load(file).simulate(stop=stop, tolerance=1e-8, solver=solver, statistics=statistics)
    return result, statistics


STATE = "  Real x(start = 1, fixed = true);\n"


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_what_nobody_feels(tmp_path: Path, solver: str) -> None:
    _, bare = run(tmp_path, f"{STATE}equation\n  der(x) = -x;", solver=solver)
    watched = f"{STATE}  Boolean low, lower, any;\nequation\n  der(x) = -x;\n  low = x < 0.5;\n  lower = x < 0.4999;\n"
    result, statistics = run(tmp_path, f"{watched}  any = low or lower;", solver=solver)
    assert (statistics.state_events, statistics.restarts) == (2, 0)
    assert statistics.steps == bare.steps
    at = [result.time[np.flatnonzero(np.diff(result[name]))[0] + 1] for name in ("low", "lower")]
    assert at == pytest.approx([np.log(2.0), -np.log(0.4999)], abs=1e-6)
    assert result["x"] == pytest.approx(np.exp(-result.time), abs=1e-6)


@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize(
    ("equations", "restarts", "end"),
    [
        ("der(x) = if x > 0.5 then -1 else -2;", 1, -0.5),  # a relation in a derivative
        ("der(x) = if time < 0.3 then 1 else 2;", 1, 2.7),  # a derivative that only events compute
        ("der(x) = k; k = if b then -1 else -2; b = x > 0.5;", 1, -0.5),  # by way of a Boolean and a Real
        ("der(x) = -1; when x < 0.5 then reinit(x, 1); end when;", 1, 0.5),
        ("der(x) = n; when x > 1.5 then n = 2; end when;", 1, 2.5),  # a discrete Real
        ("der(x) = pre(n); when x > 1.5 then n = 2; end when;", 1, 2.5),
        ("der(x) = 1; when x > 1.5 then n = 2; end when;", 0, 2.0),
        ("der(x) = 1; when x > 1.5 then say(x); end when;", 1, 2.0),  # it may do anything
    ],
)
def test_what_is_felt(tmp_path: Path, solver: str, equations: str, restarts: int, end: float) -> None:
    parts = {"k": "  Real k;\n", "b": "  Boolean b;\n", "n": "  discrete Real n(start = 1, fixed = true);\n"}
    declared = "".join(text for name, text in parts.items() if f"{name} =" in equations)
    function = '  function say\n    input Real x;\n  algorithm\n    assert(x > 0, "positive");\n  end say;\n'
    function = function if "say" in equations else ""
    result, statistics = run(tmp_path, f"{function}{STATE}{declared}equation\n  {equations}", solver=solver)
    assert statistics.restarts == restarts
    assert result["x"][-1] == pytest.approx(end, abs=1e-6)


DEAD_BAND = """model M "What follows its input at a distance that rounding does not change, by events alone"
  Real u(start = 0, fixed = true);
  discrete Real y(start = 0, fixed = true);
equation
  der(u) = cos(time);
algorithm
  when u > pre(y) + 0.125 then
    y := u - 0.125;
  end when;
end M;
"""


def test_a_condition_that_its_own_event_brings_back_to_zero(tmp_path: Path) -> None:
    (tmp_path / "M.mo").write_text(DEAD_BAND)
    statistics = Statistics()
    result = load(tmp_path / "M.mo").simulate(stop=1.5, statistics=statistics)
    assert np.abs(result["y"] - np.maximum(np.sin(result.time) - 0.125, 0)).max() < 1e-3
    assert [p.code for p in result.problems] == ["R728"]
    assert "u > pre(y) + 0.125" in result.problems[0].notes[0].text
    assert statistics.state_events < 20000


LIMITED = """model M "A relation that counts at a limit alone"
  Real y(start = 0, fixed = true);
equation
  der(y) = if sin(1000*time) > 0 and y > 0.5 then -1 else 1;
end M;
"""


def test_what_counts_with_something_else_alone(tmp_path: Path) -> None:
    (tmp_path / "M.mo").write_text(LIMITED)
    early, late = Statistics(), Statistics()
    model = load(tmp_path / "M.mo")
    result = model.simulate(stop=0.499, statistics=early)
    assert result["y"] == pytest.approx(result.time, abs=1e-9)
    assert (early.state_events, early.restarts) == (159, 100)  # from then on they are looked at
    result = model.simulate(stop=0.6, statistics=late)
    assert result.final("y") == pytest.approx(model.simulate(stop=0.6, tolerance=1e-10).final("y"), abs=1e-6)
    assert late.restarts > early.restarts


def test_an_instant_behind_which_the_solver_is_already(tmp_path: Path) -> None:
    """Steps are long; the event sets an instant within the one that is made already."""
    body = f"{STATE}  discrete Real due(start = 9, fixed = true), late(start = 0, fixed = true);\n"
    body += "  discrete Real v(start = 1, fixed = true);"
    sets = "  when x > 1.5 then\n    due = time + 1e-3;\n  end when;\n  when time >= due then\n    late = time;\n"
    result, statistics = run(tmp_path, f"{body}\nequation\n  der(x) = v;\n{sets}    v = 3;\n  end when;")
    assert result["late"][-1] == pytest.approx(0.501, abs=1e-6)
    assert result["x"][-1] == pytest.approx(1.501 + 3 * 0.499, abs=1e-6)
    assert statistics.restarts == 1


def test_assertions_behind_an_event_in_the_same_step(tmp_path: Path) -> None:
    body = f'{STATE}  Boolean b;\nequation\n  der(x) = -x;\n  b = x < 0.5;\n  assert(x > 0.1, "low");'
    result, statistics = run(tmp_path, body)
    assert result.ok
    assert statistics.restarts == 0


def test_delays_remember_events_that_are_not_felt(tmp_path: Path) -> None:
    body = f"{STATE}  Real y;\n  Boolean b;\nequation\n  der(x) = -x;\n  b = x < 0.5;\n"
    result, _ = run(tmp_path, f"{body}  y = delay(if b then 1.0 else 0.0, 0.1);")
    at = result.time[np.flatnonzero(result["y"] > 0.5)[0]]
    assert at == pytest.approx(np.log(2.0) + 0.1, abs=5e-3)


BALL = """
  Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  discrete Real at(start = 0, fixed = true);
  discrete Integer n(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when sample(0, 0.001) then
    n = pre(n) + 1;
  end when;
  when h < 0 then
    reinit(v, -0.8*pre(v));
    at = time;
  end when;"""


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_a_crossing_just_before_a_time_event_is_where_it_is(tmp_path: Path, solver: str) -> None:
    """A ball that falls between two ticks of a clock bounces there, not at the next tick."""
    result, statistics = run(tmp_path, BALL, stop=0.5, solver=solver)
    assert result["at"][-1] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-7)
    assert result["n"][-1] == 501  # and no tick is lost
    assert statistics.state_events == 2  # down and up again


@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize(
    ("size", "rate", "begins_anew"),
    [
        (5e-10, "if y > 2 and u > 0 or y < 0 and u < 0 then 0 else u", False),  # an integrator at rest
        (1.0, "if y > 2 and u > 0 or y < 0 and u < 0 then 0 else u", True),  # one that moves: the usual care
        (5e-10, "if u > 0 then 1 else -1", True),  # small, but felt
    ],
)
def test_noise_does_not_stop_the_solver(tmp_path: Path, solver: str, size: float, rate: str, begins_anew: bool) -> None:
    declared = f"  Real y(start = 1, fixed = true), u = {size}*sin(40*time + 1);\n"
    result, statistics = run(tmp_path, f"{STATE}{declared}equation\n  der(x) = -x;\n  der(y) = {rate};", solver=solver)
    assert statistics.state_events == 13
    assert statistics.restarts == (13 if begins_anew else 0)
    assert result["x"] == pytest.approx(np.exp(-result.time), abs=1e-6)
    if size == 1.0:
        assert result["y"] == pytest.approx(1 + (np.cos(1) - np.cos(40 * result.time + 1)) / 40, abs=1e-6)


BACK = """  Real v(start = 0, fixed = true), angle = 10*sin(time);
  discrete Real taken(start = 0, fixed = true);
equation
  der(v) = 1;
  when v >= 0.1 then
    reinit(v, 0);
  end when;
  when abs(angle - pre(taken)) > 0.25 then
    taken = angle;
  end when;"""


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_a_relation_whose_cause_an_event_takes_away_stays_exact(tmp_path: Path, solver: str) -> None:
    """It changes and changes back in one instant, again and again: that is no noise, and gets no dead band."""
    result, _ = run(tmp_path, BACK, stop=9.95, solver=solver)
    assert result["v"][-1] == pytest.approx(0.05, abs=1e-9)
    assert result["taken"] / 0.25 == pytest.approx(np.round(result["taken"] / 0.25), abs=1e-8)


TIE = """  Real angle = 10*sin(2*3.141592653589793*time), least = if time < 1 then 0.25 else 3;
  discrete Real taken(start = 0, fixed = true);
equation
  when abs(angle - pre(taken)) > least then
    taken = angle;
  end when;"""


def test_a_crossing_that_a_time_event_prevents_is_none(tmp_path: Path) -> None:
    """At 1 the angle is as far from the last one as it may be, then it may go further: located events do not drift."""
    result, _ = run(tmp_path, TIE, stop=1.1)
    assert result["taken"][-1] == pytest.approx(5.75, abs=1e-9)

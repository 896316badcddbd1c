"""R754: explicit methods that let a mode grow which the model does not; the runs as before."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import Diagnostic
from kilohertz.results import Result
from kilohertz.simulate import Statistics

STIFF = "model M Real x(start = 1, fixed = true); equation der(x) = -3000*(x - sin(time)); end M;"
LATER = "model M Real x(start = 1, fixed = true); equation der(x) = if time < 0.5 then 0 else -3000*x; end M;"
SWINGS = """model M Real x(start = 1, fixed = true), v(start = 0, fixed = true);
  equation der(x) = 100*v; der(v) = -100*x; end M;"""
GROWS = "model M Real x(start = 1, fixed = true); equation der(x) = 20*x; end M;"
MANY = """model M Real x[60](each start = 1, each fixed = true);
  equation for i in 1:60 loop der(x[i]) = -50*i*x[i]; end for; end M;"""


def run(folder: Path, text: str, solver: str, step: float, **more: object) -> tuple[Result, list[Diagnostic]]:
    """The result, and R754."""
    (folder / "M.mo").write_text(text)
    statistics = Statistics()
    model = kilohertz.load(str(folder / "M.mo"))
    result = model.simulate(stop=1.0, solver=solver, step=step, statistics=statistics, **more)  # type: ignore[arg-type]
    return result, [d for d in statistics.warnings if d.code == "R754"]


def test_a_step_that_is_too_long_is_told(tmp_path: Path) -> None:
    """R(-3) of rk4 is 1 - 3 + 9/2 - 27/6 + 81/24; its limit on the real axis is 2.785."""
    result, (told,) = run(tmp_path, STIFF, "rk4", 1e-3)
    assert abs(result.final("x")) > 1e100
    assert told.message == "the step of 0.001 s is too long for rk4: errors of x grow 1.375 times in each"
    assert told.span is not None and STIFF[told.span.start : told.span.end] == "x"
    (note,) = told.notes
    assert "become 0.0498 times as large (mode of -3e+03 1/s at time = 0)" in note.text
    assert "rk4 takes it with steps up to 0.00093 s; implicit methods such as ros3prl" in note.text
    assert math.isclose(math.exp(-3.0), 0.0498, rel_tol=1e-3)


@pytest.mark.parametrize(
    ("text", "solver", "step"),
    [
        (STIFF, "rk4", 0.9e-3),
        (STIFF, "ros3prl", 1e-3),  # implicit
        (STIFF, "sdirk2", 1e-3),
        (SWINGS, "rk4", 1e-3),
        (GROWS, "rk4", 1e-3),  # as the model does
        (GROWS, "euler", 1e-3),
        (MANY, "rk4", 0.9e-3),  # -3000 1/s at most
    ],
)
def test_a_step_that_fits_is_not(tmp_path: Path, text: str, solver: str, step: float) -> None:
    assert run(tmp_path, text, solver, step)[1] == []


def test_an_undamped_swing_grows_with_euler(tmp_path: Path) -> None:
    """|1 + 0.1i|^1000 is 145."""
    result, (told,) = run(tmp_path, SWINGS, "euler", 1e-3)
    assert math.isclose(math.hypot(result.final("x"), result.final("v")), abs(1 + 0.1j) ** 1000, rel_tol=1e-9)
    assert "grow 1.005 times" in told.message and "15.9 Hz" in told.notes[0].text


def test_what_begins_later_is_seen(tmp_path: Path) -> None:
    _, (told,) = run(tmp_path, LATER, "rk4", 1e-3)
    assert "errors of x grow 1.375 times" in told.message and "at time = 0 " not in told.notes[0].text


def test_internal_steps_count(tmp_path: Path) -> None:
    assert run(tmp_path, STIFF, "rk4", 1e-3, internal_steps=2)[1] == []
    (told,) = run(tmp_path, MANY, "euler", 2e-3, internal_steps=2)[1]
    assert "the step of 0.001 s" in told.message and "x[60]" in told.message


def test_bits_are_those_of_a_run_that_nobody_looks_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, told = run(tmp_path, SWINGS, "euler", 1e-3)
    monkeypatch.setattr("kilohertz.simulate.offline_run.make_runaway", lambda *_: None)
    other, silent = run(tmp_path, SWINGS, "euler", 1e-3)
    assert told and not silent
    assert one.time.tobytes() == other.time.tobytes() and one["x"].tobytes() == other["x"].tobytes()

"""`khz simulate` with a fixed step: what it says, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.cli.main import main
from kilohertz.results import read_csv
from kilohertz.solvers import METHODS

TICKS = """model Ticks
  Real x(start = 1, fixed = true);
  discrete Real n(start = 0, fixed = true);
equation
  der(x) = -x;
  when sample(0.05, 0.1) then
    n = pre(n) + 1;
  end when;
end Ticks;
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "ticks.mo").write_text(TICKS)
    return str(tmp_path / "ticks.mo")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--solver", "magic"), "R721"),
        (("--solver", "rk4", "--events", "never"), "R723"),
        (("--solver", "rk4", "--input-mode", "cubic"), "R723"),
        (("--solver", "rk4", "--newton", "0"), "R723"),
        (("--solver", "rk4", "--events", "exact", "--events-per-step", "0"), "R723"),
        (("--solver", "cvode", "--events", "mid"), "R723"),
        (("--solver", "rk4", "--step", "0.1ns"), "R723"),
    ],
)
def test_wrong_settings(model: str, arguments: tuple[str, ...], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", model, *arguments]) == 1
    text = capsys.readouterr().err
    assert f"error[{code}]" in text
    assert "Traceback" not in text
    if code == "R721":
        assert all(name in text for name in ("cvode", "auto", *METHODS))


def test_a_missing_step_is_taken_from_the_defaults_and_said(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", model, "--solver", "rk4", "--stop", "0.1"]) == 0
    assert "warning[R732]: no step given: 0.001 s" in capsys.readouterr().err


def test_a_result_is_written_as_usual(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The grid of outputs, both sides of every event, and the end."""
    out = tmp_path / "r.csv"
    arguments = ["--solver", "rk4", "--step", "10ms", "--stop", "0.305", "--intervals", "10", "--events", "linear"]
    assert main(["simulate", model, *arguments, "-o", str(out)]) == 0
    assert capsys.readouterr().err == ""
    result = read_csv(out)
    assert result.time[0] == 0.0
    assert result.time[-1] == pytest.approx(0.305)
    assert [float(t) for t in result.time].count(0.25) == 2
    assert result["n"][-1] == 3.0
    assert result["x"][-1] == pytest.approx(0.7371233743916278, rel=1e-9)


@pytest.mark.parametrize("events", ["catch-up", "exact"])
def test_several_ticks_in_a_step(events: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten ticks in a step of a second: as many as are allowed are met, the others are counted."""
    arguments = ["simulate", model, "--solver", "rk4", "--step", "1s", "--stop", "1", "--events", events]
    assert main([*arguments, "--events-per-step", "20"]) == 0
    assert capsys.readouterr().err == ""
    assert main([*arguments, "--events-per-step", "1"]) == 0
    assert "warning[R731]" in capsys.readouterr().err


def test_events_in_a_step_are_part_of_the_bound(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    for n in ("2", "3"):
        assert main(["analyse", model, "--solver", "rk4", "--events", "exact", "--events-per-step", n]) == 0
        assert f"event passes in {4 * int(n) + 1} steps" in capsys.readouterr().out

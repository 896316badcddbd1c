"""A model and its variant: what is saved, and what it costs in accuracy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kilohertz.cli import main

RESISTORS = "Kilohertz.Examples.ThermalResistors"
HOW = ["--solver", "euler", "--step", "1ms", "--steps", "300"]


def test_the_loop_is_gone_and_the_deviation_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "v.json"
    words = ["profile", f"{RESISTORS}.Original", "--against", f"{RESISTORS}.WithCapacity", *HOW, "--signals", "T_A"]
    assert main([*words, "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{RESISTORS}.WithCapacity saves ")
    assert "nonlinear 6" in shown
    data = json.loads(file.read_text())
    assert data["format"] == "khz-profile-versus 1"
    assert [len(data[side]["loops"]) for side in ("model", "variant")] == [1, 0]
    assert data["saved"] == pytest.approx(1 - data["variant"]["ns"] / data["model"]["ns"])
    (deviation,) = data["deviations"]
    assert deviation["signal"] == "T_A"
    assert 1e-4 < deviation["largest"] < 0.02  # as tests/library/test_tools_cases.py has it


def test_a_signal_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", f"{RESISTORS}.Original", "--against", f"{RESISTORS}.WithCapacity", *HOW, "--signals", "T_B"]
    assert main(words) == 1
    assert "error[R744]" in (said := capsys.readouterr().err)
    assert "T_A" in said

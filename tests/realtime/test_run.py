"""The periodic task from end to end: a model is built, runs, records and reports."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import load
from kilohertz.realtime import Built, Scenario, predict, read_recording, start

Build = Callable[[Scenario], Built]


def test_a_run_takes_its_time_and_reports(make: Build, scenario: Scenario) -> None:
    report = start(make(scenario)).wait()
    assert report.ok
    assert report.counts["steps"] == 200
    # the last release is at 199 ms; nothing may end before that
    assert report.data["wall_ns"] >= 199_000_000
    assert report.counts["missed"] == sum(report.counts[k] for k in ("overruns", "late_wakeups", "knock_on"))
    slack, late = report.data["times"]["slack"], report.data["times"]["lateness"]
    assert slack["n"] + report.missed == 190  # ten steps of grace
    assert 0 < late["n"] <= 190  # those that could begin on time
    assert late["min"] <= late["p50"] <= late["p99"] <= late["p99.9"] <= late["max"]
    assert {s["name"] for s in report.data["settings"]} >= {"priority", "locked memory", "denormals"}
    assert "deadlines missed" in report.as_text()


def test_the_recording_is_that_of_a_simulation(make: Build, scenario: Scenario) -> None:
    result = start(make(replace(scenario, scale=None))).wait().result
    assert len(result.time) == 201
    assert np.array_equal(result.time, np.arange(201) / 1000)
    reference = load("Kilohertz.Examples.RCCircuit").simulate(stop=0.2, tolerance=1e-10, intervals=200)
    ours = np.interp(reference.time, result.time, result["capacitor.v"])
    assert np.max(np.abs(ours - reference["capacitor.v"])) < 2e-3  # the switch closes between two steps


def test_the_executable_needs_no_python(make: Build, scenario: Scenario, tmp_path: Path) -> None:
    built = make(scenario)
    recording = tmp_path / "own.recording"
    words = [str(built.executable), f"record.file={recording}", "cycles=50", "wall_num=0"]
    done = subprocess.run(words, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "the duration is over after 50 steps" in done.stdout
    assert len(read_recording(recording).time) == 51


def test_the_c_source_builds_the_same_executable(make: Build, scenario: Scenario) -> None:
    built = make(scenario)
    built.executable.unlink()
    subprocess.run([built.folder / "src" / "build.sh"], check=True)
    assert start(built, {"wall_num": 0}).wait().counts["steps"] == 200


def test_what_the_executable_cannot_read_is_said(make: Build, scenario: Scenario) -> None:
    with pytest.raises(ModelError) as caught:
        start(make(scenario), {"period_ns": "soon"}).wait()
    (problem,) = caught.value.diagnostics
    assert problem.code == "R747"
    assert any("period_ns = soon" in note.text for note in problem.notes)


def test_the_prediction_names_blocks_with_their_lines(make: Build, scenario: Scenario) -> None:
    said = predict(make(replace(scenario, period_ns=1)))
    assert said.verdict == "cannot"
    assert "cannot keep its period" in said.as_text()
    assert ".mo:" in said.blame[0]
    assert predict(make(scenario)).p50_us > 0


def test_the_command_runs_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rc.csv"
    words = ["run", "Kilohertz.Examples.RCCircuit", "--duration", "50ms", "--solver", "euler", "-o", str(out)]
    assert main(words) == 0
    assert "deadlines missed" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 52

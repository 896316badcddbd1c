"""Profiles for other viewers: boxes nest, parts sum to the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kilohertz
from kilohertz.cli import main
from kilohertz.profiler import EXPORTS, worst_causes

MODEL = "Kilohertz.Examples.SaturatingInductors.WithCapacitor"


def test_boxes_of_a_trace_lie_in_their_cycle() -> None:
    profile = kilohertz.load(MODEL).profile(solver="rk4", steps=50)
    causes = worst_causes(profile, 3)
    trace = EXPORTS["perfetto"](profile, causes)
    cycles = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["name"] == "cycle"]
    assert len(cycles) == 50
    assert sum("cause" in e["args"] for e in cycles) == 3
    for event in (e for e in trace["traceEvents"] if e["ph"] == "X"):
        around = max((c for c in cycles if c["ts"] <= event["ts"] + 1e-9), key=lambda c: c["ts"])
        assert event["ts"] + event["dur"] <= around["ts"] + around["dur"] + 1e-6


def test_weights_sum_to_the_mean_cycle() -> None:
    profile = kilohertz.load(MODEL).profile(solver="rk4", steps=50)
    data = EXPORTS["speedscope"](profile, worst_causes(profile, 2))
    assert data["profiles"][0]["name"] == "mean cycle"
    assert len(data["profiles"]) == 3
    for one in data["profiles"]:
        assert sum(one["weights"]) == pytest.approx(one["endValue"])
        assert all(0 <= i < len(data["shared"]["frames"]) for stack in one["samples"] for i in stack)
    assert data["profiles"][0]["endValue"] == pytest.approx(profile.mean_ns, rel=0.01)


def test_the_command_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, page = tmp_path / "t.json", tmp_path / "p.html"
    assert (
        main(
            ["profile", MODEL, "--solver", "rk4", "--steps", "20", "-q", "--perfetto", str(trace), "--page", str(page)]
        )
        == 0
    )
    assert json.loads(trace.read_text())["traceEvents"]
    assert "solve first.i" in page.read_text()
    assert main(["profile", MODEL, "--solver", "rk4", "--steps", "20", "-q", "--page", "/dev/null/x"]) == 1
    assert "R702" in capsys.readouterr().err

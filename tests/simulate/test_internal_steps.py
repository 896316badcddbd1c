"""Internal steps of the whole model: a period in N equal parts, at N times the cost, with the inputs sampled once."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import load
from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import Model
from kilohertz.simulate import Statistics, Stepper
from kilohertz.solvers import StepSettings

SOURCE = Path(__file__).with_name("internal.mo")


@cache
def model(name: str) -> Model:
    return load(f"{SOURCE}:Internal.{name}")


@pytest.mark.parametrize("solver", ["rk3", "rodas4"])
def test_n_internal_steps_are_n_steps_to_the_bit(solver: str) -> None:
    outer = model("Oscillator").simulate(solver=solver, step=1e-3, internal_steps=4, stop=0.05, intervals=50)
    inner = model("Oscillator").simulate(solver=solver, step=2.5e-4, stop=0.05, intervals=200)
    assert len(outer.time) == 51
    assert np.array_equal(outer["x"], inner["x"][::4])
    assert np.array_equal(outer.time, inner.time[::4])


def test_events_and_the_end_of_the_run_are_those_of_the_shorter_step() -> None:
    """The last period is cut in the middle of an internal step."""
    told: dict[str, Any] = {"solver": "rk4", "events": "catch-up", "stop": 0.01015}
    outer = model("Chopper").simulate(step=1e-3, internal_steps=10, **told)
    inner = model("Chopper").simulate(step=1e-4, **told)
    assert outer.time[-1] == inner.time[-1] == 0.01015
    assert outer["i"][-1] == inner["i"][-1] and outer["u"][-1] == inner["u"][-1]


def test_inputs_are_sampled_once_and_extrapolated_over_the_period() -> None:
    """A ramp, extrapolated linearly from the samples at full periods, is met as well as with the shorter period."""
    program = model("Driven").compile()
    u, y = program.step.variables["u"], program.step.variables["y"]

    def run(period_ns: int, internal: int, mode: str) -> float:
        s = Stepper(program, StepSettings("rk4", period_ns * 1e-9, input_mode=mode, internal_steps=internal))
        s.start(0.0)
        for k in range(100_000_000 // period_ns):
            s.instance.write(u, k * period_ns * 1e-9)
            s.step()
        return float(s.instance.read(y))

    exact = 0.1 - 1 / 300
    assert run(10_000_000, 8, "linear") == pytest.approx(exact, abs=1e-6)
    assert run(10_000_000, 8, "held") == pytest.approx(run(10_000_000, 16, "held"), abs=1e-4)
    assert abs(run(10_000_000, 8, "held") - exact) > 3e-3


def test_counts_and_the_bound_are_those_of_a_period() -> None:
    program = model("Chopper").compile()
    bound = model("Chopper").cost_bound("rk4", events="catch-up", internal_steps=10)
    one = model("Chopper").cost_bound("rk4", events="catch-up")
    assert bound["worst"]["rhs"] == 10 * one["worst"]["rhs"] and bound["internal_steps"] == 10
    assert bound["worst"]["operations"] == 10 * one["worst"]["operations"]
    s = Stepper(program, StepSettings("rk4", 1e-3, events="catch-up", internal_steps=10))
    s.start(0.0)
    for _ in range(50):
        s.step()
    counts = s.counts
    assert counts["steps"] == 50
    assert 40 < counts["max_step_rhs"] <= bound["worst"]["rhs"]
    assert counts["max_step_passes"] <= bound["worst"]["event_passes"]


def test_a_snapshot_brings_them_back() -> None:
    s = Stepper(model("Chopper").compile(), StepSettings("ros3prl", 1e-3, events="mid", internal_steps=5))
    s.start(0.0)
    kept = s.snapshot()
    first = [s.step() for _ in range(20)], s.snapshot()
    s.restore(kept)
    assert ([s.step() for _ in range(20)], s.snapshot()) == first


@pytest.mark.parametrize("count", [0, 3, 1001])
def test_a_step_that_cannot_be_divided_is_refused(count: int) -> None:
    with pytest.raises(ModelError) as caught:
        model("Oscillator").simulate(solver="rk4", step=1e-3, internal_steps=count, stop=0.01)
    assert caught.value.diagnostics[0].code == "R723"


def test_they_are_not_for_variable_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", f"{SOURCE}:Internal.Fast", "--internal-steps", "2"]) == 1
    assert "`internal_steps` is for fixed-step solvers" in capsys.readouterr().err


def test_the_commands_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"{SOURCE}:Internal.Oscillator", "--solver", "rk4", "--internal-steps", "4", "--json"]
    assert main(["analyse", *words]) == 0
    assert json.loads(capsys.readouterr().out)["bound"]["internal_steps"] == 4
    assert main(["run", words[0], "--internal-steps", "none"]) == 2
    assert "`none` is not an integer" in capsys.readouterr().err


def test_more_of_them_are_nearer_to_the_reference() -> None:
    exact = model("Chopper").simulate(stop=0.02, tolerance=1e-9)["u"][-1]

    def away(n: int) -> float:
        told = Statistics()
        run = model("Chopper").simulate(solver="rk4", step=1e-3, stop=0.02, internal_steps=n, statistics=told)
        assert not told.counts["held"]
        return abs(float(run["u"][-1] - exact))

    assert away(20) < 0.3 * away(1)

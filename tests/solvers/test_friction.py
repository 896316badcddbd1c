"""Friction and clutches with a fixed step: locking and slipping in the order in which CVODE finds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import load
from kilohertz.driver.api import Model
from kilohertz.results import Result
from kilohertz.simulate import Statistics

SOURCE = Path(__file__).parent / "friction.mo"
EVENTS = ("none", "mid", "linear", "catch-up", "exact", "hermite", "predict")
LOCATED = ("linear", "catch-up", "exact", "hermite")
CLUTCHES = "Modelica.Mechanics.Rotational.Examples.CoupledClutches"


def sequence(result: Result, name: str) -> list[tuple[float, float]]:
    """(instant, mode) at every change."""
    values = result[name]
    out = [(float(result.time[0]), float(values[0]))]
    for t, v in zip(result.time, values, strict=True):
        if v != out[-1][1]:
            out.append((float(t), float(v)))
    return out


def agrees(model: Model, modes: tuple[str, ...], stop: float, solver: str, events: str, late: float) -> None:
    reference = model.simulate(solver="cvode", stop=stop, tolerance=1e-8, record=modes)
    found = model.simulate(
        solver=solver, stop=stop, step=1e-3, events=events, record=modes, intervals=round(stop * 1e3)
    )
    for name in modes:
        expected, got = sequence(reference, name), sequence(found, name)
        assert [m for _, m in got] == [m for _, m in expected], name
        assert max(abs(a - b) for (a, _), (b, _) in zip(got, expected, strict=True)) < late, name


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("solver", ["rk4", "ros34pw2", "esdirk3"])
def test_stick_slip(solver: str, events: str) -> None:
    agrees(load(f"{SOURCE}:Friction.StickSlip"), ("mode",), 10.0, solver, events, 4e-3)


@pytest.mark.skipif(not os.environ.get("MODELICAPATH"), reason="needs the Modelica Standard Library in MODELICAPATH")
@pytest.mark.parametrize(
    ("solver", "events"),
    [("rk4", "none"), ("ros34pw2", "linear"), ("li3", "predict"), ("sdirk2", "mid"), ("rk4", "exact")],
)
def test_coupled_clutches(solver: str, events: str) -> None:
    modes = ("clutch1.mode", "clutch2.mode", "clutch3.mode")
    agrees(load(CLUTCHES), modes, 1.5, solver, events, 4e-3)


@pytest.mark.parametrize("how", [{}, *({"solver": "rk4", "step": 1e-3, "events": e} for e in LOCATED)])
def test_two_clutches_lock_together(how: dict[str, Any]) -> None:
    """When the second is pressed the relative speed rests where the first one's event was found, a little beyond zero:
    it locks, and both carry half of what is transmitted."""
    model = load(f"{SOURCE}:Friction.TwoClutches")
    result = model.simulate(stop=1.0, **how)
    assert [p.code for p in result.problems] == ["R736"]
    assert "of many solutions the smallest was taken" in result.problems[0].message
    assert [m for _, m in sequence(result, "first.mode")] == [2, 1, 0]
    assert [m for _, m in sequence(result, "second.mode")] == [2, 0]
    assert result["first.f"][-1] == pytest.approx(2.0, abs=1e-6)
    assert result["second.f"][-1] == pytest.approx(2.0, abs=1e-6)


@pytest.mark.parametrize("how", [{}, *({"solver": "rk4", "step": 1e-3, "events": e} for e in LOCATED)])
def test_two_brakes_hold_a_shaft_together(how: dict[str, Any]) -> None:
    """What is left of the speed dies out with an acceleration that is rounding: the bearing does not slide for it."""
    result = load(f"{SOURCE}:Friction.TwoBrakes").simulate(stop=2.0, **how)
    after = result.time > 5 / 3 + 1e-3
    assert result["bearing.law.sticks"][after].all()
    assert result["brake.law.sticks"][after].all()
    assert np.abs(result["bearing.law.f"][after]).max() < 1e-9


@pytest.mark.parametrize("how", [{}, *({"solver": "rk4", "step": 1e-3, "events": e} for e in LOCATED)])
def test_clutches_that_locked_together_break_away(how: dict[str, Any]) -> None:
    """The speed that rested moves again: dv/dt = 106 - 50 - 25 from 0.8 on."""
    model = load(f"{SOURCE}:Friction.TwoClutches")
    result = model.simulate(stop=1.0, settings={"push": 100.0}, **how)
    assert [m for _, m in sequence(result, "first.mode")] == [2, 1, 0, 1]
    assert [m for _, m in sequence(result, "second.mode")] == [2, 0, 1]
    assert result["first.v"][-1] == pytest.approx(31 * 0.2, abs=1e-5)


@pytest.mark.parametrize("events", ["none", "linear", "hermite", "predict", "exact"])
def test_states_that_change_along_the_way(events: str) -> None:
    """A pendulum through the lowest point in Cartesian coordinates: the choice of states is an event like others."""
    model = load(str(SOURCE.with_name("pendulum.mo")))
    exact = model.simulate(tolerance=1e-9, record=("x", "y"))
    statistics = Statistics()
    found = model.simulate(solver="rk4", step=1e-3, events=events, statistics=statistics, record=("x", "y"))
    assert statistics.counts["event_caps"] == 0
    assert statistics.counts["state_events"] >= 1
    for name in ("x", "y"):
        assert abs(found[name] - np.interp(found.time, exact.time, exact[name])).max() < 1e-4

"""Friction and clutches with a fixed step: locking and slipping in the order in which CVODE finds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.driver.api import Model
from kilohertz.results import Result

SOURCE = Path(__file__).parent / "friction.mo"
EVENTS = ("none", "mid", "linear", "catch-up", "hermite", "predict")
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
    ("solver", "events"), [("rk4", "none"), ("ros34pw2", "linear"), ("li3", "predict"), ("sdirk2", "mid")]
)
def test_coupled_clutches(solver: str, events: str) -> None:
    modes = ("clutch1.mode", "clutch2.mode", "clutch3.mode")
    agrees(load(CLUTCHES), modes, 1.5, solver, events, 4e-3)

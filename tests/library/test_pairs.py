"""Equal models of ours and of the Modelica Standard Library have equal results."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError

FILE = Path(__file__).parent / "pairs.mo"
MODELICAPATH = os.environ.get("MODELICAPATH", "")  # when the tests are collected: they run without it
PAIRS = {
    "Clutch": ("first.w", "second.phi"),
    "Bearing": ("rotor.w", "rotor.phi"),
    "Brake": ("rotor.w", "rotor.phi"),
    "LossyGear": ("motor.w", "load.phi"),
    "Planetary": ("sun.w", "ring.w", "carrier.phi"),
    "Shaft": ("motor.w", "load.phi"),
    "Jerks": ("mass.s",),
    "Arm": ("first.phi", "second.phi", "third.phi"),
    "Tumbling": ("body.r_0[1]", "body.r_0[3]", "body.v_0[2]"),
    "Engine": ("crank.phi", "piston.s"),
    "Rectifier": ("capacitor.v", "wire.i"),
    "Motor": ("motor.w", "motor.phi"),
}


@pytest.fixture
def standard_library(monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [entry for entry in MODELICAPATH.split(os.pathsep) if entry and Path(entry, "Modelica").is_dir()]
    if not roots:
        pytest.skip("MODELICAPATH holds no Modelica Standard Library")
    monkeypatch.setenv("MODELICAPATH", os.pathsep.join(roots))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.usefixtures("standard_library")
def test_a_pair_agrees(name: str) -> None:
    ours, theirs = (kilohertz.load(f"{FILE}:Pairs.{name}{whose}").simulate(tolerance=1e-10) for whose in ("", "Theirs"))
    grid = ours.time[np.isin(ours.time, theirs.time)]  # rows of events lie at slightly different times
    assert len(grid) > 490
    for signal in PAIRS[name]:
        a, b = (np.interp(grid, r.time, r[signal]) for r in (ours, theirs))
        assert np.abs(a - b).max() <= 1e-6 * max(1.0, np.abs(b).max()), signal


@pytest.mark.usefixtures("standard_library")
def test_adapters_join_parts_of_both_libraries() -> None:
    """Every adapter, in the midst of a part whose other half is the standard library's."""
    file = FILE.with_name("adapters.mo")
    ours, mixed = (kilohertz.load(f"{file}:Joined.{m}").simulate(tolerance=1e-10) for m in ("Ours", "Mixed"))
    assert np.array_equal(ours.time, mixed.time)
    for signal in ("rotor.w", "load.phi", "mass.s", "capacitor.v", "hot.T", "cold.T", "swing.hinge.phi"):
        assert np.abs(ours[signal] - mixed[signal]).max() <= 1e-6 * np.ptp(ours[signal]), signal


@pytest.mark.usefixtures("standard_library")
def test_a_car_on_joints_and_bodies_of_the_standard_library_is_ours() -> None:
    """Its loops are closed by joints that iterate, ours by formulas: the same motion, and the same loads."""
    names = ("Kilohertz.Examples.Handling.LaneChange2", f"{FILE.with_name('theirs.mo')}:Theirs.LaneChange")
    ours, theirs = (kilohertz.load(n).simulate(solver="rk4", step=1e-3, stop=2.0, intervals=200) for n in names)
    signals = [f"car.chassis.{name}" for name in ("a_y", "yaw_rate", "roll", "y", "v_x")]
    for signal in [*signals, *(f"car.load[{i}]" for i in range(1, 5)), "car.steering.rack.f"]:
        right = ours[signal]
        assert np.abs(theirs[signal] - right).max() <= 1e-9 * np.abs(right).max(), signal


def test_an_adapter_without_the_standard_library_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELICAPATH", "")
    with pytest.raises(ModelError, match="Modelica") as caught:
        kilohertz.load("Kilohertz.Adapters.Rotational").flatten()
    assert caught.value.diagnostics[0].code == "S202"

"""Examples that no other test of this folder is about, against solutions known by hand and CVODE; levels of detail."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result

LEVELS = Path(__file__).parent / "levels.mo"


def run(model: str) -> Result:
    return kilohertz.load(f"Kilohertz.Examples.{model}").simulate(tolerance=1e-10)


def test_exponentials_and_a_divider() -> None:
    decay, divider, charged = run("Decay"), run("TwoResistors"), run("RCCircuit")
    assert np.abs(decay["x"] - np.exp(-decay.time)).max() < 1e-8
    assert np.abs(divider["lower.v"] - 20).max() < 1e-12
    assert np.abs(divider["lower.i"] - 0.1).max() < 1e-14
    before, after = np.minimum(charged.time, 0.1), np.maximum(charged.time - 0.1, 0)  # open it has 100 kOhm
    exact = 10 * (1 - np.exp(-before / 10.1 - after / (0.1 * (1 + 1e-8))))
    assert np.abs(charged["capacitor.v"] - exact).max() < 1e-7


def test_a_ball_loses_the_same_part_of_its_speed_at_each_bounce() -> None:
    ball = run("BouncingBall")
    falls = math.sqrt(2 / 9.81)
    up = np.flatnonzero(np.diff(ball["v"]) > 0.1)
    times = falls + np.cumsum([0, *(2 * falls * 0.7**k for k in range(1, 5))])
    assert ball.time[up[:5]] == pytest.approx(times, abs=1e-7)
    assert ball["v"][up[:5] + 1] == pytest.approx([9.81 * falls * 0.7**k for k in range(1, 6)], abs=1e-6)


def test_a_drive_train_gains_what_its_motor_gives() -> None:
    """Seen from the load: 5 times the torque, 25 times the inertia of the rotor; the spring takes nothing."""
    train = run("DriveTrain")
    momentum = (25 * 0.1 + 0.5) * train["shaft.w"] + 5 * train["load.w"]
    assert np.abs(momentum - 5 * 10 * np.maximum(train.time - 0.1, 0)).max() < 1e-9
    assert np.abs(train["rotor.w"] - 5 * train["shaft.w"]).max() < 1e-9


def test_a_body_follows_its_surroundings_behind_a_wall() -> None:
    heater = run("InRealTime.Heater")
    w, rate = 0.01, 1 / (50 * 0.5)
    t = heater.time
    swing = rate * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-rate * t)
    assert np.abs(heater["T"] - 293.15 - 5 * rate / (rate**2 + w**2) * swing).max() < 1e-6


def test_a_driven_circuit_rings() -> None:
    """The particular solution of the second order, and the free one that makes both states zero at the start."""
    circuit = run("InRealTime.Resonance")
    r, inductance, c, w = 1.0, 1e-2, 1e-3, 2 * math.pi * 50
    driven = 1 / complex(1 - inductance * c * w**2, r * c * w)  # of the capacitor, for exp(j w t)
    decay = r / (2 * inductance)
    free = math.sqrt(1 / (inductance * c) - decay**2)
    b = -driven.imag
    a = (-w * driven.real + decay * b) / free
    t = circuit.time
    exact = (driven * np.exp(1j * w * t)).imag + np.exp(-decay * t) * (b * np.cos(free * t) + a * np.sin(free * t))
    assert np.abs(circuit["capacitor.v"] - exact).max() < 1e-6 * np.ptp(exact)


def test_the_smooth_law_creeps_where_the_other_jerks() -> None:
    smooth, jerks = run("Slides.Creeping"), run("Slides.StickSlip")
    assert np.abs(smooth["guide.f"] - 20 * np.tanh(smooth["mass.v"] / 1e-3)).max() < 1e-9
    late = smooth.time > 2
    assert smooth["mass.v"][late].min() > 0.01  # it never stops
    assert jerks["mass.v"][jerks.time > 2].min() < 1e-6


def test_a_carrier_on_rods_moves_in_fixed_steps_as_with_cvode() -> None:
    model = kilohertz.load("Kilohertz.Examples.Bodies.Suspended")
    exact, steps = model.simulate(tolerance=1e-9), model.simulate(solver="ros34pw2", step=1e-3)
    for name in ("carrier.r_0[1]", "carrier.r_0[2]", "rod[3].r_0[3]"):
        off = np.interp(exact.time, steps.time, steps[name]) - exact[name]
        assert np.abs(off).max() < 1e-3 * np.ptp(exact[name]), name


def test_one_switch_chooses_how_much_a_transmission_gives_way() -> None:
    """Rigid, elastic, with play: more states, and the joint lags by what each level lets it."""
    lag, angles, states = {}, {}, {}
    for level in ("Rigid", "Elastic", "WithPlay"):
        model = kilohertz.load(f"{LEVELS}:Levels.{level}")
        result = model.simulate(tolerance=1e-9)
        states[level] = len(model.analyse().states)
        lag[level] = np.abs(result["arm.phi"] - result["servo.phi"] / 100).max()
        angles[level] = np.interp(np.linspace(0, 1, 200), result.time, result["arm.phi"])
    assert states == {"Rigid": 6, "Elastic": 8, "WithPlay": 8}
    assert lag["Rigid"] < 1e-12 < lag["Elastic"] < lag["WithPlay"] < lag["Elastic"] + 1e-3  # the play: 1e-3
    assert np.abs(angles["Elastic"] - angles["Rigid"]).max() < 2 * lag["Elastic"]
    assert np.abs(angles["WithPlay"] - angles["Rigid"]).max() < 3 * lag["WithPlay"]

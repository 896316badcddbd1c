"""Hydraulic circuits, valves and cylinders with stops, against solutions known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

import kilohertz
from kilohertz.results import Result

OIL, AXIS = "Kilohertz.Examples.Oil", "Kilohertz.Examples.HydraulicAxis"
E = 1.4e9


def run(model: str, stop: float | None = None, **settings: float) -> Result:
    return kilohertz.load(model).simulate(tolerance=1e-10, stop=stop, settings=settings)


def root(dp: np.ndarray, turn: float) -> np.ndarray:
    found: np.ndarray = dp / (dp**2 + turn**2) ** 0.25
    return found


def test_a_power_unit_obeys_the_laws_of_its_parts() -> None:
    result = run(f"{OIL}.PowerUnit")
    outlet, store, w = result["outlet.p"], result["store.p"], result["pump.w"]
    rise = outlet - 2e5
    q_pump = 1e-5 / (2 * math.pi) * w - 1e-13 * rise
    assert np.abs(result["pump.q"] - q_pump).max() < 1e-12
    assert np.abs(result["pump.shaft.tau"] - 1e-5 / (2 * math.pi) * rise).max() < 1e-6
    q_relief = 1e-14 * rise + np.maximum(rise - 1.5e7, 0) / 5e5 * 6e-4
    assert np.abs(result["relief.q"] - q_relief).max() < 1e-11
    dp = outlet - store
    q_check = 1e-14 * dp + np.where(dp > 5e4, 40e-3 / 60 / math.sqrt(5e5) * root(dp - 5e4, 1e4), 0)
    assert np.abs(result["check.q"] - q_check).max() < 1e-10
    assert np.abs(result["load.q"] - 0.7 * 1e-6 * math.sqrt(2 / 870) * root(store - 2e5, 1e4)).max() < 1e-12
    assert np.abs(store * (5e-4 - result["store.V"]) ** 1.3 / (5e6 * 5e-4**1.3) - 1).max() < 1e-12
    assert np.abs(result["meter.y"] - result["load.q"]).max() < 1e-15
    assert np.abs(result["pressure.p"] - store).max() == 0
    filled = np.interp([3.9], result.time, outlet)[0]
    assert 1.5e7 < filled - 2e5 < 1.55e7  # the relief valve holds it
    assert result["check.q"][result.time > 5].max() < 1e-7  # closed when the motor stands


def test_a_stopped_flow_raises_the_pressure_as_joukowsky_says() -> None:
    result = run(f"{OIL}.Hammer")
    area = math.pi / 4 * 0.012**2
    steady = (result.time > 0.1) & (result.time < 0.3)  # whole swings about what friction leaves
    before = result["line.p[20]"][steady].mean()
    surge = math.sqrt(E * 870) * 2e-4 / area
    travel = 20 / math.sqrt(E / 870)  # from one end to the other
    plateau = np.interp(0.3 + travel, result.time, result["line.p[20]"])
    assert plateau - before == pytest.approx(surge, rel=0.1)  # twenty pieces ring a little about the exact step
    resistance = 128 * 870 * 4.6e-5 * 20 / (math.pi * 0.012**4)
    assert 5e6 - before == pytest.approx(resistance * 2e-4, rel=0.05)  # Hagen and Poiseuille


def test_air_makes_a_chamber_soft_at_low_pressure() -> None:
    result = run(f"{OIL}.Bubbles")
    leak = 1e-14
    p = result["airy.p"]
    ratio = 0.02 / 0.98

    def modulus(x: float) -> float:
        bubbles = ratio * (1e5 / x) ** (1 / 1.4)
        return float((1 + bubbles) / (1 / E + bubbles / (1.4 * x)))

    needed = quad(lambda x: 1e-4 / (modulus(x) * (1e-6 - leak * (x - 1e5))), 1e5, p[-1], limit=500)[0]
    assert needed == pytest.approx(3, rel=1e-6)
    final = 1e5 + 1e-6 / leak * (1 - math.exp(-3 * E / 1e-4 * leak))
    assert result.final("clean.p") == pytest.approx(final, rel=1e-8)
    assert p[-1] < 0.7 * result.final("clean.p")


def test_a_weight_is_lifted_held_and_let_down_onto_the_stop() -> None:
    result = run(f"{OIL}.Lift")
    t, s = result.time, result["mass.s"]
    assert np.interp(1.2, t, s) > 0.1
    held = (t > 1.4) & (t < 1.6)
    assert np.ptp(s[held]) < 5e-3
    assert s.min() > -5e-4 and abs(result.final("mass.s")) < 5e-4
    dp = result["supply.a.p"] - result["cylinder.p_a"]
    y = result["raise.y"]
    edge = (y + np.hypot(y, 0.01)) / 2
    k = 40e-3 / 60 / math.sqrt(35e5)
    back = (-y + np.hypot(y, 0.01)) / 2 * root(result["cylinder.p_a"] - 2e5, 1e5)
    assert np.abs(result["raise.q"] - k * (edge * root(dp, 1e5) - back)).max() < 1e-12
    low = result["lower.y"]
    q = k * (low + np.hypot(low, 0.01)) / 2 * root(result["cylinder.p_a"] - 2e5, 1e5)
    assert np.abs(result["lower.q"] - q).max() < 1e-12
    moves = np.abs(result["mass.v"]) > 1e-3
    assert np.abs(np.abs(result["cylinder.seal.f_ab"][moves]) - 500).max() < 1e-6


def test_a_press_reaches_the_force_that_is_asked_for() -> None:
    result = run(f"{OIL}.Press")
    area = math.pi / 4 * np.array([0.063**2, 0.063**2 - 0.045**2])
    v = result["ram.v"]
    leak = 1e-12 * (result["cylinder.a.p"] - result["cylinder.b.p"])
    assert np.abs(result["cylinder.a.q"] - area[0] * v - leak).max() < 1e-12
    assert np.abs(result["cylinder.b.q"] + area[1] * v + leak).max() < 1e-12
    assert result.final("force.f") == pytest.approx(2e4, rel=1e-3)


def test_the_axis_stays_within_its_stroke_where_it_has_stops() -> None:
    free, stopped = run(f"{AXIS}.OpenLoop", amplitude=10.0), run(f"{AXIS}.EndStops")
    assert free["mass.s"].max() > 0.55
    s, v, f = stopped["mass.s"], stopped["mass.v"], stopped["stop.f"]
    assert s.max() < 0.501
    pressed = f > 1
    assert np.abs(f - np.maximum(1e8 * (s - 0.5) + 1e5 * v, 0))[pressed].max() < 1e-3
    same = stopped.time < stopped.time[np.flatnonzero(f > 0)[0]] - 1e-3
    apart = np.interp(stopped.time[same], free.time, free["mass.s"]) - s[same]
    assert np.abs(apart).max() < 1e-6


def test_the_axis_from_reusable_parts_is_the_axis_of_the_benchmark() -> None:
    whole = run(f"{AXIS}.Controlled", stop=4.0)
    parts = run(f"{AXIS}.WithComponents", stop=4.0)
    for one, other, scale in (
        ("plant.x", "mass.s", 0.1),
        ("plant.p_a", "cylinder.p_a", 1e7),
        ("plant.u", "valve.u", 10.0),
    ):
        apart = np.interp(whole.time, parts.time, parts[other]) - whole[one]
        assert np.abs(apart).max() < 1e-6 * scale, one


def test_the_sampled_controller_keeps_the_axis_as_close() -> None:
    sampled = run(f"{AXIS}.SampledControl", stop=2.0)
    smooth = run(f"{AXIS}.WithComponents", stop=2.0)
    apart = np.interp(smooth.time, sampled.time, sampled["mass.s"]) - smooth["mass.s"]
    assert np.abs(apart).max() < 2e-4
    commands = np.unique(sampled["valve.u"][(sampled.time > 1) & (sampled.time < 1.1)])
    assert 95 <= len(commands) <= 105  # one for each millisecond


def test_the_y_drive_brings_the_beam_to_the_leg_and_presses_it_on() -> None:
    """Two loops of Real and discrete unknowns and one nonlinear loop, as its source reports of the original."""
    model = kilohertz.load("Kilohertz.Examples.YDrive")
    result = model.simulate(tolerance=1e-8)
    late = result.time > 14
    assert np.abs(result["beam.s"] - result["leg.s"])[late].max() < 4e-3
    assert np.abs(result["force.f"][late] - 5e4).max() < 0.02 * 5e4
    early = result.time < 8  # the rod rests on its stop, the beam goes with the carriage
    assert np.abs(result["beam.s"] - result["carriage.s"] - 1.2)[early].max() < 2e-4
    assert np.abs(result["carriage.s"][late] - 2.3).max() < 5e-3
    area = math.pi / 4 * np.array([0.16**2, 0.16**2 - 0.11**2])
    fluid = area[0] * result["cylinder.p.p"] - area[1] * result["cylinder.t.p"]
    assert np.abs(fluid - result["cylinder.f_fluid"]).max() < 1e-6
    assert np.abs(result["cylinder.p.q"] - area[0] * result["cylinder.v"] - result["cylinder.q_leak"]).max() < 1e-12
    kinds = [loop.kind for loop in model.analyse().loops if loop.partition == "step"]
    assert kinds.count("mixed") == 2 and kinds.count("nonlinear") == 1

"""Components of Rotational and Translational against solutions known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result

DRIVES, SLIDES = "Kilohertz.Examples.Drives", "Kilohertz.Examples.Slides"


def run(model: str, **settings: float) -> Result:
    return kilohertz.load(model).simulate(tolerance=1e-10, settings=settings)


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max())


def at(result: Result, signal: str, time: float) -> float:
    return float(np.interp(time, result.time, result[signal]))


def test_a_clutch_slides_until_the_speeds_meet_and_then_carries_what_it_must() -> None:
    result = run(f"{DRIVES}.ClutchEngages")
    t = result.time
    slides = (t > 0.2) & (t < 0.2 + 1 / 3)
    assert off(result["engine.w"][slides], 10 - 20 * (t[slides] - 0.2)) < 1e-7
    assert off(result["load.w"][slides], 10 * (t[slides] - 0.2)) < 1e-7
    joined = t > 0.2 + 1 / 3 + 1e-6
    drive = np.where(t < 1, 0, 25 * np.sin(2 * (t - 1)))
    exact = 10 / 3 + np.where(t < 1, 0, 25 / 6 * (1 - np.cos(2 * (t - 1))))
    assert off(result["engine.w"][joined], exact[joined]) < 1e-6
    assert off(result["clutch.tau"][joined], 2 / 3 * drive[joined]) < 1e-6
    assert result["clutch.law.sticks"][joined].all()


def test_the_smooth_clutch_ends_where_the_other_does_and_has_no_events() -> None:
    sharp, smooth = run(f"{DRIVES}.ClutchEngages"), run(f"{DRIVES}.SmoothClutch")
    grid = np.linspace(0.6, 4, 100)
    apart = np.interp(grid, sharp.time, sharp["load.w"]) - np.interp(grid, smooth.time, smooth["load.w"])
    assert np.abs(apart).max() < 0.02
    assert np.abs(smooth["clutch.w_rel"][smooth.time > 0.6]).max() < 0.02
    assert "way" not in "".join(smooth.names)


def test_a_bearing_holds_up_to_its_peak_and_slides_below_it() -> None:
    result = run(f"{DRIVES}.StickingBearing")
    t, breaks = result.time, 0.5 * math.asin(3 / 3.2)
    assert np.abs(result["rotor.w"][t < breaks - 1e-6]).max() < 1e-12
    first = (t > breaks) & (t < 1.2)
    w = 1.6 * (math.cos(2 * breaks) - np.cos(2 * t[first])) - 2 * (t[first] - breaks)
    assert off(result["rotor.w"][first], w) < 1e-7


def test_a_guide_breaks_away_above_its_peak_while_a_gear_beside_it_chooses_its_mode() -> None:
    """Both modes are searched together: the one that breaks away has to meet its own condition."""
    result = kilohertz.load("Kilohertz.Examples.YDrive(guide(peak=1.2))").simulate(stop=2, intervals=2000)
    held = result["guide.law.sticks"] == 1
    assert 3400 < np.abs(result["guide.f"][held]).max() <= 3600 + 1e-3
    assert off(np.abs(result["guide.f"][~held]), np.full((~held).sum(), 3000.0)) < 1e-6
    assert result["carriage.v"].max() > 0.1


def test_a_brake_stops_at_a_constant_rate_holds_and_lets_go() -> None:
    result = run(f"{DRIVES}.Braked")
    t = result.time
    exact = np.where(t < 5 / 3, 20 - 12 * t, np.where(t < 2.5, 0, 8 * (t - 2.5)))
    assert off(result["rotor.w"], exact) < 1e-6
    held = (t > 1.7) & (t < 2.49)
    assert off(result["brake.tau"][held], np.full(held.sum(), 4.0)) < 1e-6


def test_backlash_pushes_as_a_spring_does_and_never_pulls() -> None:
    result = run(f"{DRIVES}.Backlash")
    x, w, tau = (result[f"coupling.{n}"] for n in ("phi_rel", "w_rel", "tau"))
    beyond = np.sign(x) * np.maximum(np.abs(x) - 0.01, 0)
    expected = np.where(beyond > 0, np.maximum(1000 * beyond + 0.5 * w, 0), np.minimum(1000 * beyond + 0.5 * w, 0))
    clear = np.abs(np.abs(x) - 0.01) > 1e-9  # at a change of contact a row shows one side or the other
    assert off(tau[clear], np.where(beyond == 0, 0, expected)[clear]) < 1e-9
    assert (np.abs(beyond) > 0).any() and (beyond == 0).any()
    rounded = run(f"{DRIVES}.RoundedBacklash")
    assert abs(rounded.final("load.phi") - result.final("load.phi")) < 0.02


def test_a_gear_with_losses_lifts_rests_and_sinks() -> None:
    result = run(f"{DRIVES}.Hoist")
    t = result.time
    lifting = 0.1 + 3 / (0.8 * 25)  # inertia at the motor: eta of the torque arrives
    w1 = (8 - 20 / (5 * 0.8)) / lifting
    assert off(result["motor.w"][t < 1], w1 * t[t < 1]) < 1e-6
    rests = 1 + w1 / ((5 - 3.5) / lifting)
    assert rests > 2  # it still turns when the drive falls to 2 N.m
    rests = 2 + (w1 - 1.5 / lifting) / ((5 - 2) / lifting)
    sinks = t > rests + 1e-3
    w2 = (2 - 4 * 0.7) / (0.1 + 0.7 * 3 / 25)
    assert off(result["motor.w"][sinks], w2 * (t[sinks] - rests)) < 1e-5


def test_a_gear_below_half_its_efficiency_locks_by_itself() -> None:
    """b cannot drive a: what a must add to let the load down is positive."""
    result = run(f"{DRIVES}.Hoist", **{"gear.eta": 0.4, "gear.eta_back": 0.1, "weight.tau": -100.0})
    assert np.abs(result["motor.w"]).max() < 1e-9


def test_planetary_gears_share_speeds_and_torques_as_willis_says() -> None:
    result = run(f"{DRIVES}.PlanetaryStages")
    t = result.time
    assert off(result["sun.w"], t / (0.1 + 1 / 9)) < 1e-8
    assert off(result["carrier.w"], result["sun.w"] / 3) < 1e-9
    assert off(result["simple.ring.tau"], 2 * result["simple.sun.tau"]) < 1e-9
    assert off(result["out.w"], result["first.w"] / 2.8) < 1e-9
    assert off(result["idle.w"], -2.2 * result["out.w"]) < 1e-9
    inertia = 0.1 + (2 + 0.05 * 2.2**2) / 2.8**2
    assert off(result["first.w"], t / inertia) < 1e-8


def test_a_freewheel_follows_up_and_lets_run() -> None:
    result = run(f"{DRIVES}.Overrun")
    t = result.time
    driven = t < 1.4  # it opens where the drive falls faster than friction would make the rotor fall
    assert off(result["rotor.w"][driven], result["shaft.w"][driven]) < 1e-8
    opens = np.pi - math.atan(5.0)  # 5 cos t = -0.2*5 sin t; the delay of the drive is 1 ms
    free = (t > opens + 0.01) & (t < 5)
    start = at(result, "rotor.w", opens + 0.01)
    assert off(result["rotor.w"][free], start * np.exp(-0.2 * (t[free] - opens - 0.01))) < 1e-5
    assert (result["freewheel.tau"] > -1e-9).all()


def test_a_torque_converter_doubles_the_torque_at_stall_and_can_be_locked() -> None:
    result = run(f"{DRIVES}.Converter")
    stall = result["converter.oil.tau_turbine"][0] / result["converter.oil.tau_pump"][0]
    assert stall == pytest.approx(2) and result["converter.oil.tau_pump"][0] == pytest.approx(24)
    pump, turbine = result["engine.w"], result["vehicle.w"]
    locked = result.time > 7
    assert np.abs(pump - turbine)[locked].max() < 1e-6
    total = 150 - 40 * (turbine / 300) ** 2
    assert off(result["vehicle.acc"][locked], total[locked] / 6.3) < 1e-6
    assert off(result["power.P"], result["power.a.tau"] * turbine) < 1e-6


def test_a_table_that_does_not_rise_is_refused() -> None:
    with pytest.raises(ModelError, match="the speed ratios of a torque converter must rise"):
        run(f"{DRIVES}.Converter", **{"converter.oil.nu[2]": -1.0})


def test_a_shaft_swings_between_its_stops() -> None:
    result = run(f"{DRIVES}.Pendulum")
    t, k = result.time, math.sqrt(2)
    hits = math.asin(k / 3) / k
    free = t < hits
    assert off(result["angle.phi"][free], 3 / k * np.sin(k * t[free])) < 1e-8
    assert off(result["speed.w"][free], 3 * np.cos(k * t[free])) < 1e-8
    assert off(result["torque.tau"], -result["spring.b.tau"]) < 1e-12
    assert 1 < result["bar.phi"].max() < 1.03 and -0.53 < result["bar.phi"].min() < -0.5


def test_stops_that_stand_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ModelError, match="the lower stop lies above the upper one"):
        run(f"{DRIVES}.Pendulum", **{"stop.phi_min": 2.0})
    with pytest.raises(ModelError, match="the lower stop lies above the upper one"):
        run(f"{SLIDES}.BetweenStops", **{"stop.s_min": 2.0})


def test_a_mass_sticks_until_the_spring_has_twice_the_sliding_force() -> None:
    result = run(f"{SLIDES}.StickSlip")
    t = result.time
    sticks = t < 0.19
    assert np.abs(result["mass.v"][sticks]).max() < 1e-9
    assert off(result["force.f"], result["guide.f"] + result["mass.acc"]) < 1e-6
    slips = np.flatnonzero(result["mass.v"] > 1e-3)[0]
    assert result["spring.b.f"][slips - 1] == pytest.approx(-40, abs=1.5)
    jerks = np.flatnonzero(np.diff((result["mass.v"] > 1e-3).astype(int)) == 1)
    assert len(jerks) > 5


def test_between_stops_a_blow_takes_energy_and_the_brake_the_rest() -> None:
    result = run(f"{SLIDES}.BetweenStops")
    c, d, m = 1e5, 100.0, 2.0
    delta, omega = d / (2 * m), math.sqrt(c / m - (d / (2 * m)) ** 2)
    # until the force, not the path, is zero: c x + d v = 0
    end = (math.pi - math.atan(2 * delta * omega / (omega**2 - delta**2))) / omega
    back = math.exp(-delta * end) * (math.cos(omega * end) - delta / omega * math.sin(omega * end))
    assert at(result, "speed.v", 0.9) == pytest.approx(back, rel=1e-6)
    assert result["position.s"].max() < 1.01
    assert abs(result.final("mass.v")) < 1e-9


def test_a_rack_gives_torque_over_radius_and_the_buffer_takes_it() -> None:
    result = run(f"{SLIDES}.Buffer")
    early = result.time < 0.15
    mass = 5 + 0.05 / 0.01
    exact = 40 / 2 * (1 - np.exp(-result.time * 2 / mass))
    assert off(result["mass.v"][early], exact[early]) < 1e-7
    assert result.final("buffer.f") == pytest.approx(-40, rel=1e-3)
    assert off(result["mass.s"] - 0.2, 0.1 * result["pinion.phi"]) < 1e-12


def test_play_along_a_line_pushes_as_a_spring_does_and_never_pulls() -> None:
    result = run(f"{SLIDES}.Play")
    x, v, f, side = (result[f"coupling.{n}"] for n in ("s_rel", "v_rel", "f", "side"))
    push = 1e4 * (x - 0.01 * side) + 5 * v
    expected = np.where(side > 0, np.maximum(push, 0), np.where(side < 0, np.minimum(push, 0), 0))
    clear = np.abs(np.abs(x) - 0.01) > 1e-9  # at a change of contact a row shows one side or the other
    assert off(f[clear], expected[clear]) < 1e-9
    assert set(np.unique(side)) == {-1, 0, 1}
    momentum = result["first.v"] + 2 * result["second.v"] + 5 * result["second.s"]  # without what is lost in between
    assert off(momentum, 20 / (2 * math.pi) * (1 - np.cos(2 * math.pi * result.time))) < 1e-6

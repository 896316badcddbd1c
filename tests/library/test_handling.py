"""Cars at and beyond the limits, and beside a car written down by hand.  All runs but two are of one compiled model."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from two_track import TwoTrack

import kilohertz
from kilohertz.results import Result
from kilohertz.simulate.stiffness import reference_run

HANDLING = "Kilohertz.Examples.Handling"
WEIGHT = 9.81 * (1442 + 4 * 21 + 2 * 27.62 + 2 * 30.05)
AMPLITUDES, STARTS = (0.686, -0.692, -0.729, 0.735), (0.5, 1.4, 3.0, 3.9)
STRAIGHT = {f"hands.amplitude[{i}]": 0.0 for i in range(1, 5)}


@functools.cache
def load(level: int) -> kilohertz.Model:
    return kilohertz.load(f"{HANDLING}.LaneChange{level}")


def run(settings: dict[str, float], stop: float = 8.0, solver: str = "euler", level: int = 1) -> Result:
    """A held step or a number that is not finite would be a warning, and that fails a test."""
    result = load(level).simulate(solver=solver, step=1e-3, stop=stop, intervals=round(200 * stop), settings=settings)
    assert all(np.isfinite(result[name]).all() for name in result.names)
    return result


def held(angle: float) -> dict[str, float]:
    """The hand wheel is turned from the start on: the top of a half-wave of 2000 s."""
    return STRAIGHT | {"hands.amplitude[1]": angle, "hands.starts[1]": -1000.0, "hands.width": 2000.0}


def loads(result: Result) -> np.ndarray:
    return np.array([result[f"car.load[{i}]"] for i in range(1, 5)])


def half_waves(t: float) -> float:
    waves = zip(AMPLITUDES, STARTS, strict=True)
    return sum(a * math.sin(math.pi * (t - s) / 0.9) for a, s in waves if s <= t < s + 0.9)


# ------------------------------------------------------------------------------------------------------------ by hand


def test_a_lane_change_is_that_of_a_car_written_by_hand() -> None:
    """Peaks apart by what the hand-written car leaves out: it has a fixed roll axis and no pitch."""
    result, hand = run({}, solver="rk4"), TwoTrack(half_waves, 80 / 3.6).run(8.0, 4e-3)
    for name, bound in (("a_y", 0.08), ("yaw_rate", 0.06), ("roll", 0.15), ("y", 0.04), ("v_x", 0.01)):
        right = np.interp(result.time, hand["time"], hand[name])
        assert np.abs(result[f"car.chassis.{name}"] - right).max() < bound * np.abs(right).max(), name
    crossing = np.interp(0, -result["car.chassis.a_y"][300:400], result.time[300:400])
    by_hand = (hand["time"] > 1.5) & (hand["time"] < 2.0)
    assert crossing == pytest.approx(np.interp(0, -hand["a_y"][by_hand], hand["time"][by_hand]), abs=0.05)


@pytest.mark.parametrize("angle", [0.25, 0.6])
def test_a_step_of_the_hand_wheel_turns_the_car_as_by_hand(angle: float) -> None:
    result, hand = run(held(angle), 4.0, "rk4"), TwoTrack(lambda _: angle, 80 / 3.6).run(4.0, 4e-3)
    for name, bound in (("a_y", 0.05), ("yaw_rate", 0.05), ("roll", 0.2)):  # the roll axis of the car falls with travel
        right = np.interp(result.time, hand["time"], hand[name])
        assert result[f"car.chassis.{name}"][-1] == pytest.approx(right[-1], rel=bound), f"steady {name}"
        assert np.abs(result[f"car.chassis.{name}"]).max() == pytest.approx(np.abs(right).max(), rel=2 * bound), name


def test_the_car_swings_as_quarter_cars_do() -> None:
    """Undamped frequencies at rest beside those of a body on a spring, a wheel on its tyre, one that turns."""
    settings = STRAIGHT | {"car.v_start": 0.0}
    at = reference_run(load(1).compile(), stop=5.0, intervals=5, settings=settings).points[-1]
    swinging = at.eigenvalues[at.eigenvalues.imag > 1e-3 * np.abs(at.eigenvalues)]
    hertz = np.sort(np.abs(swinging)) / (2 * math.pi)
    assert hertz[:2] == pytest.approx([1.27, 1.32], rel=0.11)  # heave and pitch, coupled also with springs of tyres
    assert hertz[5:9] == pytest.approx([11.1, 11.1, 11.3, 11.3], rel=0.06)  # with an anti-roll bar between two of them
    assert hertz[9:] == pytest.approx([23.2] * 4, rel=0.02)


# --------------------------------------------------------------------------------------------------------- the limits


@pytest.mark.parametrize("level", [1, 2])
def test_a_car_at_rest_stays_at_rest(level: int) -> None:
    result = run(STRAIGHT | {"car.v_start": 0.0}, 10.0, level=level)
    late = result.time > 7
    assert np.ptp(result["car.chassis.x"][late]) < 1e-5
    assert np.abs(result["car.chassis.y"]).max() < 1e-9
    assert loads(result)[:, -1].sum() == pytest.approx(WEIGHT, rel=1e-3)


def test_a_car_rolls_backwards_and_steers() -> None:
    result = run(held(1.0) | {"car.v_start": -5.0}, 4.0)
    speed = result["car.chassis.v_x"]
    assert (speed < -4).all() and (np.diff(speed[20:]) > 0).all(), "it only slows down"
    expected = -5 * 16.13**-1 / 2.76  # backwards, wheels to the left: the car turns to the right
    assert result["car.chassis.yaw_rate"][-1] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("level", [1, 2])
def test_full_lock_at_80_km_h_ends_in_a_slide(level: int) -> None:
    """Front tyres are far beyond their peak; forces stay below what friction gives."""
    result = run(held(6.0), level=level)
    force = np.hypot(result["car.front_left.tyre.F_x"], result["car.front_left.tyre.F_y"])
    assert (force < 1.25 * result["car.load[1]"] + 50).all()
    assert np.abs(result["car.front_left.tyre.slip[2]"]).max() > 0.25
    assert 4 < np.abs(result["car.chassis.a_y"]).max() < 12
    assert result["car.chassis.v_x"][-1] < 15


def test_without_friction_the_car_goes_straight_on() -> None:
    result = run(held(2.0) | {"road.mu": 0.0}, 4.0)
    assert np.abs(result["car.chassis.y"]).max() < 1e-3, "turned wheels move it by their own inertia alone"
    assert np.abs(result["car.chassis.yaw_rate"]).max() < 1e-3
    assert result["car.chassis.v_x"][-1] == pytest.approx(21.75, rel=1e-3), "drag of the air alone"


def test_inner_wheels_of_a_high_car_lift_off_and_come_back() -> None:
    """Its mass centre as high as its track is wide cannot bear the acceleration of the lane change."""
    wider = {f"hands.amplitude[{i}]": 1.1 * a for i, a in enumerate(AMPLITUDES, 1)}
    result = run(wider | {"car.chassis.r_CM[3]": 0.75})
    load = loads(result)
    assert (load.min(axis=1) == 0).any(), "in the air"
    assert np.abs(result["car.chassis.roll"]).max() < 0.4, "it does not turn over"
    assert load[:, -1].sum() == pytest.approx(WEIGHT, rel=0.02)
    assert load[:, -1].min() > 3000

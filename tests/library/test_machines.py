"""Diodes, pulses, motors, servos and the arm with seven joints, against solutions known by hand and CVODE."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result

CIRCUITS, ROBOT = "Kilohertz.Examples.Circuits", "Kilohertz.Examples.Robot"
HOME = [0, 0.6, 0, -1.2, 0, 0.6, 0]
RATIO = [160, 160, 120, 120, 100, 100, 100]


def run(model: str, **settings: float) -> Result:
    return kilohertz.load(model).simulate(tolerance=1e-9, settings=settings)


def mean(result: Result, name: str, since: float) -> float:
    late = result.time >= since
    span = result.time[late][-1] - result.time[late][0]
    return float(np.trapezoid(result[name][late], result.time[late]) / span)


def test_diodes_conduct_one_way_and_charge_to_the_peak() -> None:
    result = run(f"{CIRCUITS}.Rectifier")
    for diode in ("upper[1]", "upper[2]", "lower[1]", "lower[2]"):
        assert result[f"{diode}.i"].min() > -1e-5 * 20 - 1e-9
        assert result[f"{diode}.v"].max() < 1e-3
    assert 16.5 < result["output_voltage.y"][result.time > 0.05].min() < 20
    assert np.abs(result["source.i"]).max() < 40


def test_a_chopper_gives_its_part_of_the_voltage() -> None:
    result = run(f"{CIRCUITS}.Chopper")
    assert mean(result, "inductor.i", 0.04) == pytest.approx(0.4 * 24 / 2, rel=2e-3)


def test_pulses_make_the_current_of_their_average_with_a_ripple() -> None:
    pulses, averages = run(f"{CIRCUITS}.Pulses"), run(f"{CIRCUITS}.Averages")
    for name in ("motor.i", "motor.w"):
        assert mean(pulses, name, 0.08) == pytest.approx(mean(averages, name, 0.08), rel=0.03), name
    late = pulses.time > 0.08
    ripple = 48 / 1e-3 / 5e3 / 2  # half the period at the full voltage, at most
    assert 0.3 * ripple < np.ptp(pulses["motor.i"][late]) < ripple
    assert averages.final("motor.i") == pytest.approx(5, rel=0.02)


def test_a_motor_has_two_real_poles() -> None:
    result = run(f"{CIRCUITS}.Motor")
    first = result.time <= 0.5
    slow, fast = np.sort(np.roots([1e-2 * 1e-3, 1e-3, 0.1**2]))[::-1]
    t = result.time[first]
    exact = 12 / 0.1 * (1 - (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow))
    assert np.abs(result["motor.w"][first] - exact).max() < 1e-4


def test_a_servo_moves_as_its_torque_says_and_is_held() -> None:
    """Momentum of arm and rotor, seen from the joint, is what the motor gave less friction; play keeps them near."""
    result = run(f"{CIRCUITS}.Joint")
    t = result.time
    free = (t > 0.06) & (t < 0.79)
    momentum = (2 * result["arm.w"] + 100 * 1e-4 * result["servo.motor.w"])[free]
    torque = 100 * (result["servo.motor.tau"] - 2e-4 * result["servo.motor.w"])[free]
    given = np.r_[0, np.cumsum(np.diff(t[free]) * (torque[1:] + torque[:-1]) / 2)]
    assert np.abs(momentum - given).max() < 5e-3 * momentum.max()
    assert momentum.max() > 1.5
    apart = result["arm.phi"] - result["servo.phi"] / 100
    assert np.abs(apart).max() < 0.5e-3 + 12 / 3e4 * 2
    assert result.final("servo.motor.w") == pytest.approx(0, abs=1e-6)


def hand(angles: list[float]) -> np.ndarray:
    """Where the hand is, joint by joint from its end."""
    axes = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    place = np.zeros(3)
    for axis, length, angle in reversed(
        list(zip(axes, (0.15, 0.12, 0.75, 0.12, 0.65, 0.1, 0.15), angles, strict=True))
    ):
        place = place + length * np.array([1, 0, 0])
        e = np.array(axis)
        place = e * (e @ place) * (1 - math.cos(angle)) + place * math.cos(angle) + np.cross(e, place) * math.sin(angle)
    return place


@pytest.fixture(scope="module")
def moved() -> Result:
    return kilohertz.load(f"{ROBOT}.ClosedLoop").simulate(tolerance=1e-7, stop=1.2)


def test_the_hand_is_where_the_joints_put_it(moved: Result) -> None:
    for row in (0, len(moved.time) // 2, -1):
        angles = [float(moved[f"plant.arm.joint[{i}].phi"][row]) for i in range(1, 8)]
        found = [moved[f"plant.hand[{i}]"][row] for i in (1, 2, 3)]
        assert found == pytest.approx(hand(angles), abs=1e-9)
    assert [moved[f"plant.arm.joint[{i}].phi"][0] for i in range(1, 8)] == pytest.approx(HOME)


def test_the_arm_follows_its_controller_once_the_brakes_are_open(moved: Result) -> None:
    held = moved.time < 0.2
    for i, ratio in enumerate(RATIO, start=1):
        assert np.ptp(moved[f"plant.phi[{i}]"][held]) < 1e-6
        error = (moved[f"controller.x_ref[{i}]"] - moved[f"plant.phi[{i}]"]) / ratio
        assert np.abs(error).max() < 0.05, i
    assert np.linalg.norm([np.ptp(moved[f"plant.hand[{i}]"]) for i in (1, 2, 3)]) > 0.1


def test_steps_of_a_millisecond_keep_the_hand_within_a_twentieth_of_a_millimetre(moved: Result) -> None:
    steps = kilohertz.load(f"{ROBOT}.ClosedLoop").simulate(solver="rodas3", step=1e-3, stop=1.2)
    for i in (1, 2, 3):
        exact = np.interp(steps.time, moved.time, moved[f"plant.hand[{i}]"])
        assert np.abs(steps[f"plant.hand[{i}]"] - exact).max() < 5e-5


def test_the_arm_has_one_small_loop_for_each_brake_and_seven_unknowns_for_the_chain() -> None:
    report = kilohertz.load(f"{ROBOT}.Plant").analyse()
    assert len(report.states) == 56
    loops = [loop for loop in report.loops if loop.partition == "step"]
    assert [loop.kind for loop in loops].count("mixed") == 7
    assert "nonlinear" not in {loop.kind for loop in loops}
    assert max(loop.torn_size for loop in loops) == 7


@pytest.mark.parametrize(
    ("smooth", "sampled", "output", "signal", "period", "bound"),
    [
        (f"{CIRCUITS}.Averages", f"{CIRCUITS}.SampledAverages", "control.y", "motor.i", 5e-5, 0.1),
        ("Kilohertz.Examples.Oil.Press", "Kilohertz.Examples.Oil.SampledPress", "controller.y", "ram.s", 1e-3, 0.02),
        (
            "Kilohertz.Examples.Signals.Servo",
            "Kilohertz.Examples.Signals.SampledServo",
            "controller.y",
            "rotor.phi",
            1e-3,
            1e-3,
        ),
    ],
)
def test_a_sampled_controller_does_what_the_continuous_one_does_once_in_a_period(
    smooth: str, sampled: str, output: str, signal: str, period: float, bound: float
) -> None:
    a, b = kilohertz.load(smooth).simulate(tolerance=1e-8), kilohertz.load(sampled).simulate(tolerance=1e-8)
    apart = np.interp(a.time, b.time, b[signal]) - a[signal]
    assert 0 < np.abs(apart).max() < bound * np.ptp(a[signal])
    place = np.flatnonzero(np.diff(b[output]))
    late = (b.time[place + 1] + 0.5 * period) % period - 0.5 * period  # after the nearest instant of the clock
    assert len(place) > 100 and np.abs(late).max() < 1e-9


def test_a_sampled_integral_that_is_too_fast_for_its_clock_is_refused() -> None:
    with pytest.raises(ModelError, match="needs several instants"):
        run("Kilohertz.Examples.Oil.SampledPress", **{"controller.Ti": 5e-4})

"""Blocks and controllers against solutions known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result

SIGNALS = "Kilohertz.Examples.Signals"


def run(model: str, **settings: float) -> Result:
    return kilohertz.load(f"{SIGNALS}.{model}").simulate(tolerance=1e-10, settings=settings)


@pytest.fixture(scope="module")
def filters() -> Result:
    return run("Filters")


@pytest.fixture(scope="module")
def sampled() -> Result:
    return run("SampledLoop")


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max())


def between(result: Result) -> np.ndarray:
    """Rows that are not at an event, where a signal may have two values."""
    later = np.diff(result.time) > 0
    alone: np.ndarray = np.append(True, later) & np.append(later, True)
    return alone


def test_sources_are_what_their_formulas_say() -> None:
    result = run("Sources")
    t, ok = result.time, between(result)
    assert off(result["constant_.y"], np.full(len(t), 2.0)) == 0
    assert off(result["step.y"][ok], np.where(t < 0.5, 1, 4)[ok]) == 0
    assert off(result["ramp.y"], -1 + 2 * np.clip((t - 0.25) / 0.5, 0, 1)) < 1e-12
    sine = 1 + np.where(t < 0.1, 0, 2 * np.sin(2 * math.pi * 3 * (t - 0.1) + 0.5))
    assert off(result["sine.y"][ok], sine[ok]) < 1e-12
    pulse = np.where((t >= 0.1) & (np.mod(t - 0.1 + 1e-9, 0.2) < 0.05), 4, 0)
    assert off(result["pulse.y"][ok], pulse[ok]) == 0
    points, values = [0.1, 0.3, 0.6, 0.8], [1.0, 3.0, 2.0, 5.0]
    assert off(result["table.y"], np.interp(t, points, values)) < 1e-12
    held = np.array(values)[np.clip(np.searchsorted(points, t + 1e-12) - 1, 0, 3)]
    assert off(result["steps.y"][ok], held[ok]) == 0
    exact = 0.1 * 1 + 0.2 * 2 + 0.3 * 2.5 + 0.2 * 3.5 + 0.2 * 5
    assert result.final("area.y") == pytest.approx(exact, abs=1e-8)


def test_a_table_whose_times_do_not_rise_is_refused() -> None:
    with pytest.raises(ModelError, match="the times of a table must rise"):
        run("Sources", **{"table.t[2]": 0.05})


def test_step_responses(filters: Result) -> None:
    t = filters.time
    assert off(filters["first.y"], 2 * (1 - np.exp(-t / 0.1))) < 1e-8
    omega, d = 2 * math.pi * 2, 0.3
    damped = omega * math.sqrt(1 - d**2)
    swing = np.cos(damped * t) + d * omega / damped * np.sin(damped * t)
    assert off(filters["second.y"], 1 - np.exp(-d * omega * t) * swing) < 1e-7
    assert off(filters["pi.y"], 2 * (1 + t / 0.5)) < 1e-7
    # (s + 2)/(0.1 s^2 + s + 5): poles -5 +- 5i
    exact = 0.4 + np.exp(-5 * t) * (-0.4 * np.cos(5 * t) + 1.6 * np.sin(5 * t))
    assert off(filters["ratio.y"], exact) < 1e-7


def test_a_low_pass_has_lost_half_the_power_at_its_frequency(filters: Result) -> None:
    late = filters.time > 2
    assert filters["low.y"][late].max() == pytest.approx(math.sqrt(0.5), rel=2e-4)


def test_what_a_sine_becomes(filters: Result) -> None:
    t, u = filters.time, np.sin(4 * math.pi * filters.time)
    late = t > 0.1
    assert off(filters["rate.y"][late], 4 * math.pi * np.cos(4 * math.pi * (t[late] - 0.001))) < 0.01
    assert off(filters["limiter.y"], np.clip(u, -0.5, 0.5)) < 1e-9
    assert off(filters["rounded.y"], 0.5 * np.tanh(2 * u)) < 1e-12
    assert off(filters["zone.y"], u - np.clip(u, -0.5, 0.5)) < 1e-9
    steps = np.abs(np.mod(u / 0.25, 1) - 0.5) > 1e-4  # not where it jumps
    assert off(filters["steps.y"][steps], 0.25 * np.floor(u[steps] / 0.25 + 0.5)) < 1e-12
    assert off(filters["gain.y"], 3 * u) < 1e-12
    assert off(filters["sum_.y"], 2 * u - 1) < 1e-12
    assert off(filters["difference.y"], u - 1) < 1e-12
    assert off(filters["product_.y"], 3 * u**2) < 1e-12
    assert off(filters["curve.y"], np.where(u < 0, -u, 2 * u)) < 1e-12


def test_limits_of_values_and_rates_hold(filters: Result) -> None:
    t = filters.time
    assert filters["limited.y"].max() <= 0.2 + 1e-8 and filters["limited.y"].min() >= -0.2 - 1e-8
    later = np.diff(t) > 1e-6
    rates = np.diff(filters["slow.y"])[later] / np.diff(t)[later]
    assert rates.max() <= 2 + 1e-6 and rates.min() >= -4 - 1e-6
    assert rates.max() > 1.99 and rates.min() < -3.9


@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        ("Filters", {"limiter.y_max": -1.0}, "the lower limit lies above the upper one"),
        ("Filters", {"zone.u_max": -1.0}, "the ends of the zone are the wrong way round"),
        ("Filters", {"limited.y_max": -1.0}, "the limits of an integrator must enclose something"),
        ("Filters", {"curve.x[2]": 3.0}, "the places of a curve must rise"),
        ("Decisions", {"above.off": 1.0}, "a threshold must not turn off above where it turns on"),
        ("Saturated", {"controller.y_max": -2.0}, "the limits of a controller must enclose something"),
        ("SampledLoop", {"controller.y_max": -4.0}, "the limits of a controller must enclose something"),
    ],
)
def test_limits_that_enclose_nothing_are_refused(model: str, settings: dict[str, float], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        run(model, **settings)


def test_decisions_on_a_sine() -> None:
    result = run("Decisions")
    t, ok = result.time, between(result)
    rises, falls = 1 / 12, 0.5 + 1 / 12  # where it crosses 0.5 upward, -0.5 downward
    clear = ok & np.array([min(abs(x % 1 - c) for c in (rises, falls, rises + 0.2)) > 1e-6 for x in t])
    above = ((t % 1) > rises) & ((t % 1) < falls)
    assert off(result["above.y"][clear], above[clear]) == 0
    assert off(result["below.y"][clear], ~above[clear]) == 0
    assert off(result["choice.y"][clear], np.where(above, 1, -1)[clear]) == 0
    late = above & ((t % 1) > rises + 0.2)
    assert off(result["late.y"][clear], late[clear]) == 0
    assert off(result["both.y"][clear], late[clear]) == 0
    assert result.final("count.y") == 3
    peak = math.asin(0.9) / (2 * math.pi)
    latched = ((t % 1) > peak) & ((t % 1) < falls)
    clear &= np.abs(t % 1 - peak) > 1e-6
    assert off(result["latch.y"][clear], latched[clear]) == 0


def test_the_integral_part_does_not_wind_up_at_a_limit() -> None:
    result = run("Saturated")
    assert result["controller.y"].max() <= 1.2 and result["windup.y"].max() <= 1.2
    assert result["plant.y"].max() < 1.03
    assert result["plant_too.y"].max() > 1.1
    assert result.final("plant.y") == pytest.approx(1, abs=1e-4)
    parts = result["controller.P"] + result["controller.I"] + result["controller.D"]
    assert off(parts, result["controller.wanted"]) < 1e-12


def test_sampled_control_is_what_a_program_computes(sampled: Result) -> None:
    """The loop step by step: between two instants the plant has a constant input and an exact solution."""
    k, ti, td, n, h, top = 2.0, 0.5, 0.02, 10.0, 0.01, 3.0
    plant = integral = rate = last = 0.0
    ticks = round(sampled.time[-1] / h)
    plants, outputs = [], []
    for i in range(ticks):
        plants.append(plant)
        reference = 1.0 if i * h >= 0.095 else 0.0
        rate = (td * rate - (k * td * n * (plant - last) if i else 0.0)) / (td + n * h)
        last = plant
        wanted = k * (reference - plant) + integral + rate
        out = max(-top, min(top, wanted))
        if out == wanted or (out - wanted) * (reference - plant) >= 0:
            integral += k * h / ti * (reference - plant)
        outputs.append(out)
        plant = out + (plant - out) * math.exp(-h / 0.5)
    middle = h * (np.arange(ticks) + 0.5)
    at = [int(np.searchsorted(sampled.time, m)) for m in middle]
    assert off(sampled["controller.y"][at], np.array(outputs)) < 1e-7
    assert off(sampled["converter.y"][at], np.array(plants)) < 1e-7
    assert off(sampled["late.y"][at], np.r_[0, plants[:-1]]) < 1e-7
    a, x, filtered = math.exp(-0.1), 0.0, []
    for value in plants:
        x = a * x + (1 - a) * value
        filtered.append(x)
    assert off(sampled["filtered.y"][at], np.array(filtered)) < 1e-7


def test_the_servo_follows_its_profile_within_what_friction_costs() -> None:
    result = run("Servo")
    error = result["profile.x"] - result["rotor.phi"]
    assert np.abs(error).max() < 0.05
    frictionless = run("Servo", **{"bearing.tau_0": 0.0, "bearing.d": 0.0})
    assert np.abs(frictionless["profile.x"] - frictionless["rotor.phi"]).max() < np.abs(error).max()


def test_an_oven_is_switched_where_its_exponentials_say() -> None:
    result = run("Oven")
    changes = result.time[1:][np.diff(result["hot.y"]) != 0]
    first, on, offs = (250 * math.log(a / b) for a, b in ((100, 60), (62, 60), (40, 38)))
    expected = first + np.cumsum([0, *([offs, on] * 10)])[: len(changes)]
    assert len(changes) >= 15 and off(changes, expected) < 1e-4

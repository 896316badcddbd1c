"""State events at a fixed cost: the bouncing ball with every algorithm, as published for the same equations."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kilohertz import load
from kilohertz.simulate import Program, Stepper
from kilohertz.solvers import StepSettings

# error of the event time [ms], of the height at 0.75 s [mm], of the energy after the bounce [%], most steps per period
BALL = {
    "none": (+8.4764, -22.8330, -3.9445, 1),
    "mid": (+3.4764, -9.0745, -1.6089, 3),
    "linear": (-0.0142, -0.0266, -0.0063, 1),
    "catch-up": (-0.0142, -0.0266, -0.0063, 2),
    "hermite": (0.0, 0.0, 0.0, 1),
    "predict": (+0.0026, -0.0066, -0.0012, 1),
    "predict-quadratic": (0.0, 0.0, 0.0, 1),
    "exact": (0.0, 0.0, 0.0, 4),
}
# order of the event time in the period, worst case over the phases
ORDERS = {"none": 1, "mid": 1, "linear": 2, "catch-up": 2, "hermite": 3.5, "predict": 2, "predict-quadratic": 3}
ORDERS["exact"] = 4
METHOD_STAGES = 3  # right-hand sides of ROS4L


def ball(program: Program, events: str, method: str = "ros4l", period: float = 0.01, **parameters: float) -> Stepper:
    stepper = Stepper(program, StepSettings(method, period, events=events))
    for name, value in parameters.items():
        stepper.instance.set(name, value)
    assert stepper.start(0.0) == 0
    return stepper


def value(stepper: Stepper, name: str) -> float:
    return float(stepper.instance.read(stepper.program.step.variables[name]))


@pytest.mark.parametrize("events", BALL)
def test_the_ball(events: str, program: Callable[[str, str], Program]) -> None:
    stepper = ball(program("balls.mo", "Balls.Plain"), events)
    for _ in range(75):
        stepper.step()
    time_error, height_error, energy_error, steps = BALL[events]
    exact_time, height, speed = math.sqrt(2 / 9.81), 0.48848232, 0.17255976
    energy = 9.81 * value(stepper, "h") + value(stepper, "v") ** 2 / 2
    assert stepper.time == pytest.approx(0.75)
    assert (value(stepper, "bounced") - exact_time) * 1e3 == pytest.approx(time_error, abs=6e-5)
    assert (value(stepper, "h") - height) * 1e3 == pytest.approx(height_error, abs=6e-5)
    assert (energy / (9.81 * height + speed**2 / 2) - 1) * 100 == pytest.approx(energy_error, abs=6e-5)
    # each step: stages, Jacobian by differences at most (two colours, time, back), all values at its end
    assert stepper.counts["factorisations"] <= 75 + 3 * steps
    assert stepper.counts["max_step_passes"] <= 8


@pytest.mark.parametrize(
    ("method", "penetration", "time_error"),
    [("lie", 15.335, -4.9974), ("litr", 37.898, -0.0142), ("li3", 37.898, -0.0142)],
)
def test_the_method_hardly_matters_from_order_two_on(
    method: str, penetration: float, time_error: float, program: Callable[[str, str], Program]
) -> None:
    plain = program("balls.mo", "Balls.Plain")
    stepper = ball(plain, "none", method)
    lowest = 1.0
    for _ in range(50):
        stepper.step()
        lowest = min(lowest, value(stepper, "h"))
    assert -lowest * 1e3 == pytest.approx(penetration, abs=1e-3)
    stepper = ball(plain, "linear", method)
    for _ in range(60):
        stepper.step()
    assert (value(stepper, "bounced") - math.sqrt(2 / 9.81)) * 1e3 == pytest.approx(time_error, abs=1e-4)


def reference(h0: float) -> float:
    """Instant of the first contact of `Drag`."""

    def f(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], -9.81 - 0.3 * y[1] * abs(y[1])]

    def contact(t: float, y: np.ndarray) -> float:
        return float(y[0] - 0.02 * math.sin(12 * t))

    contact.terminal = True  # type: ignore[attr-defined]
    done = solve_ivp(f, (0, 0.8), [h0, 0.0], events=contact, method="DOP853", rtol=1e-12, atol=1e-13)
    return float(done.t[-1])


@pytest.mark.parametrize("events", ORDERS)
def test_the_instant_converges_with_its_order(events: str, program: Callable[[str, str], Program]) -> None:
    drag = program("balls.mo", "Balls.Drag")
    heights = [1 + 0.05 * i / 10 for i in range(10)]
    exact = [reference(h0) for h0 in heights]
    errors = []
    for period in (0.02, 0.005):
        worst = 0.0
        for h0, instant in zip(heights, exact, strict=True):
            stepper = ball(drag, events, period=period, h0=h0)
            for _ in range(round(0.6 / period)):
                stepper.step()
            worst = max(worst, abs(value(stepper, "bounced") - instant))
        errors.append(worst)
    assert math.log(errors[0] / errors[1]) / math.log(4) >= ORDERS[events] - 0.35


def run_to(program: Program, periods: int, **how: object) -> Stepper:
    stepper = Stepper(program, StepSettings("rk4", 1e-3, **how))  # type: ignore[arg-type]
    assert stepper.start(0.0) == 0
    for _ in range(periods):
        stepper.step()
    return stepper


@pytest.mark.parametrize("events", ["catch-up", "exact"])
def test_the_same_condition_several_times_in_a_period(events: str, program: Callable[[str, str], Program]) -> None:
    """A triangle wave: each corner is 1/slope after the last one."""
    stepper = run_to(program("balls.mo", "Balls.Oscillator"), 20, events=events, events_per_step=8)
    assert value(stepper, "turns") in (69, 70)
    assert value(stepper, "turned") == pytest.approx(value(stepper, "turns") / 3500, abs=2e-11)
    assert value(stepper, "x") == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("events", ["catch-up", "exact"])
def test_a_condition_that_its_event_takes_back(events: str, program: Callable[[str, str], Program]) -> None:
    stepper = run_to(program("balls.mo", "Balls.Fires"), 20, events=events, events_per_step=8)
    assert value(stepper, "fires") in (69, 70)
    assert value(stepper, "fired") == pytest.approx(value(stepper, "fires") / 3500, abs=2e-11)


@pytest.mark.parametrize("events", ["catch-up", "exact"])
def test_several_time_events_in_a_period(events: str, program: Callable[[str, str], Program]) -> None:
    ticks = [1e-4 + 3e-4 * k for k in range(10)]
    stepper = run_to(program("balls.mo", "Balls.Sampled"), 3, events=events)
    assert stepper.counts["late_time_events"] == 0
    assert value(stepper, "n") == 10
    assert value(stepper, "last") == pytest.approx(ticks[-1], abs=1e-15)
    exact = sum(3e-3 - t for t in ticks) + (3e-3 - 0.00112)
    assert value(stepper, "x") == pytest.approx(exact, abs=1e-15)
    # what the settings do not allow for waits for the end of the period, and is counted
    fewer = run_to(program("balls.mo", "Balls.Sampled"), 3, events=events, events_per_step=2)
    assert fewer.counts["late_time_events"] > 0


def test_an_event_in_the_rest_of_a_step_is_located_too(program: Callable[[str, str], Program]) -> None:
    first = math.expm1(0.1)
    second = first + math.asin(0.002) / 10  # 0.2 ms later
    assert math.floor(first * 1e3) == math.floor(second * 1e3)
    found = {}
    for events in ("catch-up", "exact"):
        for n in (1, 4):
            stepper = run_to(program("balls.mo", "Balls.Cascade"), 200, events=events, events_per_step=n)
            found[events, n] = value(stepper, "first") - first, value(stepper, "second") - second
    assert abs(found["catch-up", 1][1]) > 1e-4  # at the end of the step
    assert abs(found["catch-up", 4][1]) < 2e-7
    for k in (0, 1):
        assert abs(found["exact", 4][k]) < 1e-12


@pytest.mark.parametrize("events", ["none", "linear", "catch-up", "exact"])
def test_both_sides_of_every_event_are_recorded(events: str) -> None:
    model = load(f"{Path(__file__).parent / 'balls.mo'}:Balls.Cascade")
    result = model.simulate(solver="rk4", step=1e-3, stop=0.2, events=events, intervals=10, record=("first", "x"))
    seen = result["first"]
    jump = int(np.argmax(seen > 0.0))
    assert result.time[jump] == result.time[jump - 1] == seen[jump]
    assert result["x"][jump] == result["x"][jump - 1]
    assert len(np.unique(np.column_stack([result.time, seen, result["x"]]), axis=0)) == len(result.time) - 1


def test_several_events_in_a_step_have_their_rows() -> None:
    """A sawtooth: its top and its bottom are recorded for every tooth, and nothing between two events of an instant."""
    model = load(f"{Path(__file__).parent / 'balls.mo'}:Balls.Fires")
    how: dict[str, Any] = {"solver": "rk4", "step": 1e-3, "events": "exact", "events_per_step": 8}
    result = model.simulate(stop=9.9e-3, intervals=9, settings={"slope": 3300}, **how)
    tops, bottoms = result["x"] > 1 - 1e-6, result["x"] < 1e-6
    assert (tops.sum(), bottoms.sum()) == (32, 32 + 1)
    assert (result["fires"][tops] + 1).tolist() == result["fires"][bottoms][1:].tolist()


@pytest.mark.parametrize(
    "how",
    [
        {"solver": "sdirk4", "inline": True, "internal_steps": 2},
        {"solver": "ars443", "implicit": ["v"]},
        {"solver": "rodas4", "index1": True},
    ],
)
def test_exact_events_with_every_form_of_a_step(how: dict[str, Any]) -> None:
    model = load(f"{Path(__file__).parent / 'balls.mo'}:Balls.Drag")
    result = model.simulate(step=0.01, stop=0.6, events="exact", record=("bounced",), **how)
    assert result["bounced"][-1] == pytest.approx(reference(1.0), abs=2e-8)  # catch-up: 1.75e-5

"""The hydraulic axis from Modelica source: position errors of every method, as published for the same equations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from kilohertz.simulate import Program, Stepper
from kilohertz.solvers import StepSettings

# largest error of x over 0 .. 4 s in micrometres at h = 20, 10, 5, 2, 1 ms
OPEN = {
    "lie": (845, 413, 204, 81.2, 40.5),
    "litr": (33.6, 8.44, 3.71, 0.697, 0.175),
    "ros2": (17.1, 4.97, 1.85, 0.336, 0.0854),
    "li3": (4.08, 2.80, 0.824, 0.069, 0.00889),
    "ros3p": (6.90, 5.21, 2.08, 0.259, 0.0369),
    "ros34pw2": (3.97, 2.97, 0.920, 0.0833, 0.0109),
    "ros3prl": (4.11, 2.99, 0.916, 0.0830, 0.0109),
    "rodas3": (4.28, 2.83, 0.821, 0.0688, 0.00888),
    "ros4l": (4.14, 2.59, 0.663, 0.0337, 0.00230),
    "ros34pw3": (6.60, 4.59, 1.78, 0.165, 0.0131),
    "rodas4": (4.22, 0.567, 0.0398, 0.00100, 6.35e-5),
    "rodasp": (4.41, 0.606, 0.0445, 0.00116, 7.38e-5),
    "ieuler": (800, 402, 202, 80.7, 40.4),
    "sdirk2": (4.48, 4.96, 1.81, 0.336, 0.0845),
    "sdirk3": (4.03, 2.97, 0.921, 0.0834, 0.0109),
    "sdirk4": (4.45, 0.606, 0.0448, 0.00117, 7.45e-5),
    "trbdf2": (8.11, 4.96, 1.82, 0.336, 0.0846),
    "esdirk3": (4.12, 2.99, 0.917, 0.0831, 0.0109),
    "esdirk4": (4.43, 0.605, 0.0447, 0.00117, 7.43e-5),
}
CLOSED = {
    "lie": (108, 60.2, 31.7, 13.1, 6.59),
    "litr": (15.7, 7.70, 4.18, 0.857, 0.217),
    "ros2": (3.09, 4.32, 2.06, 0.379, 0.0962),
    "li3": (3.11, 2.35, 0.821, 0.0732, 0.00944),
    "ros3p": (5.07, 3.88, 1.90, 0.272, 0.0391),
    "ros34pw2": (2.69, 2.46, 0.907, 0.0877, 0.0116),
    "ros4l": (3.36, 2.15, 0.687, 0.0351, 0.00241),
    "rodas4": (3.60, 0.583, 0.0411, 0.00105, 6.56e-5),
    "ieuler": (130, 65.8, 33.1, 13.3, 6.65),
    "sdirk4": (3.76, 0.626, 0.0461, 0.00122, 7.67e-5),
    "trbdf2": (3.29, 4.09, 1.95, 0.366, 0.0928),
}
STEPS_MS = (20, 10, 5, 2, 1)
REFERENCE = {  # t: x [m], v [m/s], pA [bar] by Radau IIA with a tolerance of 1e-10
    "Open": {
        0.25: (0.257646388, 0.056898202, 34.189197),
        0.5: (0.275792065, 0.081078613, 33.576814),
        1.5: (0.281065621, -0.064819443, 83.420847),
        4.0: (0.270422564, -0.000319042, 83.950224),
    },
    "Closed": {
        0.5: (0.265790869, 0.057807262, 33.296642),
        2.0: (0.350287658, -0.003474483, 35.551344),
        4.0: (0.249916899, 0.001176262, 83.139767),
    },
}


def run(program: Program, method: str, step: float, stop: float = 4.0, **how: Any) -> np.ndarray:
    """x, v, pA after every step, the start included."""
    stepper = Stepper(program, StepSettings(method, step, **how))
    assert stepper.start(0.0) == 0
    watched = [program.step.variables[n] for n in ("x", "v", "pA")]
    rows = [[stepper.instance.read(v) for v in watched]]
    for _ in range(round(stop / step)):
        stepper.step()
        rows.append([stepper.instance.read(v) for v in watched])
    assert stepper.counts["held"] == 0
    return np.array(rows, float)


@cache
def reference(program: Callable[[str, str], Program], name: str) -> np.ndarray:
    """Every millisecond, with RODASP at 0.1 ms: itself checked against Radau IIA below."""
    return run(program("axis.mo", f"Axis.{name}"), "rodasp", 1e-4)[::10]


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_is_that_of_another_integrator(name: str, program: Callable[[str, str], Program]) -> None:
    rows = reference(program, name)
    for t, (x, v, p) in REFERENCE[name].items():
        got = rows[round(t * 1000)]
        assert got[0] == pytest.approx(x, abs=6e-10)
        assert got[1] == pytest.approx(v, abs=2e-9)
        assert got[2] / 1e5 == pytest.approx(p, abs=2e-6)


@pytest.mark.parametrize(
    ("name", "method"), [*(("Open", m) for m in OPEN), *(("Closed", m) for m in CLOSED)], ids="-".join
)
def test_errors_are_the_published_ones(name: str, method: str, program: Callable[[str, str], Program]) -> None:
    expected = (OPEN if name == "Open" else CLOSED)[method]
    exact = reference(program, name)[:, 0]
    for ms, error in zip(STEPS_MS, expected, strict=True):
        x = run(program("axis.mo", f"Axis.{name}"), method, ms * 1e-3)[:, 0]
        assert np.abs(x - exact[::ms]).max() * 1e6 == pytest.approx(error, rel=6e-3), f"{ms} ms"


@pytest.mark.parametrize(
    ("method", "microseconds", "fails_at"),
    [("euler", 20, 614), ("euler", 18, None), ("rk4", 28, 243), ("rk4", 25, None)],
)
def test_explicit_methods_have_a_limit(
    method: str, microseconds: int, fails_at: int | None, program: Callable[[str, str], Program]
) -> None:
    """The step at which a pressure leaves the range in which one could think of them."""
    axis = program("axis.mo", "Axis.Open")
    stepper = Stepper(axis, StepSettings(method, microseconds * 1e-6))
    pressures = [axis.step.variables[n] for n in ("pA", "pB", "pLA", "pLB")]
    stepper.start(0.0)
    found = None
    for k in range(round(1e5 / microseconds)):
        stepper.step()
        if max(abs(float(stepper.instance.read(v))) for v in pressures) > 1e11:
            found = k + 1
            break
    assert found == fails_at


@pytest.mark.parametrize("method", ["li3", "ros34pw2", "rodas4", "sdirk3"])
def test_inputs_over_a_step(method: str, program: Callable[[str, str], Program]) -> None:
    """A held input costs more than any difference between methods: the delay of half a step."""
    axis, h = program("axis.mo", "Axis.Driven"), 5e-3
    x, voltage = axis.step.variables["x"], axis.step.variables["voltage"]
    speed, exact = axis.step.variables["v"], reference(program, "Open")[::5]
    worst: dict[str, float] = {}
    late: dict[str, float] = {}
    for mode in ("held", "linear", "quadratic"):
        stepper = Stepper(axis, StepSettings(method, h, input_mode=mode))
        assert stepper.start(0.0) == 0
        errors, late[mode] = [], 0.0
        for k in range(800):
            stepper.instance.write(voltage, 2 * math.sin(math.pi * k * h))
            stepper.step()
            errors.append(abs(float(stepper.instance.read(x)) - exact[k + 1, 0]) * 1e6)
            if k >= 100:
                late[mode] = max(late[mode], abs(float(stepper.instance.read(speed)) - exact[k + 1, 1]))
        worst[mode] = max(errors)
    assert worst["held"] == pytest.approx(202, rel=2e-3)
    assert worst["linear"] < 6.3  # begins with a held input; with a sample from before the start see below
    assert 10 * late["linear"] < late["held"]
    if method == "rodas4":  # the others' own errors are as large
        assert 10 * late["quadratic"] < late["linear"]


@pytest.mark.parametrize(
    ("method", "error"),
    [("lie", 207), ("li3", 6.3), ("ros3p", 6.3), ("ros34pw2", 6.3), ("ros4l", 6.3), ("rodas4", 6.3)],
)
def test_inputs_extrapolated_from_before_the_start(
    method: str, error: float, program: Callable[[str, str], Program]
) -> None:
    """As published: the sine goes on to the left of t = 0, so that the first step has two samples to go by."""
    axis, h = program("axis.mo", "Axis.Driven"), 5e-3
    x, voltage = axis.step.variables["x"], axis.step.variables["voltage"]
    stepper = Stepper(axis, StepSettings(method, h, input_mode="linear"))
    assert stepper.start(0.0) == 0
    stepper.past_inputs({"voltage": 2 * math.sin(-math.pi * h)})
    errors = []
    for k in range(800):
        stepper.instance.write(voltage, 2 * math.sin(math.pi * k * h))
        stepper.step()
        errors.append(abs(float(stepper.instance.read(x)) - reference(program, "Open")[5 * (k + 1), 0]) * 1e6)
    assert max(errors) == pytest.approx(error, rel=3e-3)

"""Measured order of every method, through the C stepper and from Modelica source, on three problems."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kilohertz.ir.step import Kind
from kilohertz.simulate import Program, Stepper
from kilohertz.solvers import METHODS, StepSettings
from kilohertz.solvers.integrate import step

CONVERGED = 10
# error of problem A at h = 1/40, of Van der Pol at h = 1/100, of Prothero-Robinson (lambda = -1e6) at h = 1/32
ERRORS = {
    "euler": (5.96e-2, 1.96e-3, None),
    "rk2": (8.16e-4, 4.56e-6, None),
    "rk3": (1.21e-5, 2.17e-8, None),
    "rk4": (9.76e-8, 1.78e-9, None),
    "lie": (5.61e-2, 1.97e-3, 4.48e-4),
    "litr": (6.39e-4, 9.32e-6, 1.86e-5),
    "ros2": (3.63e-4, 4.68e-6, 3.17e-4),
    "li3": (4.81e-6, 3.03e-8, 1.49e-4),
    "ros3p": (3.64e-5, 1.30e-7, 3.89e-11),
    "ros34pw2": (9.25e-6, 3.18e-9, 2.33e-11),
    "ros3prl": (8.74e-6, 2.87e-8, 5.85e-13),
    "rodas3": (8.41e-6, 1.81e-8, 9.62e-9),
    "ros4l": (1.03e-7, 1.86e-9, 1.95e-4),
    "ros34pw3": (3.62e-6, 9.55e-9, 3.26e-7),
    "rodas4": (1.44e-8, 5.68e-11, 5.53e-10),
    "rodasp": (2.36e-8, 1.26e-10, 6.86e-14),
    "ieuler": (5.72e-2, 1.99e-3, 1.43e-8),
    "sdirk2": (2.09e-4, 1.23e-6, 1.02e-8),
    "sdirk3": (1.05e-5, 7.17e-9, 6.02e-9),
    "sdirk4": (1.94e-8, 9.74e-11, 1.20e-8),
    "trbdf2": (2.78e-4, 2.29e-6, 2.74e-11),
    "esdirk3": (9.90e-6, 1.64e-8, 3.05e-11),
    "esdirk4": (1.02e-8, 2.32e-10, 1.09e-11),
}
# order with 1 and with 2 Newton iterations per stage (problem A)
NEWTON = {"ieuler": (1, 1), "sdirk2": (2, 2), "sdirk3": (2, 3), "sdirk4": (2, 4), "trbdf2": (2, 2), "esdirk4": (2, 4)}


def end_of(
    program: Program, method: str, stop: float, n: int, newton: int = CONVERGED, every: int = 1, spread: int = 0
) -> np.ndarray:
    settings = StepSettings(method, stop / n, newton=newton, jacobian_every=every, jacobian_spread=bool(spread))
    stepper = Stepper(program, settings)
    assert stepper.start(0.0) == 0
    for _ in range(n):
        stepper.step()
    assert stepper.counts["held"] == 0
    states = sorted(program.step.of_kind(Kind.STATE), key=lambda v: v.slot.index)
    return np.array([stepper.instance.read(v) for v in states])


def order(errors: list[float]) -> float:
    return math.log2(errors[-2] / errors[-1])


def errors_of_a(program: Program, method: str, steps: tuple[int, ...], **how: int) -> list[float]:
    exact = np.array([1 + 0.5 * math.cos(2), 0.5 + 0.5 * math.sin(4)])
    return [float(np.abs(end_of(program, method, 2.0, n, **how) - exact).max()) for n in steps]


@pytest.mark.parametrize("method", METHODS)
def test_non_autonomous_nonlinear(method: str, program: Callable[[str, str], Program]) -> None:
    errors = errors_of_a(program("problems.mo", "Problems.A"), method, (40, 80, 160))
    if method in ERRORS:
        assert errors[1] == pytest.approx(ERRORS[method][0], rel=0.02)
    assert order(errors) == pytest.approx(METHODS[method].order, abs=0.3)


@pytest.mark.parametrize("method", METHODS)
def test_van_der_pol(method: str, program: Callable[[str, str], Program]) -> None:
    def f(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]

    exact = solve_ivp(f, (0, 4), [2, 0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
    vdp = program("problems.mo", "Problems.VanDerPol")
    errors = [float(np.abs(end_of(vdp, method, 4.0, n) - exact).max()) for n in (200, 400)]
    if method in ERRORS:
        assert errors[1] == pytest.approx(ERRORS[method][1], rel=0.03)
    assert order(errors) > METHODS[method].order - 0.3


@pytest.mark.parametrize("method", [m for m, e in ERRORS.items() if e[2] is not None])
def test_prothero_robinson(method: str, program: Callable[[str, str], Program]) -> None:
    expected = ERRORS[method][2]
    assert expected is not None
    error = abs(float(end_of(program("problems.mo", "Problems.ProtheroRobinson"), method, 1.0, 32)[0]) - math.sin(2))
    if expected > 1e-12:
        assert error == pytest.approx(expected, rel=0.03)
    else:
        assert error < 2e-12  # below the rounding of differences


@pytest.mark.parametrize("method", NEWTON)
def test_a_fixed_number_of_newton_iterations(method: str, program: Callable[[str, str], Program]) -> None:
    problem = program("problems.mo", "Problems.A")
    for newton, expected in zip((1, 2), NEWTON[method], strict=True):
        assert order(errors_of_a(problem, method, (80, 160, 320), newton=newton)) == pytest.approx(expected, abs=0.3)


@pytest.mark.parametrize(("method", "expected"), [("lie", 1), ("ros2", 2), ("li3", 3), ("ros34pw2", 3), ("rodas4", 2)])
def test_w_methods_keep_their_order_with_an_old_jacobian(
    method: str, expected: int, program: Callable[[str, str], Program]
) -> None:
    errors = errors_of_a(program("problems.mo", "Problems.A"), method, (160, 320), every=5)
    assert order(errors) == pytest.approx(expected, abs=0.3)


@pytest.mark.parametrize(
    ("method", "expected"), [("lie", 1), ("ros2", 2), ("ros34pw2", 3), ("ieuler", 1), ("sdirk2", 2)]
)
def test_methods_keep_their_order_with_a_jacobian_made_column_by_column(
    method: str, expected: int, program: Callable[[str, str], Program]
) -> None:
    """Its columns are of different steps, so it is that of no point."""
    errors = errors_of_a(program("problems.mo", "Problems.A"), method, (160, 320), every=5, spread=1)
    assert order(errors) == pytest.approx(expected, abs=0.3)


def test_a_spread_jacobian_is_complete_when_it_is_due(program: Callable[[str, str], Program]) -> None:
    """Four steps from one to the next, as when all of it is made at once."""
    problem = program("problems.mo", "Problems.VanDerPol")
    whole, spread = (
        Stepper(problem, StepSettings("ieuler", 1e-3, jacobian_every=4, jacobian_spread=is_spread))
        for is_spread in (False, True)
    )
    for stepper in (whole, spread):
        assert stepper.start(0.0) == 0
        for _ in range(41):
            stepper.step()
    assert whole.counts["jacobians"] == spread.counts["jacobians"] == 11
    assert whole.counts["factorisations"] == spread.counts["factorisations"] == 11


@pytest.mark.parametrize("method", METHODS)
def test_c_and_python_take_the_same_step(method: str, program: Callable[[str, str], Program]) -> None:
    """One table, two interpreters: Van der Pol with the exact Jacobian in Python."""

    def f(_t: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]])

    def jacobian(_t: float, y: np.ndarray) -> np.ndarray:
        return np.array([[0, 1], [-10 * y[0] * y[1] - 1, 5 * (1 - y[0] ** 2)]])

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(y)

    y = np.array([2.0, 0.0])
    for k in range(20):
        y = step(METHODS[method], f, jacobian, slope, k * 0.01, y, 0.01)
    assert np.allclose(end_of(program("problems.mo", "Problems.VanDerPol"), method, 0.2, 20, newton=2), y, rtol=1e-8)

"""The two cases of the tools paper (saturating inductors, thermal resistors) against solutions without our code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kilohertz
from kilohertz.base import ModelError
from kilohertz.results import Result

INDUCTORS, RESISTORS = "Kilohertz.Examples.SaturatingInductors", "Kilohertz.Examples.ThermalResistors"
FIRST, SECOND = (0.2, 0.04, 1.5), (0.1, 0.02, 1.0)  # L_zero, L_inf, I_half
V, W = 100.0, 2 * math.pi * 50


def flux(i: float, inductor: tuple[float, float, float]) -> float:
    zero, inf, half = inductor
    return i * (inf + (zero - inf) / (1 + (i / half) ** 2))


def slope(i: float, inductor: tuple[float, float, float]) -> float:
    zero, inf, half = inductor
    x = (i / half) ** 2
    return inf + (zero - inf) * (1 - x) / (1 + x) ** 2


def run(model: str) -> Result:
    return kilohertz.load(model).simulate(tolerance=1e-10)


def test_two_inductors_in_series_share_the_total_flux() -> None:
    result = run(f"{INDUCTORS}.Original")
    currents = []
    for t in result.time:
        total = V / W * (1 - math.cos(W * t))  # the integral of the source's voltage: both fluxes together
        currents.append(brentq(lambda i, p=total: flux(i, FIRST) + flux(i, SECOND) - p, -1e3, 1e3, xtol=1e-14))
    assert np.abs(result["first.i"] - currents).max() < 1e-6 * max(currents)
    share = [slope(i, SECOND) / (slope(i, FIRST) + slope(i, SECOND)) for i in currents]
    assert np.abs(result["v_B"] - np.array(share) * V * np.sin(W * result.time)).max() < 1e-4


def test_with_a_capacitor_between_them() -> None:
    result = run(f"{INDUCTORS}.WithCapacitor")

    def current(psi: float, inductor: tuple[float, float, float]) -> float:
        return float(brentq(lambda i: flux(i, inductor) - psi, -1e3, 1e3, xtol=1e-14))

    def rates(t: float, y: np.ndarray) -> list[float]:
        one, two = current(y[0], FIRST), current(y[1], SECOND)
        v_b = y[2] + 200.0 * (one - two)
        return [V * math.sin(W * t) - v_b, v_b, (one - two) / 1e-7]

    end = 0.02
    reference = solve_ivp(rates, (0, end), [0, 0, 0], method="Radau", rtol=1e-8, atol=1e-11)
    place = int(np.argmin(abs(result.time - end)))
    found = [result[n][place] for n in ("first.psi", "second.psi", "capacitor.v")]
    assert found == pytest.approx(reference.y[:, -1], rel=1e-5)


def test_the_temperature_between_two_resistors_is_the_root_of_the_balance() -> None:
    result = run(f"{RESISTORS}.Original")

    def balance(x: float, hot: float, cold: float) -> float:
        one = 1.0 * math.exp(8e-3 * ((hot + x) / 2 - 293.15))
        two = 2.0 * math.exp(-6e-3 * ((cold + x) / 2 - 293.15))
        return (hot - x) / one - (x - cold) / two

    roots = [
        brentq(balance, 293, 374, args=(373.15 + math.sin(t), 293.15 + math.sin(t)), xtol=1e-12) for t in result.time
    ]
    assert np.abs(result["T_A"] - roots).max() < 1e-8


def test_the_capacity_follows_with_a_small_delay_and_without_a_loop() -> None:
    model = kilohertz.load(f"{RESISTORS}.WithCapacity")
    assert model.analyse().loops == ()
    slow, fast = run(f"{RESISTORS}.Original"), model.simulate(tolerance=1e-10)
    assert 1e-4 < np.abs(fast["T_A"] - slow["T_A"]).max() < 0.02


def test_a_flux_that_would_not_grow_with_the_current_is_refused() -> None:
    with pytest.raises(ModelError, match="the flux must grow with the current"):
        kilohertz.load(f"{INDUCTORS}.Original").simulate(settings={"first.L_inf": 0.01})

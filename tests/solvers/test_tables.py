"""Tables: what their coefficients say about order, stability and work, against the published values."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kilohertz.base import InternalError
from kilohertz.codegen.method_tables import methods_source
from kilohertz.solvers import DIRK, EXPLICIT, METHODS, ROSENBROCK, Rosenbrock, RungeKutta
from kilohertz.solvers.integrate import step

# order, stages, right-hand sides, order with any Jacobian, stiffly accurate
ROSENBROCK_FACTS = {
    "lie": (1, 1, 1, 1, False),
    "litr": (2, 1, 1, 1, False),
    "ros2": (2, 2, 2, 2, False),
    "li3": (3, 4, 3, 3, False),
    "ros3p": (3, 3, 2, 1, False),
    "ros34pw2": (3, 4, 4, 3, True),
    "ros3prl": (3, 4, 3, 1, True),
    "rodas3": (3, 4, 3, 1, True),
    "ros4l": (4, 4, 3, 1, False),
    "ros34pw3": (4, 4, 4, 3, False),
    "rodas4": (4, 6, 6, 1, True),
    "rodasp": (4, 6, 6, 1, True),
}
# R(infinity), R(-1), R(-10), abs R(3i)
STABILITY = {
    "lie": (0, 0.5, 0.0909, 0.316),
    "litr": (-1, 0.3333, -0.6667, 1.0),
    "ros2": (0, 0.3504, -0.2036, 0.900),
    "li3": (0, 0.3621, -0.1201, 0.716),
    "ros3p": (-0.732, 0.3507, -0.4908, 0.816),
    "ros34pw2": (0, 0.3614, -0.1280, 0.733),
    "ros3prl": (0, 0.3614, -0.1280, 0.733),
    "rodas3": (0, 0.3621, -0.1201, 0.716),
    "ros4l": (-1.52e-5, 0.3645, -0.1007, 0.660),
    "ros34pw3": (-0.630, 0.3566, -0.4225, 0.738),
    "rodas4": (0, 0.3682, 0.1300, 0.991),
    "rodasp": (0, 0.3682, 0.1366, 0.997),
    "ieuler": (0, 0.5, 0.0909, 0.316),
    "trapezoidal": (-1, 0.3333, -0.6667, 1.0),
    "sdirk2": (0, 0.3504, -0.2036, 0.900),
    "sdirk3": (0, 0.3614, -0.1280, 0.733),
    "sdirk4": (0, 0.3682, 0.1366, 0.997),
    "trbdf2": (0, 0.3504, -0.2036, 0.900),
    "esdirk3": (0, 0.3614, -0.1280, 0.733),
    "esdirk4": (0, 0.3682, 0.1366, 0.997),
}


@pytest.mark.parametrize("m", ROSENBROCK, ids=lambda m: m.name)
def test_rosenbrock_facts_follow_from_the_coefficients(m: Rosenbrock) -> None:
    found = (m.order, m.n_stages, m.n_rhs, m.any_jacobian_order, m.stiffly_accurate)
    assert found == ROSENBROCK_FACTS[m.name]


@pytest.mark.parametrize("m", DIRK, ids=lambda m: m.name)
def test_diagonally_implicit_methods_are_stiffly_accurate(m: RungeKutta) -> None:
    assert m.stiffly_accurate
    assert m.stage_order == (2 if m.explicit_first else 1)


@pytest.mark.parametrize("m", (*ROSENBROCK, *DIRK), ids=lambda m: m.name)
def test_implicit_methods_are_a_stable_and_damp_as_published(m: Rosenbrock | RungeKutta) -> None:
    at_infinity, one, ten, oscillation = STABILITY[m.name]
    assert m.amplification_at_infinity == pytest.approx(at_infinity, rel=5e-3, abs=1e-12)
    assert m.amplification(-1).real == pytest.approx(one, abs=6e-5)
    assert m.amplification(-10).real == pytest.approx(ten, abs=6e-5)
    assert abs(m.amplification(3j)) == pytest.approx(oscillation, abs=6e-4)
    axis = np.concatenate([np.linspace(1e-3, 30, 1500), np.logspace(1.4, 8, 300)])
    assert max(abs(m.amplification(1j * y)) for y in axis) <= 1 + 1e-10


@pytest.mark.parametrize(("name", "limit"), [("euler", 2.0), ("rk2", 2.0), ("rk3", 2.5127), ("rk4", 2.7853)])
def test_explicit_methods_are_stable_up_to_their_limit(name: str, limit: float) -> None:
    m = METHODS[name]
    assert abs(m.amplification(-limit + 1e-4)) <= 1
    assert abs(m.amplification(-limit - 2e-4)) > 1


@pytest.mark.parametrize("m", METHODS.values(), ids=lambda m: m.name)
def test_a_step_of_the_interpreter_is_the_stability_function(m: Rosenbrock | RungeKutta) -> None:
    def f(_t: float, y: np.ndarray) -> np.ndarray:
        return -2.0 * y

    def jacobian(_t: float, _y: np.ndarray) -> np.ndarray:
        return np.array([[-2.0]])

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        return 0.0 * y

    got = step(m, f, jacobian, slope, 0.0, np.array([1.0]), 0.7)[0]
    assert got == pytest.approx(m.amplification(-1.4).real, rel=1e-12)


def test_a_wrong_coefficient_makes_no_table() -> None:
    rk4, rodas4 = METHODS["rk4"], METHODS["rodas4"]
    assert isinstance(rk4, RungeKutta)
    assert isinstance(rodas4, Rosenbrock)
    with pytest.raises(InternalError, match="order"):
        replace(rk4, b=(1 / 6, 1 / 3 + 1e-9, 1 / 3 - 1e-9, 1 / 6))
    with pytest.raises(InternalError, match="sum"):
        replace(rk4, c=(0.0, 1 / 2, 1 / 2 + 1e-9, 1.0))
    with pytest.raises(InternalError, match=r"order|sum"):
        replace(rodas4, m=(*rodas4.m[:-1], 1.0 + 1e-9))
    with pytest.raises(InternalError, match="sum"):
        replace(rodas4, gammas=(0.25, -0.1043, 0.1035, -0.0362, 1e-9, 0.0))


def test_the_printed_li3_is_refused() -> None:
    """With `J*kbar` in its last stage, as first printed, the method is of order 2."""
    alpha = np.array([[0, 0, 0, 0], [2 / 3, 0, 0, 0], [2 / 3, 0, 0, 0], [1 / 3, 1 / 3, 0, 0]])
    m = METHODS["li3"]
    assert isinstance(m, Rosenbrock)
    assert np.allclose(m.k_alpha, alpha)
    assert np.allclose(m.k_b, (1 / 4, 0, 0, 3 / 4))


def test_the_c_tables_hold_the_same_numbers() -> None:
    text = methods_source()
    for m in METHODS.values():
        line = next(line for line in text.splitlines() if f"{m.name}_a[]" in line)
        numbers = line[line.index("{") + 1 : line.index("}")].split(", ")
        assert [float.fromhex(n) for n in numbers] == m.a.flatten().tolist()
    assert len(EXPLICIT) + len(ROSENBROCK) + len(DIRK) == len(METHODS) == 24
    assert math.isinf(METHODS["euler"].amplification_at_infinity)

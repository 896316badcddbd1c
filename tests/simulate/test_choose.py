"""Eigenvalues along a reference run, the choice of a method from them, and the split of mixed mode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.simulate.choose import choose_solver, inaccuracy, split_states, states_like
from kilohertz.simulate.modes import growth
from kilohertz.simulate.stiffness import Reference, reference_run
from kilohertz.solvers import METHODS
from kilohertz.solvers.mixed_pairs import ARS222, IMEX1

SOURCE = Path(__file__).parent / "inlined.mo"


def reference(name: str, stop: float = 1.0) -> Reference:
    return reference_run(load(name if "." in name else f"{SOURCE}:Inlined.{name}").compile(), stop=stop, intervals=50)


@pytest.fixture(scope="module")
def axis() -> Reference:
    return reference("Kilohertz.Examples.HydraulicAxis.OpenLoop", 4.0)


def test_eigenvalues_are_those_of_an_independent_solution(axis: Reference) -> None:
    """The table of the solver page: two line modes near -1e5, the spool at -339.3 +- 164.3i."""
    first = np.sort(axis.points[0].eigenvalues)
    assert axis.points[0].time < 0.2
    assert -1.06e5 < first[0].real < -1.02e5 and -9.95e4 < first[1].real < -9.75e4
    spool = first[np.abs(first - (-339.3 + 164.3j)).argmin()]
    assert abs(spool - (-339.3 + 164.3j)) < 0.1


def test_a_stiff_model_gets_an_l_stable_method_and_the_reason(axis: Reference) -> None:
    choice = choose_solver(axis, 1e-3)
    assert abs(METHODS[choice.solver].amplification_at_infinity) < 1e-4
    assert "beyond the stability limit of rk4" in choice.reason and "1/s, times the step is 10" in choice.reason


def test_the_same_model_is_not_stiff_for_a_small_step(axis: Reference) -> None:
    assert choose_solver(axis, 1e-6).solver in ("rk3", "rk4")


def test_a_slow_oscillation_gets_the_cheapest_accurate_method() -> None:
    pendulum = reference("Pendulum")
    small, large = choose_solver(pendulum, 1e-3), choose_solver(pendulum, 0.1)
    assert small.solver == "rk3" and large.solver == "rk4"
    assert "Hz with damping" in small.reason


def test_events_are_told_of() -> None:
    choice = choose_solver(reference("Switched", 3.0), 1e-3)
    assert "1 state and 0 time events" in choice.reason and choice.events == "catch-up"


def test_explicit_euler_blows_an_undamped_oscillation_up() -> None:
    value = np.array([100j])
    assert growth(METHODS["euler"], value, 1e-3, 1000.0) == pytest.approx(1000 * 0.5 * np.log(1.01), rel=1e-6)
    assert growth(METHODS["rk4"], value, 1e-3, 1000.0) == 0.0
    assert inaccuracy(METHODS["rk4"], value, 1e-3, 1000.0) < inaccuracy(METHODS["rk2"], value, 1e-3, 1000.0)


def test_the_split_names_the_fast_states() -> None:
    split = split_states(reference("Switched"), 1e-2, IMEX1.explicit)
    assert split.implicit == {"y"}
    assert "1 of 2 states" in split.reason
    assert split_states(reference("Switched"), 1e-4, IMEX1.explicit).implicit == frozenset()
    # h*lambda = 0.4: too fast for Euler, but not for a method of order 2
    assert split_states(reference("Switched"), 4e-3, IMEX1.explicit).implicit == {"y"}
    assert split_states(reference("Switched"), 4e-3, ARS222.explicit).implicit == frozenset()


def test_states_by_pattern() -> None:
    states = ("motor.w", "motor.phi", "gear.w", "motor2.w", "v[1]", "v[2]")
    assert states_like(states, ["motor"]) == {"motor.w", "motor.phi"}
    assert states_like(states, ["*.w"]) == {"motor.w", "gear.w", "motor2.w"}
    assert states_like(states, ["v"]) == {"v[1]", "v[2]"}
    assert states_like(states, ["v[2]"]) == {"v[2]"}

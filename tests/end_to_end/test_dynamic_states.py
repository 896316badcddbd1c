"""States that are chosen in the run, against solutions from other coordinates and another integrator."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kilohertz
from kilohertz.driver.api import Model

Floats = NDArray[np.float64]
MODELS = Path(__file__).parent / "mechanics.mo"
MODELICAPATH = os.environ.get("MODELICAPATH", "")  # when the tests are collected: they run without it
G = 9.81


def load(name: str) -> Model:
    return kilohertz.load(f"{MODELS}:Mechanics.{name}")


def angle(time: Floats, start: tuple[float, float]) -> Floats:
    """The pendulum by its angle from the lowest point."""
    found = solve_ivp(
        lambda _, z: [z[1], -G * np.sin(z[0])], (0, time[-1]), start, rtol=1e-11, atol=1e-12, dense_output=True
    )
    return np.asarray(found.sol(time)[0])


@pytest.mark.parametrize("name", ["Pendulum", "Never"])
def test_the_pendulum_goes_round_through_all_quadrants(name: str) -> None:
    result = load(name).simulate(stop=5.0, tolerance=1e-10)
    phi = angle(result.time, (np.arctan2(0.6, 0.8), 7 / 0.6))
    assert phi[-1] > 6 * 2 * np.pi  # round and round
    assert np.abs(result["x"] - np.sin(phi)).max() < 5e-6
    assert np.abs(result["y"] + np.cos(phi)).max() < 5e-6
    assert np.abs(result["x"] ** 2 + result["y"] ** 2 - 1).max() < 1e-12
    assert np.abs(result["x"] * result["u"] + result["y"] * result["v"]).max() < 1e-9


def test_all_starts_may_be_given_where_equations_are_singular() -> None:
    result = load("Given").simulate(stop=2.0, tolerance=1e-10)
    phi = angle(result.time, (np.pi / 2, 8.0))
    assert np.abs(result["x"] - np.sin(phi)).max() < 5e-6
    with pytest.raises(kilohertz.ModelError, match="contradicts"):
        load("Given").simulate(stop=0.1, settings={"u.start": 0.1})


def test_states_are_chosen_for_the_place_where_the_run_starts() -> None:
    result = load("DeadPoint").simulate(stop=2.0, tolerance=1e-10)
    assert result["w"][0] == 10.0
    assert np.abs(0.5 * result["v"] ** 2 + 0.05 * result["w"] ** 2 - 5.0).max() < 1e-6
    swept = 0.5 * np.sin(result["phi"]) + 0.5 * np.cos(result["phi"]) * np.tan(result["beta"])
    rate = np.sqrt(5.0 / (0.05 + 0.5 * swept**2))  # by the energy
    assert np.abs(result["w"] - rate).max() < 1e-6


def test_fixed_steps_keep_their_order_over_changes_of_state() -> None:
    model = load("Pendulum")
    errors = []
    for step in (2e-3, 1e-3):
        result = model.simulate(stop=2.0, solver="rk4", step=step)
        phi = angle(result.time, (np.arctan2(0.6, 0.8), 7 / 0.6))
        errors.append(np.abs(result["x"] - np.sin(phi)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)
    assert errors[1] < 1e-4


def test_the_choice_knows_what_functions_are_told() -> None:
    result = load("Told").simulate(stop=7.0, tolerance=1e-9)
    assert np.abs(result["x"] - np.cos(result.time)).max() < 1e-6
    assert np.abs(result["y"] - np.sin(result.time)).max() < 1e-6


def test_only_names_of_the_model_are_recorded() -> None:
    result = load("Pendulum").simulate(stop=0.1)
    assert sorted(result.names) == ["F", "der(u)", "der(v)", "u", "v", "x", "y"]


def test_what_reinit_sets_is_a_state() -> None:
    model = load("Pushed")
    states = [s.name for s in model.analyse().states]
    assert states == ["u", "x"] or states == ["x", "u"]


def test_what_is_wanted_less_is_chosen_in_the_run_too() -> None:
    model = load("Carried")
    assert [s.why for s in model.analyse().states[2:]] == [
        "one of {q1, q2}, chosen in the run",
        "one of {x, y}, chosen in the run",
    ]
    result = model.simulate(stop=5.0, tolerance=1e-9)
    q, r = 2 * result.time, result.time + result.time**2 / 4
    assert np.abs(result["q1"] - np.cos(q)).max() < 1e-6
    assert np.abs(result["y"] - np.sin(r)).max() < 1e-6
    assert np.abs(result["p1"] - (np.cos(r) - np.cos(q) / 2) / (2 + np.sin(q))).max() < 1e-6


BARS: Floats = np.array([1.0, 1.2, 1.1])


def four_bar(time: Floats, start: Floats) -> Floats:
    """The three absolute angles, with the forces at the right hinge from the second derivative of the closure."""
    reach = np.array([[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.5]]) * BARS  # middle i over bars k

    def rhs(_: float, z: Floats) -> Floats:
        phi, w = z[:3], z[3:]
        s, c = np.sin(phi), np.cos(phi)
        jx, jy = -reach * s, reach * c
        bias_x, bias_y = -reach * c @ w**2, -reach * s @ w**2
        mass = jx.T @ jx + jy.T @ jy + np.diag(BARS**2 / 12)
        force = -jy.T @ (G * np.ones(3)) - jx.T @ bias_x - jy.T @ bias_y
        closure = np.array([-BARS * s, BARS * c])
        moved = np.array([BARS * c @ w**2, BARS * s @ w**2])
        whole = np.block([[mass, closure.T], [closure, np.zeros((2, 2))]])
        return np.concatenate([w, np.linalg.solve(whole, np.concatenate([force, moved]))[:3]])

    found = solve_ivp(
        rhs, (0, time[-1]), np.concatenate([start, np.zeros(3)]), rtol=1e-11, atol=1e-12, dense_output=True
    )
    return np.asarray(found.sol(time))


def test_a_four_bar_loop_swings_through_its_dead_points() -> None:
    result = load("FourBar").simulate(stop=3.0, tolerance=1e-10)
    phi1, phi2 = result["j1.phi"], result["j1.phi"] + result["j2.phi"]
    phi3 = phi2 + result["j3.phi"]
    expected = four_bar(result.time, np.array([phi1[0], phi2[0], phi3[0]]))
    found = np.array([phi1, phi2, phi3, result["b1.w"], result["b2.w"], result["b3.w"]])
    rates = expected[3:]
    assert all((r.min() < -0.5) & (r.max() > 0.5) for r in rates)  # no angle goes one way: none is a state for good
    assert np.abs(found - expected).max() < 1e-5
    closed = BARS @ np.cos(np.array([phi1, phi2, phi3]))
    assert np.abs(closed - 2.0).max() < 1e-10


def test_the_four_bar_loop_has_the_textbook_structure() -> None:
    analysis = load("FourBar").analyse()
    assert "1 of {j1.phi, b2.a.phi, j4.phi} chosen as states in the run" in analysis.notes
    assert [s.why for s in analysis.states] == [
        "one of {b1.w, b2.w, j4.w}, chosen in the run",
        "one of {j1.phi, b2.a.phi, j4.phi}, chosen in the run",
    ]
    # positions: two closure conditions and the state; velocities: the same; three accelerations and one cut force
    assert [(loop.kind, loop.torn_size) for loop in analysis.loops] == [
        ("nonlinear", 3),
        ("linear", 3),
        ("linear", 5),
    ]


def test_clutches_are_one_mixed_loop_with_a_variable_each() -> None:
    model = load("Clutches")
    loops = model.analyse().loops
    assert [(loop.kind, loop.torn_size) for loop in loops] == [("mixed", 3), ("linear", 3)]
    assert sorted(loops[0].unknowns) == ["c1.s", "c2.s", "c3.s"]
    assert loops[1].matrix == "event"  # constant between changes of mode
    result = model.simulate(stop=2.0, tolerance=1e-9)
    # by hand: the first clutch sticks at t = 0.8, the second at 1.4; the third never slips
    t = result.time
    w1 = np.select([t < 0.8, t < 1.4], [10 - 10 * t, 2 - 5 / 3 * (t - 0.8)], 1.0)
    w2 = np.select([t < 0.8, t < 1.4], [2.5 * t, 2 - 5 / 3 * (t - 0.8)], 1.0)
    w3 = np.minimum(5 / 7 * t, 1.0)
    for name, expected in (("w1.w", w1), ("w2.w", w2), ("w3.w", w3), ("w4.w", w3)):
        assert np.abs(result[name] - expected).max() < 1e-6


def test_clutches_of_the_standard_library() -> None:
    roots = [entry for entry in MODELICAPATH.split(os.pathsep) if entry and Path(entry, "Modelica").is_dir()]
    if not roots:
        pytest.skip("MODELICAPATH holds no Modelica Standard Library")
    name = "Modelica.Mechanics.Rotational.Examples.CoupledClutches"
    analysis = kilohertz.load(name, libraries=roots).analyse()
    assert [(loop.kind, loop.torn_size) for loop in analysis.loops] == [("mixed", 3), ("linear", 3)]
    assert len(analysis.states) == 8

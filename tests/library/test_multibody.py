"""Rigid bodies in space against solutions known by hand, and what mechanics says must stay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kilohertz
from kilohertz.base import ModelError
from kilohertz.driver import Model
from kilohertz.results import Result

BODIES = "Kilohertz.Examples.Bodies"
G = 9.81


def load(model: str) -> Model:
    return kilohertz.load(f"{BODIES}.{model}")


def run(model: str, **settings: float) -> Result:
    return load(model).simulate(tolerance=1e-10, settings=settings)


def vector(result: Result, name: str, n: int = 3) -> np.ndarray:
    return np.array([result[f"{name}[{i + 1}]"] for i in range(n)])


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max())


def kinds(model: str) -> list[str]:
    return [loop.kind for loop in load(model).analyse().loops if loop.partition == "step"]


def test_a_rod_swings_with_the_period_of_its_length() -> None:
    result = run("Pendulum")
    rate = math.sqrt(G / 2 / (1 / 3 + 0.02**2 / 12))
    exact = 0.01 * np.cos(rate * (1 - 0.01**2 / 16) * result.time)
    assert off(result["joint.phi"], exact) < 2e-6
    assert off(result["tip.r[1]"], np.sin(result["joint.phi"])) < 1e-12
    weight = 7700 * 0.02**2 * G
    assert result["cut.f[2]"].mean() == pytest.approx(-weight, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "names"), [("DoublePendulum", ["energy"]), ("Top", ["energy", "L"]), ("Gimbal", ["energy"])]
)
def test_what_no_force_changes_stays(model: str, names: list[str]) -> None:
    result = run(model)
    for name in names:
        assert np.ptp(result[name]) < 2e-6 * max(1e-3, np.abs(result[name]).max()), name


def test_a_top_goes_round_as_its_spin_and_weight_say() -> None:
    result = run("Top")
    axis = np.array([result[f"top.a.R.T[2,{i}]"] for i in (1, 2, 3)])
    assert off(axis[1], np.full(len(result.time), math.cos(0.5))) < 1e-6
    turned = np.unwrap(np.arctan2(axis[0], axis[2]))
    inertia, moment = 4e-4 + 0.5 * 0.05**2, 6e-4 * 100
    rate = min(np.roots([inertia * math.cos(0.5), -moment, 0.5 * G * 0.05]))
    assert off(turned - turned[0], rate * result.time) < 1e-5


def test_a_nut_falls_and_turns_as_if_it_were_alone() -> None:
    result = run("Gimbal")
    t = result.time
    assert off(result["rod.slides.s"], t - G * t**2 / 2) < 1e-7
    assert off(result["rod.turns.phi"], 3 * t) < 1e-8


def test_a_free_body_tumbles_alike_in_all_coordinates() -> None:
    result = run("FreeBody")
    t = result.time
    exact = np.array([np.full(len(t), 10.0), 3 * np.cos(10 * t), -3 * np.sin(10 * t)])
    for body in ("quaternions", "unit", "angles", "joined"):
        assert off(vector(result, f"{body}.w") * [[1], [1], [np.sign(-result["quaternions.w[3]"][5])]], exact) < 1e-6, (
            body
        )
        assert off(vector(result, f"{body}.r_0"), np.array([t, 0 * t, 0 * t])) < 1e-8
        for i in range(1, 4):
            for j in range(1, 4):
                name = f"a.R.T[{i},{j}]"
                assert off(result[f"{body}.{name}"], result[f"angles.{name}"]) < 1e-6, (body, name)
    length = np.sqrt(sum(result[f"quaternions.Q[{i}]"] ** 2 for i in range(1, 5)))
    assert off(length, np.ones(len(t))) < 1e-8


def closing(crank: float) -> float:
    """The angle of the rocker that closes the four-bar above the ground."""
    x, y = 0.2 * math.cos(crank), 0.2 * math.sin(crank)

    def gap(phi: float) -> float:
        return math.hypot(0.7 + 0.4 * math.cos(phi) - x, 0.4 * math.sin(phi) - y) - 0.6

    low = math.atan2(-y, 0.7 - x)  # stretched out along the line from the end of the crank
    return float(brentq(gap, low, low + math.pi, xtol=1e-14))


def test_a_four_bar_is_closed_without_iteration() -> None:
    result = run("FourBar")
    exact = np.array([closing(phi) for phi in result["crank.phi"]])
    assert off(np.mod(result["rocker.phi"] - exact + math.pi, 2 * math.pi), np.full(len(exact), math.pi)) < 1e-9
    density = 7700 * 0.03**2
    energy = np.zeros(len(result.time))
    for length, w in ((0.2, "crank.w"), (0.4, "rocker.w")):
        energy += density * length * ((length**2 + 0.03**2) / 12 + length**2 / 4) * result[w] ** 2 / 2
    assert np.ptp(energy) < 1e-6 * energy.max()
    assert kinds("FourBar") == ["linear"]


def test_a_rod_as_a_constraint_gives_the_same() -> None:
    closed, iterated = run("FourBar"), run("FourBarIterated")
    assert off(np.interp(closed.time, iterated.time, iterated["crank.phi"]), closed["crank.phi"]) < 1e-5
    assert off(np.interp(closed.time, iterated.time, iterated["rod.f_rod"]), closed["rocker.f_rod"]) < 1e-3
    assert "nonlinear" in kinds("FourBarIterated")


def test_crank_and_piston() -> None:
    result, iterated = run("SliderCrank"), run("SliderCrankIterated")
    phi = result["crank.phi"]
    exact = 0.05 * np.cos(phi) + np.sqrt(0.15**2 - (0.05 * np.sin(phi)) ** 2)
    assert off(result["piston.s"], exact) < 1e-9
    assert off(result["stroke.r[1]"], exact) < 1e-9
    assert off(np.interp(result.time, iterated.time, iterated["crank.phi"]), phi) < 1e-5
    assert "nonlinear" not in kinds("SliderCrank")


def test_a_coupler_with_mass_keeps_the_energy() -> None:
    result = run("Rocker")
    crank, rocker = result["crank.phi"], result["closing.phi"]
    tip = np.array([0.2 * np.cos(crank), 0.2 * np.sin(crank)])
    end = np.array([0.7 + 0.4 * np.cos(rocker), 0.4 * np.sin(rocker)])
    centre = (tip + end) / 2
    v_tip = 0.2 * result["crank.w"] * np.array([-np.sin(crank), np.cos(crank)])
    v_end = 0.4 * result["closing.w"] * np.array([-np.sin(rocker), np.cos(rocker)])
    spin = np.linalg.norm(v_end - v_tip, axis=0) / 0.6
    density = 7700 * 0.03**2
    energy = np.sum(((v_tip + v_end) / 2) ** 2, axis=0) * 2 / 2 + 0.06 * spin**2 / 2 + 2 * G * centre[1]
    for length, w, height in ((0.2, "crank.w", tip[1] / 2), (0.4, "closing.w", end[1] / 2)):
        m = density * length
        energy += m * ((length**2 + 0.03**2) / 12 + length**2 / 4) * result[w] ** 2 / 2 + m * G * height
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()
    assert kinds("Rocker") == ["linear"]


def test_a_slide_on_a_slanted_rail() -> None:
    result = run("Linkage")
    phi = result["swing.phi"] - math.pi / 2
    x, y = 0.4 * np.cos(phi), 0.4 * np.sin(phi)
    assert off(result["slide.s"], x + np.sqrt(0.8**2 - y**2)) < 1e-9
    m = 7700 * math.pi / 4 * 0.03**2 * 0.4
    inertia = m * (0.03**2 / 16 + 0.4**2 / 12 + 0.2**2)
    height = y / 2 * math.cos(0.2)
    energy = inertia * result["swing.w"] ** 2 / 2 + m * G * height + 3 * result["slide.v"] ** 2 / 2
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()


def test_a_conical_pendulum_goes_round() -> None:
    result = run("SphericalPendulum")
    angle = math.sqrt(G / 0.8) * result.time
    exact = np.array([0.6 * np.cos(angle), np.full(len(angle), -0.8), 0.6 * np.sin(angle)])
    assert off(vector(result, "weight.r_0"), exact) < 1e-6
    assert off(np.abs(result["rod.f_rod"]), np.full(len(angle), 2 * G / 0.8)) < 1e-5


def test_a_body_on_a_ball_swings_in_a_plane() -> None:
    result = run("Hanging")
    inertia, moment = 0.03 + 0.3**2, 0.3 * G
    exact = solve_ivp(
        lambda _, y: [y[1], -moment / inertia * math.sin(y[0])],
        (0, 3),
        [0.5, 0],
        rtol=1e-11,
        atol=1e-12,
        t_eval=result.time,
    )
    assert off(result["body.w[1]"], exact.y[1]) < 1e-6


def test_work_of_wind_and_loss_of_a_damper_are_the_change_of_energy() -> None:
    result = run("Chain")
    m = 7700 * math.pi / 4 * 0.03**2 * 0.5
    inertia = m * np.diag([0.03**2 / 16 + 0.5**2 / 12, 0.03**2 / 8, 0.03**2 / 16 + 0.5**2 / 12])
    energy = 50 * (result["spring.s"] - 0.5) ** 2 / 2
    for body in ("first", "second"):
        w, r_0 = vector(result, f"{body}.body.w"), vector(result, f"{body}.body.r_0")
        T = np.array([[result[f"{body}.a.R.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
        r = np.einsum("jik,j->ik", T, np.array([0, -0.25, 0]))
        spin = np.einsum("jik,jk->ik", T, np.cross(w.T, [0, -0.25, 0]).T)
        v = vector(result, f"{body}.body.v_0") + spin
        energy = (
            energy + np.einsum("ik,ij,jk->k", w, inertia, w) / 2 + m * (v**2).sum(axis=0) / 2 + m * G * (r_0 + r)[1]
        )
    loss = np.diff(result.time) * (result["spring.v"][1:] ** 2 + result["spring.v"][:-1] ** 2) / 2 * 5
    wind = 5 * np.diff(vector(result, "second.b.r_0")[2])
    change = np.cumsum(wind - loss)
    assert off(np.diff(energy).cumsum(), change) < 2e-3 * np.abs(change).max()


def test_a_mount_gives_way_in_proportion() -> None:
    result = run("Mounted")
    assert vector(result, "mount.r")[:, -1] == pytest.approx([1e-3, -20 * G / 2e5, 5e-4], rel=1e-5)
    assert vector(result, "mount.phi")[:, -1] == pytest.approx([0, 0, 0.01], abs=1e-7)


def test_a_loop_that_cannot_be_closed_is_refused() -> None:
    with pytest.raises(ModelError, match="the loop cannot be closed"):
        run("FourBar", **{"rocker.L": 2.0})

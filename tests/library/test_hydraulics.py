"""Hydraulic and translational components against solutions known by hand, and the axis built from them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result

HERE = Path(__file__).parent
AXIS = "Kilohertz.Examples.HydraulicAxis"
E = 1.4e9  # bulk modulus, the default of every component
A_PISTON = math.pi / 4 * 0.063**2
A_ROD = math.pi / 4 * (0.063**2 - 0.045**2)

# Solution of the benchmark of the axis by Radau IIA with a relative tolerance of 1e-10, computed without our code.
# t [s], x [m], v [m/s], p_a, p_b, p_line_a, p_line_b [bar], y
OPEN_LOOP = """
0     0.250000000  0.000531343 59.712625  89.144465 59.716711  89.142914  0.00000000
0.25  0.257646388  0.056898202 34.189197  34.297771 34.716770  34.032220  0.13927822
0.5   0.275792065  0.081078613 33.576814  32.604381 34.334865  32.233017  0.19996889
1     0.302092423  0.001280257 32.745981  34.914789 32.764344  34.915054  0.00299974
1.5   0.281065621 -0.064819443 83.420847 140.128775 82.813139 140.427350 -0.19996889
2     0.260083978 -0.000342512 83.960760 137.911595 83.951392 137.908315 -0.00299974
3     0.312474694  0.001251900 32.758406  34.947169 32.776763  34.947414  0.00299974
4     0.270422564 -0.000319042 83.950224 137.884577 83.940860 137.881315 -0.00299974
"""
CLOSED_LOOP = """
0     0.250000000  0.000531343 59.712625  89.144465 59.716711  89.142914  0.00000000
0.5   0.265790869  0.057807262 33.296642  32.673126 33.837344  32.408252  0.14231405
1     0.301885215  0.079004770 33.525334  32.609689 34.264119  32.247796  0.19482992
2     0.350287658 -0.003474483 35.551344  40.407347 35.540885  40.436229 -0.00723793
3     0.299731478 -0.078705682 83.190017 140.189811 82.452333 140.552019 -0.24328594
4     0.249916899  0.001176262 83.139767 136.464280 83.142052 136.451646  0.00076594
"""
COLUMNS = ("mass.s", "mass.v", "cylinder.p_a", "cylinder.p_b", "line_a.p", "line_b.p", "valve.y")
UNITS = np.array([1, 1, 1e5, 1e5, 1e5, 1e5, 1])
DIGITS = np.array([1e-9, 1e-9, 1e-6, 1e-6, 1e-6, 1e-6, 1e-8])  # what the tables print


@pytest.fixture(scope="module")
def bench() -> Result:
    return kilohertz.load(str(HERE / "components.mo")).simulate()


def close(found: np.ndarray, expected: np.ndarray, part: float = 1e-7) -> bool:
    return bool(np.abs(found - expected).max() <= part * np.abs(expected).max())


def test_a_volume_fills_in_proportion_to_its_bulk_modulus(bench: Result) -> None:
    assert close(bench["filled.p"], 1e5 + E / 2e-4 * 1e-5 * bench.time)


def test_a_volume_empties_through_a_resistance_exponentially(bench: Result) -> None:
    assert close(bench["emptied.p"], 2e5 + 8.8e6 * np.exp(-bench.time * E / (1e-4 * 3e9)))
    assert close(bench["drain.q"], (bench["emptied.p"] - 2e5) / 3e9)


def test_a_line_is_a_volume_before_a_resistance(bench: Result) -> None:
    assert close(bench["line.p"], 2e5 + 7.8e6 * np.exp(-bench.time * E / (5e-5 * 6e9)))


def test_a_line_that_rests_has_the_pressure_at_its_end(bench: Result) -> None:
    assert close(bench["resting.p"], np.full(len(bench.time), 2e5))


def test_a_moved_cylinder_displaces_area_times_speed_and_leaks(bench: Result) -> None:
    one = np.ones(len(bench.time))
    leak = 1e-12 * 6e6
    assert close(bench["moved.a.q"], (A_PISTON * 0.05 + leak) * one)
    assert close(bench["moved.b.q"], (-A_ROD * 0.05 - leak) * one)
    assert close(bench["moved.f"], (A_PISTON * 1e7 - A_ROD * 4e6) * one)


def test_a_closed_cylinder_follows_the_logarithm_of_its_volumes(bench: Result) -> None:
    out, s = 0.1, bench["closed.s"]
    assert close(bench["closed.p_a"], 9e6 - E * np.log((1e-4 + A_PISTON * s) / (1e-4 + A_PISTON * out)))
    rest, start = 0.5 - s, 0.5 - out
    assert close(bench["closed.p_b"], 3e6 - E * np.log((1e-4 + A_ROD * rest) / (1e-4 + A_ROD * start)))


def test_the_spool_answers_a_step_like_an_oscillator(bench: Result) -> None:
    omega, damping = 2 * math.pi * 20, 0.5
    damped, t = omega * math.sqrt(1 - damping**2), bench.time
    swing = np.cos(damped * t) + damping / math.sqrt(1 - damping**2) * np.sin(damped * t)
    assert close(bench["valve.y"], 0.4 * (1 - np.exp(-damping * omega * t) * swing), 1e-6)


def test_the_flows_of_the_valve_are_those_of_four_orifices(bench: Result) -> None:
    def root(dp: float) -> float:
        return float(dp / (dp**2 + 1e10) ** 0.25)

    y = bench["valve.y"]
    plus, minus = (y + np.hypot(y, 0.01)) / 2, (-y + np.hypot(y, 0.01)) / 2
    k = 40e-3 / 60 / math.sqrt(35e5)
    q_a = k * (plus * root(1.6e7 - 6e6) - minus * root(6e6 - 2e5))
    q_b = k * (minus * root(1.6e7 - 7e6) - plus * root(7e6 - 2e5))
    assert close(bench["valve.a.q"], -q_a)
    assert close(bench["valve.b.q"], -q_b)
    assert np.abs(bench["valve.p.q"] + bench["valve.t.q"] - q_a - q_b).max() < 1e-12  # no fluid is lost


def test_a_fully_open_edge_passes_its_nominal_flow() -> None:
    """40 l/min at 35 bar; the regularisation takes 0.02 % at this drop."""
    k = 40e-3 / 60 / math.sqrt(35e5)
    assert k * 35e5 / (35e5**2 + 1e10) ** 0.25 == pytest.approx(40e-3 / 60, rel=3e-4)


def test_a_mass_pushed_against_friction_nears_its_final_speed(bench: Result) -> None:
    assert close(bench["pushed.v"], 3 * (1 - np.exp(-bench.time / 2)))
    assert close(bench["pushed.s"], 3 * bench.time - 6 * (1 - np.exp(-bench.time / 2)), 1e-6)


def test_a_mass_on_a_spring_swings(bench: Result) -> None:
    assert close(bench["swung.s"], 0.7 + 0.3 * np.cos(5 * bench.time))


@pytest.mark.parametrize(
    ("model", "path", "table"), [("OpenLoop", "", OPEN_LOOP), ("ClosedLoop", "plant.", CLOSED_LOOP)]
)
def test_the_axis_agrees_with_the_benchmark_to_the_printed_digits(model: str, path: str, table: str) -> None:
    result = kilohertz.load(f"{AXIS}.{model}").simulate(tolerance=1e-11, intervals=400)
    for line in table.split("\n")[1:-1]:
        t, *expected = (float(word) for word in line.split())
        row = int(np.abs(result.time - t).argmin())
        found = np.array([result[path + name][row] for name in COLUMNS]) / UNITS
        assert (np.abs(found - expected) <= 0.6 * DIGITS).all(), (t, found - expected)


def test_active_damping_calms_the_axis_and_leaves_its_accuracy_alone() -> None:
    model = kilohertz.load(f"{AXIS}.Controlled")
    swing, error = {}, {}
    for gain in (0.0, 2e-7):
        result = model.simulate(stop=4, intervals=4000, settings={"controller.K_d": gain})
        slow = 0.05 * (math.pi / 2) ** 2 * np.cos(math.pi / 2 * result.time)  # what the reference asks for
        early = (result.time > 0.1) & (result.time < 0.6)
        swing[gain] = np.abs(result["plant.mass.acc"] - slow)[early].max()
        error[gain] = np.abs(result["controller.x_ref"] - result["plant.x"]).max()
    assert swing[2e-7] < 0.5 * swing[0.0]
    assert error[2e-7] == pytest.approx(error[0.0], rel=0.01)


def test_plant_and_controller_stand_alone() -> None:
    """The two halves compile by themselves, with the inputs and outputs that the whole connects."""
    plant, controller = (kilohertz.load(f"{AXIS}.{name}").process() for name in ("Plant", "Controller"))
    ins_and_outs = [
        {n for group in (step.variables, step.aliases) for n, v in group.items() if v.causality == kind}
        for step in (plant, controller)
        for kind in ("input", "output")
    ]
    assert ins_and_outs == [{"u"}, {"x", "v", "p_a", "p_b"}, {"x", "p_a", "p_b"}, {"u", "x_ref"}]

"""Mixed mode and sub-steps: measured orders, C against the slow interpreter, and our own axis against CVODE."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import load
from kilohertz.base import InternalError, ModelError
from kilohertz.cli.main import main
from kilohertz.codegen.method_tables import methods_source
from kilohertz.driver.plan import Experiment, make_plan
from kilohertz.ir.step import Kind
from kilohertz.passes import Inlining
from kilohertz.simulate import Program, Statistics, Stepper
from kilohertz.solvers import PAIRS, Pair, StepSettings
from kilohertz.solvers.integrate import mixed_step
from kilohertz.solvers.mixed_pairs import ARS222, ARS443, IMEX1

PROBLEM = f"{Path(__file__).parent / 'problems.mo'}:Problems.Mixed"
AXIS = "Kilohertz.Examples.HydraulicAxis.OpenLoop"
STATES = ("x", "y", "z")


@cache
def program(implicit: str, part: str = "xyz") -> Program:
    return load(PROBLEM).compile(Inlining(frozenset(implicit), None if part == "xyz" else frozenset(part)))


def end_of(built: Program, pair: Pair, n: int, rate: float, substeps: int = 1) -> np.ndarray:
    """x, y, z at t = 2 after n steps."""
    stepper = Stepper(built, StepSettings(pair.name, 2 / n, inline=True, substeps={"*": substeps}, loop_newton=12))
    stepper.instance.set("lambda", rate)
    assert stepper.start(0.0) == 0
    for _ in range(n):
        stepper.step()
    assert stepper.counts["held"] == 0
    variables = {v.name: v for v in built.step.of_kind(Kind.STATE)}
    return np.array([stepper.instance.read(variables[name]) for name in STATES])


def solution(t: float) -> np.ndarray:
    return np.array([1 + 0.5 * math.cos(t), math.cos(3 * t), 0.5 + 0.5 * math.sin(2 * t)])


def measured(built: Program, pair: Pair, rate: float, steps: tuple[int, int], substeps: int = 1) -> float:
    errors = [np.abs(end_of(built, pair, n, rate, substeps) - solution(2.0)).max() for n in steps]
    return math.log2(errors[0] / errors[1])


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
@pytest.mark.parametrize("implicit", ["z", "", "xyz"])
def test_the_order_of_a_pair_is_that_of_its_table(pair: Pair, implicit: str) -> None:
    """Also with an empty and with a full half."""
    assert measured(program(implicit), pair, 2.0, (160, 320)) == pytest.approx(pair.order, abs=0.2)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
def test_a_very_fast_state_costs_no_order(pair: Pair) -> None:
    assert measured(program("z"), pair, 1e6, (160, 320)) == pytest.approx(pair.order, abs=0.2)


@pytest.mark.parametrize("pair", [IMEX1, ARS222], ids=lambda p: p.name)
@pytest.mark.parametrize(("implicit", "part", "substeps"), [("z", "z", 5), ("z", "yz", 3), ("", "z", 20)])
def test_sub_steps_have_the_order_of_the_pair(pair: Pair, implicit: str, part: str, substeps: int) -> None:
    assert measured(program(implicit, part), pair, 20.0, (160, 320), substeps) == pytest.approx(pair.order, abs=0.2)


def test_sub_steps_reach_what_the_whole_step_cannot() -> None:
    """Explicit, with h*lambda = 5 in the whole step: sub-steps of the fast part alone are stable and accurate."""
    with pytest.raises(AssertionError):
        end_of(program("", "z"), ARS222, 40, 100.0)
    assert np.abs(end_of(program("", "z"), ARS222, 40, 100.0, 20) - solution(2.0)).max() < 6e-3


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
@pytest.mark.parametrize(("implicit", "part", "substeps"), [("z", "xyz", 1), ("", "xyz", 1), ("z", "yz", 3)])
def test_c_and_python_take_the_same_step(pair: Pair, implicit: str, part: str, substeps: int) -> None:
    if substeps > 1 and pair.order > 2:
        return
    rate = 20.0

    def f(t: float, s: np.ndarray) -> np.ndarray:
        (x, y, z), (px, py, pz) = s, solution(t)
        return np.array(
            [
                -0.5 * math.sin(t) + (x * z - px * pz) - 0.5 * (y**2 - py**2),
                -3 * math.sin(3 * t) - (y * z - py * pz) + (x - px),
                math.cos(2 * t) - rate * (z**2 * x - pz**2 * px) + 0.5 * (y - py),
            ]
        )

    def jacobian(_t: float, s: np.ndarray) -> np.ndarray:
        x, y, z = s
        return np.array([[z, -y, x], [1, -z, -y], [-rate * z**2, 0.5, -2 * rate * z * x]])

    s, h = solution(0.0), 2.0 / 40
    inside = None if part == "xyz" else [STATES.index(c) for c in part]
    for k in range(40):
        s = mixed_step(pair, f, jacobian, k * h, s, h, [STATES.index(c) for c in implicit], inside, substeps)
    assert np.allclose(end_of(program(implicit, part), pair, 40, rate, substeps), s, rtol=1e-8)


def test_a_wrong_coefficient_makes_no_pair() -> None:
    with pytest.raises(InternalError, match="stages"):
        replace(ARS222, explicit=ARS443.explicit)
    with pytest.raises(InternalError, match="order 2, stated 3"):
        replace(ARS222, order=3)
    text = methods_source()
    for pair in PAIRS:
        for name, a in (("a", pair.implicit.a), ("explicit_a", pair.explicit.a)):
            line = next(line for line in text.splitlines() if f" {pair.name}_{name}[]" in line)
            numbers = line[line.index("{") + 1 : line.index("}")].split(", ")
            assert [float.fromhex(n) for n in numbers] == a.flatten().tolist()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: p.name)
def test_implicit_halves_are_l_stable(pair: Pair) -> None:
    assert abs(pair.implicit.amplification_at_infinity) < 1e-12
    axis = np.concatenate([np.linspace(1e-3, 30, 1500), np.logspace(1.4, 8, 300)])
    assert max(abs(pair.implicit.amplification(1j * y)) for y in axis) <= 1 + 1e-10


def test_the_hydraulic_axis_in_mixed_mode_against_cvode() -> None:
    """Split by eigenvalues: the pressures are implicit, spool and mass are explicit."""
    model = load(AXIS)
    reference = model.simulate(stop=0.5, tolerance=1e-10, intervals=250)
    for solver, order in (("ieuler", 1), ("ars222", 2), ("ars443", 3)):
        errors = []
        for step in (5e-4, 2.5e-4):
            statistics = Statistics()
            how: dict[str, Any] = {"solver": solver, "step": step, "implicit": ["auto"], "statistics": statistics}
            result = model.simulate(stop=0.5, intervals=250, **how)
            errors.append(np.abs(result["mass.s"] - reference["mass.s"]).max())
        assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25), errors
        assert any("states have a share above 0.1" in n for n in statistics.notes)
    pressures = "line_a.p, line_b.p, cylinder.p_a, cylinder.p_b"
    assert f"the implicit half of ars443 for 4 of 8 states: {pressures}" in statistics.notes


def test_the_analysis_of_mixed_mode(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", PROBLEM, "--solver", "ars222", "--implicit", "z", "--substeps", "z=4"]) == 0
    text = capsys.readouterr().out
    assert "4 sub-steps for 1 of 3 states: z" in text
    assert "3 states -> 1 nonlinear unknown" in text
    assert "one period with ars222" in text and re.search(r"^  regular +10 right-hand sides", text, re.MULTILINE)


def test_what_is_taken_for_mixed_mode() -> None:
    model = load(PROBLEM)
    asked = StepSettings.of(step=1e-2, implicit=["z"])
    names = ("euler", "rk2", "sdirk3", "auto")
    found = {s: make_plan(model, asked.but(solver=s)).stepping.solver for s in names}
    assert found == {"euler": "imex1", "rk2": "ars222", "sdirk3": "ars443", "auto": "ars222"}
    plan = make_plan(model, asked.but(solver="ars222", implicit=()), Experiment(settings={"lambda": 300.0}))
    assert plan.inlining == Inlining(frozenset("z"))
    for wrong in (asked.but(solver="rodas4"), asked.but(solver="ars443", implicit=(), substeps={"z": 4})):
        with pytest.raises(ModelError, match=r"pair of methods|order 2 at most"):
            make_plan(model, wrong)
    with pytest.raises(ModelError, match="built for it"):
        StepSettings("ars222", 1e-3).check_fixed()

"""Kinds of the language that few models use, with answers known by hand: with CVODE, a fixed step and as a task."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.cli import main

ANSWERS: dict[str, float] = {
    "partial_modifiers": 21,
    "enumeration_as_index": 30,
    "negative_integers": -2915,
    "negative_reals": -296.5,
    "cardinality_of": 11,
    "texts": 1,
    "pre_of_a_parameter": 5,
    "conditional_parts": 4,
    "ranges": 107,
    "nested": 1,
    "variable_delay": 0.8,
    "transport": 0.5,
    "homotopy_of": 5,
    "no_flow": 5,
    "overloaded": -38,
    "without_derivative": 6,
    "not_zero_derivative": 9,
    "when_initial": 2,
    "reinit_of_an_alias": 0.2,
    "elsewhen_of": 11,
    "loop_in_when": 22,
    "edges": 704,
    "semi_linear": 1,
    "vectors": -210,
    "joined": 63,
    "order": 3,
    "around": 12,
    "records_of_a_function": 20,
    "slices": 14,
    "sums_of_vectors": 36 + 420 + 4800,
}


FURTHER: dict[str, float] = {
    "streams_meet": 105,  # 17.5 * 4 * (1 + time)
    "sub_sampled": 56,
    "euler_on_a_clock": 0.98**100,
    "arrays_in_c": 2309,
    "flow_that_turns": 0,
    "by_enumeration": 161430,
    "iterators": 57,
    "results_left_out": 801,
    "break_and_return": 5,
    "derivatives_of_expressions": 239,
    "matrices": 2340,
    "each_and_arrays": 2094,
    "samples_that_meet": 152510,
    "hysteresis": 6,
    "rectified": 0.5 / math.pi,
    "constraint_in_a_function": 1,
    "of_a_steady_state": 6,
    "initial_algorithm": 262,
    "packages": 11,
    "event_clock": 2,
    "rotating_vector": 657,
    "if_of_parameters": 23,
    "table_in_an_algorithm": 6.5,
    "capacitors_in_parallel": 2 * math.exp(-0.25),
    "booleans_of_functions": 4,
    "record_in_a_when": 38,
    "loop_with_branches": 3,
    "operators_of_records": 415.75,
    "integer_matrices": 112,
    "ring_of_derivatives": 2 * math.e,
}
FOLDER = Path(__file__).parent
PACKAGES: dict[str, tuple[dict[str, float], dict[str, Any], float]] = {
    f"{FOLDER / 'known_answers.mo'}:KnownAnswers.All": (ANSWERS, {"solver": "rk4", "step": 0.01}, 1e-6),
    f"{FOLDER / 'further_answers.mo'}:FurtherAnswers.All": (FURTHER, {"solver": "rk4", "step": 0.001}, 1e-4),
}


@pytest.fixture(scope="module", params=PACKAGES, ids=["known", "further"])
def named(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(named: str) -> kilohertz.Model:
    return kilohertz.load(named)


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_a_run_offline(model: kilohertz.Model, named: str, solver: str) -> None:
    answers, fixed, precision = PACKAGES[named]
    result = model.simulate(stop=1, **(fixed if solver == "rk4" else {}))
    assert {n: result[f"{n}.y"][-1] for n in answers} == pytest.approx(answers, rel=precision, abs=precision)
    assert result.ok


def test_a_task(model: kilohertz.Model, named: str, tmp_path: Path) -> None:
    """The same bits as off-line with the same method."""
    output = tmp_path / "out.csv"
    answers, fixed, _ = PACKAGES[named]
    words = ["--solver", "rk4", "--step", str(fixed["step"]), "--duration", "1s", "--fast", "-o", str(output)]
    assert main(["run", named, *words]) == 0
    result, alone = kilohertz.read(output), model.simulate(stop=1, **fixed)
    moving = [f"{name}.y" for name in answers if f"{name}.y" in result.names]
    assert len(moving) > 10
    assert {n: result[n][-1] for n in moving} == {n: alone[n][-1] for n in moving}


def test_every_model_is_asked_for(model: kilohertz.Model, named: str) -> None:
    found = {n.partition(".")[0] for n in model.flatten().variables if n.count(".") == 1 and n.endswith(".y")}
    assert found == {*PACKAGES[named][0]}

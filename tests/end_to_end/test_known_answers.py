"""Kinds of the language that few models use, with answers known by hand: with CVODE, a fixed step and as a task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.cli import main

ANSWERS = {
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
}


@pytest.fixture(scope="module")
def model() -> kilohertz.Model:
    return kilohertz.load(f"{Path(__file__).parent / 'known_answers.mo'}:KnownAnswers.All")


@pytest.mark.parametrize("stepping", [{}, {"solver": "rk4", "step": 0.01}], ids=["cvode", "rk4"])
def test_a_run_offline(model: kilohertz.Model, stepping: dict[str, Any]) -> None:
    result = model.simulate(stop=1, **stepping)
    assert {name: result[f"{name}.y"][-1] for name in ANSWERS} == pytest.approx(ANSWERS, abs=1e-6)
    assert result.ok


def test_a_task(model: kilohertz.Model, tmp_path: Path) -> None:
    """The same bits as off-line with the same method."""
    output = tmp_path / "out.csv"
    words = ["--solver", "rk4", "--step", "0.01", "--duration", "1s", "--fast", "-o", str(output)]
    assert main(["run", f"{Path(__file__).parent / 'known_answers.mo'}:KnownAnswers.All", *words]) == 0
    result, alone = kilohertz.read(output), model.simulate(stop=1, solver="rk4", step=0.01)
    moving = [f"{name}.y" for name in ANSWERS if f"{name}.y" in result.names]
    assert len(moving) > 10
    assert {n: result[n][-1] for n in moving} == {n: alone[n][-1] for n in moving}


def test_every_model_is_asked_for(model: kilohertz.Model) -> None:
    assert {n.partition(".")[0] for n in model.flatten().variables if n.count(".") == 1 and n.endswith(".y")} == {
        *ANSWERS
    }

"""Loops with several solutions: a run that goes from one to another says so; jumps that the model has do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result
from kilohertz.simulate import Statistics

HEAD = "model M Real x(start = 0, fixed = true); Real u(start = -1.7); Real y(start = 0, fixed = true);"

ENDS = f"{HEAD} equation der(x) = 1; u^3 - 3*u = x; der(y) = u; end M;"
ENDS_UNFELT = f"{HEAD} equation der(x) = 1; u^3 - 3*u = x; der(y) = x; end M;"
WRITTEN = f"{HEAD} equation der(x) = 1; u^3 + u = noEvent(if x < 1.234 then 2 else 90); der(y) = u; end M;"
STEEP = f"{HEAD} equation der(x) = 1; u^3 + u = 90*tanh(3000*(x - 1.234)); der(y) = u; end M;"
AT_EVENT = f"{HEAD} equation der(x) = 1; u^3 - 3*u = if x > 1.5 then 10 else x; der(y) = u; end M;"


def run(folder: Path, text: str, solver: str) -> tuple[Result, list[str]]:
    """The result, and the warnings, each with its place in the line."""
    (folder / "M.mo").write_text(text)
    statistics = Statistics()
    result = kilohertz.load(str(folder / "M.mo")).simulate(stop=3.0, solver=solver, statistics=statistics)
    places = [text[d.span.start : d.span.end] if d.span is not None else "" for d in statistics.warnings]
    return result, [f"{d.code} {d.message} [{p}]" for d, p in zip(statistics.warnings, places, strict=True)]


@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize("text", [ENDS, ENDS_UNFELT], ids=["ends", "ends unfelt"])
def test_a_solution_that_ends_is_told(tmp_path: Path, text: str, solver: str) -> None:
    """u goes from -1 to 2 where x = 2."""
    result, said = run(tmp_path, text, solver)
    (warning,) = [w for w in said if w.startswith("R753")]
    assert "`u` goes from -1" in warning and warning.endswith("another one is taken [u^3 - 3*u = x]")
    behind = result.time > 2.01
    assert np.all(result["u"][behind] > 2.0)
    assert np.abs(result["u"] ** 3 - 3 * result["u"] - result["x"]).max() < 1e-6


@pytest.mark.parametrize("text", [WRITTEN, STEEP, AT_EVENT], ids=["written", "steep", "at an event"])
def test_what_the_model_has_written_is_not(tmp_path: Path, text: str) -> None:
    result, said = run(tmp_path, text, "cvode")
    assert abs(result["u"][-1] - result["u"][0]) > 2.0
    assert not [w for w in said if w.startswith("R753")]


def test_looking_does_not_change_a_bit(tmp_path: Path) -> None:
    """Another number of rows, so that other ways are made again, and the same values at the end."""
    (tmp_path / "M.mo").write_text(STEEP)
    model = kilohertz.load(str(tmp_path / "M.mo"))
    ends = [model.simulate(stop=3.0, intervals=n).final("y") for n in (500, 1500)]
    assert ends[0] == ends[1]

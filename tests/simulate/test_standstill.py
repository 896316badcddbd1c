"""Derivatives that lead back to a jump from both sides, without an event: the run ends, and says where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import ModelError, load

SLIDE = """model Slide "x comes to 0 at 1 s and cannot leave"
  Real y(start = 0, fixed = true);
  Real x(start = 1, fixed = true);
equation
  der(y) = x + 1;
  der(x) = noEvent(if x > 0 then -1 else 1);
end Slide;
"""
DRAIN = """model Drain "On one side of the jump it is at rest"
  Real x(start = 1, fixed = true);
equation
  der(x) = noEvent(if x > 0 then -1 else 0);
end Drain;
"""


@pytest.mark.parametrize("solver", [None, "ida"])
def test_a_state_that_cannot_leave_a_jump(tmp_path: Path, solver: str | None) -> None:
    file = tmp_path / "Slide.mo"
    file.write_text(SLIDE)
    with pytest.raises(ModelError) as caught:
        load(file).simulate(stop=3.0, tolerance=1e-6, solver=solver)
    said = caught.value.diagnostics[0]
    assert said.code == "R752"
    assert "time = 1.00" in said.message
    assert said.span is not None
    assert "`der(x)` changes most" in said.notes[0].text


def test_a_state_that_rests_beside_a_jump(tmp_path: Path) -> None:
    file = tmp_path / "Drain.mo"
    file.write_text(DRAIN)
    result = load(file).simulate(stop=3.0, tolerance=1e-6)
    assert np.abs(result["x"] - np.maximum(1 - result.time, 0)).max() < 1e-6

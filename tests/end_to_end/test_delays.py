"""Delays (MLS 3.7.4.1) at the start, where they give what goes into them then, and short ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result

CHAIN = """
model Chain "Declared against their order"
  parameter Real T = 0.1;
  Real y4 = delay(y3, T, 1) + 1;
  Real y3 = delay(y2, T, 1) + 1;
  Real y2 = delay(y1, T, 1) + 1;
  Real y1 = delay(x, T, 1) + 1;
  Real x = 10 + time;
end Chain;
"""

FEEDBACK = """
model Feedback "The start is steady: y = 0.5*(1 - y), and s = sqrt(s)"
  Real y = 0.5*delay(e, 0.1);
  Real e = 1 + time - y;
  Real s(start = 0.5) = sqrt(delay(s, 0.1) + time);
end Feedback;
"""


def load(tmp_path: Path, text: str) -> kilohertz.Model:
    path = tmp_path / "m.mo"
    path.write_text(text, encoding="utf-8")
    return kilohertz.load(str(path))


def run(tmp_path: Path, text: str, **options: Any) -> Result:
    return load(tmp_path, text).simulate(stop=1.0, **options)


@pytest.mark.parametrize("options", [{}, {"solver": "euler", "step": 0.01}])
def test_a_chain_of_delays_starts_with_what_goes_into_it(tmp_path: Path, options: dict[str, Any]) -> None:
    result = run(tmp_path, CHAIN, **options)
    for k in range(1, 5):
        expected = 10 + k + np.maximum(result.time - k * 0.1, 0)
        assert result[f"y{k}"] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"solver": "euler", "step": 0.01}])
def test_a_loop_through_a_delay_is_solved_at_the_start(tmp_path: Path, options: dict[str, Any]) -> None:
    result = run(tmp_path, FEEDBACK, **options)
    assert (result["y"][0], result["s"][0]) == pytest.approx((1 / 3, 1))
    early = result.time < 0.095
    assert result["y"][early] == pytest.approx(1 / 3)
    assert result["s"][early] == pytest.approx(np.sqrt(1 + result.time[early]))


@pytest.mark.parametrize(
    "equations",
    [
        "y = delay(y, 0.1) + u;",
        "y = k*g + u; g = k*delay(y, 0.1);",
        "y = delay(k*y + y, 0.1)/2 + u;",
    ],
)
def test_a_delay_that_determines_nothing_begins_with_the_start_value(tmp_path: Path, equations: str) -> None:
    declared = "parameter Real k = 1; Real y(start = 3); Real u = sin(time);"
    text = f"model M {declared} {'Real g;' if 'g ' in equations else ''} equation {equations} end M;"
    model = load(tmp_path, text)
    model.process()
    assert [w.code for w in model.warnings] == ["B223"]
    result = model.simulate(stop=0.3)
    assert result["y"][0] == pytest.approx(3)
    late = (result.time > 0.11) & (result.time < 0.19)
    expected = 3 + np.sin(result.time) + np.sin(result.time - 0.1)
    assert result["y"][late] == pytest.approx(expected[late], abs=1e-4)

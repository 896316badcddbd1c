"""Event clocks tick with edge(condition) (MLS 16.3), also at the start, by the start value of the condition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz

COUNT = "equation when Clock({clock}) then n = previous(n) + 1; end when; m = hold(n);"


@pytest.mark.parametrize("options", [{}, {"solver": "rk4", "step": 0.01}])
@pytest.mark.parametrize(
    ("declared", "clock", "first", "last"),
    [
        ("", "cos(7*time) > 0", 1, 2),
        ("Boolean b = cos(7*time) > 0;", "b", 1, 2),
        ("Boolean b(start = false, fixed = true) = cos(7*time) > 0;", "b", 1, 2),
        ("Boolean b(start = true, fixed = true) = cos(7*time) > 0;", "b", 0, 1),
        ("Boolean b(start = true, fixed = true) = sin(7*time + 4) > 0;", "b", 0, 1),
    ],
)
def test_a_condition_that_holds_at_the_start_ticks_unless_it_did_before(
    tmp_path: Path, declared: str, clock: str, first: int, last: int, options: dict[str, Any]
) -> None:
    path = tmp_path / "m.mo"
    text = f"model M Integer n(start = 0); Integer m; {declared} {COUNT.format(clock=clock)} end M;"
    path.write_text(text, encoding="utf-8")
    result = kilohertz.load(str(path)).simulate(stop=1.0, **options)
    assert (result["m"][2], result["m"][-1]) == (first, last)

"""Algorithms at the ticks of a clock."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz


@pytest.mark.parametrize(
    "algorithm",
    [
        "x := previous(u) + 1; y := previous(x);",
        "x := u; y := previous(x);",
        "if u > -1 then x := previous(u) + 1; y := previous(x); else x := previous(x); y := previous(y); end if;",
        "x := previous(x) + u - previous(u); y := previous(x);",
    ],
)
def test_previous_of_what_is_set_already_is_the_last_tick(tmp_path: Path, algorithm: str) -> None:
    path = tmp_path / "m.mo"
    declared = "Integer u(start = 0), x(start = 0), y(start = 0); Integer held = hold(y), now = hold(x);"
    clocked = "equation u = sample(1, Clock(1, 10)) + previous(u);"
    path.write_text(f"model M {declared} {clocked} algorithm {algorithm} end M;", encoding="utf-8")
    result = kilohertz.load(str(path)).simulate(stop=0.65, solver="euler", step=0.01)
    after = [int(result.time.searchsorted(t / 10 + 0.05)) for t in range(6)]
    assert [int(result["now"][i]) for i in after] == [1, 2, 3, 4, 5, 6]
    assert [int(result["held"][i]) for i in after] == [0, 1, 2, 3, 4, 5]

"""Whens in states of state machines: what they set is reset with the state (MLS 17.3.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz

STATE = "block S input Integer g; output Integer i(start = 0); output Integer k(start = 0); {body} end S;"
EQUATION = "equation i = previous(i) + 1; when {when} then k = previous(k) + 1; end when;"
ALGORITHM = "algorithm i := previous(i) + 1; when {when} then k := previous(k) + 1; end when;"
INNER = """
  block Other output Integer j(start = 0); equation j = previous(j) + 1; end Other;
  Clock c = Clock(1, 10);
  Integer n(start = 0);
  {declared}
equation
  n = sample(1, c) + previous(n);
  initialState({a});
  transition({a}, b, n == 4 or n == 9 or n == 14, immediate = true, reset = true);
  transition(b, {a}, n == 6 or n == 12, immediate = true, reset = {reset});
  {more}
"""  # active in the ticks 1 to 3, 6 to 8, 12 and 13
FLAT = {"a": "a", "declared": "S a(g = n); Other b; Integer k = hold(a.k);", "more": ""}
DEEP = {  # the state is one of two in another that is entered anew
    "a": "around",
    "declared": "block Around input Integer g; S a(g = g); Other o; equation initialState(a);"
    " transition(a, o, a.i > 99, immediate = false); end Around;"
    " Around around(g = n); Other b; Integer k = hold(around.a.k);",
    "more": "",
}


def counts(tmp_path: Path, body: str, reset: bool, form: dict[str, str]) -> list[int]:
    """k after each tick."""
    path = tmp_path / "m.mo"
    text = INNER.format(reset=str(reset).lower(), **form)
    path.write_text(f"model M {STATE.format(body=body)} {text} end M;", encoding="utf-8")
    result = kilohertz.load(str(path)).simulate(stop=1.35, solver="euler", step=0.01)
    return [int(result["k"][result.time.searchsorted(t / 10 + 0.05)]) for t in range(14 - 1)]


@pytest.mark.parametrize("form", [FLAT, DEEP])
@pytest.mark.parametrize("body", [EQUATION, ALGORITHM])
@pytest.mark.parametrize(
    ("when", "anew", "on"),
    [
        ("i > 1", [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ("{i > 7, i == 2}", [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1], [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]),
        ("g == 3 or g >= 7", [0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2]),
        ("g == 5 or g == 6", [0] * 13, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_what_a_when_sets_is_reset_with_its_state(
    tmp_path: Path, when: str, anew: list[int], on: list[int], body: str, form: dict[str, str]
) -> None:
    text = body.replace("{when}", when)
    assert counts(tmp_path, text, True, form) == anew
    if form is FLAT:
        assert counts(tmp_path, text, False, form) == on


def test_a_when_in_a_state_with_branches(tmp_path: Path) -> None:
    body = "equation i = previous(i) + 1; when i == 3 then k = 7; elsewhen i > 1 then k = previous(k) + 1; end when;"
    assert counts(tmp_path, body, True, FLAT) == [0, 1, 7, 7, 7, 0, 1, 7, 7, 7, 7, 0, 1]

"""What is asserted of parameters and discrete values costs no evaluation at the end of every step."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz import Model, load
from kilohertz.simulate import RunFailed
from kilohertz.simulate.assertions import are_moving

MODEL = """
model M
  function f input Real u; output Real y; algorithm y := u^2; annotation(Inline = false); end f;
  parameter Real p = 1;
  discrete Real d(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true), z = 2*x, v = f(x + 1);
equation
  der(x) = 1;
  when sample(0.5, 0.5) then d = pre(d) + p; n = pre(n) + 1; end when;
  {asserted}
end M;
"""


@pytest.mark.parametrize(
    ("asserted", "expected"),
    [
        ("", False),
        ('assert(p < 2, "p");', False),
        ('assert(f(p) < 2 and 2*p > 1, "p");', False),
        ('assert(d < 10, "d is " + String(d)); assert(n < 10, "n");', False),
        ('assert(p < 2, "p"); assert(x < 10, "x");', True),
        ('assert(z < 10, "z");', True),
        ('assert(time < 10, "time");', True),
        ('assert(p < 2, "p at " + String(x));', True),
        ('assert(p + v < 20, "what a call gives");', True),
    ],
)
def test_which_assertions_move(asserted: str, expected: bool, tmp_path: Path) -> None:
    assert are_moving(written(asserted, tmp_path).process()) == expected


@pytest.mark.parametrize(
    ("asserted", "at"),
    [('assert(p < 0.5, "gone");', 0.0), ('assert(d < 1.5, "gone");', 1.0), ('assert(n < 3, "gone");', 1.5)],
)
@pytest.mark.parametrize("intervals", [3, 500])
def test_they_fail_at_the_start_and_at_events(asserted: str, at: float, intervals: int, tmp_path: Path) -> None:
    with pytest.raises(RunFailed) as caught:
        written(asserted, tmp_path).simulate(stop=2.0, intervals=intervals)
    assert "gone" in str(caught.value)
    assert f"{at:g}" in str(caught.value)


def written(asserted: str, folder: Path) -> Model:
    (file := folder / "M.mo").write_text(MODEL.format(asserted=asserted))
    return load(str(file))


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
@pytest.mark.parametrize(
    ("asserted", "said"),
    [
        ('assert(p < 1, "p");', ["p = 1"]),
        ('assert(x < 0.5 or p > 3, "x");', ["x = 0.5", "p = 1"]),
        ('assert(noEvent(z < 1), "z");', ["z = 1"]),
        ('when x > 0.3 then assert(d > 7 or n > 3, "when"); end when;', []),  # of the block that asserts
    ],
)
def test_the_values_that_break_it_are_told(tmp_path: Path, asserted: str, said: list[str], solver: str) -> None:
    path = tmp_path / "m.mo"
    path.write_text(MODEL.format(asserted=asserted), encoding="utf-8")
    with pytest.raises(RunFailed) as caught:
        load(path).simulate(stop=1.0, solver=solver, step=0.125 if solver == "rk4" else None)
    (failure,) = caught.value.diagnostics
    assert failure.code == "R714"
    told = " ".join(note.text for note in failure.notes)
    values = dict(part.split(" = ") for part in told.removeprefix("with ").split(", ") if " = " in part)
    for name, value in (part.split(" = ") for part in said):
        assert float(values[name]) == pytest.approx(float(value), abs=0.3)

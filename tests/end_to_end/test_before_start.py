"""Initial equations about parameters, values before the start, and subscripts that only the start knows."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.results import Result

REDUNDANT_RATE = """
model RedundantRate "What rests has no rate: that initial equation says nothing, and gives no parameter"
  parameter Real d = 4;
  parameter Real n = 6;
  final parameter Real k(fixed = false);
  Real p = if time < 0.5 then 45 else 180;
  Real w;
  Real dp(start = 10);
equation
  w = k*dp/(dp^2 + 1)^0.25;
  p - dp = w^2;
initial equation
  der(w) = 0;
  0 = n - k*sqrt(d);
end RedundantRate;
"""

BEFORE_THE_START = """
model BeforeTheStart "Values before the start are values of their own, also of what never changes or is equal"
  Boolean never = not open;
  Boolean open = false;
  Boolean early = time < 2;
  Boolean a(start = true, fixed = true) = b;
  Boolean b(start = false, fixed = true) = time > -0.5;
  Boolean was[3](each start = false, each fixed = true);
  Integer n(start = 0, fixed = true);
initial equation
  pre(never) = not early;
equation
  when initial() then
    was = {pre(never), pre(a), pre(b)};
  end when;
  when {never, a, b} then
    n = pre(n) + 1;
  end when;
end BeforeTheStart;
"""


def run(tmp_path: Path, text: str) -> Result:
    file = tmp_path / "model.mo"
    file.write_text(text)
    return kilohertz.load(str(file)).simulate(stop=0.1)


def test_what_speaks_of_parameters_alone_gives_them(tmp_path: Path) -> None:
    result = run(tmp_path, REDUNDANT_RATE)
    w, dp = result["w"][0], result["dp"][0]
    assert w == pytest.approx(3 * dp / (dp**2 + 1) ** 0.25)
    assert 45 - dp == pytest.approx(w**2)


def test_values_before_the_start_are_their_own(tmp_path: Path) -> None:
    result = run(tmp_path, BEFORE_THE_START)
    assert [result.final(f"was[{i}]") for i in (1, 2, 3)] == [0, 1, 0]
    assert result.final("n") == 0
    assert result.final("a") == result.final("b") == result.final("never") == 1


FOUND_INDEX = """
model FoundIndex "Where to look is what the initial equations give"
  parameter Integer i(fixed = false);
  parameter Real known[2] = {0.25, 0.75};
  parameter Real first = known[i];
  Real x(start = first, fixed = true);
initial algorithm
  i := -1;
  for k in 1:2 loop
    if known[k] > 0.5 then
      i := k%s;
    end if;
  end for;
equation
  der(x) = -x;
end FoundIndex;
"""


def test_a_subscript_that_the_initial_equations_give(tmp_path: Path) -> None:
    assert run(tmp_path, FOUND_INDEX % "")["x"][0] == 0.75
    with pytest.raises(kilohertz.ModelError, match="subscript 3 outside 1 to 2"):
        run(tmp_path, FOUND_INDEX % " + 1")

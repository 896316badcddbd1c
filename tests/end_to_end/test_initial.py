"""Initial problems that need more than one Newton step from the start values."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.results import Result

SINGULAR_GUESS = """
model SingularGuess "Two quadratic resistances, guessed where nothing flows: the Jacobian has a column of zeros"
  Real m(start = 0);
  Real p(start = 1);
  Real x;
equation
  p + 0.01*p^3 = 5 - m^2;
  p + 0.02*p^3 - 3 = m^2;
  der(x) = -m;
initial equation
  x = p;
end SingularGuess;
"""

GUESS_FROM_STARTS = """
model GuessFromStarts "Solutions at zero and on both sides of it: the start of b tells which"
  Real a;
  Real b(start = -3);
  Real x(start = 1, fixed = true);
equation
  a = b^3 - 6*b;
  b = a + 0.001*a^3;
  der(x) = -x;
end GuessFromStarts;
"""

BEFORE_AND_AT = """
model BeforeAndAt "What one block says was before the start, another says is at the start; nothing but samples sets it"
  Boolean on;
  Boolean delayed;
  Real next;
initial equation
  pre(on) = false;
  pre(next) = -1;
initial algorithm
  on := true;
equation
  when sample(0.05, 1) then
    on = not pre(on);
  end when;
  when initial() then
    delayed = on;
    next = -1;
  elsewhen on then
    delayed = false;
    next = time + 3;
  elsewhen not on then
    delayed = false;
    next = -1;
  end when;
end BeforeAndAt;
"""

AT_THE_START = """
model AtTheStart "What is asserted among initial equations is of the start alone"
  parameter Real least = 0.95;
  Real x(start = 1, fixed = true);
initial equation
  assert(x > least, "begins too low");
equation
  der(x) = -x;
end AtTheStart;
"""


def run(tmp_path: Path, text: str) -> Result:
    file = tmp_path / "model.mo"
    file.write_text(text)
    return kilohertz.load(str(file)).simulate(stop=0.1)


def test_a_singular_jacobian_at_the_start_values(tmp_path: Path) -> None:
    result = run(tmp_path, SINGULAR_GUESS)
    m, p = result["m"][0], result["p"][0]
    assert 2 * p + 0.03 * p**3 == pytest.approx(8.0)
    assert m**2 == pytest.approx(5 - p - 0.01 * p**3)
    assert result["x"][0] == pytest.approx(p)


def test_iteration_begins_from_the_unknown_with_a_start(tmp_path: Path) -> None:
    result = run(tmp_path, GUESS_FROM_STARTS)
    a, b = result["a"][0], result["b"][0]
    assert b == pytest.approx(-2.6, abs=0.1)
    assert a == pytest.approx(b**3 - 6 * b)
    assert b == pytest.approx(a + 0.001 * a**3)


def test_what_is_said_before_and_at_the_start_both_hold(tmp_path: Path) -> None:
    result = run(tmp_path, BEFORE_AND_AT)
    assert (result["on"][0], result["delayed"][0]) == (1.0, 1.0)
    assert result["delayed"][result.time < 0.05].min() == 1.0
    assert (result.final("on"), result.final("delayed")) == (0.0, 0.0)


def test_assertions_of_initial_equations_are_of_the_start(tmp_path: Path) -> None:
    assert run(tmp_path, AT_THE_START).final("x") < 0.95
    with pytest.raises(kilohertz.ModelError, match=r"during initialisation, time = 0: .* begins too low"):
        kilohertz.load(str(tmp_path / "model.mo")).simulate(settings={"least": 1.5})

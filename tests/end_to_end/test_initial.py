"""Initial problems that need more than one Newton step from the start values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.cli import main as khz
from kilohertz.results import Result
from kilohertz.simulate import Statistics

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


@pytest.mark.parametrize(("start", "root"), [(0, 1.0), (-0.0001, -1.0), (0.5, 1.0), (-3, -1.0)])
def test_of_two_solutions_the_one_nearest_to_the_start(tmp_path: Path, start: float, root: float) -> None:
    """At 0 itself there is no slope, and both are as near."""
    text = f"model M Real x(start = {start}); Real y(start = 0, fixed = true); equation x*x = 1 + y; der(y) = 1; end M;"
    assert run(tmp_path, text)["x"][0] == pytest.approx(root)


def test_of_many_solutions_without_a_start_the_one_of_nominal_size(tmp_path: Path) -> None:
    """cos(log(x)) = x has one at 1, and more and more of them towards 0, where it is not defined."""
    text = (
        "model M Real x; Real y; Real z(start = 0, fixed = true); equation x = cos(y); y = log(x); der(z) = x; end M;"
    )
    result = run(tmp_path, text)
    assert (result["x"][0], result["y"][0]) == pytest.approx((1.0, 0.0), abs=1e-6)


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


AT_INITIAL = """
model AtInitial "What a when of initial() does besides setting values"
  parameter Real limit = 2;
  parameter Real least = 0;
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
  when {initial(), x < 0.5} then
    assert(x < limit, "x is " + String(x));
    if x < least then
      terminate("nothing to do");
    end if;
  end when;
end AtInitial;
"""


@pytest.mark.parametrize("solver", ["cvode", "ida", "rk4"])
def test_whens_of_initial_assert_and_end_the_run(tmp_path: Path, solver: str) -> None:
    path = tmp_path / "AtInitial.mo"
    path.write_text(AT_INITIAL)
    model = kilohertz.load(path)
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    assert model.simulate(solver=solver, **step).time[-1] == 1.0
    with pytest.raises(kilohertz.ModelError, match="x is 1"):
        model.simulate(solver=solver, settings={"limit": 0.75}, **step)
    ended = model.simulate(solver=solver, settings={"least": 1.5}, **step)
    assert list(ended.time) == [0.0] and ended["x"][0] == 1.0 and ended.ok


def test_what_a_model_said_before_it_failed_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "Said.mo"
    path.write_text("""
model Said
  function say
    input Real x;
    output Real y;
  external "C" y = khz_test_said(x)
    annotation(Include = "
      #include \\"ModelicaUtilities.h\\"
      static double khz_test_said(double x) { ModelicaMessage(\\"look here\\"); return x; }");
  end say;
  Real x(start = 1, fixed = true);
equation
  der(x) = -x;
  when initial() then
    assert(say(x) > 2, "x is small");
  end when;
end Said;
""")
    assert khz(["simulate", str(path)]) == 1
    shown = capsys.readouterr()
    assert "time = 0: look here" in shown.out and "x is small" in shown.err


REINIT_AT_INITIAL = """
model ReinitAtInitial
  parameter Real least = 0;
  Real x(start = 1);
  Real y(start = 1);
equation
  der(x) = -x;
  der(y) = -y;
  when {initial(), x < 1.5} then
    reinit(x, 5 - least);
    if time + 2 > least then
      reinit(y, 3);
    end if;
  end when;
end ReinitAtInitial;
"""


def test_reinit_at_initial_is_an_initial_equation(tmp_path: Path) -> None:
    path = tmp_path / "ReinitAtInitial.mo"
    path.write_text(REINIT_AT_INITIAL)
    model = kilohertz.load(path)
    result = model.simulate(stop=0.1)
    assert (result["x"][0], result["y"][0]) == (5.0, 3.0)
    result = model.simulate(stop=0.1, settings={"least": 2.5})
    assert (result["x"][0], result["y"][0]) == (2.5, 1.0)
    path.write_text(REINIT_AT_INITIAL.replace("Real x(start = 1)", "Real x(start = 1, fixed = true)"))
    with pytest.raises(kilohertz.ModelError, match="contradicts the others"):
        kilohertz.load(path).simulate(stop=0.1)


ALGORITHM_AT_INITIAL = """
model AlgorithmAtInitial "An algorithm that sets nothing, with a call that makes it a function"
  function say
    input String s;
    input Real x;
  external "C" khz_test_hello(s, x)
    annotation(Include = "
      #include \\"ModelicaUtilities.h\\"
      static void khz_test_hello(const char *s, double x) { ModelicaFormatMessage(\\"%s %.1f\\", s, x); }");
  end say;
  parameter Real least = 0;
  parameter Real enough = -1;
  Real x(start = 1);
equation
  der(x) = -x;
algorithm
  when initial() then
    say("at the start", x);
    assert(x > least, "too small: " + String(x));
    reinit(x, 2);
    if x < enough then
      terminate("enough");
    end if;
  end when;
  when x < 1.5 then
    say("later", x);
  end when;
end AlgorithmAtInitial;
"""


def test_an_algorithm_that_sets_nothing_does_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "AlgorithmAtInitial.mo"
    path.write_text(ALGORITHM_AT_INITIAL)
    model, seen = kilohertz.load(path), Statistics()
    result = model.simulate(statistics=seen)
    assert result["x"][0] == 2.0 and result.time[-1] == 1.0
    assert "time = 0: at the start 2.0" in seen.messages and any("later 1.5" in m for m in seen.messages)
    with pytest.raises(kilohertz.ModelError, match="too small: 2"):
        model.simulate(settings={"least": 3.0})
    seen = Statistics()
    assert list(model.simulate(settings={"enough": 3.0}, statistics=seen).time) == [0.0]
    assert seen.terminated == "enough"


INITIAL_ALGORITHM = """
model InitialAlgorithm "Effects of an initial algorithm: where it sets nothing, and where its loop stays one"
  parameter Integer most = 3;
  parameter Real p(fixed = false);
  parameter Real least = 0;
  Real x(start = 1, fixed = true);
initial algorithm
  p := 0;
  while p < most loop
    p := p + 1;
    if p > 4 then
      terminate("too many: " + String(p));
    end if;
  end while;
initial algorithm
  if x < least then
    terminate("too small");
  end if;
equation
  der(x) = -x;
end InitialAlgorithm;
"""


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_an_initial_algorithm_ends_the_run(tmp_path: Path, solver: str) -> None:
    path = tmp_path / "InitialAlgorithm.mo"
    path.write_text(INITIAL_ALGORITHM)
    model = kilohertz.load(path)
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    assert model.simulate(solver=solver, **step).time[-1] == 1.0
    for settings, said in (({"most": 6}, "too many: 6"), ({"least": 2.0}, "too small")):
        seen = Statistics()
        ended = model.simulate(solver=solver, settings=settings, statistics=seen, **step)
        assert list(ended.time) == [0.0] and seen.terminated == said


CALLED_ONCE = """
model CalledOnce "A call for its effect, of values that never change"
  function check
    input Real least;
    input Real value;
  algorithm
    assert(value >= least, "too little: " + String(value));
  end check;
  parameter Real least = 0;
  parameter Real given = 1;
  Real value;
  Real x(start = 1, fixed = true);
equation
  value = given;
  check(least, value);
  der(x) = -x;
end CalledOnce;
"""


def test_a_call_of_parameters_in_an_equation_section_is_made_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "CalledOnce.mo"
    path.write_text(CALLED_ONCE)
    model = kilohertz.load(path)
    assert model.simulate().ok and model.warnings == ()
    with pytest.raises(kilohertz.ModelError, match="too little: 1"):
        model.simulate(settings={"least": 2.0})


RESETTABLE = """
model Resettable "After MLS 8.6: in steady state or at its value at the start, which a reset gives again"
  parameter Boolean steadyState = true;
  parameter Real y0 = 3;
  Real y;
equation
  der(y) = 1 - 2*y;
  when {initial(), time > 0.5} then
    if not (initial() and steadyState) then
      reinit(y, y0);
    end if;
  end when;
initial equation
  if steadyState then
    der(y) = 0;
  end if;
end Resettable;
"""


@pytest.mark.parametrize(("steady", "first"), [("true", 0.5), ("false", 3.0)])
def test_reinit_at_initial_under_a_condition(tmp_path: Path, steady: str, first: float) -> None:
    path = tmp_path / "Resettable.mo"
    path.write_text(RESETTABLE.replace("= true", f"= {steady}"))
    result = kilohertz.load(path).simulate(stop=0.6, intervals=6)
    assert result["y"][0] == pytest.approx(first, rel=1e-6)
    assert result.final("y") == pytest.approx(0.5 + 2.5 * np.exp(-0.2), rel=1e-4)


CHECKED_AT_THE_START = """
model CheckedAtTheStart
  function valid
    input Real t[:];
  algorithm
    for i in 2:size(t, 1) loop
      assert(t[i] > t[i - 1], "not increasing at " + String(i));
    end for;
  end valid;
  parameter Real last = 3;
  Real x(start = 1, fixed = true);
initial algorithm
  valid({1, 2, last});
equation
  der(x) = -x;
end CheckedAtTheStart;
"""


def test_an_initial_algorithm_that_only_checks_is_run(tmp_path: Path) -> None:
    path = tmp_path / "CheckedAtTheStart.mo"
    path.write_text(CHECKED_AT_THE_START)
    model = kilohertz.load(path)
    assert model.simulate().ok
    with pytest.raises(kilohertz.ModelError, match=r"during initialisation.*not increasing at 3"):
        model.simulate(settings={"last": 1.0})


LATE_START = """
model LateStart "Two solutions, 2 and 3: the one next to the start is taken, which a parameter gives that is solved for"
  parameter Real c = 30;
  parameter Real a(fixed = false);
  Real x(start = a);
  Real y(start = 5 - a);
  Real z(start = 0, fixed = true);
initial equation
  a^3 + a = c;
equation
  x*y = 6 + z;
  x + exp(log(y)) = 5;
  der(z) = -z;
end LateStart;
"""


@pytest.mark.parametrize(("c", "x"), [(30.0, 3.0), (10.0, 2.0)])
def test_start_values_that_initial_equations_give_are_guesses(tmp_path: Path, c: float, x: float) -> None:
    path = tmp_path / "LateStart.mo"
    path.write_text(LATE_START)
    assert kilohertz.load(path).simulate(settings={"c": c})["x"][0] == pytest.approx(x)


NO_STEAM = """
model NoSteam "Equations without a value at the guess"
  function density
    input Real h;
    output Real d;
  algorithm
    assert(h < 4e6, "no such steam");
    d := 1000 - 1e-4*h;
    annotation(Inline = false);
  end density;
  parameter Real P = 2e5;
  Real h(start = 1e7);
  Real q(start = 1);
equation
  q = 2e-3*density(h);
  q*h = P;
end NoSteam;
"""


def test_a_guess_without_a_value_is_not_the_end(tmp_path: Path) -> None:
    path = tmp_path / "NoSteam.mo"
    path.write_text(NO_STEAM)
    model = kilohertz.load(path)
    h = model.simulate()["h"][0]
    assert h == pytest.approx(2e5 / (2e-3 * (1000 - 1e-4 * h)))
    with pytest.raises(kilohertz.ModelError, match="no such steam"):  # more than any steam carries
        model.simulate(settings={"P": 1e8})

"""Functions that cannot do what they are asked for end the run with a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_model import write

import kilohertz
from kilohertz.base import ModelError

ASSERTS = """
model M
  function plain
    input Real x; output Real y;
  algorithm
    assert(x < 0.5, "x too large");
    y := x;
  end plain;
  function written_out
    input Real x; output Real y;
  algorithm
    assert(x < 0.5, "x too large");
    y := x;
    annotation(Inline = true);
  end written_out;
  function check
    input Real x;
  algorithm
    assert(x < 0.5, "x too large");
  end check;
  function through_another
    input Real x; output Real y;
  algorithm
    check(x);
    y := x;
  end through_another;
  Real x(start = 0, fixed = true);
  Real y;
  EXTRA
equation
  der(x) = 1;
  EQUATION
end M;
"""


@pytest.mark.parametrize(
    "equation",
    [
        "y = plain(x);",
        "y = written_out(x);",
        "y = through_another(x);",
        "y = if x < 0.4 then 0 else written_out(x);",
        "algorithm y := x; check(y);",
        "algorithm y := 0; for i in 1:3 loop y := y + written_out(x*i/3); end for;",
    ],
)
def test_assertions_of_functions_are_checked_however_they_are_called(model: str, equation: str) -> None:
    text = ASSERTS.replace("EQUATION", equation).replace("EXTRA", "")
    found = kilohertz.load(write(model, text))
    assert found.simulate(stop=0.45).ok
    with pytest.raises(ModelError) as caught:
        found.simulate(stop=0.6)
    [said] = caught.value.diagnostics
    assert said.code == "R714"
    assert "x too large" in said.message
    assert "time = 0.5" in said.message
    assert said.span is not None


def test_a_call_that_a_condition_guards_is_not_made_before_it(model: str) -> None:
    guarded = "y = if x < 0.4 then written_out(x) else 0; z = if x < 0.3 then 2*written_out(x) + 1 else 2;"
    text = ASSERTS.replace("EXTRA", "Real z;").replace("EQUATION", guarded)
    result = kilohertz.load(write(model, text)).simulate(stop=1.0)
    assert result.ok
    assert (result.final("y"), result.final("z")) == (0.0, 2.0)


TURNED = """
model M
  function turned
    input Real v[2]; output Real w[2];
  algorithm
    assert(v[1] < 9, "too large");
    w := {v[2], v[1]};
  end turned;
  parameter Real p(fixed = false);
  parameter Real q[2] = {p, 2};
  parameter Real e[2] = turned(q);
  parameter Real d[2] = turned(e);
  parameter Real s = d[1] + e[1];
  Real x(start = 1, fixed = true);
initial equation
  p = VALUE*x;
equation
  der(x) = s;
end M;
"""


def test_parameters_from_a_call_whose_arguments_are_found_at_the_start(model: str) -> None:
    result = kilohertz.load(write(model, TURNED.replace("VALUE", "3"))).simulate(stop=1.0)
    assert result.final("x") == pytest.approx(6.0)
    assert [result.parameters[n] for n in ("e[1]", "e[2]", "d[1]", "d[2]", "s")] == [2.0, 3.0, 3.0, 2.0, 5.0]
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, TURNED.replace("VALUE", "9"))).simulate(stop=1.0)
    [said] = caught.value.diagnostics
    assert said.code == "R714"
    assert "too large" in said.message


SETTLING = """
model M
  function checked
    input Integer k; output Real y;
  algorithm
    assert(k >= 1 and k <= 2, "k outside");
    y := k;
  end checked;
  Real x(start = 0, fixed = true);
  Real y;
  DECLARATIONS
equation
  der(x) = 1;
  EQUATIONS
end M;
"""
PASSING = "b = x > 0.505; k = if b and not pre(b) then 3 else if b then LAST else 1; y = checked(k);"
TICKED = "y = checked(k); when sample(0, 10) then k = FIRST; end when;"
BOOLEAN = "Boolean b(start = false, fixed = true); Integer k(start = 1, fixed = true);"


@pytest.mark.parametrize("settings", [{"solver": "cvode"}, {"solver": "rk4", "step": 0.01}])
@pytest.mark.parametrize(
    ("declarations", "equations", "wrong"),
    [
        (BOOLEAN, PASSING.replace("LAST", "2"), PASSING.replace("LAST", "3")),
        ("Integer k(start = 0, fixed = true);", TICKED.replace("FIRST", "2"), TICKED.replace("FIRST", "0")),
    ],
    ids=["in an event", "at the start"],
)
def test_assertions_in_an_event_count_when_it_has_settled(
    model: str, declarations: str, equations: str, wrong: str, settings: dict[str, Any]
) -> None:
    text = SETTLING.replace("DECLARATIONS", declarations)
    result = kilohertz.load(write(model, text.replace("EQUATIONS", equations))).simulate(stop=1.0, **settings)
    assert result.ok
    assert result.final("y") == 2.0
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text.replace("EQUATIONS", wrong))).simulate(stop=1.0, **settings)
    [said] = caught.value.diagnostics
    assert said.code == "R714"
    assert "k outside" in said.message


@pytest.mark.parametrize(
    ("equation", "code"), [("p = y;", "R714"), ("p = checked(k);", "R714"), ("p = table[k + 4];", "R717")]
)
def test_what_the_initial_equations_alone_compute_is_checked_there(model: str, equation: str, code: str) -> None:
    declarations = (
        "Integer k(start = 0, fixed = true); parameter Real p(fixed = false);"
        f" parameter Real table[3] = {{1, 2, 3}}; initial equation {equation}"
    )
    text = SETTLING.replace("DECLARATIONS", declarations).replace("EQUATIONS", TICKED.replace("FIRST", "2"))
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text)).simulate(stop=1.0)
    [said] = caught.value.diagnostics
    assert said.code == code
    assert "during initialisation" in said.message


@pytest.mark.parametrize(("value", "code"), [("checked(n)", "R714"), ("table[n]", "R717"), ("y", "R714")])
def test_what_a_when_takes_is_checked_in_its_pass(model: str, value: str, code: str) -> None:
    declarations = (
        "parameter Real table[3] = {1, 2, 3}; discrete Real s(start = 0, fixed = true);"
        " Integer n; Boolean b(start = false, fixed = true);"
    )
    equations = (
        f"b = x > 0.505; n = if b and not pre(b) then 4 else 1; y = checked(n); when b then s = {value}; end when;"
    )
    text = SETTLING.replace("DECLARATIONS", declarations).replace("EQUATIONS", equations)
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text)).simulate(stop=1.0)
    [said] = caught.value.diagnostics
    assert said.code == code
    assert "time = 0.505" in said.message


def test_a_text_in_a_record_that_a_function_gives_is_kept(model: str) -> None:
    text = """
model M
  record Named
    String name;
    Real value;
  end Named;
  function named
    input Integer k; output Named r;
  algorithm
    r.name := "number " + String(k);
    r.value := k;
    annotation(Inline = false);
  end named;
  function compared
    input Integer k; output Real y;
  protected
    Named first, second;
  algorithm
    first := named(k);
    second := named(k + 1);
    y := if first.name == "number 3" and second.name == "number 4" then first.value + second.value else -1;
    annotation(Inline = false);
  end compared;
  Integer k = 3 + integer(time/10);
  Real y = compared(k);
end M;
"""
    assert kilohertz.load(write(model, text)).simulate(stop=1.0).final("y") == 7.0


ORDER = """
model M
  function order
    input Real u[3]; output Real y[3]; output Integer at[3]; output Boolean swapped;
  protected
    Real h;
    Integer k;
  algorithm
    y := u;
    at := {1, 2, 3};
    swapped := false;
    for i in 1:2 loop
      for j in 1:2 loop
        if y[j] > y[j + 1] then
          h := y[j]; y[j] := y[j + 1]; y[j + 1] := h;
          k := at[j]; at[j] := at[j + 1]; at[j + 1] := k;
          swapped := true;
        end if;
      end for;
    end for;
    annotation(Inline = false);
  end order;
  Real y[3];
  Integer at[3];
  Boolean swapped;
  Real x(start = 0, fixed = true);
equation
  (y, at, swapped) = order({time, 0.5, 1 - 3*time});
  der(x) = if at[1] == 3 then 1 else 0;
end M;
"""  # 1 - 3*time falls below 0.5 at 1/6 and below time at 0.25; time rises above 0.5


def test_integers_and_booleans_of_a_call_change_when_it_makes_others_of_what_moves(model: str) -> None:
    loaded = kilohertz.load(write(model, ORDER))
    for result in (loaded.simulate(stop=1.0), loaded.simulate(stop=1.0, solver="rk4", step=1e-3)):
        for time, at in ((0.1, (1, 2, 3)), (0.2, (1, 3, 2)), (0.4, (3, 1, 2)), (0.9, (3, 2, 1))):
            row = int(np.searchsorted(result.time, time))
            assert tuple(result[f"at[{i}]"][row] for i in (1, 2, 3)) == at
            assert result["swapped"][row] == (time > 1 / 6)
        assert result.final("x") == pytest.approx(0.75, abs=2e-3)
    assert loaded.simulate(stop=1.0).final("x") == pytest.approx(0.75, abs=1e-9)  # the event is where they are equal


BOUND = """
model M
  partial function OfOne
    input Real x; output Real y;
  end OfOne;
  partial function OfTwo
    input Real x; input Real y; output Real z;
  end OfTwo;
  function mean
    input Real a; input Real b; input OfOne f; output Real m;
  algorithm
    m := (f(a) + f(b))/2;
    annotation(Inline = INLINE);
  end mean;
  function along_y
    input Real x; input Real a; input Real b; input OfTwo f; output Real m;
  algorithm
    m := mean(a, b, function f(x = x));
    annotation(Inline = INLINE);
  end along_y;
  function over
    input Real a; input Real b; input OfTwo f; output Real m;
  algorithm
    m := mean(a, b, function along_y(a = 2*a, b = 2*b, f = f));
    annotation(Inline = INLINE);
  end over;
  function difference
    input Real x; input Real y; input Real scale; output Real z;
  algorithm
    z := scale*(x - 10*y);
    annotation(Inline = INLINE);
  end difference;
  function line
    input Real x; input Real slope = 4; output Real y;
  algorithm
    y := slope*x;
    annotation(Inline = INLINE);
  end line;
  Real nested = over(time, time + 2, function difference(scale = 3));
  constant Real known = over(1, 3, function difference(scale = 3));
  Real defaults = mean(time, time + 2, line);
  Real first = mean(time, time + 2, function difference(x = 1, scale = 1));
  Real second = mean(time, time + 2, function difference(y = 1, scale = 1));
end M;
"""


@pytest.mark.parametrize("inline", ["false", "true"])
def test_functions_are_bound_to_inputs_of_functions_that_are_handed_on(model: str, inline: str) -> None:
    """And one function with other inputs bound is another function."""
    run = kilohertz.load(write(model, BOUND.replace("INLINE", inline))).simulate(stop=1.0)
    mean = run.time + 1  # of the two ends
    np.testing.assert_allclose(run["nested"], 3 * (mean - 10 * 2 * mean), rtol=1e-12)
    np.testing.assert_allclose(run["first"], 1 - 10 * mean, rtol=1e-12)
    np.testing.assert_allclose(run["second"], mean - 10, rtol=1e-12)
    np.testing.assert_allclose(run["defaults"], 4 * mean, rtol=1e-12)
    assert run.final("known") == 3 * (2 - 10 * 2 * 2)


SIZES = """
model M
  function some input Integer n; output Real a[n]; algorithm a := ones(n); annotation(Inline = false); end some;
  function large input Integer n; output Integer a[n]; algorithm a := fill(2000000000, n); annotation(Inline = false);
  end large;
  function three input Real u[3]; output Real y; algorithm y := u*u; annotation(Inline = false); end three;
  function f
    input Integer case;
    input Integer n;
    output Real y;
  protected
    Real a[3] = ones(3);
    Real b[2, 3] = ones(2, 3);
    Real c[:] = some(2);
    Real d[:, :] = ones(2, 2);
  algorithm
    if case == 1 then a := some(n);
    elseif case == 2 then a[1:3] := some(n);
    elseif case == 3 then b[1, :] := some(n);
    elseif case == 4 then c := some(3) + some(n);
    elseif case == 5 then c := {some(n)*some(3)};
    elseif case == 6 then c := b*some(n);
    elseif case == 7 then d := {some(3), some(n)};
    elseif case == 8 then d := cat(1, {some(3)}, {some(n)});
    elseif case == 9 then a := if n > 2 then some(n) else some(3);
    elseif case == 10 then c := {three(some(n))};
    elseif case == 11 then c := zeros(3 - n);
    elseif case == 12 then c := {sum(large(n - 2))};
    elseif case == 13 then c := {sum(-large(n - 2) - large(n - 2))};
    elseif case == 14 then c := {sum(i for i in 1:n - 3:3)};
    end if;
    y := sum(a) + sum(b) + sum(c) + sum(d);
    annotation(Inline = false);
  end f;
  parameter Integer case = 0;
  parameter Integer n = 3;
  Real y = f(case, n);
end M;
"""
FORMATS = """
model M
  parameter String how = "d";
  parameter Real size = 1;
  discrete Real x(start = 1.5, fixed = true);
equation
  when time > 0.5 then
    x = size*pre(x);
    assert(x > 0 and String(x, format = how) <> "7", "it is 7");
  end when;
end M;
"""


def test_texts_that_are_no_formats_are_refused(model: str) -> None:
    found = kilohertz.load(write(model, FORMATS))
    assert found.simulate(stop=1, settings={"how": "6.2f"}).ok
    for settings in ({"how": "%d"}, {"how": "x"}, {"how": "s"}):
        with pytest.raises(ModelError, match="a text is not a format for a number"):
            found.simulate(stop=1, settings=settings)
    with pytest.raises(ModelError, match="it is 7"):
        found.simulate(stop=1, settings={"size": 5.0})
    with pytest.raises(ModelError, match="beyond the Integers"):
        found.simulate(stop=1, settings={"size": 1e10})


RANGES = """
model M
  function turns input Integer first; input Integer last; input Integer step; output Integer n = 0;
  algorithm for i in first:step:last loop n := n + 1; end for; annotation(Inline = false); end turns;
  function length input Real last; output Integer n; protected Real x[:];
  algorithm x := {i for i in 0:last}; n := size(x, 1); annotation(Inline = false); end length;
  parameter Integer near = 2147483640; parameter Real far = 3;
  Integer y = turns(near, 2147483647, 1) + 10*turns(-near, -2147483647, -1) + 100*length(far);
end M;
"""


def test_ranges_at_the_end_of_the_integers(model: str) -> None:
    """They are counted right, or refused."""
    found = kilohertz.load(write(model, RANGES))
    assert found.simulate(stop=0.1).final("y") == 488
    with pytest.raises(ModelError, match="more elements than 32 bits can count") as caught:
        found.simulate(stop=0.1, settings={"far": 1e12})
    assert caught.value.diagnostics[0].code == "R717"


FIT = {1: 15, 2: 15, 3: 15, 4: 19, 5: 16, 6: 19, 7: 17, 8: 17, 9: 15, 10: 16, 11: 13, 12: None, 13: None, 14: None}


def test_arrays_of_functions_that_do_not_fit_are_refused(model: str) -> None:
    """One of three elements where four come; a size below zero; Integers beyond 32 bits; a step of zero."""
    found = kilohertz.load(write(model, SIZES))
    said = {11: "the size of an array is below zero", 12: "beyond the Integers", 13: "beyond the Integers"}
    for case, right in FIT.items():
        if right is not None:
            assert found.simulate(stop=0.1, settings={"case": case}).final("y") == right, case
        n = 3 if case == 14 else 4
        text = "the step of a range is zero" if n == 3 else said.get(case, "do not fit")
        with pytest.raises(ModelError, match=text) as caught:
            found.simulate(stop=0.1, settings={"case": case, "n": n})
        assert caught.value.diagnostics[0].code == "R717", case


def test_several_results_of_a_function_that_is_handed_over(tmp_path: Path) -> None:
    text = """
model M
  partial function Both
    input Real x;
    output Real y;
    output Real z;
  end Both;
  function twice
    extends Both;
    input Real k;
  algorithm
    y := k*x;
    z := y + 1;
  end twice;
  function sum
    input Both f;
    input Real x;
    output Real s;
  protected
    Real a, b;
  algorithm
    (a, b) := f(x);
    s := a + b;
  end sum;
  Real s = sum(function twice(k = 3), time);
end M;
"""
    (tmp_path / "M.mo").write_text(text)
    result = kilohertz.load(tmp_path / "M.mo").simulate(stop=2.0)
    np.testing.assert_allclose(result["s"], 6 * result.time + 1)

"""What may fail is not computed where a condition keeps from it, however often it stands in the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_model import write

import kilohertz
from kilohertz.base import ModelError

IN_WHEN = """
model M
  discrete Real m(start = 0, fixed = true);
  Integer n(start = 0, fixed = true), k(start = 0, fixed = true), l(start = 0, fixed = true);
algorithm
  when sample(0, 0.1) then
    if GUARD then
      k := VALUE;
      l := VALUE + k;
    end if;
    n := n + 1;
    m := n/2;
  end when;
end M;
"""


@pytest.mark.parametrize(
    ("guard", "value", "expected"),
    [
        ("m > 0.1", "integer(10/m)", 2),  # in the last event n is 10 before and m is 5
        ("n > 0", "div(100, n)", 10),
        ("n > 0", "mod(103, n)", 3),
        ("n > 0", "rem(-103, n)", -3),
        ("n > 0 and n <= 10", "-div(100, n)", -10),
        ("n < 7", "4000000*n*n*n", 864000000),  # more than an Integer from n = 9 on
    ],
)
def test_in_a_when_clause(model: str, guard: str, value: str, expected: int) -> None:
    text = IN_WHEN.replace("GUARD", guard).replace("VALUE", value)
    result = kilohertz.load(write(model, text)).simulate(stop=1.05)
    assert (result.final("n"), result.final("k"), result.final("l")) == (11, expected, 2 * expected)


def test_what_no_condition_keeps_from_fails(model: str) -> None:
    text = IN_WHEN.replace("GUARD", "n >= 0").replace("VALUE", "div(100, n)")
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text)).simulate(stop=1.0)
    assert [said.code for said in caught.value.diagnostics] == ["R717"]


CONTINUOUS = """
model M
  function two
    input Real x; output Real k; output Real l;
  algorithm
    k := if x > 0.25 then integer(1/x) else 0;
    l := (if x > 0.25 then 2*integer(1/x) else 0) + (if x > 0.3 then 3*integer(1/x) else 0);
    annotation(Inline = false);
  end two;
  function two_inlined
    input Real x; output Real k = if x > 0.25 then integer(1/x) else 0;
    output Real l = (if x > 0.25 then 2*integer(1/x) else 0) + (if x > 0.3 then 3*integer(1/x) else 0);
  algorithm
    annotation(Inline = true);
  end two_inlined;
  Real x = time - 0.5;
  parameter Integer p = 0;
  Integer n(start = 0, fixed = true);
  Real u = if x > 0.2 then 2 + x else 1e10;
  Real y, z;
equation
  when sample(0.05, 0.1) then
    n = pre(n) + 1;
  end when;
  EQUATION
end M;
"""


@pytest.mark.parametrize(
    ("equation", "y", "z"),
    [
        ("y = if x > 0.25 then integer(u) else 0; z = if x > 0.25 then integer(u) + 0.5 else 0;", 2, 2.5),
        (
            "y = noEvent(if x > 0.25 then integer(1/x) else 0); z = noEvent(if x > 0.3 then integer(1/x)*y else 0);",
            2,
            4,
        ),
        ("y = if n > 3 then div(20, n - 3) else 1; z = if n > 3 then div(20, n - 3)*x else 0;", 3, 1.2),
        (
            "y = if n > 3 and mod(20, n - 3) == 2 then 1 else 0; z = if n > 3 and mod(20, n - 3) == 2 then x else 0;",
            1,
            0.4,
        ),
        ("y + y^3 = if n > 3 then div(20, n - 3)*x/0.6 else 0; z = if n > 3 then y*div(20, n - 3) else 0;", 1, 3),
        ("y = noEvent(if p > 0 and x > 3.0/div(10, p) then 1 else 2); z = y;", 2, 2),
        ("(y, z) = two(x);", 2, 10),
        ("(y, z) = two_inlined(x);", 2, 10),
    ],
)
def test_in_equations_and_functions(model: str, equation: str, y: float, z: float) -> None:
    """At the end x is 0.4 and n is 9."""
    result = kilohertz.load(write(model, CONTINUOUS.replace("EQUATION", equation))).simulate(stop=0.9)
    assert (result.final("y"), result.final("z")) == pytest.approx((y, z))


STARTED = """
model M
  parameter Integer n = 0;
  parameter Integer d[2] = {if n > 0 then div(10*k, n) else 0 for k in 1:2};
  parameter Integer e[2] = {if n > 0 then div(10*k, n) + 1 else 5 for k in 1:2};
  discrete Real a, b;
initial algorithm
  if n > 0 then
    a := div(7, n);
    b := div(7, n) + 1;
  else
    a := 1;
    b := 2;
  end if;
equation
  when time > 2 then
    a = 0;
    b = 0;
  end when;
end M;
"""


def test_in_parameters_and_at_the_start(model: str) -> None:
    for n, expected in ((0, [0, 0, 5, 5, 1, 2]), (2, [5, 10, 6, 11, 3, 4])):
        result = kilohertz.load(write(model, STARTED.replace("n = 0", f"n = {n}"))).simulate(stop=1.0)
        numbers = [result.parameters[name] for name in ("d[1]", "d[2]", "e[1]", "e[2]")]
        assert [*numbers, result.final("a"), result.final("b")] == expected


def test_a_call_that_several_values_of_one_condition_share(model: str) -> None:
    """The call, all of whose results are kept, and the number it is: the C named the latter `None`."""
    text = """
model M
  function f
    input Real a[:];
    output Real y;
  algorithm
    y := 0;
    for i in 1:size(a, 1) loop
      y := y + a[i]^i;
    end for;
    annotation(Inline = false);
  end f;
  function g
    input Real x;
    input Boolean b;
    output Real y[2];
  algorithm
    y[1] := if b then 2*f({x + 1, 3*x}) else x;
    y[2] := if b then 3 + f({x + 1, 3*x}) else 2*x;
    annotation(Inline = true);
  end g;
  parameter Real x = 2;
  parameter Boolean b = true;
  parameter Real p[2] = g(x, b);
  Real q[2] = g(x + time, time >= 0.5);
  Real y = sum(p) + sum(q);
end M;
"""
    result = kilohertz.load(write(model, text)).simulate(stop=1.0)
    assert (result.final("q[1]"), result.final("q[2]")) == (2 * 85, 3 + 85)
    assert result.final("y") == 3 * 39 + 3 + 3 * 85 + 3


@pytest.mark.parametrize("branches", [17, 60])
def test_in_many_branches(tmp_path: Path, branches: int) -> None:
    names = [f"k{i}" for i in range(branches)]
    chosen = " ".join(f"if u > {i} then {k} := div(10, u) + 1; else {k} := 0; end if;" for i, k in enumerate(names))
    path = tmp_path / "m.mo"
    declared = f"parameter Integer n = 0; Integer u = n + integer(0*time), {', '.join(names)};"
    path.write_text(f"model M {declared} algorithm {chosen} end M;", encoding="utf-8")
    assert kilohertz.load(str(path)).simulate(stop=0.1, solver="euler", step=0.05).final("k0") == 0
    assert kilohertz.load(f"{path}:M(n = 5)").simulate(stop=0.1, solver="euler", step=0.05).final("k4") == 3

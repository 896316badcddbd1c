"""Room for arrays of functions: it is given back, and where there is too little the run ends with a message."""

from __future__ import annotations

import pytest
from one_model import write

import kilohertz
from kilohertz.base import ModelError

ARRAYS = """
model M
  function local_array
    input Real x; input Integer n; output Real y;
  protected
    Real a[n];
  algorithm
    for i in 1:n loop a[i] := x*i; end for;
    y := a[n];
    annotation(Inline = false);
  end local_array;
  function result_array
    input Real x; input Integer n; output Real y[n];
  algorithm
    y := fill(x, n);
    annotation(Inline = false);
  end result_array;
  function of_result
    input Real x; input Integer n; output Real y;
  algorithm
    y := sum(result_array(x, n));
    annotation(Inline = false);
  end of_result;
  function of_known_size
    input Real x; input Integer n; output Real y;
  protected
    Real a[1000000], b[1000000];
  algorithm
    for i in 1:1000000 loop a[i] := x; end for;
    b := 2*a;
    y := b[n];
    annotation(Inline = false);
  end of_known_size;
  parameter Integer n = NUMBER;
  Real x(start = 1, fixed = true);
  Real y = FUNCTION(x, n);
equation
  der(x) = 0;
end M;
"""


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
@pytest.mark.parametrize("function", ["local_array", "of_result"])
def test_an_array_for_which_there_is_no_room_is_refused(model: str, function: str, solver: str) -> None:
    text = ARRAYS.replace("FUNCTION", function)
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text.replace("NUMBER", "2000000"))).simulate(solver=solver)
    [said] = caught.value.diagnostics
    assert said.code == "R716"
    assert "arrays of functions need 16000000 bytes and 4194304 of 4194304 are free" in said.message
    assert said.span is not None
    good = kilohertz.load(write(model, text.replace("NUMBER", "1000"))).simulate(solver=solver)
    assert good.final("y") == 1000.0


def test_arrays_of_known_size_have_their_room(model: str) -> None:
    text = ARRAYS.replace("FUNCTION", "of_known_size").replace("NUMBER", "5")
    assert kilohertz.load(write(model, text)).simulate().final("y") == 2.0


IN_TURNS = """
model M "Each turn of a loop, and each call, gives back what it took: together they would take many times what there is"
  function twice
    input Real x[:]; output Real y[size(x, 1)]; output Real z[size(x, 1)];
  protected
    Real t[size(x, 1)], u[size(x, 1)];
  algorithm
    t := 3*x;
    z := t - x;
    u := x + z;
    y := 2*x + (u - t);
    annotation(Inline = false);
  end twice;
  function sum_of
    input Real x; input Integer n; output Real y[n];
  protected
    Real a[n] = zeros(n);
    Real b[n];
    Real c[n];
  algorithm
    for i in 1:n loop
      (b, c) := twice(fill(x, n));
      a := a + (b + c);
    end for;
    y := a;
    annotation(Inline = false);
  end sum_of;
  function longer
    input Real x; input Integer n; output Real y; output String s;
  protected
    Real g[:];
    String t = "";
  algorithm
    for i in 1:3*n loop
      g := twice(cat(1, fill(x, n), {i}));
    end for;
    for i in 1:3 loop
      t := t + String(i);
    end for;
    y := g[1] + g[end];
    s := t;
    annotation(Inline = false);
  end longer;
  parameter Integer n = 300;
  discrete Real y[n];
  discrete Real z;
  Boolean is_written;
  String s;
  Real x(start = 1, fixed = true);
equation
  der(x) = 0;
  when initial() then
    y = sum_of(x, n);
    (z, s) = longer(x, n);
    is_written = s == "123";
  end when;
end M;
"""


def test_loops_and_calls_give_back_their_room(model: str) -> None:
    result = kilohertz.load(write(model, IN_TURNS)).simulate(stop=0.1)
    assert [result.final(name) for name in ("y[1]", "y[300]", "z", "is_written")] == [1200.0, 1200.0, 1802.0, 1.0]

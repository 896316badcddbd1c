"""Functions handed over that give more than was asked for (MLS 6.6); reductions of arrays in braces (10.3.4)."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz

HANDED = """
package P
  partial function Part
    input Real x;
    output Real y;
  end Part;
  partial function Two
    extends Part;
    output Real z;
  end Two;
  function full
    extends Two;
    input Real k = 2;
    output Real more;
  algorithm
    y := k*x;
    z := 7;
    more := 9;
  end full;
  function use
    input Part f;
    input Two g;
    input Real x;
    output Real y;
  protected
    Real a;
    Real b;
  algorithm
    (a, b) := g(x);
    y := f(x) + a + b;
  end use;
  model M
    constant Real c = use(function full(k = 3), function full(), 5);
    parameter Real p = 5;
    Real d = use(function full(k = 3), function full(), p);
    Real e = use(function full(k = 3), function full(), time);
  end M;
end P;
"""

REDUCED = """
model M
  function f
    input Real x;
    output Real y;
    output Real z;
  algorithm
    y := sum({{x*i, j} for i in 1:3, j in 2:4});
    z := max({{x*i, j} for i in 1:3, j in 2:4});
  end f;
  constant Real s = sum({{i, j} for i in 1:3, j in 2:4});
  constant Real p = product({{i, j} for i in 1:2, j in 2:3});
  Real t = max({{time*i, j} for i in 1:3, j in 2:4});
  Real v[2] = sum({time*i, j} for i in 1:3, j in 2:4);
  Real y;
  Real z;
equation
  (y, z) = f(time);
end M;
"""


def last(tmp_path: Path, text: str, name: str) -> dict[str, float]:
    path = tmp_path / "m.mo"
    path.write_text(text, encoding="utf-8")
    result = kilohertz.load(f"{path}:{name}").simulate(stop=2.0)
    return {n: float(result[n][-1]) for n in result.names if n != "time"}


def test_a_function_handed_over_may_have_further_outputs(tmp_path: Path) -> None:
    values = last(tmp_path, HANDED, "P.M")
    assert [values[n] for n in "cde"] == pytest.approx([15 + 10 + 7, 15 + 10 + 7, 6 + 4 + 7])


def test_an_array_of_arrays_in_braces_is_reduced_whole(tmp_path: Path) -> None:
    """By hand at 2 s: nine pairs, i three times 1 to 3, j three times 2 to 4."""
    values = last(tmp_path, REDUCED, "M")
    assert (values["s"], values["p"], values["t"]) == (18 + 27, 2 * 4 * 3 * 6, 6)
    assert (values["v[1]"], values["v[2]"], values["y"], values["z"]) == (36, 27, 63, 6)

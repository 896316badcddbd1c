"""Outputs of functions declared with `:`: their sizes follow from what is assigned (MLS 12.4.5)."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz

# What f assigns to `output Real z[:]` from x = time and y = {3, time}, and its value at the end.
ASSIGNED: dict[str, list[float]] = {
    "z := x*y;": [3, 1],
    "z := x .- y;": [-2, 0],
    "z := y .- x; z := 2*z;": [4, 0],
    "z := y .* y;": [9, 1],
    "z := y ./ (x + 1) .+ 1;": [2.5, 1.5],
    "z := y .^ 2;": [9, 1],
    "z := y + y;": [6, 2],
    "z := -y;": [-3, -1],
    "z := cat(1, y, {x});": [3, 1, 1],
    "z := if x > 0.5 then y else 2*y;": [3, 1],
    "z := {y[i]*i for i in 1:size(y, 1)};": [3, 2],
    "z := [1, 2; 3, 4; 5, 6]*y;": [5, 13, 21],
}


@pytest.mark.parametrize("body", ASSIGNED)
def test_the_size_of_a_result(tmp_path: Path, body: str) -> None:
    values = ASSIGNED[body]
    file = tmp_path / "m.mo"
    file.write_text(
        f"""model M
  function f input Real x; input Real y[:]; output Real z[:]; algorithm {body} end f;
  Real z[:] = f(time, {{3, time}});
  Real w[{len(values)}] = f(time, {{3, time}});
end M;""",
        encoding="utf-8",
    )
    result = kilohertz.load(file).simulate()
    for name in ("z", "w"):
        assert [result.final(f"{name}[{i + 1}]") for i in range(len(values))] == pytest.approx(values)


NESTED = """package P
  record Curve parameter Real v[:] = {1}; end Curve;
  record Data parameter Real k = 1; parameter Curve curve; end Data;
  record Pair parameter Curve curves[2]; parameter Data data(k = 7); end Pair;
  function f
    input Data d; input Real u; output Real y = u*d.k;
  algorithm
    for j in 1:size(d.curve.v, 1) loop y := y + d.curve.v[j]; end for;
    annotation(Inline = false);
  end f;
  function g
    input Pair p; input Real u; output Real y = f(p.data, u);
  algorithm
    for i in 1:2 loop y := y + 100*p.curves[i].v[end]; end for;
    annotation(Inline = false);
  end g;
"""
HANDED = {
    "parameter Data d(k = 2, curve(v = {1, 2, 3})); Real y = f(d, time);": 8,
    "parameter Data d[2](k = {2, 3}, curve(v = {{1, 2, 3}, {4, 5, 6}})); Real y = f(d[2], time);": 18,
    "parameter Pair p(data(curve(v = {5, 6})), curves(v = {{1, 2}, {3, 4}})); Real y = g(p, time);": 618,
    "parameter Data d(curve(v = {5, 6})); parameter Real q(fixed = false); Real y = q; "
    "initial equation q = f(d, 1);": 12,
}


@pytest.mark.parametrize("body", HANDED)
def test_records_in_records_with_arrays_of_open_size(tmp_path: Path, body: str) -> None:
    file = tmp_path / "p.mo"
    file.write_text(f"{NESTED}  model M {body} end M;\nend P;", encoding="utf-8")
    assert kilohertz.load(f"{file}:P.M").simulate().final("y") == pytest.approx(HANDED[body])

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


FIELDS = """package P
  record V Real c[:]; Real k = 3; end V;
  record W V v; Real d[size(v.c, 1), 2]; end W;
  record R Integer n = 2; Real x[n]; end R;
  record Chain V v; V w = lead(v); Real z[size(w.c, 1)] = w.c; end Chain;
  function lead "all but the last, times its place from the end"
    input V v; output V w(redeclare Real c[size(v.c, 1) - 1]);
  protected
    Integer n = size(v.c, 1);
  algorithm
    for j in 1:n - 1 loop w.c[j] := v.c[j]*(n - j); end for;
  end lead;
  function joined input V v; output Real s = sum(v.c); output V w; algorithm w := V(cat(1, v.c, {s})); end joined;
"""
# A function f, and a model that calls it with what varies: the value of y at the end.
RECORDS: dict[str, tuple[str, str, float]] = {
    "a call of a call": ("", "V v = V({1, 2, 3, time}); V w = lead(v); V x = lead(w); Real y = sum(x.c);", 10),
    "by the size of a protected array": (
        "input V v; output V w; protected Real e[size(v.c, 1) + 1]; "
        "algorithm for j in 1:size(e, 1) loop e[j] := j; end for; w := V(e);",
        "V w = f(V({1, time})); Real y = sum(w.c) + w.k;",
        9,
    ),
    "field by field, in a record": (
        "input Real u[:]; output W w; algorithm w.v.c := u; w.v.k := 2; w.d := [u, u];",
        "W w = f({1, 2, time}); Real y = sum(w.d) + w.v.k;",
        10,
    ),
    "redeclared in a record": (
        "input Real u[:]; output W w(v(redeclare Real c[size(u, 1)], k = 4), redeclare Real d[size(u, 1), 2]); "
        "algorithm w.v.c := u; for i in 1:size(u, 1) loop w.d[i, 1] := u[i]; w.d[i, 2] := 1; end for;",
        "W w = f({1, 2, time}); Real y = sum(w.d) + w.v.k*sum(w.v.c);",
        23,
    ),
    "one field redeclared, another bound": (
        "input Real u[:]; output V v(redeclare Real c[size(u, 1) + 1], k = 5); "
        "algorithm for i in 1:size(u, 1) loop v.c[i + 1] := u[i]; end for; v.c[1] := 1;",
        "V v = f({1, 2, time}); Real y = sum(v.c) + v.k;",
        10,
    ),
    "of several outputs": (
        "input V v; output V w; protected Real s; algorithm (s, w) := joined(v); w.k := s;",
        "V w = f(V({1, time})); Real y = w.k + w.c[3];",
        4,
    ),
    "in branches": (
        "input V v; input Real t; output V w; "
        "algorithm if t > 0.5 then w := V(2*v.c); else w.c := 3*v.c; w.k := 1; end if;",
        "V w = f(V({1, time}), time); Real y = w.k + w.c[2];",
        5,
    ),
    "by running": (
        "input Integer n; output V w; protected Real a[:]; "
        "algorithm a := fill(1.0, 0); for i in 1:n loop a := cat(1, a, {i}); end for; w := V(a);",
        "V w = f(3); Real y = sum(w.c)*time;",
        6,
    ),
    "by another field": (
        "input Integer k; output R r(n = k); algorithm for i in 1:k loop r.x[i] := i; end for;",
        "parameter R r = f(3); Real y = sum(r.x)*time;",
        6,
    ),
    "declared, whatever a branch assigns": (
        "input Integer n; input Real u; output V w(redeclare Real c[if n > 2 then n else 1], k = u); "
        "protected Integer m = size(w.c, 1); Real e[m]; "
        "algorithm if n > 2 then for i in 1:m loop e[i] := i; end for; else e := fill(u, 1); end if; w.c := e;",
        "V w = f(3, time); Real y = sum(w.c) + w.k;",
        7,
    ),
    "a protected record": (
        "input Real u[:]; output Real y[size(u, 1) - 1]; protected V w = lead(V(u, 2)); algorithm y := w.c*w.k;",
        "Real z[:] = f({1, 2, time}); Real y = sum(z);",
        12,
    ),
    "fields of a component": ("", "Chain c(v(c = {1, 2, time, 1})); Real y = sum(c.z);", 8),
    "fields of a constructor": ("", "Chain c = Chain(V({1, 2, time})); Real y = sum(c.z);", 4),
    "fields of a constructor in a function": (
        "input V v; output Chain c = Chain(v); algorithm",
        "Chain c = f(V({1, 2, time})); Real y = sum(c.z) + size(c.z, 1);",
        6,
    ),
}


@pytest.mark.parametrize("case", RECORDS)
def test_sizes_of_fields_that_a_function_gives(tmp_path: Path, case: str) -> None:
    function, model, value = RECORDS[case]
    text = f"  function f {function} end f;\n" if function else ""
    file = tmp_path / "p.mo"
    file.write_text(f"{FIELDS}{text}  model M {model} end M;\nend P;", encoding="utf-8")
    assert kilohertz.load(f"{file}:P.M").simulate().final("y") == pytest.approx(value)


def test_sizes_that_differ_between_branches_are_not_guessed(tmp_path: Path) -> None:
    file = tmp_path / "p.mo"
    function = "input Real t; output V w; algorithm if t > 0.5 then w := V({t}); else w := V({1, t}); end if;"
    file.write_text(
        f"{FIELDS}  function f {function} end f;\n  model M V w = f(time); end M;\nend P;", encoding="utf-8"
    )
    with pytest.raises(kilohertz.ModelError, match=r"the size of `w\.c` cannot be found"):
        kilohertz.load(f"{file}:P.M").simulate()


# What a record in a function starts with, and y := that of its fields: k is 3, z 1 and d 7 where nobody says otherwise.
STARTS = {"w(v(k = 4))": 12, "w(v(k = 4, z = u))": 13, "w(v(k = 4), d = 1)": 6, "w(v = V(2, 3), d = u)": 7, "w": 11}


@pytest.mark.parametrize("declared", STARTS)
def test_modifications_of_records_in_records_of_a_function(tmp_path: Path, declared: str) -> None:
    file = tmp_path / "p.mo"
    file.write_text(
        f"""package P
  record V Real k = 3; Real z; end V;
  record W V v(z = 1); Real d = 7; end W;
  function f input Real u; output Real y; protected W {declared}; algorithm y := w.v.k + w.v.z + w.d; end f;
  model M Real y = f(1 + time); end M;
end P;""",
        encoding="utf-8",
    )
    assert kilohertz.load(f"{file}:P.M").simulate().final("y") == pytest.approx(STARTS[declared])


def test_a_size_in_a_function_is_not_that_of_a_name_in_the_model(tmp_path: Path) -> None:
    """`n` of the function is 2, that of the model 5."""
    file = tmp_path / "p.mo"
    file.write_text(
        """package P
  function ramp
    input Integer k; output Real z[k];
  algorithm
    for i in 1:k loop z[i] := i; end for;
    annotation(Inline = false);
  end ramp;
  function f input Integer n; output Real y; algorithm y := 10*sum(ramp(n)) + size(ramp(n), 1);
    annotation(Inline = false); end f;
  model M parameter Integer n = 5; Real x[n] = fill(time, n); Real y = f(2); end M;
end P;""",
        encoding="utf-8",
    )
    assert kilohertz.load(f"{file}:P.M").simulate().final("y") == 32


ARRAYS = """package P
  model A parameter Real x = 0; Real y = x*time; end A;
  model A3 = A[3](x = {1, 2, 3});
  model Renamed = A3;
  model Again = A3(x = {7, 8, 9});
  model A23 = A3[2];
  model B23 = A3[2](x = {{1, 2, 3}, {4, 5, 6}});
  model Same = A[3](each x = 4);
  model Pair A a; A b(x = 2); end Pair;
  model Pairs = Pair[2](a(x = {5, 6}), each b(x = 7));
  record R = D[2](k = {1, 2});
  record D Real k = 1; end D;
  model Sized parameter Integer n = 2; model An = A[n](x = 1:n); An a; end Sized;
"""
# Components of short classes that are arrays, and their value at the end
SHORT = {
    "A3 a; Real y = a[1].y + 10*a[3].y;": 31,
    "Renamed a; Real y = a[3].y;": 3,
    "Again a; Real y = a[3].y;": 9,
    "A3 a(x = {5, 6, 7}); Real y = a[2].y;": 6,
    "A3 a[2]; Real y = a[2, 3].y + 10*a[1, 2].y;": 23,
    "A23 a; Real y = a[2, 3].y + 10*a[1, 2].y;": 23,
    "B23 a; Real y = a[2, 3].y + 10*a[1, 2].y;": 26,
    "Same a; Real y = a[2].y;": 4,
    "Pairs p; Real y = p[2].a.y + 10*p[1].b.y;": 76,
    "R r; Real y = r[2].k + 10*r[1].k;": 12,
    "Sized s(n = 4); Real y = s.a[4].y;": 4,
}


@pytest.mark.parametrize("body", SHORT)
def test_modifications_of_short_classes_that_are_arrays(tmp_path: Path, body: str) -> None:
    file = tmp_path / "p.mo"
    file.write_text(f"{ARRAYS}  model M {body} end M;\nend P;", encoding="utf-8")
    assert kilohertz.load(f"{file}:P.M").simulate().final("y") == pytest.approx(SHORT[body])


def test_a_modification_of_an_array_class_has_its_size(tmp_path: Path) -> None:
    file = tmp_path / "p.mo"
    file.write_text(f"{ARRAYS}  model M A3 a(x = {{1, 2}}); end M;\n  model N = A[3](x = {{1, 2}});\nend P;", "utf-8")
    with pytest.raises(kilohertz.ModelError, match="the binding has 2 elements, the array has 3"):
        kilohertz.load(f"{file}:P.M").simulate()


# Dimensions that speak of others of the same array, and fields of a constructor that speak of others
OWN = {
    "parameter Real x[size(x, 2), :] = [1, 2; 3, 4]; Real y = x[2, 1]*time;": 3,
    "Real z[size(z, 2), 2] = [1, 2; 3, time]; Real y = z[2, 2];": 1,
    "function f input Real a[:]; output Real c[size(c, 2), size(a, 1)]; algorithm c := fill(a[1], 2, 2); end f; "
    "Real z[2, 2] = f({time, 2}); Real y = sum(z);": 4,
    "record U Real u[:]; Real w[size(u, 1)]; end U; "
    "U q = U({1, 2, time}, w = q.u*q.u[2]); Real y = sum(q.w) + size(q.w, 1);": 11,
}


@pytest.mark.parametrize("body", OWN)
def test_sizes_by_other_dimensions_and_fields(tmp_path: Path, body: str) -> None:
    file = tmp_path / "m.mo"
    file.write_text(f"model M {body} end M;", encoding="utf-8")
    assert kilohertz.load(file).simulate().final("y") == pytest.approx(OWN[body])


@pytest.mark.parametrize(
    "body",
    [
        "parameter Real x[size(x, 1)] = {1, 2};",
        "record U Real u[:]; Real w[size(u, 1)]; end U; U q = U(q.w, w = {1, time});",
    ],
)
def test_a_size_that_depends_on_itself_is_refused(tmp_path: Path, body: str) -> None:
    file = tmp_path / "m.mo"
    file.write_text(f"model M {body} end M;", encoding="utf-8")
    with pytest.raises(kilohertz.ModelError, match="depends on itself"):
        kilohertz.load(file).simulate()

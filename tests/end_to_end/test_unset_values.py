"""What a function uses or returns without a value: refused, or not a number; the same written out and called."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError, ModelWarning

# The function f of a path that leaves something unset from 0.5 on, what refuses it, and whether `check` warns.
REFUSED = {
    "Integer": ("output Integer y; algorithm if u < 0.5 then y := 3; end if;", "the output `y` of `M.f`", True),
    "Boolean": (
        "output Real y; protected Boolean b; algorithm if u < 0.5 then b := true; end if; y := if b then 1 else 2;",
        "`b` of `M.f` has no value where it is read",
        True,
    ),
    "String": (
        'output Real y; protected String s;algorithm if u < 0.5 then s := "a"; end if; y := if s == "a" then 1 else 0;',
        "`s` of `M.f` has no value where it is read",
        True,
    ),
    "return": ("output Integer y; algorithm if u > 0.5 then return; end if; y := 1;", "the output `y` of `M.f`", True),
    "break": (
        "output Integer y; algorithm for i in 1:3 loop if i > 6*u then y := i; break; end if; end for;",
        "the output `y` of `M.f`",
        True,
    ),
    "elseif": (
        "output Real y; protected Real t; algorithm if u < 0.5 then t := 1; end if; "
        "if u < 0.2 then y := 0; elseif t > 0 then y := 1; else y := 2; end if;",
        "`t` of `M.f` has no value where it is read",
        True,
    ),
    "cases": (
        "output Integer y; protected Integer k; algorithm k := if u < 0.2 then 1 elseif u < 0.5 then 2 else 3; "
        "if k == 1 then y := 1; elseif k == 2 then y := 2; end if;",
        "the output `y` of `M.f`",
        False,
    ),
    "Integers": (
        "output Integer y; protected Integer a[2]; algorithm if u < 0.5 then a := {1, 2}; end if; y := a[1];",
        "`a` of `M.f` has no value where it is read",
        True,
    ),
    "flag without": (
        "output Integer y; protected Boolean found = false; algorithm for i in 1:3 loop if 2*u > i then found := true; "
        "elseif u < 0.5 then y := 3; found := true; end if; end for; if not found then y := 2; end if;",
        "the output `y` of `M.f`",
        True,
    ),
    "flag set anew": (
        "output Integer y; protected Boolean b = false; algorithm if u < 0.5 then y := 3; b := true; end if; "
        "b := u > -1; if not b then y := 2; end if;",
        "the output `y` of `M.f`",
        True,
    ),
    "later turn": (
        "output Integer y; protected Integer k; algorithm y := 3; for i in 1:3 loop if i == 2 then k := i; end if; "
        "if u > 0.5 then y := k; end if; end for;",
        "`k` of `M.f` has no value where it is read",
        False,
    ),
}
NOT_NUMBERS = {
    "output": "output Real y; algorithm if u < 0.5 then y := 2; end if;",
    "return": "output Real y; algorithm if u > 0.5 then return; end if; y := 2;",
    "local": "output Real y; protected Real t; algorithm if u < 0.5 then t := 1; end if; y := 2*t;",
    "array": "output Real y; protected Real a[2]; algorithm if u < 0.5 then a := {1, 2}; end if; y := a[2];",
}
IN_PARTS = {
    "element": "output Real y; protected Real a[2]; algorithm a[1] := 1; if u < 0.5 then a[2] := 2; end if; y := a*a;",
    "field": "output Real y; protected R r; algorithm r.p := 1; if u < 0.5 then r.q := 2; end if; y := r.p + r.q;",
    "records": "output Real y; protected R r[2]; algorithm r[1].p := 1; if u < 0.5 then r[2].q := 2; end if; "
    "y := r[1].p + r[2].q;",
}
FINE = {
    "opposite": ("output Real y; algorithm if u < 0.5 then y := 2; elseif not u < 0.5 then y := 0; end if;"),
    "same condition": (
        "output Real y; protected Real t; algorithm if u < 0.5 then t := 2; end if; "
        "if u < 0.5 then y := t; else y := 0; end if;"
    ),
    "guarded": (
        "output Real y; protected Real t; algorithm if u < 0.5 then t := 2; end if; "
        "y := if u < 0.5 and t > 1 then 2 else 0;"
    ),
    "fails elsewhere": (
        'output Real y; algorithm if u < 2 then y := if u < 0.5 then 2 else 0; else assert(false, "too much"); end if;'
    ),
    "endless": ("output Real y; algorithm while true loop y := if u < 0.5 then 2 else 0; break; end while;"),
    "first turn": (
        "output Real y; protected Integer n = 0; Real t; algorithm while n < 3 loop n := n + 1; "
        "if n == 1 then t := u; end if; y := if t < 0.5 then 2 else 0; end while;"
    ),
    "flag": (
        "output Real y; protected Boolean found; algorithm found := false; for i in 1:3 loop if u < 0.5 then "
        "if i < 3 then y := 2; found := true; end if; end if; end for; if not found then y := 0; end if;"
    ),
    "flag and index": (
        "output Real y; protected Boolean found = false; Integer k; algorithm for i in 1:3 loop "
        "if 4*u <= i and not found then k := i; found := true; end if; end for; "
        "if not found then if u > 0 then k := 4; else k := 3; end if; end if; y := if k == 1 then 2 else 0;"
    ),
    "every literal": (
        "output Real y; protected E e; algorithm e := if u < 0.5 then E.few else E.many; if u < -1 then y := 3; "
        "elseif e == E.few then y := 2; elseif e == E.many then y := 0; end if;"
    ),
    "no other literal": (
        "output Real y; protected E e; algorithm e := if u < 0.5 then E.few else E.many; if e == E.few then y := 2; "
        'elseif e == E.many then y := 0; else assert(u > 2, "neither"); end if;'
    ),
    "one or the other literal": (
        "output Real y; protected E e; algorithm e := if u < 0.5 then E.few else E.many; "
        "if e == E.few or e == E.many then y := if u < 0.5 then 2 else 0; end if;"
    ),
    "missing": (
        "output Real y; protected Boolean missing = true; algorithm if u < 0.5 then y := 2; missing := false; end if; "
        "if missing then y := 0; end if;"
    ),
    "first of a range": (
        "output Real y; protected Real t; algorithm for i in 1:3 loop if i == 1 then t := u; end if; "
        "if t < 0.5 then y := 2; else y := 0; end if; end for;"
    ),
}


def model(tmp_path: Path, body: str, inline: bool) -> kilohertz.Model:
    text = f"""model M
  record R Real p; Real q; end R;
  type E = enumeration(few, many);
  function g input Real a; input Real b; output Real y; algorithm y := a; annotation(Inline = false); end g;
  function f input Real u; {body} annotation(Inline = {str(inline).lower()}); end f;
  Real x(start = 0, fixed = true);
  Real y = f(x);
equation
  der(x) = 1;
end M;"""
    file = tmp_path / "m.mo"
    file.write_text(text, encoding="utf-8")
    return kilohertz.load(file)


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("shape", REFUSED)
def test_a_scalar_without_a_value_ends_the_run(tmp_path: Path, shape: str, inline: bool) -> None:
    body, text, warned = REFUSED[shape]
    tried = model(tmp_path, body, inline)
    assert any(d.code == "S344" for d in tried.check().diagnostics) is warned
    with pytest.raises(ModelError, match="has no value") as refused, warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tried.simulate(stop=1)
    said = refused.value.diagnostics[0]
    assert said.code == "R714" and text in said.message and said.span is not None


def test_a_fixed_step_fails_where_a_value_is_missing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        result = model(tmp_path, REFUSED["Integer"][0], True).simulate(stop=1, solver="rk4", step=0.05)
    assert not result.ok and [d.code for d in result.problems] == ["R726", "R729"]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("shape", NOT_NUMBERS)
def test_reals_without_a_value_are_not_numbers(tmp_path: Path, shape: str, inline: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        result = model(tmp_path, NOT_NUMBERS[shape], inline).simulate(stop=1, solver="rk4", step=0.05)
    assert result["y"][0] in (2, 3, 5) and math.isnan(result["y"][-1])
    assert not result.ok and [d.code for d in result.problems] == ["R727"]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("shape", IN_PARTS)
def test_what_is_set_in_parts_is_zero_elsewhere(tmp_path: Path, shape: str, inline: bool) -> None:
    """As in other tools: libraries set an element of a vector and solve with all of it."""
    result = model(tmp_path, IN_PARTS[shape], inline).simulate(stop=1, solver="rk4", step=0.05)
    assert result.ok and result["y"][0] in (3, 5) and result["y"][-1] == 1


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("shape", FINE)
def test_what_always_has_a_value_is_let_alone(tmp_path: Path, shape: str, inline: bool) -> None:
    tried = model(tmp_path, FINE[shape], inline)
    assert not tried.check().diagnostics
    result = tried.simulate(stop=1, solver="rk4", step=0.05)
    assert result.ok and (result["y"][0], result["y"][-1]) == (2, 0)


@pytest.mark.parametrize("inline", [False, True])
def test_an_argument_that_decides_keeps_a_function_whole(tmp_path: Path, inline: bool) -> None:
    """Unset on a path that this call does not take."""
    tried = model(tmp_path, "input Boolean b = true; output Real y; algorithm if b then y := u; end if;", inline)
    assert tried.simulate(stop=1, solver="rk4", step=0.05)["y"][-1] == pytest.approx(1)


def test_what_cannot_be_seen_in_the_text_is_not_warned_of(tmp_path: Path) -> None:
    """Lists of cases, loops that search, paths that fail: one who writes them knows that they are complete."""
    body = """output Real y;
      protected Boolean found = false; Real s; Real a[3]; Integer k = 1;
      algorithm
        while not found loop
          if u > -1 then s := u; found := true; end if;
        end while;
        for i in 1:3 loop a[i] := s; end for;
        if k == 1 then y := a[1]; elseif k == 2 then y := a[2]; end if;"""
    tried = model(tmp_path, body, False)
    assert not tried.check().diagnostics
    assert tried.simulate(stop=1, solver="rk4", step=0.05)["y"][-1] == pytest.approx(1)


@pytest.mark.parametrize("inline", [False, True])
def test_a_real_that_is_handed_on_and_not_used(tmp_path: Path, inline: bool) -> None:
    body = "output Real y; protected Real t; algorithm if u < 0.1 then t := 1; end if; y := g(2*u, t);"
    tried = model(tmp_path, body, inline)
    assert [d.code for d in tried.check().diagnostics] == ["S344"]
    result = tried.simulate(stop=1, solver="rk4", step=0.05)
    assert result.ok and result["y"][-1] == pytest.approx(2)


ALL_SET = """
function triangle
  input Real u[:];
  output Real y[size(u, 1), size(u, 1)];
algorithm
  for i in 1:size(u, 1) loop
    for j in 1:i loop
      y[i, j] := u[i];
      y[j, i] := u[j];
    end for;
  end for;
end triangle;
function pairs
  input Real u[:];
  output Real y[2*size(u, 1)];
algorithm
  for i in size(u, 1):-1:1 loop
    y[2*i] := u[i];
    y[2*i - 1] := u[i];
  end for;
end pairs;
function counted "the subscript is counted up"
  input Real u[:];
  output Real y[size(u, 1)];
protected
  Integer k;
algorithm
  k := 1;
  for x in u loop
    y[k] := x;
    k := k + 1;
  end for;
end counted;
model A
  Real x[2, 2] = triangle({1, time});
  Real y[4] = pairs({1, time});
  Real z[2] = counted({1, time});
end A;
"""


def test_loops_that_set_every_element_are_fine(tmp_path: Path) -> None:
    """Triangles, steps of two, subscripts that are counted: nothing is said of them."""
    (tmp_path / "A.mo").write_text(ALL_SET, encoding="utf-8")
    assert kilohertz.load(tmp_path / "A.mo").check().diagnostics == ()

"""Integer results of a call with several go into Reals (MLS 10.6.13), wherever such a call may stand."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz

FUNCTIONS = """
  function one "Every form keeps it a call"
    input Real x;
    output Integer a;
    output Integer b;
  algorithm
    if x > -1 then
      a := 1;
    end if;
    if x > -2 then
      b := 2;
    end if;
  end one;

  function other "Of a Real and an array"
    input Real x;
    output Integer a[2];
    output Integer b;
  algorithm
    if x > -1 then
      a := {1, 2};
    end if;
    b := 3;
  end other;

  function through
    input Real x;
    output Real y;
    output Real z;
  algorithm
    (y, z) := one(x);
  end through;
"""
HELD = "discrete Real y(start = 0, fixed = true), z(start = 0, fixed = true);"


@pytest.mark.parametrize(
    "body",
    [
        "Real y, z; equation (y, z) = one(time);",
        "Real y, z; algorithm (y, z) := one(time);",
        "Real y, z; equation (y, z) = through(time);",
        "Real y, z; equation if time >= 0 then (y, z) = one(time); else y = 0; z = 0; end if;",
        "Real y, z; algorithm y := 0; z := 0; if time >= 0 then (y, z) := one(time); end if;",
        f"{HELD} equation when sample(0.1, 0.1) then (y, z) = one(time); end when;",
        f"{HELD} algorithm when sample(0.1, 0.1) then (y, z) := one(time); end when;",
        f"{HELD} equation when time > 9 then y = 0; z = 0; elsewhen time > 0.1 then (y, z) = one(time); end when;",
        "Real y, z, u, v; equation when Clock(0.1) then (u, v) = one(sample(1)); end when; y = hold(u); z = hold(v);",
        "Real y, z; Real w; equation (y, z) = one(w); w = time + 0.001*z;",
        "parameter Real y(fixed = false), z(fixed = false); initial equation (y, z) = one(1.0);",
        "Real v[2], y = v[1], z; equation (v, z) = other(time);",
    ],
)
def test_integer_results_go_into_reals(tmp_path: Path, body: str) -> None:
    path = tmp_path / "m.mo"
    path.write_text(f"model M {FUNCTIONS} {body} end M;", encoding="utf-8")
    model = kilohertz.load(str(path))
    model.verify = True
    result = model.simulate(stop=1.0)
    expected = 3.0 if "other" in body else 2.0
    values = dict(result.parameters)
    last = {n: result[n][-1] if n in result.names else values[n] for n in ("y", "z")}
    assert last == {"y": 1.0, "z": expected}


PLACES = """
  function place "Where a value lies in a table, by a search"
    input Real t[:];
    input Real u;
    output Integer k;
  algorithm
    k := 2;
    while u >= t[k] and k < size(t, 1) loop
      k := k + 1;
    end while;
  end place;

  function line
    input Real t[:];
    input Real y[size(t, 1)];
    input Real u;
    output Real v;
  protected
    Integer k = place(t, u);
  algorithm
    v := if k < 3 then y[2]/t[2]*u else y[k - 1] + (y[k] - y[k - 1])/(t[k] - t[k - 1])*(u - t[k - 1]);
  end line;

  function beyond "C has no derivative"
    input Real u;
    output Boolean is;
    external "C" is = beyond_one(u) annotation(Include = "static int beyond_one(double u) { return u > 1.0; }");
  end beyond;

  function level
    input Real u;
    output Real v;
    external "C" v = level_of(u) annotation(Include = "static double level_of(double u) { return 2*(u > 1); }");
  end level;

  parameter Real t[4] = {0, 1, 2, 3}, y[4] = {0, 2, 3, 3.5};
  Real x, v;
"""


@pytest.mark.parametrize(
    "x",
    [
        "line(t, y, time)",
        "if place(t, time) <= 2 then 2*time else 1 + time",
        "if beyond(time) then 1 + time else 2*time",
        "if level(time) > 1 then 1 + time else 2*time",
        "noEvent(if level(time) > 1 or time > 9 then 1 + time else 2*time)",
        "(if beyond(time) then 1 else 2)*(if beyond(time) then time + 1 else time)",
        "y[place(t, time)] + (y[place(t, time)] - y[place(t, time) - 1])*(time - t[place(t, time)])",
    ],
)
def test_what_chooses_needs_no_derivative(tmp_path: Path, x: str) -> None:
    """`der` of a choice by a search or by C differentiates the ways, not what chooses (B206 refused them)."""
    path = tmp_path / "m.mo"
    path.write_text(f"model M {PLACES} equation x = {x}; v = der(x); end M;", encoding="utf-8")
    result = kilohertz.load(str(path)).simulate(stop=1.9)
    time = result.time
    away = abs(time - 1) > 1e-3
    assert result["x"] == pytest.approx(2 * time * (time < 1) + (1 + time) * (time >= 1))
    assert result["v"][away] == pytest.approx((2.0 * (time < 1) + (time >= 1))[away])

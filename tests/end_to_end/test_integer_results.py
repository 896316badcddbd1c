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

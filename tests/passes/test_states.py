"""Which variables index reduction makes states: the wishes of the model, across components and aliases."""

from __future__ import annotations

import pytest

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Kind

STATE_SELECT = "type StateSelect = enumeration(never, avoid, default, prefer, always);"
ACROSS_COMPONENTS = """
model M
  Real w1(stateSelect = StateSelect.prefer);
  Real w2(stateSelect = StateSelect.prefer);
  Real w3(stateSelect = StateSelect.avoid);
  Real a2;
equation
  der(w1) = -w1;
  der(w3) = w1 - w3;
  w3 = w1 + w2;
  a2 = der(w2);
end M;
"""  # der(w2) is computed last and alone, from der(w3): still w2 is the state

ALIASES = """
model M
  Real r(stateSelect = StateSelect.avoid);
  Real s;
  Real q;
  Real v;
equation
  s = r;
  der(s) = v;
  der(q) = -q;
  r = 2.0*q;
end M;
"""  # avoid on r holds for s too

NOT_DIFFERENTIATED = """
model M
  Real x(stateSelect = StateSelect.avoid);
  Real y(stateSelect = StateSelect.avoid);
  Real z;
  Real f;
equation
  der(x) = f;
  der(y) = z - f;
  z = 3.0*x;
  y = 0.5*z + time;
end M;
"""  # z is not differentiated by the model: rather one of x, y

POSITION_DECIDES = """
model M
  Real p(stateSelect = StateSelect.prefer);
  Real q;
  Real v;
  Real w;
  Real f;
equation
  der(p) = v;
  der(q) = w;
  der(v) = f - p;
  der(w) = f;
  q = 5.0*p;
end M;
"""  # v and w have no wish of their own

RATE_OF_A_DIFFERENCE = """
model M
  Real a;
  Real b;
  Real va;
  Real vb;
  Real s(stateSelect = StateSelect.prefer);
  Real v(stateSelect = StateSelect.prefer);
equation
  s = b - a;
  v = der(s);
  va = der(a);
  vb = der(b);
  der(va) = 2.0*s + v;
  der(vb) = -2.0*s - v;
end M;
"""  # nobody writes der(v): still s and v are states in place of one mass's position and speed

ROLLING = """
model M
  Real x(stateSelect = StateSelect.always);
  Real phi(stateSelect = StateSelect.always);
  Real v(stateSelect = StateSelect.prefer);
  Real w(stateSelect = StateSelect.always);
  Real f;
equation
  der(x) = v;
  der(phi) = w;
  (1.0 + phi*phi)*v = (1.0 + x*x)*w;
  der(v) = f;
  der(w) = time - f;
end M;
"""  # x and phi are free, their speeds are not: w has a wish of its own


@pytest.mark.parametrize(
    ("text", "states"),
    [
        (ACROSS_COMPONENTS, ["w1", "w2"]),
        (ALIASES, ["q"]),
        (NOT_DIFFERENTIATED, ["y"]),
        (POSITION_DECIDES, ["p", "v"]),
        (RATE_OF_A_DIFFERENCE, ["b", "s", "v", "vb"]),
        (ROLLING, ["phi", "w", "x"]),
    ],
    ids=["across components", "aliases", "not differentiated", "position decides", "rate of a difference", "rolling"],
)
def test_states(text: str, states: list[str]) -> None:
    step = compile_flat(read_flat(text.replace("model M", f"model M\n  {STATE_SELECT}")))
    assert sorted(v.name for v in step.of_kind(Kind.STATE)) == states

"""Flat models with every kind of block between states and derivatives."""

import random

from kilohertz.ir import REAL, Builtin, Equality, Expr, Flat, Real, Ref, Variable, make, read_flat
from kilohertz.ir.expr import TIME

CHAIN = """
model Chain
  parameter Real k = 2.0;
  Real x(start = 0.3, fixed = true);
  Real v(start = -0.2, fixed = true);
  Real s;
  Real c;
equation
  s = sin(x)*exp(-v) + time^2.0;
  c = if s > 0.5 then k*s*x else s/(1.5 + x^2.0);
  der(x) = v*c + min(x, v);
  der(v) = -k*sin(x) - abs(v)*v + atan2(s, 1.0 + c^2.0) + tanh(time*x);
end Chain;
"""

LINEAR = """
model Linear
  Real p(start = 0.4, fixed = true);
  Real q(start = 0.9, fixed = true);
  Real r(start = -0.5, fixed = true);
  Real a;
  Real b;
  Real c;
equation
  (2.0 + cos(p))*a + p*b + q*c = sin(time) + r;
  p*a + (3.0 + q^2.0)*b - r*c = q;
  q*a - r*b + (4.0 + r^2.0)*c = p*time;
  der(p) = a*b;
  der(q) = b - c*p;
  der(r) = c*a - r;
end Linear;
"""

NONLINEAR = """
model Nonlinear
  Real x(start = 0.4, fixed = true);
  Real y(start = 0.7, fixed = true);
  Real a(start = 1.0);
  Real b(start = 1.0);
  Real w;
equation
  w = a^2.0 + sin(b)*x;
  a + 0.3*exp(0.2*b) + 0.1*w = x + 2.0;
  b^3.0 + b + 0.2*a*w = y + time;
  der(x) = w - a*b;
  der(y) = -b*y + w;
end Nonlinear;
"""

CALLS = """
model Calls
  function g
    input Real x;
    input Real[2] y;
    output Real[2] z;
    output Integer n;
    output Real s;
  algorithm
    s := 0.0;
    n := 0;
    for i in 1:2 loop
      z[i] := sin(x*y[i]) + s;
      s := s + z[i]^2.0;
      n := n + 1;
    end for;
    if x > 0.2 then
      s := s*x;
    end if;
  end g;
  function h
    input Real u;
    output Real v;
  algorithm
    v := u;
    while v > 1.0 loop
      v := v/2.0;
    end while;
    v := v^2.0;
  end h;
  function k
    input Real u;
    output Real v;
  algorithm
    v := u*item(g(u, {u, 2.0*u}), 3);
  end k;
  Real x(start = 0.5, fixed = true);
  Real y(start = 1.4, fixed = true);
  Real a;
  Real b;
  Integer n;
  Real s;
equation
  ({a, b}, n, s) = g(x, {y, time});
  der(x) = a - s*x + k(y);
  der(y) = b*h(3.0 + y) - y;
end Calls;
"""

MIXED = """
model Mixed
  Real q(start = 0.8, fixed = true);
  Real p(start = 0.1, fixed = true);
  Real s(start = 0.5);
  Real u;
  Real i;
  Boolean off;
equation
  off = s < 0.0;
  u = if off then s else 0.01*s;
  i = if off then 0.001*s else s;
  u + (2.0 + q^2.0)*i = q + 0.2*sin(time);
  der(q) = -i*q;
  der(p) = u - p;
end Mixed;
"""

ALL = (CHAIN, LINEAR, NONLINEAR, CALLS, MIXED)


def random_model(rng: random.Random, n: int) -> Flat:
    """States and algebraic unknowns in loops, linear and not, well away from singular."""
    flat = Flat("Random")
    refs = [Ref(f"x{i}", REAL) for i in range(n)]
    for i, x in enumerate(refs):
        flat.variables[x.name] = Variable(x.name, REAL, attributes={"start": Real(rng.uniform(-1, 1))})
        total: Expr = make.mul(Real(6.0 + rng.random()), Builtin("der", (x,), REAL) if i % 3 == 0 else x)
        for j in rng.sample(range(n), k=min(3, n)):
            other: Expr = refs[j]
            if rng.random() < 0.3:
                other = Builtin("sin", (other,), REAL)
            factor: Expr = Real(rng.uniform(-1, 1))
            if rng.random() < 0.3:
                factor = Builtin("cos", (make.mul(Real(0.3), refs[3 * rng.randrange((n + 2) // 3)]),), REAL)
            if j != i:
                total = make.add(total, make.mul(factor, other))
        flat.equations.append(Equality(total, Builtin("sin", (make.mul(Real(1.0 + i), TIME),), REAL)))
    return flat


def chain_in_a_plane(n: int, stiff: str = "") -> Flat:
    """Links in a plane with a mass at the end of each, held together by forces; angles against the vertical."""
    lines = ["model Chain"]
    for i in range(1, n + 1):
        lines += [f"  Real phi{i}(start = {0.4 - 0.01 * i}, fixed = true);", f"  Real w{i}(start = 0.0, fixed = true);"]
        lines += [f"  Real {name}{i};" for name in ("z", "ax", "ay", "fx", "fy")]
    lines.append("equation")
    for i in range(1, n + 1):
        before = (f"ax{i - 1}", f"ay{i - 1}") if i > 1 else ("0.0", "0.0")
        after = (f"fx{i + 1}", f"fy{i + 1}") if i < n else ("0.0", "0.0")
        lines += [
            f"  der(phi{i}) = w{i};",
            f"  der(w{i}) = z{i};",
            f"  ax{i} = {before[0]} + 0.1*(cos(phi{i})*z{i} - sin(phi{i})*w{i}^2.0);",
            f"  ay{i} = {before[1]} + 0.1*(sin(phi{i})*z{i} + cos(phi{i})*w{i}^2.0);",
            f"  fx{i} = {after[0]} + 0.2*ax{i};",
            f"  fy{i} = {after[1]} + 0.2*(ay{i} + 9.81);",
            f"  0.001*w{i} = -0.1*(cos(phi{i})*fx{i} + sin(phi{i})*fy{i}){stiff};",
        ]
    return read_flat("\n".join([*lines, "end Chain;"]))

"""Random models in which one thing is wrong, for `planted_causes.py`.

A model is a chain of components (masses, filters, loops, relays, functions in Modelica and in C) in random order with
random parameters; the one that is wrong stands at a random place of it and is called `planted`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

_PACKAGE = """
package Planted
  function smooth "In Modelica"
    input Real u;
    output Real y;
  algorithm
    y := u/(1 + abs(u));
    annotation(Inline=false);
  end smooth;

  function card "In C"
    input Real u;
    output Real y;
    external "C" y = planted_card(u) annotation(Include="
      static double planted_card(double u) {{ return u * 0.999; }}
    ");
  end card;

  function slow "In C: it takes its time"
    input Real u;
    input Real amount;
    input Real threshold;
    output Real y;
    external "C" y = planted_slow(u, amount, threshold) annotation(Include="
      #include <math.h>
      static double planted_slow(double u, double amount, double threshold)
      {{
          double y = u;
          if (u < threshold) return y;
          for (int i = 0; i < (int)amount; i++) y += 1e-12 * sin(y + i);
          return y;
      }}
    ");
  end slow;

  partial model Part
    input Real u;
    output Real y;
  end Part;

  model Mass
    extends Part;
    parameter Real c = 100;
    parameter Real d = 2;
    Real s(start=0, fixed=true);
    Real v(start=0, fixed=true);
  equation
    der(s) = v;
    der(v) = c*(u - s) - d*v;
    y = s;
  end Mass;

  model Filter
    extends Part;
    parameter Real T = 0.1;
    Real x(start=0, fixed=true);
  equation
    T*der(x) = u - x;
    y = x;
  end Filter;

  model Shaped
    extends Part;
    parameter Real T = 0.1;
    Real x(start=0, fixed=true);
  equation
    T*der(x) = smooth(u) - card(x);
    y = x;
  end Shaped;

  model Loop "Nonlinear: its root is found by Newton's method"
    extends Part;
    parameter Real g = 0.5;
    parameter Real jump = 0;
    parameter Real T = 0.05;
    Real x[4](each start=0);
    Real z(start=0, fixed=true);
    Real w;
  equation
    w = u + jump*noEvent(if mod(time, T) < 0.004 then mod(1000*time, 2) else 0);
    for i in 1:4 loop
      x[i] + g*x[i]^3 + 0.2*sin(x[i]) + 0.1*sum(x) = w*i;
    end for;
    0.1*der(z) = smooth(x[1]) - z;
    y = z;
  end Loop;

  model Relay "An event now and then"
    extends Part;
    parameter Real T = 0.4;
    Boolean on(start=false, fixed=true);
    Real x(start=0, fixed=true);
  equation
    when sample(T/2, T) then
      on = not pre(on);
    end when;
    0.2*der(x) = u + (if on then 0.1 else 0) - x;
    y = x;
  end Relay;

  model Costly "One equation is"
    extends Part;
    parameter Real T = 0.1;
    Real x(start=0, fixed=true);
    Real r;
  equation
    T*der(x) = u - x + 1e-9*r;
    r = {terms};
    y = x;
  end Costly;

  model Card "Calls an external function that is slow"
    extends Part;
    parameter Real amount = 1000;
    parameter Real threshold = -1;
    parameter Real T = 0.05;
    Real x(start=0, fixed=true);
    Real phase;
  equation
    phase = noEvent(if mod(time, T) < 0.003 then 1 else 0);
    0.1*der(x) = u - x + 1e-9*slow(phase, amount, threshold);
    y = x;
  end Card;

  model Storm "Many events"
    extends Part;
    parameter Real pause = 0.05 "Between storms";
    parameter Real calm = 0.0001;
    parameter Integer many = 8;
    discrete Real next(start=0.01, fixed=true);
    discrete Integer n(start=0, fixed=true);
    Real x(start=0, fixed=true);
  equation
    when time >= pre(next) then
      n = pre(n) + 1;
      next = if mod(n, many) == 0 then time + pause else time + calm;
    end when;
    0.2*der(x) = u - x;
    y = x;
  end Storm;

  model Plant
    input Real drive(start=0);
    output Real out;
{components}
  equation
    out = {last}.y;
    annotation(experiment(StopTime=3, Interval=0.001));
  end Plant;
end Planted;
"""

KINDS = ("equation", "function", "iterations", "events", "preemption", "device")


@dataclass(frozen=True, slots=True)
class Trial:
    """A model, what is wrong in it, and words that the first line of its profile must have (`a|b`: one of them)."""

    number: int
    kind: str
    text: str
    words: tuple[str, ...]
    solver: str
    events: str = "none"
    seconds: float = 0.0  # that a process or a device takes at a time


def planted(number: int, kind: str, seed: int) -> Trial:
    """One trial: the same for the same seed."""
    pick = random.Random(f"{seed}/{number}/{kind}")
    parts = [_part(pick, f"{pick.choice('abcdefgh')}{i}") for i in range(pick.randint(3, 12))]
    wrong, words, seconds = _wrong(pick, kind)
    if wrong:
        parts.insert(pick.randrange(len(parts) + 1), ("planted", wrong))
    text = _text(parts, pick.randint(60, 140))
    if kind == "equation":
        line = next(i for i, s in enumerate(text.splitlines(), 1) if s.startswith("    r = "))
        words = (f"planted.mo:{line}",)
    events = "exact" if kind == "events" else pick.choice(("none", "linear", "catch-up"))
    return Trial(number, kind, text, words, pick.choice(("rk3", "rk4", "lie")), events, seconds)


def _part(pick: random.Random, name: str) -> tuple[str, str]:
    """A component that is as it should be: its name, its declaration up to its input."""
    r = pick.uniform
    some = (
        f"Mass {name}(c={r(20, 200):.3g}, d={r(1, 5):.3g}",
        f"Filter {name}(T={r(0.02, 0.5):.3g}",
        f"Shaped {name}(T={r(0.02, 0.5):.3g}",
        f"Loop {name}(g={r(0.1, 2):.3g}",
        f"Relay {name}(T={r(0.4, 1.1):.3g}",
    )
    return name, pick.choice(some)


def _wrong(pick: random.Random, kind: str) -> tuple[str, tuple[str, ...], float]:
    """The component that is wrong, the words that name it, and seconds."""
    match kind:
        case "equation":
            return "Costly planted(T=0.1", (), 0.0
        case "function":
            threshold = pick.choice((-1, 0.5))  # in every step, or in some
            return f"Card planted(amount={pick.randint(3000, 9000)}, threshold={threshold}", ("Planted.slow",), 0.0
        case "iterations":
            return f"Loop planted(jump={pick.uniform(1e4, 1e6):.3g}", ("`solve planted.x[", "iterations"), 0.0
        case "events":
            calm, many = pick.choice((2e-5, 5e-5)), pick.randint(12, 30)
            pause = pick.choice((calm, 0.05))  # in every step, or in some
            return f"Storm planted(calm={calm}, pause={pause}, many={many}", ("event",), 0.0
        case "preemption":
            return "", ("preempted",), pick.uniform(2e-3, 5e-3)
        case _:
            return "", ("device card",), pick.uniform(1.2e-3, 2.5e-3)


def _text(parts: list[tuple[str, str]], n_terms: int) -> str:
    source, components = "drive + sin(3*time)", []
    for name, declaration in parts:
        components.append(f"    {declaration}, u={source});")
        source = f"{name}.y"
    terms = " + ".join(f"sin({k}*x)*exp(-x*x/{k})" for k in range(1, n_terms + 1))
    return _PACKAGE.format(components="\n".join(components), last=parts[-1][0], terms=terms)

"""What `benchmarks/random_models.py` found, each in a small model with its answer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from one_model import write

import kilohertz

STEP = 1 / 512
ROUNDED = """
model M
  Real x = 0.803*sin(3.723*time + 1.513);
  Integer n = integer(4*x);
  Real c = ceil(3*x);
  Real r = mod(5*x, 2);
end M;
"""


@pytest.mark.parametrize("events", ["none", "mid", "linear", "catch-up", "hermite", "predict", "exact"])
def test_a_rounded_value_follows_wherever_its_event_was_taken(model: str, events: str) -> None:
    """An instant found by interpolation lies before the crossing too: the value changes a step later, not never."""
    result = kilohertz.load(write(model, ROUNDED)).simulate(
        stop=1.0, intervals=64, solver="rk4", step=STEP, events=events
    )
    x = result["x"]
    away = [
        min(abs(v - round(v)) for v in (4 * x_, 3 * x_, 5 * x_ / 2)) > 0.05 for x_ in x
    ]  # far from where something changes
    assert sum(away) > 30
    assert list(result["n"][away]) == [math.floor(4 * v) for v in x[away]]
    assert list(result["c"][away]) == [math.ceil(3 * v) for v in x[away]]
    np.testing.assert_allclose(result["r"][away], np.mod(5 * x[away], 2), atol=1e-9)


BESIDE_A_CLOCK = """
model M
  Boolean b = time >= 0.125 and time < 0.375;
  Real x(start=0.25, fixed=true), y(start=0, fixed=true);
  Real u, v(start=0), w(start=0, fixed=true);
algorithm
  when sample(0.125, 0.125) then x := if b then 1 else pre(x) + 2; end when;
equation
  when {time < -1, sample(0.125, 0.25)} then y = if b then 10 else 20; end when;
  u = sample(x, Clock(1, 8));
  v = previous(v) + u;
  when sample(0, 0.125) then w = pre(w) + 1; end when;
end M;
"""


@pytest.mark.parametrize("solver", ["cvode", "ida", "rk4"])
def test_a_sample_sees_relations_of_its_instant_beside_a_clock(model: str, solver: str) -> None:
    """They waited until a clock had sampled the left limits, the sample did not."""
    step: dict[str, Any] = {"step": 1 / 64} if solver == "rk4" else {}
    result = kilohertz.load(write(model, BESIDE_A_CLOCK)).simulate(stop=0.9375, intervals=15, solver=solver, **step)

    def at(name: str) -> list[float]:
        last = {round(16 * t): value for t, value in zip(result.time, result[name], strict=True)}
        return [last[k] for k in range(1, 16, 2)]

    assert at("x") == [0.25, 1, 1, 3, 5, 7, 9, 11]
    assert at("y") == [0, 10, 10, 20, 20, 20, 20, 20]
    assert at("u") == [0.25, 0.25, 1, 1, 3, 5, 7, 9]  # the left limit
    assert at("w") == [1, 2, 3, 4, 5, 6, 7, 8]


BY_FUNCTIONS = """
model M
  record R Real a; Boolean b; end R;
  function f input Real p; input Real q; output R r; algorithm r.a := p; r.b := p > q; end f;
  function g input Real p; input Real q; output Boolean y; algorithm y := p > q; end g;
  Real u = sin(3*time);
  R r = f(u, 0.3), s[2] = {r, f(0.3, u)};
  Boolean c = g(u, 0.3), d = g(u, 0.3) and time > 0.5;
  Real z = if s[1].b then 1 else if s[2].b then 2 else 0;
end M;
"""


@pytest.mark.filterwarnings("ignore::kilohertz.ModelWarning")
@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_what_a_function_compares_changes_with_its_arguments(model: str, solver: str) -> None:
    """Put in place of its call it kept the value of the start."""
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    result = kilohertz.load(write(model, BY_FUNCTIONS)).simulate(stop=1.0, intervals=10, solver=solver, **step)
    for k, t in enumerate(result.time):
        if min(abs(t - 0.1016), abs(t - 0.9456), abs(t - 0.5)) < 0.02:
            continue
        above = math.sin(3 * t) > 0.3
        assert (result["r.b"][k], result["c"][k], result["z"][k]) == (above, above, 1 if above else 2)
        assert result["d"][k] == (above and t > 0.5)


SEVERAL_OVER_ARRAYS = """
model M
  function f input Real a; input Real b; output Real y; output Real k = 1; algorithm y := a + 10*b; end f;
  Real v[2] = f({time, 2}, {3, 4});
  Real m[2, 2] = f([time, 2; 3, 4], [5, 6; 7, 8]);
end M;
"""


def test_a_function_with_several_results_runs_over_arrays(model: str) -> None:
    result = kilohertz.load(write(model, SEVERAL_OVER_ARRAYS)).simulate(stop=1.0)
    assert [result.final(f"v[{k}]") for k in (1, 2)] == [31, 42]
    assert [result.final(f"m[{i},{k}]") for i in (1, 2) for k in (1, 2)] == [51, 62, 73, 84]


RECORDS_AND_MORE = """
model M
  record R Real v; Integer n; end R;
  function push
    input R b[:]; input Real v; output R c[size(b, 1)]; output Integer k = 0;
  algorithm
    for i in size(b, 1):-1:2 loop c[i] := b[i - 1]; end for;
    c[1].v := v; c[1].n := b[1].n + 1; k := 2*c[1].n;
  end push;
  function one input Real v; input Integer n; output R c; output Integer k = n; algorithm c := R(v, n + 1); end one;
  R b[2](v(each start=0, each fixed=true), n(each start=0, each fixed=true));
  R r(v(start=0, fixed=true), n(start=0, fixed=true));
  Integer k(start=0, fixed=true), m(start=0, fixed=true), w(start=0, fixed=true);
algorithm
  when sample(0.1, 0.1) then
    w := 0;
    %s
    (b, k) := push(b, time);
    (r, m) := one(2*time, r.n);
  end when;
end M;
"""


@pytest.mark.parametrize("more", ["", "while w < 3 and time > 0 loop w := w + 1; end while;"])
def test_an_algorithm_takes_records_and_more_of_a_call(model: str, more: str) -> None:
    """As equations and as a function made of the algorithm; all places are set at once."""
    result = kilohertz.load(write(model, RECORDS_AND_MORE % more)).simulate(stop=0.55, intervals=11)
    names = ("b[1].v", "b[1].n", "b[2].v", "b[2].n", "k", "r.v", "r.n", "m")
    found = [result.final(n) for n in names]
    assert found == pytest.approx([0.5, 5, 0.4, 4, 10, 1.0, 5, 4])


STEPS_OF_FUNCTIONS = """
model M
  type E = enumeration(one, two);
  record S Real p; Integer phase; Boolean hot; E e; end S;
  record D Integer n; Integer m; end D;
  function word input Real x; output String s; algorithm
    s := if x > 0.5 then "high" else "low"; annotation(Inline=INLINE); end word;
  function kind input Real x; output E e; algorithm
    e := if x > 0.5 then E.two else E.one; annotation(Inline=INLINE); end kind;
  function high input Real x; output Boolean b; algorithm
    b := x > 0.5; annotation(Inline=INLINE); end high;
  function state input Real p; output S s; algorithm
    s := S(p, if p > 0.5 then 2 else 1, p > 0.5, kind(p)); annotation(Inline=INLINE);
  end state;
  function value input S s; output Real y; algorithm
    y := if s.phase == 2 then 10*s.p elseif s.hot then -1 else s.p; annotation(Inline=INLINE);
  end value;
  function pair input Real x; output Integer n, m; algorithm
    n := if x > 0.5 then 2 else 1; m := 3*n; annotation(Inline=INLINE); end pair;
  function twice input Integer n; input Real x; output D d; algorithm
    d := D(2*n, if x > 0.5 then 1 else 0); annotation(Inline=INLINE); end twice;
  Real x(start=0, fixed=true), y = value(s);
  S s = state(x);
  Boolean a = word(x) == "high", b = not high(x), c = high(x) and time >= 0, d = s.phase == 2;
  E e = kind(x);
  Integer n, m, k, w(start=0, fixed=true), v(start=0, fixed=true), l;
  D q = twice(n, x);
equation
  der(x) = 1;
  (n, m) = pair(x);
  if high(x) then k = 5; else k = 6; end if;
  when high(x) then w = 1; end when;
  when word(x) == "high" then v = 1; end when;
algorithm
  l := 0;
  if kind(x) == E.two then l := l + 1; end if;
end M;
"""


@pytest.mark.filterwarnings("ignore::kilohertz.ModelWarning")
@pytest.mark.parametrize("inline", ["true", "false"])
@pytest.mark.parametrize("solver", ["cvode", "ida", "rk4"])
def test_whatever_a_function_decides_changes_with_its_arguments(model: str, solver: str, inline: str) -> None:
    """Fields of records, enumerations, Integers alone, conditions: they kept the value of the start, and so did `y`."""
    step: dict[str, Any] = {"step": 1 / 128} if solver == "rk4" else {}
    text = STEPS_OF_FUNCTIONS.replace("INLINE", inline)
    result = kilohertz.load(write(model, text)).simulate(stop=1.0, intervals=10, solver=solver, **step)
    for k, t in enumerate(result.time):
        if abs(t - 0.5) < 0.02:
            continue
        up = int(t > 0.5)
        expected = {"y": 10 * t if up else t, "s.phase": 1 + up, "s.hot": up, "s.e": 1 + up, "a": up, "b": 1 - up}
        expected |= {"c": up, "d": up, "e": 1 + up, "n": 1 + up, "m": 3 + 3 * up, "k": 6 - up, "w": up, "v": up}
        expected |= {"l": up, "q.n": 2 + 2 * up, "q.m": up}
        assert {name: result[name][k] for name in expected} == pytest.approx(expected, abs=1e-6), t


OPERATORS = """
package P
  operator record V
    Real x;
    encapsulated operator '-'
      function minus import P.V; input V a; output V c; algorithm c := V(-a.x); end minus;
    end '-';
    encapsulated operator function 'not' import P.V; input V a; output Boolean b; algorithm b := a.x <= 0; end 'not';
    encapsulated operator 'String'
      function plain import P.V; input V a; input Integer digits = 3; output String s; algorithm
        s := "<" + String(a.x, significantDigits=digits) + ">";
      end plain;
      function worded import P.V; input V a; input String word; output String s; algorithm s := word; end worded;
    end 'String';
  end V;
  model M
    V v = V(1.23456);
    Boolean b = not v, c = not -v;
    Boolean d = String(v) == "<1.23>", e = String(v, digits=5) == "<1.2346>", f = String(v, 2) == "<1.2>";
    Boolean g = String(v, word="w") == "w";
  end M;
end P;
"""


def test_operators_of_records_called_not_and_string(model: str) -> None:
    """`not` called the operator `-`; String took the first function, and names of inputs of its own."""
    result = kilohertz.load(write(model, OPERATORS) + ":P.M").simulate(stop=1.0)
    assert [result.final(n) for n in "bcdefg"] == [0, 1, 1, 1, 1, 1]


CALLS_DIFFERENTIATED = """
model M
  function f
    input Real x; output Real y;
  algorithm
    y := if x > 0.3 then x^2 else 0.6*x - 0.09;
    annotation(smoothOrder=1, Inline=false);
  end f;
  function g input Real x; input Real k; output Real y; algorithm y := k*x^3; annotation(Inline=false); end g;
  function h
    input Real v[:]; output Real y[size(v, 1)];
  algorithm
    y := {v[i]^i for i in 1:size(v, 1)};
    annotation(Inline=false);
  end h;
  Real w[2] = der(h({time, x}));
  Real x = sin(time), a = der(f(time)), b = der(2*g(x, 3)*x), c = der(der(g(x, 1)));
end M;
"""


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_a_call_is_differentiated_where_it_stands(model: str, solver: str) -> None:
    """It was refused unless it was put in place."""
    result = kilohertz.load(write(model, CALLS_DIFFERENTIATED)).simulate(stop=1.0, intervals=10, solver=solver)
    t = result.time
    s, c = np.sin(t), np.cos(t)
    np.testing.assert_allclose(result["a"], np.where(t > 0.3, 2 * t, 0.6), atol=1e-6)
    np.testing.assert_allclose(result["b"], 24 * s**3 * c, atol=1e-6)
    np.testing.assert_allclose(result["c"], 6 * s * c**2 - 3 * s**3, atol=1e-6)
    np.testing.assert_allclose(result["w[2]"], 2 * s * c, atol=1e-6)


WHOLE_AND_PARTS = """
model M
  connector In = input Real; connector Out = output Real;
  connector Pin Real v; flow Real i; end Pin;
  expandable connector Bus end Bus;
  block Set Out y[3]; equation y = {i*time for i in 1:3}; end Set;
  block Sum In u[3]; Real y = sum(u); end Sum;
  block One In u; end One;
  model Pins Pin p[3]; equation p.v = {1, 2, time}; end Pins;
  model Load Pin p; equation p.i = 1; end Load;
  Set set; Sum total; One one; Bus a, b; Pins pins; Load load[2];
equation
  %s
end M;
"""
OF_A_BUS = (
    "connect(set.y, a.values);",
    "connect(a.values[2], one.u);",
    "connect(a, b);",
    "connect(b.values, total.u);",
    "connect(pins.p, a.pins);",
    "connect(a.pins[2], load[1].p);",
    "connect(b.pins[3], load[2].p);",
)


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1, 0), (1, 0, 5, 4, 2, 3, 6)])
def test_an_array_of_a_bus_is_connected_whole_and_by_elements(model: str, order: tuple[int, ...]) -> None:
    """It was as large as the largest subscript, whatever the whole of it was connected to."""
    text = WHOLE_AND_PARTS % "\n  ".join(OF_A_BUS[k] for k in order)
    result = kilohertz.load(write(model, text)).simulate(stop=1.0)
    assert [result.final(n) for n in ("total.y", "one.u", "load[1].p.v", "load[2].p.v")] == [6, 2, 2, 1]
    assert [result.final(f"pins.p[{k}].i") for k in (1, 2, 3)] == [0, -1, -1]


CLOCKS_IN_ONE_ANOTHER = """
model M
  Real u = sample(time, Clock(1, 16)), x(start=0), s = subSample(u, 4), t(start=5), q(start=0);
  Real a = hold(superSample(subSample(u, 4), 2)), b = hold(shiftSample(subSample(u, 4), 1, 4));
  Real c = hold(superSample(interval(u), 4)), d = hold(superSample(if firstTick(u) then 1 else 2, 2));
  Real e = hold(superSample(previous(x), 2)), f = hold(y), g = hold(q), y;
  Real h = hold(backSample(shiftSample(subSample(u, 4), 1, 4), 1, 4));
equation
  x = previous(x) + u;
  y = superSample(s + previous(t), 4);
  t = s + 1;
  q = previous(q) + superSample(subSample(u, 4), 4);
end M;
"""


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_clock_operators_in_one_another_keep_what_the_slow_clock_gave(model: str, solver: str) -> None:
    """The inner operator was looked through, and the fast clock saw what the slow one had not sampled."""
    step: dict[str, Any] = {"step": 1 / 128} if solver == "rk4" else {}
    result = kilohertz.load(write(model, CLOCKS_IN_ONE_ANOTHER)).simulate(
        stop=1.0, intervals=128, solver=solver, **step
    )
    last = {round(128 * t): k for k, t in enumerate(result.time)}
    for n in range(3, 128, 4):  # away from all ticks, of which there are 64 in a second
        k, at, fast = last[n], n / 128, n // 8
        slow = fast // 4
        expected = {"a": slow / 4, "b": (at - 1 / 16) // 0.25 / 4 if at > 1 / 16 else 0, "c": 1 / 16}
        expected |= {"d": 1 if fast == 0 else 2, "e": sum(range(fast)) / 16, "h": max(0, slow / 4 - 0.25)}
        expected |= {
            "f": 5 if slow == 0 else slow / 4 + 1 + (slow - 1) / 4,
            "g": sum(i // 4 for i in range(fast + 1)) / 4,
        }
        assert {name: result[name][k] for name in expected} == pytest.approx(expected), at


SIZED_BY_STREAMS = """
model M
  connector Port Real p; flow Real m; stream Real X[2]; end Port;
  model Source Port port; equation port.m = -1; port.X = {5, 6}; end Source;
  model Sink
    Port port;
    Real X[:] = inStream(port.X), Y[:] = 2*actualStream(port.X), Z[size(X, 1)] = X;
  equation
    port.p = 1; port.X = {7, 8};
  end Sink;
  Source source; Sink sink;
equation
  connect(source.port, sink.port);
end M;
"""


def test_an_array_takes_its_size_and_its_value_from_a_stream(model: str) -> None:
    """The binding was kept as it was before connections were known: the connector saw itself."""
    result = kilohertz.load(write(model, SIZED_BY_STREAMS)).simulate(stop=1.0)
    assert [result.final(f"sink.{n}") for n in ("X[1]", "X[2]", "Y[1]", "Z[2]")] == [5, 6, 10, 6]


SIZED_BY_GRAPH = """
model M
  record R
    Real w;
    function equalityConstraint input R a; input R b; output Real r[0]; algorithm end equalityConstraint;
  end R;
  connector C R o; Real s; flow Real f; end C;
  model Free
    C c;
    Real q[%s] = if Connections.isRoot(c.o) then {1, 2} else {3, 4};
  equation
    Connections.potentialRoot(c.o);
    if Connections.isRoot(c.o) then c.o.w = 1; end if;
    c.f = 0.5;
  end Free;
  model Fixed
    C c;
    Real n[:] = fill(1.0*cardinality(c), 2);
  equation
    Connections.root(c.o); c.o.w = 3; c.s = 0;
  end Fixed;
  model Ground C c; equation c.s = 0; end Ground;
  Free a, b, alone; Fixed g; Ground ground;
equation
  connect(a.c, b.c); connect(g.c, b.c); connect(alone.c, ground.c);
end M;
"""


def test_an_array_takes_its_size_from_a_question_about_connections(model: str) -> None:
    """It ended in a traceback, and cardinality counted the connections of which it knew so far."""
    result = kilohertz.load(write(model, SIZED_BY_GRAPH % ":")).simulate(stop=1.0)
    found = [result.final(n) for n in ("a.q[1]", "alone.q[2]", "a.c.o.w", "alone.c.o.w", "g.n[2]")]
    assert found == [3, 2, 3, 1, 1]
    with pytest.raises(kilohertz.ModelError, match=r"Connections\.isRoot"):
        kilohertz.load(write(model, SIZED_BY_GRAPH % "if Connections.isRoot(c.o) then 2 else 1")).simulate()

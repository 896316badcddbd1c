"""Functions of a model: called inside and outside loops, external or not, and the components they work for."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kilohertz.driver import Session
from kilohertz.profiler import Place, Profile, Row, by_class, by_component, callers, report_data, rows

SOURCE = """
package Called
  function outside "In Modelica"
    input Real u;
    output Real y;
  protected
    Real sum;
  algorithm
    sum := 0;
    for i in 1:20 loop
      sum := sum + sin(i*u);
    end for;
    y := sum + inside(u);
    annotation(Inline=false);
  end outside;

  function inside "In C"
    input Real u;
    output Real y;
    external "C" y = called_inside(u) annotation(Include = "
      #include <math.h>
      static double called_inside(double u) { double y = u; for (int i = 0; i < 40; i++) y += 1e-9 * cos(y); return y; }
    ");
  end inside;

  function few "Operations: too few for a clock"
    input Real u;
    output Real y;
  algorithm
    y := u + 1e-6*u;
    annotation(Inline=false);
  end few;

  model Node
    Real x;
    input Real u;
  equation
    x + 0.3*inside(x) + x^3 + 1e-3*few(x) = u;
  end Node;

  model Plant
    Node node(u=sin(time));
    Real z(start=0, fixed=true);
  equation
    der(z) = outside(time) - few(z);
    annotation(experiment(StopTime=1, Interval=0.001));
  end Plant;
end Called;
"""


@cache
def profiled() -> Profile:
    session = Session()
    session.libraries.load_text(SOURCE, "Called.mo")
    return session.model("Called.Plant").profile(solver="rk4", steps=200)


def row(name: str) -> Row:
    return next(r for r in rows(profiled()) if r.place.name == name)


def test_calls_inside_and_outside_loops_are_told_apart() -> None:
    inner, outer = row("Called.inside"), row("Called.outside")
    assert inner.place.is_external
    assert not outer.place.is_external
    assert outer.numbers.looped == 0.0
    assert outer.numbers.calls == 4.0  # the stages of rk4
    assert inner.numbers.calls - inner.numbers.looped == pytest.approx(4.0)  # those of `outside`
    assert inner.numbers.looped >= 4.0


def test_calls_of_a_function_that_is_too_short_for_a_clock_are_counted() -> None:
    short, inner = row("Called.few"), row("Called.inside")
    assert short.numbers.mean == 0.0
    assert short.numbers.calls - short.numbers.looped == pytest.approx(4.0)
    assert short.numbers.looped >= inner.numbers.looped > 0.0  # with its derivative


def test_a_function_belongs_to_the_components_that_call_it() -> None:
    profile = profiled()
    names = {profile.places[i].name for i in callers(profile)[row("Called.inside").number]}
    assert "solve node.x" in names
    assert any(n.startswith("compute") for n in names)
    parts = by_component(profile)
    solved = next(r for r in rows(profile, "loop"))
    assert parts["node"] > solved.numbers.mean  # with its part of the function
    assert sum(parts.values()) == pytest.approx(
        sum(s.mean for p, s in zip(profile.places, profile.statistics, strict=True) if p.lines)
    )
    assert {"Called.inside", "Called.outside", "Called.Node", "Called.Plant"} <= by_class(profile).keys()


def test_a_loop_says_what_is_not_linear_and_how_well_it_was_solved() -> None:
    solved = next(r for r in rows(profiled(), "loop"))
    assert solved.place.loop is not None
    assert set(solved.place.loop.why) == {"node.x^3.0", "Called.inside(node.x)", "Called.few(node.x)"}
    assert 0.0 <= solved.numbers.residual < 1e-6


def test_the_report_has_them(tmp_path: Path) -> None:
    profile = profiled()
    data = report_data(profile, [], "")
    inner = next(p for p in data["places"] if p["name"] == "Called.inside")
    assert inner["external"]
    assert inner["calls_in_loops"] == row("Called.inside").numbers.looped
    assert inner["callers"]
    assert "Called.Node" in {c["name"] for c in data["classes"]}
    assert Place.of_data(profile.places[inner["number"]].as_data()) == profile.places[inner["number"]]

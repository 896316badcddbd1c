"""`analyse`: numbers that can be checked by hand, places that can be looked up, and keys that scripts rely on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver.analysing.analysis import Analysis

LOOPS = """
model Loops
  parameter Real R = 2;
  Real a, b(start=1), c, i, u, p, q, r;
  Real x(start=1, fixed=true);
  Real y(start=0, fixed=true);
  Boolean high;
  discrete Real n(start=0, fixed=true);
equation
  a + R*b + c = x;
  a - b = 3 + c*R;
  a*R + c = time + b;
  u = exp(i) - 1;
  x = u + R*i;
  p*x + q = 1;
  p - q*r = x;
  r + p + q*x = 2;
  der(x) = -a;
  high = y > 0.5;
  der(y) = if high then -i else 1;
  when sample(0, 0.1) then
    n = pre(n) + 1;
  end when;
  when y > 2 then
    reinit(y, 0);
  end when;
end Loops;
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analyse") / "Loops.mo"
    path.write_text(LOOPS, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def loops(file: Path) -> Analysis:
    return kilohertz.load(str(file)).analyse()


def line_of(text: str) -> int:
    return next(i for i, line in enumerate(LOOPS.split("\n"), 1) if text in line)


def test_loops_have_their_kind_size_and_place(loops: Analysis) -> None:
    by_first = {loop.places[0].line: loop for loop in loops.loops}
    linear = next(loop for loop in loops.loops if loop.kind == "linear" and loop.matrix == "constant")
    assert linear.size == 3 and linear.torn_size < 3
    lines = {p.line for p in linear.places}
    assert lines == {line_of("a + R*b"), line_of("a - b"), line_of("a*R + c")}
    diode = next(loop for loop in loops.loops if loop.kind == "nonlinear" and loop.size == 2)
    assert diode.torn_size == 1
    assert {p.line for p in diode.places} == {line_of("exp(i)"), line_of("u + R*i")}
    assert all(p.file.endswith("Loops.mo") for loop in by_first.values() for p in loop.places)


def test_events_are_listed_by_kind(loops: Analysis) -> None:
    texts = {(e.kind, e.text) for e in loops.events}
    assert ("crossing", "y > 0.5") in texts
    assert ("crossing", "y > 2") in texts
    assert ("sample", "from 0 every 0.1") in texts
    assert any(kind == "when" for kind, _ in texts)
    assert {e.place.line for e in loops.events if e.text == "y > 0.5"} == {line_of("high = y")}


def test_the_counts_agree_with_the_passes(loops: Analysis) -> None:
    assert (loops.counts["equations"], loops.counts["unknowns"]) == (12, 12)
    first, last = loops.reductions[0], loops.reductions[-1]
    assert (first.name, first.equations_after, first.unknowns_after) == ("flatten", 12, 12)
    assert last.equations_after == last.unknowns_after
    states, algebraic = loops.counts["states"], loops.counts["algebraic"]
    relations = loops.counts["crossings"]
    assert last.unknowns_after == states + algebraic + loops.counts["discrete"] + relations


def test_the_jacobian_of_a_chain_is_bidiagonal_and_has_two_colours(tmp_path: Path) -> None:
    path = tmp_path / "Chain.mo"
    path.write_text(
        "model Chain Real x[6](each start=1, each fixed=true);"
        "equation der(x[1]) = -x[1]; for i in 2:6 loop der(x[i]) = x[i-1] - x[i]; end for; end Chain;",
        encoding="utf-8",
    )
    j = kilohertz.load(str(path)).analyse().jacobian
    assert j.symbolic and j.without_derivative == ""
    assert (j.rows, j.entries, j.colours) == (6, 11, 2)


def test_states_say_why_and_equations_where() -> None:
    analysis = kilohertz.load("Kilohertz.Examples.DriveTrain").analyse()
    why = {s.name: s.why for s in analysis.states}
    assert why["rotor.w"] == "its start is fixed, over shaft.w"
    gear = next(d for d in analysis.differentiated if d.place.component == "gear")
    assert gear.order == 2 and gear.place.file.endswith("Rotational/package.mo")
    text = Path(gear.place.file).read_text(encoding="utf-8").split("\n")
    assert gear.place.line is not None and "a.phi = ratio*b.phi" in text[gear.place.line - 1]
    assert "der(shaft.w)" in "".join(analysis.dummy_derivatives) or "shaft.acc" in analysis.dummy_derivatives


def test_the_keys_of_the_json_are_documented(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert main(["analyse", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "analyse.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page))
    keys = set(found) | set(found["counts"])
    for name in ("reductions", "states", "differentiated", "loops", "initial_loops", "events", "operations"):
        keys |= {k for entry in found[name] for k in entry}
    keys |= set(found["jacobian"]) | set(found["loops"][0]["places"][0])
    assert keys <= documented, keys - documented


def test_the_text_names_component_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", "Kilohertz.Examples.DriveTrain"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"twice +rotor\.phi = gear\.ratio \* shaft\.phi +\(gear \S*package\.mo:\d+\)", out)
    assert re.search(r"eliminate-aliases +16 +16", out)


def test_the_cost_bound_of_a_fixed_step_method(tmp_path: Path) -> None:
    source = tmp_path / "m.mo"
    source.write_text("model M Real x(start=1, fixed=true); equation der(x) = if x > 0.5 then -x else -2*x; end M;")
    model = kilohertz.load(str(source))
    analysis = model.analyse(solver="ros34pw2", events="linear")
    assert analysis.bound is not None
    # no discrete values: an event is over after one pass; at worst it fails, and one pass undoes it
    assert [analysis.bound[k]["event_passes"] for k in ("regular", "event", "worst")] == [0, 1, 2]
    assert re.search(r"^  event +\d+ right-hand sides", analysis.as_text(), re.MULTILINE)
    assert "one period with ros34pw2" in analysis.as_text()
    assert json.loads(analysis.as_json())["bound"] == analysis.bound
    assert model.analyse().bound is None
    with pytest.raises(ModelError, match="no fixed-step method is called"):
        model.analyse(solver="cvode")

"""Arrays of connectors in expandable connectors, through several of them (MLS 9.1.3): who reads gets what who sends."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError

PARTS = """package P
  connector Pin Real v; flow Real i; end Pin;
  expandable connector Bus end Bus;
  expandable connector Declared Pin pins[2]; end Declared;
  model Load parameter Real R = 1; Pin p; equation p.v = R*p.i; end Load;
  model Source Pin p; equation p.v = 1; end Source;
  model Loads
    parameter Integer n = 2; replaceable connector B = Bus; B bus; Load load[n](R = 1:n);
  equation
    connect(load.p, bus.pins);
  end Loads;
  model Sources
    replaceable connector B = Bus; B bus; Source source[2];
  equation
    connect(source.p, bus.pins);
  end Sources;
"""
WHOLE = {
    "one bus": "Bus bus; Loads loads; Sources sources; equation connect(bus, loads.bus); connect(bus, sources.bus);",
    "two": "Bus b1; Bus b2; Loads loads; Sources sources; equation connect(b1, loads.bus); connect(b2, sources.bus);"
    "connect(b1, b2);",
    "none": "Loads loads; Sources sources; equation connect(loads.bus, sources.bus);",
    "declared": "Bus bus; Loads loads(redeclare connector B = Declared); "
    "Sources sources(redeclare connector B = Declared); equation connect(bus, loads.bus); connect(bus, sources.bus);",
    "in another": "Bus bus; Loads loads; Sources sources; equation connect(bus.part, loads.bus);"
    "connect(bus.part, sources.bus);",
}
PART = """
  model OneLoad Declared bus; Load load; equation connect(load.p, bus.pins[2]); end OneLoad;
  model OneSource Declared bus; Source source; equation connect(source.p, bus.pins[2]); end OneSource;
"""


def loaded(tmp_path: Path, body: str, parts: str = "") -> kilohertz.Model:
    file = tmp_path / "p.mo"
    file.write_text(f"{PARTS}{parts}  model M {body} end M;\nend P;", encoding="utf-8")
    return kilohertz.load(f"{file}:P.M")


@pytest.mark.parametrize("form", WHOLE)
def test_an_array_of_connectors_goes_through_buses(tmp_path: Path, form: str) -> None:
    result = loaded(tmp_path, WHOLE[form]).simulate()
    assert [result.final(f"loads.load[{i}].p.i") for i in (1, 2)] == pytest.approx([1, 0.5])


def test_an_element_of_an_array_goes_through_buses(tmp_path: Path) -> None:
    body = "Bus bus; OneLoad one; OneSource other; equation connect(bus, one.bus); connect(bus, other.bus);"
    result = loaded(tmp_path, body, PART).simulate()
    assert result.final("one.load.p.i") == pytest.approx(1)
    assert not any("pins[1]" in name for name in result)


def test_arrays_of_other_sizes_do_not_fit(tmp_path: Path) -> None:
    body = "Bus bus; Loads loads(n = 3); Sources sources; equation connect(bus, loads.bus); connect(bus, sources.bus);"
    with pytest.raises(ModelError, match=r"`bus.pins` has the size 3, `sources.bus.pins` has the size 2") as refused:
        loaded(tmp_path, body).check()
    assert refused.value.diagnostics[0].code == "S455"


SIGNALS = """
  connector In = input Real;
  connector Out = output Real;
  record Pair Real a; Real b; end Pair;
  connector PairIn = input Pair;
  connector PairOut = output Pair;
  model Sub Out y = 6; end Sub;
"""
SENT = {
    "matrix": (
        "Out y[2, 2] = [1, 2; 3, 4]; equation connect(y, bus.v);",
        "In u; equation connect(bus.v[2, 1], u);",
        [3],
    ),
    "column": (
        "Out y[2, 3] = [1, 2, 3; 4, 5, 6]; equation connect(y[:, 2], bus.v);",
        "In u[2]; equation connect(bus.v, u);",
        [2, 5],
    ),
    "slices": (
        "Out y[3] = {1, 2, 3}; equation connect(y[1:2], bus.v[2:3]); connect(y[3], bus.v[1]);",
        "In u[3]; equation connect(bus.v[:], u);",
        [3, 1, 2],
    ),
    "part": ("Out y[3] = {1, 2, 3}; equation connect(y, bus.v);", "In u[2]; equation connect(bus.v[2:3], u);", [2, 3]),
    "array of one": ("Out y[1] = {4}; equation connect(y, bus.v);", "In u; equation connect(bus.v[1], u);", [4]),
    "one of an array of components": (
        "Sub s[1]; equation connect(s.y, bus.v);",
        "In u; equation connect(bus.v[1], u);",
        [6],
    ),
    "nested": (
        "Out y = 5; equation connect(y, bus.sub.v);",
        "Bus inside; In u; equation connect(bus.sub, inside); connect(inside.v, u);",
        [5],
    ),
    "records": (
        "PairOut y[2] = {Pair(1, 2), Pair(3, 4)}; equation connect(y, bus.v);",
        "PairIn r; Real u[2] = {r.a, r.b}; equation connect(bus.v[2], r);",
        [3, 4],
    ),
}


@pytest.mark.parametrize("form", SENT)
def test_signals_go_through_a_bus_between_two(tmp_path: Path, form: str) -> None:
    sent, received, values = SENT[form]
    parts = f"{SIGNALS}  model A Bus bus; {sent} end A;\n  model B Bus bus; {received} end B;\n"
    body = "Bus bus; A a; B b; equation connect(a.bus, bus); connect(bus, b.bus);"
    result = loaded(tmp_path, body, parts).simulate()
    names = ["b.u"] if len(values) == 1 else [f"b.u[{i + 1}]" for i in range(len(values))]
    assert [result.final(name) for name in names] == values


def test_components_share_an_array_in_an_outer_bus(tmp_path: Path) -> None:
    parts = f"""{SIGNALS}
  model Sender parameter Integer k; outer Bus bus; Out y = 10*k; equation connect(y, bus.v[k]); end Sender;
  model Reader In u[3]; end Reader;
"""
    body = "inner Bus bus; Sender sender[3](k = {1, 2, 3}); Reader r; equation connect(bus.v, r.u);"
    result = loaded(tmp_path, body, parts).simulate()
    assert [result.final(f"r.u[{i}]") for i in (1, 2, 3)] == [10, 20, 30]

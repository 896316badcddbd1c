"""The component to blame for an equation too many or too few."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.driver import Session
from kilohertz.semantics.balancing.incidence import incidence
from kilohertz.semantics.balancing.local_balance import surpluses

PARTS = """package P
  connector Pin Real v; flow Real i; end Pin;
  connector In = input Real;
  partial model TwoPin Pin p, n; equation p.i + n.i = 0; end TwoPin;
  model R extends TwoPin; parameter Real r = 1; equation p.v - n.v = r*p.i; end R;
  model Source extends TwoPin; In u; equation p.v - n.v = u; end Source;
  model Twice
    extends TwoPin; R r[2];
  equation
    connect(p, r[1].p); connect(r[1].n, r[2].p); connect(r[2].n, n);
  end Twice;
  model Lack extends TwoPin; end Lack;
  model Ground Pin p; equation p.v = 0; end Ground;
  model Loop
    replaceable R part constrainedby TwoPin; Source s(u = time); Ground idle, g;
  equation
    connect(part.p, s.p); connect(part.n, s.n); connect(s.n, g.p);
  end Loop;
  model Over extends Loop(redeclare Twice part); end Over;
  model Under extends Loop(redeclare Lack part); end Under;
  model Sound extends Loop; end Sound;
end P;
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    out = tmp_path / "p.mo"
    out.write_text(PARTS)
    return out


@pytest.mark.parametrize(
    "name",
    [
        "Kilohertz.Examples.HydraulicAxis.Controlled",
        "Kilohertz.Examples.DriveTrain",
        "Kilohertz.Examples.Car.SixSpeeds",
    ],
)
def test_every_component_of_a_sound_model_is_balanced(name: str) -> None:
    session = Session()
    flat = session.model(name).flatten()
    found = surpluses(incidence(flat), flat.parts)
    assert len(found) > 2 and not any(found.values())


MEETING_OUTSIDE = """package P
  connector Port Real T; flow Real Q; end Port;
  connector Signal = input Real;
  connector Given = output Real;
  expandable connector Bus end Bus;
  model Loss "a flow with a binding"
    parameter Boolean warm = true; Real heat = time; Port port(Q = -heat) if warm;
  end Loss;
  model Store Port port; Real T(start = 0, fixed = true); equation der(T) = port.Q; port.T = T; end Store;
  model Inside "what is protected leaves as much to its surroundings"
    Port port;
  protected
    Loss loss; Store store;
  equation
    connect(loss.port, store.port); connect(store.port, port);
  end Inside;
  block Count "sets what lies outside"
    outer output Integer n;
  equation
    n = previous(n) + 1;
  end Count;
  model Hub inner Port hub; Store store; Joined joined; equation connect(hub, store.port); end Hub;
  model Joined "connects itself outside"
    outer Port hub; Loss loss;
  equation
    connect(loss.port, hub);
  end Joined;
  model Reader Bus bus; Real y; Signal u; equation y = 2*u; connect(bus.x, u); end Reader;
  model Writer Bus bus; equation connect(bus.x, source.y); protected Source source; end Writer;
  block Source Given y = time; end Source;
  model Meter "takes what comes in by a binding" Real seen; Signal u = seen; end Meter;
  model Inputs Meter meter; Source source; equation connect(source.y, meter.u); end Inputs;
  record Angle
    Real c, s;
    function equalityConstraint
      input Angle a, b; output Real r[1];
    algorithm
      r := {a.c*b.s - a.s*b.c};
    end equalityConstraint;
  end Angle;
  connector Frame Angle R; Real x; flow Real f; end Frame;
  model Fix
    Frame frame;
  equation
    Connections.root(frame.R); frame.R.c = 1; frame.R.s = 0; frame.x = 0;
  end Fix;
  model Bar
    Frame a, b;
  equation
    Connections.branch(a.R, b.R); b.R.c = a.R.c; b.R.s = a.R.s; b.x = a.x + 1; a.f + b.f = 0;
  end Bar;
  model Ports Inside inside; Loss cold(warm = false); Store other; equation connect(inside.port, other.port); end Ports;
  model Buses Reader reader; Writer writer; equation connect(reader.bus, writer.bus); end Buses;
  model Frames
    Fix fix; Bar left, right;
  equation
    connect(fix.frame, left.a); connect(left.b, right.a);
  end Frames;
  model Machine
    inner Integer n(start = 0, fixed = true); Count up;
  equation
    initialState(up);
  end Machine;
end P;
"""


@pytest.mark.parametrize("name", ["Ports", "Buses", "Frames", "Hub", "Inputs", "Machine"])
def test_what_the_whole_model_decides_is_no_lack(tmp_path: Path, name: str) -> None:
    file = tmp_path / "p.mo"
    file.write_text(MEETING_OUTSIDE)
    found = [d for d in Session().model(f"{file}:P.{name}").check().diagnostics if d.code.startswith("B4")]
    assert not found


def test_connectors_that_nobody_connects_are_no_surplus(file: Path) -> None:
    model = Session().model(f"{file}:P.Sound")
    assert model.check().ok


@pytest.mark.parametrize(
    ("name", "blamed", "code", "component"),
    [
        ("Over", "component `part` of class `P.Twice` has 1 equation more than it needs", "B402", "part"),
        ("Under", "component `part` of class `P.Lack` lacks 1 equation", "B403", ""),
    ],
)
def test_the_component_to_blame_is_named(file: Path, name: str, blamed: str, code: str, component: str) -> None:
    total, first, *_ = Session().model(f"{file}:P.{name}").check().diagnostics
    (note,) = total.notes
    assert (total.code, note.text) == ("B401", blamed)
    assert note.span is not None and PARTS[note.span.start :].startswith("part")
    assert first.code == code
    if component:  # the inherited equation, not one of the parts inside
        assert first.message.endswith(f"in component `{component}`")
        assert first.span is not None and PARTS[first.span.start : first.span.end] == "p.i + n.i = 0"

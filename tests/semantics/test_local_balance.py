"""The component to blame for an equation too many or too few."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz.driver import Session
from kilohertz.semantics import interfaces
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
    parts = interfaces(session.libraries, name)
    found = surpluses(incidence(session.model(name).flatten()), parts)
    assert len(found) > 2 and not any(found.values())


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

"""A function reached through a component takes its defaults from that component (MLS 5.3.2, 12.4.1)."""

from __future__ import annotations

from kilohertz.ir.text.flat_printer import print_flat
from kilohertz.semantics import flatten
from kilohertz.syntax import Libraries

TEXT = """
function pull input Real r; input Real g; input Real n[2]; output Real a[2]; algorithm a := g*r*n; end pull;
model Field
  parameter Real g = 9; parameter Real n[2] = {0, -1};
  replaceable function acceleration = pull(g=g, n=n);
end Field;
model Body outer Field field; Real a[2] = field.acceleration(time); end Body;
model A inner Field field(g=2, n={1, 0}); Body body; end A;
"""


def test_defaults_are_those_of_the_component() -> None:
    libraries = Libraries([])
    libraries.load_text(TEXT, "a.mo")
    flat, _ = flatten(libraries, "A")
    text = print_flat(flat)
    assert "(time, field.g, field.n)" in text
    assert "9.0" not in text

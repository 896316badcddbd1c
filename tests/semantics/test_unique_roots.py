"""`Connections.uniqueRoot` and `uniqueRootIndices`, which state diagrams of libraries are checked with."""

from __future__ import annotations

from pathlib import Path

import pytest

import kilohertz
from kilohertz import ModelError

PACKAGE = """
package P
  record Node
    Boolean on;
    function equalityConstraint
      input Node a;
      input Node b;
      output Real residue[0];
    algorithm
    end equalityConstraint;
  end Node;
  connector Port
    Node n;
  end Port;
  model Step
    Port a, b;
  equation
    Connections.branch(a.n, b.n);
    a.n.on = b.n.on;
  end Step;
  model Begin
    Port b[2];
  equation
    Connections.uniqueRoot(b.n, "there are
      two beginnings");
    for i in 1:2 loop
      b[i].n.on = time > i;
    end for;
  end Begin;
  model Whole
    Begin begin;
    Step s[2];
    Port e[%(n)d];
    Integer k[2];
    Begin other[2];
    Real y;
  equation
    k = Connections.uniqueRootIndices(begin.b.n, e.n, "an end is lost");
    y = if other[k[1]].b[1].n.on then 1 else 0;
    connect(begin.b[1], s[1].a);
    connect(begin.b[2], s[2].a);
    %(joined)s
  end Whole;
end P;
"""


def load(folder: Path, n: int, joined: str) -> kilohertz.Model:
    (folder / "P.mo").write_text(PACKAGE % {"n": n, "joined": joined})
    return kilohertz.load(f"{folder / 'P.mo'}:P.Whole")


@pytest.mark.parametrize(
    ("n", "joined", "indices"),
    [
        (2, "connect(s[1].b, e[2]); connect(s[2].b, e[1]);", (2, 1)),
        (2, "connect(s[1].b, e[1]); connect(s[2].b, e[2]);", (1, 2)),
        (1, "connect(s[2].b, e[1]);", (2, 1)),
    ],
)
def test_by_node_the_root_it_is_joined_with_then_the_others(
    tmp_path: Path, n: int, joined: str, indices: tuple[int, int]
) -> None:
    result = load(tmp_path, n, joined).simulate(stop=1.5)
    assert (result.final("k[1]"), result.final("k[2]")) == indices
    assert (result.final("s[1].b.n.on"), result.final("s[2].b.n.on")) == (1, 0)


def test_what_is_not_so(tmp_path: Path) -> None:
    ends = "connect(s[1].b, e[1]);"
    with pytest.raises(ModelError) as caught:
        load(tmp_path, 2, f"{ends} connect(s[2].b, e[2]); connect(s[1].b, s[2].b);").flatten()
    assert caught.value.diagnostics[0].code == "S461"
    assert [n.text for n in caught.value.diagnostics[0].notes][-1] == "there are two beginnings"
    with pytest.raises(ModelError) as caught:
        load(tmp_path, 2, f"{ends} connect(e[1], e[2]);").flatten()
    assert caught.value.diagnostics[0].code == "S479"
    assert caught.value.diagnostics[0].notes[0].text == "an end is lost"

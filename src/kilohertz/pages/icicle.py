"""An icicle: a tree in which the width of a box is its cost; a click makes a box the whole width.

`Opened` is one icicle for many trees of one shape: a plot, a link or a number says which one is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kilohertz.pages.page import Kit


@dataclass(frozen=True, slots=True)
class Node:
    """A box: its name, its cost with all below it, the words of its tooltip, where it leads."""

    name: str
    value: float
    children: Sequence[Node] = ()
    hint: str = ""
    link: str = ""

    def data(self) -> dict[str, object]:
        """For the script; deep trees are walked without recursion."""
        top: dict[str, object] = {}
        work: list[tuple[Node, dict[str, object]]] = [(self, top)]
        while work:
            node, into = work.pop()
            below: list[dict[str, object]] = [{} for _ in node.children]
            into.update({"n": node.name, "v": node.value, "h": node.hint, "l": node.link, "c": below})
            work += zip(node.children, below, strict=True)
        return top


@dataclass(frozen=True, slots=True)
class Icicle:
    """The tree and the unit of its numbers."""

    root: Node
    unit: str = ""

    def html(self, kit: Kit) -> str:
        kit.script("icicle.js")
        number = kit.keep({"root": self.root.data(), "unit": self.unit})
        return f'<div class="icicle" data-number="{number}"><p class="path"></p><div class="boxes"></div></div>'


@dataclass(frozen=True, slots=True)
class Leaf:
    """A box of a shape that many trees share: the number of its value in each of them; -1: only what is below it."""

    name: str
    number: int = -1
    children: Sequence[Leaf] = ()
    link: str = ""

    def data(self) -> dict[str, object]:
        """For the script; shapes are a few levels deep."""
        return {"n": self.name, "i": self.number, "l": self.link, "c": [c.data() for c in self.children]}


@dataclass(frozen=True, slots=True)
class Case:
    """One of the trees: where it stands on the axis, a sentence, its values by their numbers."""

    x: float
    text: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Opened:
    """Many trees of one shape; `name` is the first word of links to them (`#cycle-17`), `axis` that of the plots."""

    name: str
    axis: str
    shape: Leaf
    cases: Sequence[Case]
    first: int = 0
    unit: str = ""

    def html(self, kit: Kit) -> str:
        kit.script("icicle.js")
        kit.script("opened.js")
        rows = [{"x": c.x, "t": c.text, "v": [float(f"{v:.4g}") for v in c.values]} for c in self.cases]
        data = {"name": self.name, "axis": self.axis, "unit": self.unit, "first": self.first}
        number = kit.keep({**data, "shape": self.shape.data(), "rows": rows})
        before, after = (
            f'<button type="button" class="{c}">{arrow}</button>' for c, arrow in (("before", "◀"), ("after", "▶"))
        )
        choice = (
            f'{before} {self.name} <input type="number" aria-label="{self.name}"> {after} <span class="said"></span>'
        )
        boxes = '<p class="path"></p><div class="boxes"></div>'
        return f'<div class="icicle opened" data-opened="{number}"><p>{choice}</p>{boxes}</div>'


def _button(name: str, text: str) -> str:
    return f'<button type="button" class="{name}">{text}</button>'

"""An icicle: a tree in which the width of a box is its cost; a click makes a box the whole width."""

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

"""Components, classes and source on the page of a profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.pages import Cell, Column, Fold, Heading, Icicle, Node, Part, Table
from kilohertz.profiler.showing.ways import Ways, class_, component
from kilohertz.profiler.views import Branch, Shared, classes, component_tree, components


def owner_parts(ways: Ways) -> list[Part]:
    """By component and by class."""
    owners, of_classes = components(ways.profile), classes(ways.profile)
    parts: list[Part] = [Heading("Components"), Icicle(_node(component_tree(ways.profile)), "µs")]
    if owners:
        parts.append(_table(ways, "component", owners, component, lambda s: s.name or "(top)"))
    if of_classes:
        parts += [Heading("Classes"), _table(ways, "class", of_classes, class_, lambda s: s.name)]
    return parts


def source_parts(ways: Ways) -> list[Part]:
    """Lines with their cost in the margin, the costliest file first."""
    if not ways.listings:
        return []
    folds = [Fold(title, (listing,), is_open=i == 0) for i, (title, listing) in enumerate(ways.listings.items())]
    return [Heading("Source"), *folds]


def _table(
    ways: Ways, what: str, owners: Sequence[Shared], way: Callable[[str], str], name: Callable[[Shared], str]
) -> Table:
    columns = (
        Column(what),
        Column("share / %", True, "of the mean cycle", bar=True),
        Column("mean / µs", True, "a cycle"),
        Column("blocks, functions", hint="the costliest"),
    )
    cells = [
        (
            Cell(name(s)),
            Cell(f"{100 * s.share:.3g}", s.share),
            Cell(f"{s.ns / 1e3:.3g}", s.ns),
            ways.places_cell(s.places),
        )
        for s in owners
    ]
    return Table(columns, cells, shown=30, anchors=[way(s.name)[1:] for s in owners])


def _node(branch: Branch) -> Node:
    link = component(branch.path) if branch.path else ""
    return Node(branch.name, branch.ns / 1e3, tuple(_node(b) for b in branch.below), "", link)

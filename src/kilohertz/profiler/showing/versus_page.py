"""The page of two variants: what one saves, block by block; loops side by side; how far signals deviate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kilohertz.base.dotted import Dotted
from kilohertz.pages import (
    Cell,
    Column,
    Curve,
    Facts,
    Heading,
    Icicle,
    Node,
    Page,
    Part,
    Plot,
    Prose,
    Stack,
    Table,
    Verdict,
)
from kilohertz.profiler.versus import Deviation, Side, Versus
from kilohertz.profiler.views import Branch, cycle_tree, rows


def versus_page(versus: Versus) -> Page:
    """All parts."""
    model, variant = versus.model, versus.variant
    more = ("saves", "of") if versus.saved >= 0 else ("adds", "to")
    words = f"`{variant.name}` {more[0]} {abs(versus.saved):.1%} {more[1]} the median cycle of `{model.name}`"
    about = model.profiles[0].about
    subtitle = [f"{about[k]}" for k in ("solver", "machine", "compiler") if about.get(k)]
    parts: list[Part] = [
        Verdict(versus.saved >= 0, words),
        Facts(
            [
                ("model", f"{model.ns / 1e3:.3f} µs", _spread(model)),
                ("variant", f"{variant.ns / 1e3:.3f} µs", _spread(variant)),
                ("loops", f"{len(model.loops)} → {len(variant.loops)}", "that are solved in a step"),
                ("rounds", f"{len(model.profiles)}", "both in turn"),
            ]
        ),
        Prose(f"Model: {_spread(model)}. Variant: {_spread(variant)}."),
        Heading("Where the time goes"),
        *_sides(versus),
        Heading("Loops"),
        _loops((model, variant)),
        Heading("Blocks, functions, phases"),
        _places((model, variant)),
        *_deviations(versus.deviations),
    ]
    return Page(f"{_short(model.name)} and {_short(variant.name)}", "; ".join(subtitle), parts)


def _short(name: str) -> str:
    return Dotted.read(name).last


def _spread(side: Side) -> str:
    low, high = side.spread_ns
    return f"median {side.ns / 1e3:.3f} µs, {low / 1e3:.3f} to {high / 1e3:.3f} over the rounds"


def _sides(versus: Versus) -> list[Part]:
    """Both cycles as icicles on one scale: what is missing to the longer one is blank."""
    both = (versus.model, versus.variant)
    trees = [
        cycle_tree(s.profiles[0], np.array([s.ns_of_place(i) for i in range(len(s.profiles[0].places))])) for s in both
    ]
    longest = max(t.ns for t in trees)
    nodes = []
    for side, tree in zip(both, trees, strict=True):
        rest = (Node("shorter", (longest - tree.ns) / 1e3),) if tree.ns < 0.999 * longest else ()
        cycle = replace(_node(tree), name=f"{_short(side.name)}: {tree.ns / 1e3:.3g} µs")
        nodes.append(Icicle(Node("one scale for both", longest / 1e3, (cycle, *rest)), "µs"))
    return list(nodes)


def _node(branch: Branch) -> Node:
    return Node(branch.name, branch.ns / 1e3, tuple(_node(b) for b in branch.below))


def _loops(sides: Sequence[Side]) -> Table:
    columns = (
        Column("of"),
        Column("loop"),
        Column("kind"),
        Column("unknowns", True),
        Column("iterated on"),
        Column("calls", True, "a cycle"),
        Column("iterations a call", True),
        Column("median / µs", True, "own, a cycle", bar=True),
        Column("nonlinear by"),
    )
    cells = []
    for side in sides:
        for r in side.loops:
            loop, s = r.place.loop, r.numbers
            assert loop is not None
            each = s.iterations / s.calls if s.calls else 0.0
            ns = side.ns_of(r)
            cells.append(
                (
                    Cell(_short(side.name)),
                    Cell(r.place.name),
                    Cell(loop.kind),
                    Cell(f"{loop.size}", loop.size),
                    Cell(", ".join(loop.torn)),
                    Cell(f"{s.calls:.3g}", s.calls),
                    Cell(f"{each:.2f}", each),
                    Cell(f"{ns / 1e3:.3f}", ns),
                    Cell(", ".join(loop.why)),
                )
            )
    return Table(columns, cells, can_filter=False)


def _places(sides: Sequence[Side]) -> Table:
    names: dict[str, list[float | None]] = {}
    for i, side in enumerate(sides):
        for r in rows(side.profiles[0]):
            entry = names.setdefault(r.place.name, [None, None])
            entry[i] = (entry[i] or 0.0) + side.ns_of(r)
    columns = (
        Column("place"),
        Column("model / µs", True, "median own time a cycle", bar=True),
        Column("variant / µs", True, bar=True),
        Column("saved / µs", True),
    )
    cells = []
    for name, (one, two) in names.items():
        saved = (one or 0.0) - (two or 0.0)
        mark = "good" if saved > 0 else "bad" if saved < 0 else ""
        times = [Cell(f"{ns / 1e3:.3f}" if ns is not None else "", ns or 0.0) for ns in (one, two)]
        cells.append((Cell(name), *times, Cell(f"{saved / 1e3:.3f}", saved, mark=mark)))
    return Table(columns, cells)


def _deviations(deviations: Sequence[Deviation]) -> list[Part]:
    parts: list[Part] = [Heading("What it costs in accuracy")] if deviations else []
    for d in deviations:
        parts.append(
            Prose(f"`{d.signal}` deviates by {d.largest:.3g} at most, {d.share:.2%} of its range (CVODE, 1e-9).")
        )
        curves = (Curve("model", d.time, d.model), Curve("variant", d.time, d.variant, dashed=True))
        error = (Curve("variant - model", d.time, d.variant - d.model, colour=4),)
        parts.append(Stack((Plot(d.signal, curves), Plot("deviation", error, height=180))))
    return parts

"""Places on the page of a profile: tables of blocks, functions and phases, and a card for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kilohertz.pages import Cell, Column, Curve, Facts, Fold, Heading, Links, Part, Plot, Prose, Table
from kilohertz.profiler.places import Line, Place
from kilohertz.profiler.showing.cycles import cycle_axis
from kilohertz.profiler.showing.ways import Ways
from kilohertz.profiler.views import Row, rows

_PLOTTED = 12  # loops whose iterations are drawn
_NUMBERS = (
    Column("share / %", True, "of the mean cycle", bar=True),
    Column("mean / µs", True, "own time a cycle"),
    Column("p99 / µs", True),
    Column("max / µs", True),
)


def place_parts(ways: Ways) -> list[Part]:
    """Tables, then cards."""
    profile = ways.profile
    blocks, functions = rows(profile, "loop", "equations"), rows(profile, "function")
    phases = rows(profile, "phase", "device")
    parts: list[Part] = []
    if blocks:
        parts += [Heading("Blocks"), _blocks(ways, blocks)]
    if functions:
        parts += [Heading("Functions"), _functions(ways, functions)]
    parts += [Heading("Solver phases and devices"), _phases(phases)]
    loops = [r for r in blocks if r.place.loop is not None]
    if loops:
        first = loops[0].number == rows(profile)[0].number
        parts += [Heading("Loops"), *(_loop(ways, r, i < _PLOTTED, first and i == 0) for i, r in enumerate(loops))]
    rest = [r for r in blocks if r.place.loop is None]
    if rest:
        parts += [Heading("Equations"), *(_equations(ways, r) for r in rest)]
    if functions:
        parts += [Heading("Functions, one by one"), *(_function(ways, r) for r in functions)]
    return parts


def _times(row: Row) -> Sequence[Cell]:
    s = row.numbers
    return [Cell(f"{n:.3g}" if n else "", n) for n in (100 * s.share, s.mean / 1e3, s.p99 / 1e3, s.max / 1e3)]


def _count(n: float) -> Cell:
    return Cell(f"{n:.3g}" if n else "", n)


# --------------------------------------------------------------------------------------------------------------- tables


def _blocks(ways: Ways, blocks: Sequence[Row]) -> Table:
    columns = (
        Column("block"),
        Column("kind"),
        Column("unknowns", True),
        Column("calls", True, "a cycle"),
        Column("iterations", True, "Newton iterations a cycle"),
        *_NUMBERS,
        Column("component", hint="with the largest share"),
        Column("line", hint="with the largest share"),
    )
    cells = []
    for row in blocks:
        place, s = row.place, row.numbers
        kind = f"{place.loop.kind} loop of {place.loop.size}" if place.loop else place.kind
        of = ways.component_links(place.lines)[:1]
        cells.append(
            (
                Cell(place.name, link=ways.place(row.number)),
                Cell(kind + (f" ({place.phase})" if place.phase != "block" else "")),
                Cell(f"{len(place.unknowns) or ''}", len(place.unknowns)),
                _count(s.calls),
                _count(s.iterations),
                *_times(row),
                Cell(of[0][0], link=of[0][1]) if of else Cell(""),
                ways.line_cell(place),
            )
        )
    return Table(columns, cells)


def _functions(ways: Ways, functions: Sequence[Row]) -> Table:
    columns = (
        Column("function"),
        Column("", hint="external: not written in Modelica"),
        Column("calls outside loops", True, "a cycle"),
        Column("inside loops", True, "a cycle: nonlinear, linear or mixed"),
        *_NUMBERS,
        Column("called by"),
        Column("line"),
    )
    cells = [
        (
            Cell(r.place.name, link=ways.place(r.number)),
            Cell("external" if r.place.is_external else ""),
            _count(r.numbers.calls - r.numbers.looped),
            _count(r.numbers.looped),
            *_times(r),
            ways.places_cell(ways.callers.get(r.number, ())),
            ways.line_cell(r.place),
        )
        for r in functions
    ]
    return Table(columns, cells, can_filter=len(cells) > 8)


def _phases(phases: Sequence[Row]) -> Table:
    columns = (Column("phase"), Column("calls", True, "a cycle"), Column("passes", True, "of events"), *_NUMBERS)
    cells = [(Cell(r.place.name), _count(r.numbers.calls), _count(r.numbers.iterations), *_times(r)) for r in phases]
    return Table(columns, cells, can_filter=False)


# ---------------------------------------------------------------------------------------------------------------- cards


def _loop(ways: Ways, row: Row, is_plotted: bool, is_open: bool) -> Fold:
    place, s = row.place, row.numbers
    assert place.loop is not None
    each = s.iterations / s.calls if s.calls else 0.0
    facts = Facts(
        (
            ("unknowns", f"{place.loop.size}", "of the loop"),
            ("iterated on", f"{len(place.loop.torn) or '-'}", "unknowns after tearing"),
            ("iterations a call", f"{each:.2f}", "mean"),
            ("calls", f"{s.calls:.3g}", "a cycle"),
            ("time", f"{s.mean / 1e3:.3f} µs", "own, mean of a cycle"),
            ("share", f"{s.share:.1%}", "of the mean cycle"),
            ("residual", f"{s.residual:.2g}" if place.loop.kind == "nonlinear" else "-", "the largest it ended with"),
            ("caps", f"{s.caps}", "how often the iteration was ended by its cap, in all"),
        )
    )
    torn = ", ".join(f"`{t}`" for t in place.loop.torn) or "nothing: it is settled by trying"
    parts: list[Part] = [
        facts,
        Prose(f"Iterated on: {torn}."),
        *_why(place),
        *_ways_on(ways, row),
        *_about(ways, place),
    ]
    if is_plotted:
        parts += _over_time(ways, row)
    title = f"`{place.name}`{_phase(place)}: {place.loop.kind}, {place.loop.size} unknowns, {s.share:.1%}"
    return Fold(title, parts, is_open, f"place-{row.number}")


def _phase(place: Place) -> str:
    return f" ({place.phase})" if place.phase not in ("", "block") else ""


def _why(place: Place) -> list[Part]:
    assert place.loop is not None
    some = ", ".join(f"`{w}`" for w in place.loop.why)
    if not some:
        return []
    words = "What is discrete in it" if place.loop.kind == "mixed" else "What makes it nonlinear"
    return [Prose(f"{words}: {some}.")]


def _over_time(ways: Ways, row: Row) -> list[Part]:
    """Own time, iterations and residual of a loop, cycle by cycle."""
    profile, x = ways.profile, cycle_axis(ways.profile)
    sums = profile.records["places"][:, row.number]
    own_us = np.where(profile.counted, profile.own_ns[:, row.number] / 1e3, np.nan)
    plots: list[Part] = []
    if sums["iterations"].any():
        curve = Curve("iterations", x, sums["iterations"].astype(np.float64), steps=True)
        plots.append(
            Plot("iterations over time", (curve,), "cycle", "a cycle", axis="cycles", height=170, can_pick=True)
        )
    curve = Curve("own time", x, own_us, colour=1)
    plots.append(Plot("its time in each cycle", (curve,), "cycle", "µs", axis="cycles", height=170, can_pick=True))
    return plots


def _equations(ways: Ways, row: Row) -> Fold:
    title = f"`{row.place.name}`{_phase(row.place)}: {row.numbers.share:.1%}"
    return Fold(title, [*_ways_on(ways, row), *_about(ways, row.place)], anchor=f"place-{row.number}")


def _function(ways: Ways, row: Row) -> Fold:
    place, s = row.place, row.numbers
    what = "external, in C" if place.is_external else "in Modelica"
    outside = s.calls - s.looped
    calls = (
        f"Called {outside:.3g} times a cycle outside loops, {s.looped:.3g} times inside; {s.mean / 1e3:.3f} µs a cycle."
    )
    symbol = f" C function: `{place.symbol}`." if place.is_external else ""
    parts = [Prose(calls + symbol), *_ways_on(ways, row), *_about(ways, place)]
    return Fold(f"`{place.name}`: {what}, {s.share:.1%}", parts, anchor=f"place-{row.number}")


def _ways_on(ways: Ways, row: Row) -> list[Part]:
    """Components, classes, functions and cycles that a place leads to."""
    place = row.place
    called = [ways.functions[place.unit, name] for name, _ in place.calls if (place.unit, name) in ways.functions]
    groups: list[tuple[str, Sequence[tuple[str, str]]]] = [
        ("Components:", ways.component_links(place.lines) if place.kind != "function" else ()),
        ("Classes:", ways.class_links(place.lines)),
        ("Calls:", [ways.place_link(i) for i in called]),
        ("Called by:", [ways.place_link(i) for i in sorted(ways.callers.get(row.number, ())) if ways.place(i)]),
        ("Worst cycles because of it:", ways.cycle_links(row.number)),
    ]
    return [Links(words, links[:12]) for words, links in groups if links]


def _about(ways: Ways, place: Place) -> list[Part]:
    columns = (
        Column("line"),
        Column("share of it / %", True, "by operations", bar=True),
        Column("component"),
        Column("class"),
        Column("text"),
    )
    cells = [
        (
            Cell(f"{ways.titles[x.file]}:{x.line}", link=ways.line(x.file, x.line)),
            Cell(f"{100 * x.share:.3g}", x.share),
            *(Cell(links[0][0], link=links[0][1]) if links else Cell("") for links in _owners(ways, place, x)),
            Cell(x.text),
        )
        for x in sorted(place.lines, key=lambda x: -x.share)
    ]
    names = ", ".join(f"`{u}`" for u in place.unknowns[:40]) + (", ..." if len(place.unknowns) > 40 else "")
    table = [Table(columns, cells, can_filter=False, shown=25)] if cells else []
    return [*([Prose(f"Computes {names}.")] if names else []), *table]


def _owners(ways: Ways, place: Place, line: Line) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    return ways.component_links([line]) if place.kind != "function" else [], ways.class_links([line])

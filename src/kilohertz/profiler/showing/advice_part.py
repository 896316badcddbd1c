"""Advice on the page of a profile: what it could save, what was measured, what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.pages import Cell, Column, Heading, Part, Prose, Table
from kilohertz.profiler.advice import Tried
from kilohertz.profiler.showing.ways import Ways

_WORDS = (
    "At most the share of what would go away is saved. Where other settings, or another unknown to iterate on, are all"
    " it takes it was tried, three times in turn with the present ones: the saving is that of the mean cycle, the"
    " deviation the largest of any state from the present run, in parts of its range."
)


def advice_parts(ways: Ways, advice: Sequence[Tried]) -> list[Part]:
    """Nothing where there is none."""
    if not advice:
        return []
    columns = (
        Column("advice"),
        Column("saves at most / %", True, "of the mean cycle", bar=True),
        Column("saved / %", True, "measured"),
        Column("deviation", True, "of a state, in parts of its range"),
        Column("how to try it"),
    )
    cells = [
        (
            Cell(t.advice.text, links=[ways.place_link(i) for i in t.advice.places[:3] if ways.place(i)]),
            Cell(f"{100 * t.advice.at_most:.1f}", t.advice.at_most),
            _saved(t),
            Cell(
                f"{t.deviation:.2g}" if t.deviation is not None else "",
                t.deviation if t.deviation is not None else -1.0,
            ),
            Cell(t.refused or t.advice.command(ways.profile.name)),
        )
        for t in advice
    ]
    return [Heading("What to do about it"), Table(columns, cells, can_filter=False), Prose(_WORDS)]


def _saved(tried: Tried) -> Cell:
    if tried.saved is None:
        return Cell("", -1.0)
    return Cell(f"{100 * tried.saved:.1f}", tried.saved, mark="good" if tried.saved > 0 else "bad")

"""`khz plot`: signals of one or several results over time, on one page; the same signals lie in one frame."""

from __future__ import annotations

from collections.abc import Sequence

from kilohertz.base import ModelError
from kilohertz.compare.signal_pairs import matches, spelt, unknown
from kilohertz.pages import Curve, Heading, Page, Part, Plot, Prose
from kilohertz.pages.plots import thinned
from kilohertz.results import Result

_FRAMES, _POINTS = 40, 8000  # on a page; points of each curve


def curves_page(results: Sequence[tuple[str, Result]], patterns: Sequence[str]) -> Page:
    """Frames in the order of the first result that has the signal; R744 where a pattern names nothing."""
    first: dict[str, str] = {}  # names by their spelling
    for _, result in results:
        for name in result.names:
            first.setdefault(spelt(name), name)
    known = list(first.values())
    missing = [p for p in patterns if not any(matches(n, (p,)) for n in known)]
    if missing:
        raise ModelError(*(unknown(p, "", known) for p in missing))
    wanted = [n for n in known if not patterns or matches(n, patterns)]
    parts: list[Part] = [Heading("Signals"), *(_frame(name, results) for name in wanted[:_FRAMES])]
    if len(wanted) > _FRAMES:
        parts.append(Prose(f"{len(wanted) - _FRAMES} further signals are not drawn: choose with `--signals`."))
    titles = [title for title, _ in results]
    return Page(", ".join(titles), f"{min(len(wanted), _FRAMES)} of {len(known)} signals over time", parts)


def _frame(name: str, results: Sequence[tuple[str, Result]]) -> Plot:
    named = ((title, result, _called(name, result)) for title, result in results)
    having = [(title, result, here) for title, result, here in named if here is not None]
    units = {result.unit(here): None for _, result, here in having}
    shown = " or ".join(u for u in units if u)
    curves = [Curve(title, *thinned(result.time, result[here], _POINTS)) for title, result, here in having]
    return Plot(having[0][1].description(name), curves, y_label=f"{name} / {shown}" if shown else name, height=200)


def _called(name: str, result: Result) -> str | None:
    """What a result calls the signal."""
    return name if name in result else next((n for n in result.names if spelt(n) == spelt(name)), None)

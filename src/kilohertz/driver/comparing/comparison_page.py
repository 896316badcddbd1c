"""The report of a comparison as a page: the verdict, a table of signals, plots of both sides and the error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kilohertz.compare.measures import error_curve
from kilohertz.compare.reports import events_text, notes, summary
from kilohertz.compare.verdict import curves, unit_of
from kilohertz.pages import Cell, Column, Curve, Facts, Fold, Heading, Mark, Page, Part, Plot, Prose, Stack, Table
from kilohertz.pages import Verdict as VerdictPart
from kilohertz.pages.plots import thinned

if TYPE_CHECKING:
    from kilohertz.compare import Pair, SignalVerdict, Verdict
    from kilohertz.driver.comparing.outcome import Outcome
    from kilohertz.results.result import Floats

_LISTED = 25  # rows of the table at first: the plots are not far below
_PLOTTED, _POINTS = 24, 4000  # signals that are drawn, worst first; points of each curve


def page_of(outcome: Outcome) -> Page:
    """The page; the worst signal is open."""
    d, verdict = outcome.definition, outcome.verdict
    parts: list[Part] = [VerdictPart(verdict.ok, summary(verdict)), Facts(_facts(verdict))]
    parts += [Prose(line) for line in (*notes(verdict), *outcome.notes)]
    if outcome.why:
        parts += [Heading("Where they part"), Prose("\n\n".join(outcome.why))]
    parts += [Heading("Signals"), _table(verdict)]
    parts += [Heading("Plots"), *_plots(outcome)]
    sides = f"{d.result.name} against the reference {d.reference.name}"
    is_told = d.name == f"{d.result.name} against {d.reference.name}"  # nobody gave it a name
    return Page(d.name, "the second is the reference" if is_told else sides, parts)


def _facts(verdict: Verdict) -> list[tuple[str, str, str]]:
    worst = verdict.worst_first[0]
    alone = sum(s.n_events_only_result + s.n_events_only_reference for s in verdict.signals)
    return [
        ("signals", str(len(verdict.signals)), "compared"),
        ("fail", str(len(verdict.failed)), "do not count as equal"),
        ("worst", worst.name, worst.reason or "passes too"),
        ("largest rms", f"{max(s.rms for s in verdict.signals):.2e}", "as a part of the signal's range"),
        ("events alone", str(alone), "jumps without a partner on the other side"),
    ]


_COLUMNS = (
    Column("signal"),
    Column("verdict"),
    Column("outside", True, "points outside the tube"),
    Column("first", True, "time of the first point outside, s"),
    Column("rms", True, "root mean square error, as a part of the range", bar=True),
    Column("largest", True, "largest error, as a part of the range", bar=True),
    Column("mean", True, "mean absolute error, as a part of the range"),
    Column("final", True, "error at the end, as a part of the range"),
    Column("shift / s", True, "time shift at which both sides differ least; positive: late"),
    Column("events", False, "matched; +n only in the result, -n only in the reference"),
    Column("reason"),
)


def _table(verdict: Verdict) -> Table:
    rows = []
    for i, s in enumerate(verdict.worst_first):
        name = Cell(s.name, link=f"#signal-{i}" if i < _PLOTTED else "")
        measures = (s.rms, s.largest, s.mean, s.final)
        numbers = [Cell(f"{v:.2e}", v) if s.is_measured else Cell("", float("inf")) for v in measures]
        rows.append(
            (
                name,
                Cell("pass" if s.ok else "FAIL", mark="good" if s.ok else "bad"),
                Cell(str(s.n_outside), s.n_outside) if s.is_measured else Cell("", float("inf")),
                Cell("", float("inf")) if s.first_outside is None else Cell(f"{s.first_outside:g}", s.first_outside),
                *numbers,
                Cell("", float("inf")) if s.shift is None else Cell(f"{s.shift:.3g}", s.shift),
                Cell(events_text(s)),
                Cell(s.reason),
            )
        )
    return Table(_COLUMNS, rows, shown=_LISTED)


def _plots(outcome: Outcome) -> Iterator[Part]:
    verdict = outcome.verdict
    pairs = {p.name: p for p in verdict.pairing.pairs}
    for i, s in enumerate(verdict.worst_first[:_PLOTTED]):
        mark = "pass" if s.ok else f"FAIL: {s.reason}"
        drawn = _drawn(pairs.get(s.name), s, outcome)
        yield Fold(f"`{s.name}` {mark}", drawn, is_open=i == 0, anchor=f"signal-{i}")
    left = len(verdict.signals) - _PLOTTED
    if left > 0:
        yield Prose(f"{left} further signals, better than these, are in the table only.")


def _drawn(pair: Pair | None, s: SignalVerdict, outcome: Outcome) -> list[Part]:
    d, result, reference = outcome.definition, outcome.result.result, outcome.reference.result
    if pair is None or not (len(result.time) and len(reference.time)):
        return [Prose("Nothing to draw: one side has no such signal.")]
    try:
        mine, theirs = curves(pair, result, reference)
    except ValueError as why:
        return [Prose(str(why))]
    unit = unit_of(pair, reference)
    label = f"{pair.name} / {unit}" if unit else pair.name
    marks = () if s.first_outside is None else (Mark("first outside", x=s.first_outside),)
    both = (_curve(d.reference.name, theirs.time, theirs.value), _curve(d.result.name, mine.time, mine.value))
    plots = [Plot("", both, y_label=label, marks=marks)]
    if s.is_measured:
        error = error_curve(mine, theirs)
        curve = _curve("error", error.time, error.value)
        plots.append(Plot(_error_title(s, unit), (curve,), y_label=f"error / {unit}" if unit else "error", height=160))
    return [Stack(plots)]


def _error_title(s: SignalVerdict, unit: str) -> str:
    """The number of the table in the unit of the plot."""
    largest, scale = (f"{v:.3g} {unit}".rstrip() for v in (s.largest * s.scale, s.scale))
    return f"error: {largest} at most, {s.largest:.2e} of {scale}"


def _curve(name: str, x: Floats, y: Floats) -> Curve:
    return Curve(name, *thinned(x, y, _POINTS))

"""The report of a series as a page: thresholds, all cases in a table that sorts and filters, the worst ones drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kilohertz.pages import (
    Cell,
    Column,
    Curve,
    Facts,
    Fold,
    Heading,
    Mark,
    Page,
    Part,
    Plot,
    Prose,
    Stack,
    Table,
    Verdict,
)
from kilohertz.pages.plots import thinned
from kilohertz.sweep.case_store import read_curves
from kilohertz.sweep.runner import OK
from kilohertz.sweep.series_definition import Measure
from kilohertz.sweep.series_report import Ranked, Report

_DRAWN, _POINTS, _MOST_ROWS = 8, 2000, 20_000
_MOST_SIGNALS = 6  # drawn of each case


def page_of(report: Report) -> Page:
    """The page; the worst case is open."""
    o, ranked = report.outcome, report.ranked
    n = len(report.table)
    text = f"{len(ranked)} of {n} cases are exceptional" if ranked else f"none of {n} cases is exceptional"
    parts: list[Part] = [Verdict(report.ok, text), Facts(_facts(report))]
    parts += [Heading("Thresholds"), _thresholds(report)]
    if ranked:
        parts += [Heading("Exceptional cases"), *_worst(report, ranked)]
    parts += [Heading("Measures over parameters"), *_scatter(report)]
    parts += [Heading("All cases"), *_cases(report, {r.case: i for i, r in enumerate(ranked[:_DRAWN])})]
    sides = " and its variant ".join(side.model for _, side in o.series.sides)
    return Page(f"Series {o.series.name}", f"{n} cases of {sides}; results in {o.folder}", parts)


def _facts(report: Report) -> list[tuple[str, str, str]]:
    o = report.outcome
    pace = (len(report.table) - o.resumed) / o.seconds if o.seconds > 0 else 0.0
    return [
        ("cases", str(len(report.table)), "run"),
        ("exceed", str(len(report.exceeding)), "with a value beyond a threshold"),
        ("failed", str(len(report.failed)), "without a result"),
        ("parameters", str(len(o.cases.names)), "varied"),
        ("a second", f"{pace:.0f}", "cases, in the last run of the series"),
    ]


def _thresholds(report: Report) -> Table:
    columns = (
        Column("measure"),
        Column("exceptional"),
        Column("cases", True, "that are beyond", bar=True),
        Column("least", True),
        Column("median", True),
        Column("greatest", True),
    )
    rows = []
    for n in report.to_dict()["measures"]:
        count = Cell(str(n["exceeding"]), n["exceeding"], mark="bad" if n["exceeding"] else "")
        rows.append((Cell(n["name"]), Cell(n["threshold"]), count, *(_number(n[k]) for k in ("min", "median", "max"))))
    return Table(columns, rows, can_filter=False)


def _number(value: float | str | None) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    return Cell("", float("inf")) if value is None or value != value else Cell(f"{value:.4g}", float(value))


def _worst(report: Report, ranked: list[Ranked]) -> Iterator[Part]:
    for i, r in enumerate(ranked[:_DRAWN]):
        why = r.message if r.status != OK else f"exceeds {', '.join(r.exceeds)}"
        shown = [Prose(report.values_text(r.case)), *_drawn(report, r.case)]
        yield Fold(f"case {r.case}: {why}", shown, i == 0, f"case-{r.case}")
    if len(ranked) > _DRAWN:
        yield Prose(f"{len(ranked) - _DRAWN} more are in the table below: write `exceeds` into its filter.")


def _drawn(report: Report, case: int) -> list[Part]:
    sides = read_curves(report.outcome.folder, case)
    names = list(dict.fromkeys(n for s in sides.values() for n in s if n != "time"))[:_MOST_SIGNALS]
    if not names:
        return [Prose("Nothing to draw: no curves of this case were kept.")]
    plots = [Plot("", _curves(sides, n), y_label=n, marks=_marks(report, n), axis=f"case {case}") for n in names]
    return [Stack(plots)]


def _curves(sides: Mapping[str, Mapping[str, Any]], name: str) -> list[Curve]:
    return [Curve(side, *thinned(s["time"], s[name], _POINTS)) for side, s in sides.items() if name in s]


def _marks(report: Report, name: str) -> list[Mark]:
    """Thresholds on the value of a signal itself."""
    of_signal = [m for m in report.outcome.series.measures if m.signal == name and m.of != "error"]
    return [
        Mark(m.title, y=y) for m in of_signal for y in (m.above, m.below) if y is not None and m.take in ("max", "min")
    ]


def _scatter(report: Report) -> Iterator[Part]:
    """Each measure with a threshold over each parameter; all where none has one."""
    o, t = report.outcome, report.table
    measures = [m for m in o.series.measures if m.has_threshold] or list(o.series.measures)
    for m in measures:
        beyond = t["exceeds"].list.contains(m.title).to_numpy()
        plots = [_dots(m, *_axis(report, name), t[m.title].to_numpy(), beyond) for name in o.cases.names]
        yield Fold(m.title, plots, is_open=m is measures[0])


def _axis(report: Report, name: str) -> tuple[str, Any]:
    """The label of a parameter and its values in all cases; texts stand in their order, which the label tells."""
    cases, rows = report.outcome.cases, report.table["case"].to_numpy()
    texts = [f"{k} {text}" for k, text in enumerate(cases.texts.get(name, ()))]
    return f"{name}: {', '.join(texts)}" if texts else name, cases.values[rows, cases.names.index(name)]


def _dots(m: Measure, name: str, x: Any, y: Any, beyond: Any) -> Plot:
    some = np.isfinite(y)
    fine, bad = some & ~beyond, some & beyond
    curves = [Curve("within", *_few(x[fine], y[fine]), dots=True, colour=0)]
    if bad.any():
        curves.append(Curve("beyond", *_few(x[bad], y[bad]), dots=True, colour=4))
    marks = [Mark(m.threshold, y=v) for v in (m.above, m.below) if v is not None]
    return Plot("", curves, x_label=name, y_label=m.title, marks=marks, axis=f"{m.title} over {name}")


def _few(x: Any, y: Any, most: int = 5000) -> tuple[Any, Any]:
    every = -(-len(x) // most) if len(x) else 1
    return x[::every], y[::every]


def _cases(report: Report, drawn: Mapping[int, int]) -> Iterator[Part]:
    o, t = report.outcome, report.table
    columns = [Column("case", True), *(Column(n, True) for n in o.cases.names)]
    columns += [*(Column(m.title, True) for m in o.series.measures), Column("outcome")]
    rows = []
    bad_first = sorted(t.iter_rows(named=True), key=lambda r: (r["status"] == OK and not r["exceeds"], r["case"]))
    for row in bad_first[:_MOST_ROWS]:
        link = f"#case-{row['case']}" if row["case"] in drawn else ""
        cells = [Cell(str(row["case"]), row["case"], link), *(_number(row[n]) for n in o.cases.names)]
        for m in o.series.measures:
            cell = _number(row[m.title])
            cells.append(Cell(cell.text, cell.value, mark="bad" if m.title in row["exceeds"] else ""))
        words = (
            row["message"] if row["status"] != OK else f"exceeds {', '.join(row['exceeds'])}" if row["exceeds"] else ""
        )
        rows.append((*cells, Cell(words or "within", mark="bad" if words else "")))
    yield Table(columns, rows, shown=100)
    if len(t) > _MOST_ROWS:
        yield Prose(f"{len(t) - _MOST_ROWS} more cases, within all thresholds, are in `cases.parquet` only.")

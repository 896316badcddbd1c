"""The front of price and error as a page."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import percent
from kilohertz.pages import Cell, Column, Curve, Facts, Heading, Mark, Page, Part, Plot, Prose, Table, Verdict
from kilohertz.tuning.search import Point
from kilohertz.tuning.search_outcome import Tuned, rejection


def page_of(t: Tuned) -> Page:
    """All that were tried; the front and the choice among them."""
    c = t.chosen
    text = (
        f"`{c.title}` is the cheapest of what was tried" if t.ok else f"nothing meets the goal; nearest is `{c.title}`"
    )
    parts: list[Part] = [Verdict(t.ok, text), Facts(_facts(t))]
    parts += [Prose(note) for note in t.notes]
    parts += [Prose(f"`{p.title}` was rejected: {rejection(p)}.") for p in t.rejected]
    parts += [Heading("Price and error"), _plot(t), Heading("What was tried"), _table(t)]
    return Page(f"Tuning {t.model}", f"largest error {100 * t.goal.error:g} % of a signal's range", parts)


def _facts(t: Tuned) -> list[tuple[str, str, str]]:
    c = t.chosen
    return [
        ("error", percent(c.error), "largest, of a signal's range"),
        (
            "instructions a second",
            f"{c.price / 1e6:.3g} M",
            "of the model, by the calls of the trial",
        ),
        ("regular period, at most", _whole(c.period), "instructions of a period without an event"),
        ("any period, at most", _whole(c.worst), "instructions, with everything that the settings allow"),
        ("trials", str(len(t.points)), f"in {t.seconds:.1f} s"),
    ]


def _whole(instructions: float) -> str:
    """With thin gaps between thousands."""
    return f"{instructions:,.0f}".replace(",", "\u202f")


def _plot(t: Tuned) -> Plot:
    ran = [p for p in t.points if 0 < p.error < math.inf]
    front = [p for p in t.front if p.error > 0]
    curves = [
        Curve("tried", *_xy(ran), dots=True, colour=5),
        Curve("front", *_xy(front), colour=0),
        Curve("chosen", *_xy([t.chosen] if t.chosen.error > 0 else []), dots=True, colour=2),
    ]
    goal = Mark("goal", y=100 * t.goal.error)
    return Plot("", curves, "million instructions for a second of the model", "error / %", [goal], "price", 320, True)


def _xy(points: list[Point]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array([p.price / 1e6 for p in points]), np.array([100 * p.error for p in points])


def _table(t: Tuned) -> Table:
    columns = (
        Column("settings"),
        Column("step / ms", True),
        Column("M instructions/s", True, "for a second of the model, by the calls of the trial", bar=True),
        Column("error / %", True, "largest, of a signal's range"),
        Column("regular period", True, "instructions of a regular period, at most"),
        Column("worst period", True, "instructions of any period, at most"),
        Column("measured / µs", True, "processor time of a period in the trial, recording included"),
        Column("", False),
    )
    rows = []
    for p in sorted(t.points, key=lambda p: p.price):
        word = _word(t, p)
        error = Cell("", math.inf) if math.isinf(p.error) else Cell(f"{100 * p.error:.3g}", p.error)
        price, measured = (Cell(f"{v:.4g}", v) for v in (p.price / 1e6, 1e6 * p.seconds))
        period, worst = (Cell(_whole(v), v) for v in (p.period, p.worst))
        mark = "good" if p is t.chosen else "bad" if word in ("failed", "rejected") else ""
        step = Cell(f"{1e3 * p.settings.step:g}", p.settings.step)
        rows.append((Cell(p.title), step, price, error, period, worst, measured, Cell(word, mark=mark)))
    return Table(columns, rows)


def _word(t: Tuned, p: Point) -> str:
    """What became of a point."""
    if p is t.chosen:
        return "chosen"
    if any(p is r for r in t.rejected):
        return "rejected"
    return "failed" if math.isinf(p.error) else "front" if any(p is f for f in t.front) else ""

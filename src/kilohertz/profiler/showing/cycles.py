"""Cycles on the page of a profile: over time with their deadline, one opened as an icicle, how many took how long, the
worst with their causes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kilohertz.pages import Bars, Case, Cell, Column, Curve, Heading, Leaf, Mark, Opened, Part, Plot, Prose, Table
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.showing.ways import Ways
from kilohertz.profiler.views import Branch, cycle_tree

_BINS = 120
MOST_VALUES, MOST_CASES = 150_000, 2000  # of cycles that can be opened


def cycle_parts(ways: Ways) -> list[Part]:
    """All of them."""
    profile = ways.profile
    if not len(profile.records):
        return []
    return [Heading("Cycles"), *_time_line(ways), _opened(ways), *_histogram(profile), *_worst(ways)]


def cycle_axis(profile: Profile) -> NDArray[np.float64]:
    """Numbers of cycles."""
    axis: NDArray[np.float64] = profile.records["head"]["cycle"].astype(np.float64)
    return axis


def _time_line(ways: Ways) -> list[Part]:
    p = ways.profile
    x, us = cycle_axis(p), p.cycle_ns / 1e3
    marks = [Mark("deadline", y=p.period_ns / 1e3)] if p.period_ns else []
    curves = [Curve("cycle", x, us)]
    if len(p.misses):
        head = p.records["head"]
        late = (head["ended_ns"] - head["release_ns"]) / 1e3
        curves.append(Curve("missed: from its release to its end", x[p.misses], late[p.misses], dots=True, colour=4))
    if ways.causes:
        at = [c.index for c in ways.causes]
        curves.append(Curve("worst", x[at], us[at], dots=True, colour=1))
    log = bool(us.min() > 0)
    return [Plot("whole cycle: a click opens one", curves, "cycle", "µs", marks, "cycles", log_y=log, can_pick=True)]


def _opened(ways: Ways) -> Opened:
    """As many cycles as a page can carry, the worst and the missed ones first."""
    p = ways.profile
    shape = cycle_tree(p, np.nan_to_num(p.own_ns).max(axis=0))
    numbers = [b.place for group in shape.below for b in (group.below or (group,))]
    most = max(20, min(MOST_CASES, MOST_VALUES // max(1, len(numbers))))
    first = [*(c.index for c in ways.causes), *p.misses.tolist()]
    others = np.linspace(0, len(p.records) - 1, min(len(p.records), most)).astype(int).tolist()
    chosen = sorted(list(dict.fromkeys([*first, *others]))[:most])
    named = {c.index: f"{c.kind}: {c.text}" for c in ways.causes}
    own_us = np.nan_to_num(p.own_ns[chosen][:, numbers]) / 1e3
    cases = [Case(float(x), named.get(i, ""), v) for i, x, v in zip(chosen, cycle_axis(p)[chosen], own_us, strict=True)]
    at = chosen.index(ways.causes[0].index) if ways.causes else 0
    return Opened("cycle", "cycles", _leaf(ways, shape, {n: i for i, n in enumerate(numbers)}), cases, at, "µs")


def _leaf(ways: Ways, branch: Branch, index: Mapping[int, int]) -> Leaf:
    below = tuple(_leaf(ways, b, index) for b in branch.below)
    return Leaf(branch.name, index.get(branch.place, -1), below, ways.place(branch.place) if branch.place >= 0 else "")


def _histogram(p: Profile) -> list[Part]:
    some = p.cycle_ns[p.counted] / 1e3
    edges = np.linspace(some.min(), max(some.max(), some.min() * 1.0001 + 1e-6), _BINS + 1)
    marks = [Mark("deadline", y=None, x=p.period_ns / 1e3)] if p.misses.size else []
    out = int(p.disturbed.sum())
    why = "in which the thread was preempted, or probes began or ended"
    note = f"{out} cycles {why} are not in it, nor among the worst." if out else ""
    bars = Bars("how many cycles took how long", edges, np.histogram(some, edges)[0], "µs", "cycles", marks)
    return [bars, *([Prose(note)] if note else [])]


def _worst(ways: Ways) -> list[Part]:
    if not ways.causes:
        return []
    columns = (
        Column("cycle", True, "a click opens it above"),
        Column("time / µs", True, bar=True),
        Column("cause"),
        Column("place", hint="with the largest excess over the median cycle"),
        Column("what tells it"),
    )
    cells = [
        (
            Cell(f"{c.cycle}", c.cycle, f"#cycle-{c.cycle}"),
            Cell(f"{c.ns / 1e3:.2f}", c.ns),
            Cell(c.kind),
            Cell(ways.profile.places[c.place].name, link=ways.place(c.place)) if c.place >= 0 else Cell(""),
            Cell(c.text),
        )
        for c in ways.causes
    ]
    return [Heading("Worst cycles"), Table(columns, cells, can_filter=False)]

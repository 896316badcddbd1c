"""From borders that were timed a few at a time (always on) to the own times of places.

The window of khz_probe.c moves over the borders of a cycle, from cycle to cycle, and begins anew behind the last: one
*sweep* has every stretch between two borders once, each from another cycle.  Where cycles are not of one length it goes
on behind the end of the short ones only if it came there in a long one, and then waits for others as long: each stretch
counts as often as there are cycles that have it.  A stretch belongs to the place that was
entered at its begin, else to the one that is left at its end.  Between leaving one place and entering the next it
belongs to what is around both: the place that is most often seen directly around them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.runtime import constant

_NONE = constant("KHZ_NO_PLACE")
Floats = NDArray[np.float64]


def sweeps(
    head: NDArray[np.void], borders: NDArray[np.void], n_places: int, tick: Floats
) -> tuple[Floats, NDArray[np.int64]]:
    """[sweeps, places] own times in nanoseconds of complete sweeps, put together from the cycles of each, with what
    timing added to them; and of how many stretches.  Where none is complete: of the one that came furthest (`is_part`).
    `tick`: the length of a tick in each cycle."""
    number, n_sweeps = _numbered(head)
    own_ns, n_stretches = np.zeros((n_sweeps, n_places)), np.zeros((n_sweeps, n_places), np.int64)
    if not n_sweeps or len(borders) < 2:
        return own_ns, n_stretches
    record, border = borders["record"], borders["border"]
    joined = (record[1:] == record[:-1]) & (number[record[1:]] >= 0)
    ticks = (border["ticks"][1:] - border["ticks"][:-1]).astype(np.uint32)  # the low half of the clock may wrap
    owner = _owners(border[:-1], border[1:], joined, n_places)
    where = number[record[1:]][joined], owner[joined]
    np.add.at(own_ns, where, ticks[joined] * tick[record[1:]][joined])
    np.add.at(n_stretches, where, 1)
    return own_ns, n_stretches


def calls(head: NDArray[np.void], borders: NDArray[np.void], n_places: int) -> Floats:
    """[places] how often each was entered in a cycle, over all sweeps that count."""
    number, n_sweeps = _numbered(head)
    record, entered = borders["record"], borders["border"]["entered"]
    repeated = np.r_[True, record[1:] != record[:-1]] & (_first(head)[record] > 0) if len(record) else record > 0
    some = entered[(number[record] >= 0) & (entered != _NONE) & ~repeated]  # windows overlap by one border
    return np.bincount(some, minlength=n_places) / max(1, n_sweeps)


def is_part(head: NDArray[np.void]) -> bool:
    """Whether no sweep is complete: a cycle has more borders than windows went over so far."""
    return _complete(head)[1] == 0


def _numbered(head: NDArray[np.void]) -> tuple[NDArray[np.int64], int]:
    """[records] the number of the sweep that its window belongs to, -1: none that counts; how many do."""
    number, n = _complete(head)
    return (number, n) if n else _furthest(head)


def _furthest(head: NDArray[np.void]) -> tuple[NDArray[np.int64], int]:
    """The same of the sweep that came furthest without a hole from the begin of a cycle on."""
    first, following = _first(head), _number(head["next"], head["next_inner"])
    has = np.flatnonzero((head["window"] > 1) & (head["n_borders"] == head["window"]))
    number, best = np.full(len(head), -1, np.int64), has[:0]
    for begin in np.flatnonzero(first[has] == 0):
        joined = first[has[begin + 1 :]] == following[has[begin:-1]]
        n = int(np.argmin(joined)) if not joined.all() else len(joined)
        best = max(best, has[begin : begin + 1 + n], key=len)
    number[best] = 0
    return number, int(len(best) > 0)


def _complete(head: NDArray[np.void]) -> tuple[NDArray[np.int64], int]:
    """[records] the number of the complete sweep that its window belongs to, -1: none; how many there are."""
    first, following = _first(head), _number(head["next"], head["next_inner"])
    has = np.flatnonzero(head["window"] > 1)
    is_cut = (head["n_borders"] < head["window"]) & (head["n_borders"] > 0) & (following > 0)  # the row had no room
    number = np.full(len(head), -1, np.int64)
    starts = np.flatnonzero(first[has] == 0)
    n = 0
    for begin, end in zip(starts, [*starts, len(has)][1:], strict=True):
        members = has[begin:end]
        is_joined = (first[members][1:] == following[members][:-1]).all() and not is_cut[members].any()
        if is_joined and following[members[-1]] == 0 and head["n_borders"][members[-1]] > 0:
            number[members] = n
            n += 1
    return number, n


def _first(head: NDArray[np.void]) -> NDArray[np.int64]:
    """[records] the border that its window begins at."""
    return _number(head["first"], head["first_inner"])


def _number(outer: NDArray[np.uint32], inner: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Outer borders before it and inner ones after those, as one number; 0: the first of a cycle."""
    return (outer.astype(np.int64) << 32) + inner


def _owners(now: Any, then: Any, joined: NDArray[np.bool_], n_places: int) -> NDArray[np.int64]:
    """[stretches] the place that each belongs to; 0, the rest of the cycle, where nothing tells."""
    inside = now["entered"] != _NONE
    before = ~inside & (then["left"] != _NONE)
    owner = np.where(inside, now["entered"], np.where(before, then["left"], 0)).astype(np.int64)
    around = _around(now, then, joined, n_places)
    between = joined & ~inside & ~before
    code = now["left"].astype(np.int64) * n_places + then["entered"]
    gaps = [(pair // n_places, pair % n_places) for pair in np.unique(code[between]).tolist()]
    _spread(around, gaps)
    for left, entered in gaps:
        votes = dict(around.get(left, {}))
        for place, n in around.get(entered, {}).items():
            votes[place] = votes.get(place, 0) + n
        if votes:
            owner[between & (code == left * n_places + entered)] = max(votes, key=lambda p: (votes[p], -p))
    return owner


def _spread(around: dict[int, dict[int, int]], gaps: list[tuple[int, int]]) -> None:
    """Places that follow one another lie in the same one: who was never seen at its border learns it from another."""
    learnt = True
    while learnt:
        learnt = False
        for one, two in gaps:
            for here, there in ((one, two), (two, one)):
                if here not in around and there in around:
                    around[here] = around[there]
                    learnt = True


def _around(now: Any, then: Any, joined: NDArray[np.bool_], n_places: int) -> dict[int, dict[int, int]]:
    """Of each place those that were seen directly around it, and how often."""
    entered = joined & (now["entered"] != _NONE) & (then["entered"] != _NONE) & (then["left"] == _NONE)
    left = joined & (now["entered"] == _NONE) & (now["left"] != _NONE) & (then["left"] != _NONE)
    inner = np.concatenate([then["entered"][entered], now["left"][left]]).astype(np.int64)
    outer = np.concatenate([now["entered"][entered], then["left"][left]]).astype(np.int64)
    pairs, counts = np.unique(inner * n_places + outer, return_counts=True)
    outer_of: dict[int, dict[int, int]] = {}
    for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True):
        outer_of.setdefault(pair // n_places, {})[pair % n_places] = n
    return outer_of

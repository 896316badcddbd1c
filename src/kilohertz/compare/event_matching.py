"""Events of two curves, matched one to one.

An event is a jump: two rows with one time, or, in a recording on a fixed grid, a step between two rows that is higher
than the tube and much steeper than its neighbours.  Two events match when their jumps have one direction and their
times are at most `window` apart; of all matchings in the order of time the one with most pairs is taken, and of those
the one with the smallest sum of time errors (dynamic programming over both lists, as for aligning two texts).  Times
that are further apart than `window` from all others cut both lists into parts of their own; a part with more than
`_MOST` combinations (a carrier far faster than the window) is paired in the order of time instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from kilohertz.compare.curve import Curve, Floats

_STEEP = 10.0  # times the median slope of its neighbours
_MOST = 250_000  # combinations of events in one part


@dataclass(frozen=True, slots=True)
class Jump:
    """When, and from where to where."""

    time: float
    before: float
    after: float

    @property
    def rises(self) -> bool:
        return self.after > self.before


Jumps: TypeAlias = tuple[Jump, ...]
Counts: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Matched:
    """Pairs of jumps (result, reference), and those that only one side has."""

    pairs: tuple[tuple[Jump, Jump], ...]
    only_result: Jumps
    only_reference: Jumps

    @property
    def worst(self) -> float:
        """The largest time error of a pair, with its sign: positive where the result is late."""
        return max((a.time - b.time for a, b in self.pairs), key=abs, default=0.0)

    @property
    def mean(self) -> float:
        return float(np.mean([a.time - b.time for a, b in self.pairs])) if self.pairs else 0.0


def jumps(curve: Curve, height: float) -> Jumps:
    """The jumps of a curve that are higher than `height`."""
    t, y = curve.time, curve.value
    if len(t) < 2:
        return ()
    dt, dy = np.diff(t), np.diff(y)
    high = np.abs(dy) > height
    vertical = high & (dt <= 0)
    steep = high & (dt > 0) & _is_steep(dt, dy)
    return tuple(Jump(float(t[i + 1]), float(y[i]), float(y[i + 1])) for i in np.flatnonzero(vertical | steep))


def _is_steep(dt: Floats, dy: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether each segment is much steeper than those beside it: a jump seen on a grid."""
    slope = np.divide(np.abs(dy), dt, out=np.zeros_like(dy), where=dt > 0)
    left, right = np.roll(slope, 1), np.roll(slope, -1)
    left[0], right[-1] = right[0], left[-1]
    steep: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = slope > _STEEP * np.maximum(left, right)
    return steep


def match(result: Jumps, reference: Jumps, window: float) -> Matched:
    """Pair the jumps of both sides."""
    parts = [_matched(a, b, window) for a, b in _parts(result, reference, window)]
    return Matched(
        tuple(pair for part in parts for pair in part.pairs),
        tuple(jump for part in parts for jump in part.only_result),
        tuple(jump for part in parts for jump in part.only_reference),
    )


def _parts(a: Jumps, b: Jumps, window: float) -> Iterator[tuple[Jumps, Jumps]]:
    """Both lists cut wherever no jump comes for longer than the window."""
    times = np.sort(np.array([j.time for j in (*a, *b)]))
    cuts = times[1:][np.diff(times) > window]
    starts_a, starts_b = (np.searchsorted([j.time for j in jumps], cuts).tolist() for jumps in (a, b))
    for i, k in pairwise(zip([0, *starts_a, len(a)], [0, *starts_b, len(b)], strict=True)):
        yield a[i[0] : k[0]], b[i[1] : k[1]]


def _matched(a: Jumps, b: Jumps, window: float) -> Matched:
    if not a or not b:
        return Matched((), a, b)
    return _in_order(a, b, window) if len(a) * len(b) > _MOST else _best(a, b, window)


def _in_order(a: Jumps, b: Jumps, window: float) -> Matched:
    """Each jump with the next one of the other side that fits."""
    both: list[tuple[Jump, Jump]] = []
    left, right = [], []
    i = j = 0
    while i < len(a) and j < len(b):
        if _fit(a[i], b[j], window):
            both.append((a[i], b[j]))
            i, j = i + 1, j + 1
        elif a[i].time <= b[j].time:
            left.append(a[i])
            i += 1
        else:
            right.append(b[j])
            j += 1
    return Matched(tuple(both), (*left, *a[i:]), (*right, *b[j:]))


def _fit(a: Jump, b: Jump, window: float) -> bool:
    return abs(a.time - b.time) <= window and a.rises == b.rises


def _best(a: Jumps, b: Jumps, window: float) -> Matched:
    """Of the first i and j jumps: the most pairs, and then the least sum of time errors."""
    pairs: Counts = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    error: Floats = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = max((pairs[i - 1, j], -error[i - 1, j]), (pairs[i, j - 1], -error[i, j - 1]))
            if _fit(a[i - 1], b[j - 1], window):
                off = abs(a[i - 1].time - b[j - 1].time)
                best = max(best, (pairs[i - 1, j - 1] + 1, -(error[i - 1, j - 1] + off)))
            pairs[i, j], error[i, j] = best[0], -best[1]
    return _walk_back(a, b, pairs, error, window)


def _walk_back(
    result: Jumps,
    reference: Jumps,
    pairs: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    error: Floats,
    window: float,
) -> Matched:
    i, j = len(result), len(reference)
    both: list[tuple[Jump, Jump]] = []
    left, right = [], []
    while i and j:
        a, b = result[i - 1], reference[j - 1]
        off = abs(a.time - b.time)
        here = (pairs[i, j], error[i, j])
        if _fit(a, b, window) and here == (pairs[i - 1, j - 1] + 1, error[i - 1, j - 1] + off):
            both.append((a, b))
            i, j = i - 1, j - 1
        elif here == (pairs[i - 1, j], error[i - 1, j]):
            left.append(a)
            i -= 1
        else:
            right.append(b)
            j -= 1
    left += reversed(result[:i])
    right += reversed(reference[:j])
    return Matched(tuple(reversed(both)), tuple(reversed(left)), tuple(reversed(right)))

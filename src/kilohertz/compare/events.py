"""Events of two curves, matched one to one.

An event is a jump: two rows with one time, or, in a recording on a fixed grid, a step between two rows that is higher
than the tube and much steeper than its neighbours.  Two events match when their jumps have one direction and their
times are at most `window` apart; of all matchings in the order of time the one with most pairs is taken, and of those
the one with the smallest sum of time errors (dynamic programming over both lists, as for aligning two texts).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kilohertz.compare.curve import Curve, Floats

_STEEP = 10.0  # times the median slope of its neighbours
_MOST = 4000  # events of a curve that are matched; beyond, only their number is compared


@dataclass(frozen=True, slots=True)
class Jump:
    """When, and from where to where."""

    time: float
    before: float
    after: float

    @property
    def rises(self) -> bool:
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class Matched:
    """Pairs of jumps (result, reference), and those that only one side has."""

    pairs: tuple[tuple[Jump, Jump], ...]
    only_result: tuple[Jump, ...]
    only_reference: tuple[Jump, ...]

    @property
    def worst(self) -> float:
        """The largest time error of a pair, with its sign: positive where the result is late."""
        return max((a.time - b.time for a, b in self.pairs), key=abs, default=0.0)

    @property
    def mean(self) -> float:
        return float(np.mean([a.time - b.time for a, b in self.pairs])) if self.pairs else 0.0


def jumps(curve: Curve, height: float) -> tuple[Jump, ...]:
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


def match(result: tuple[Jump, ...], reference: tuple[Jump, ...], window: float) -> Matched:
    """Pair the jumps of both sides."""
    if max(len(result), len(reference)) > _MOST:
        return Matched((), result, reference)
    n, m = len(result), len(reference)
    # of the first i and j jumps: the most pairs, and then the least sum of time errors
    pairs = np.zeros((n + 1, m + 1), np.int64)
    error = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = max((pairs[i - 1, j], -error[i - 1, j]), (pairs[i, j - 1], -error[i, j - 1]))
            a, b = result[i - 1], reference[j - 1]
            off = abs(a.time - b.time)
            if off <= window and a.rises == b.rises:
                best = max(best, (pairs[i - 1, j - 1] + 1, -(error[i - 1, j - 1] + off)))
            pairs[i, j], error[i, j] = best[0], -best[1]
    return _walk_back(result, reference, pairs, error, window)


def _walk_back(
    result: tuple[Jump, ...],
    reference: tuple[Jump, ...],
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
        if off <= window and a.rises == b.rises and here == (pairs[i - 1, j - 1] + 1, error[i - 1, j - 1] + off):
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

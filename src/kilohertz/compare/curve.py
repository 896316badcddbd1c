"""A piecewise linear curve that may jump: two points with one time are a vertical edge."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
_KEPT = 32
_ROUNDED = 1e-9  # of the time span: one instant may be written a little differently on both sides


class Windows(NamedTuple):
    """Windows of at least `length` and less than twice as many points: which, their first points, and those from which
    the last `length` begin."""

    length: int
    which: Indices
    first: Indices
    last: Indices


class Segments(NamedTuple):
    """Between which two points each instant lies, and how far from the first to the second."""

    low: Indices
    high: Indices
    share: Floats


class Places:
    """Where instants lie among times, found once: the signals of a result share their times, and ask the same.

    An array counts as the same where it is the same object; what was asked about is kept, so that it stays so.  The
    last `_KEPT` answers are remembered.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[object, ...], tuple[tuple[Floats, ...], Any]] = OrderedDict()
        self._lock = Lock()  # of the list, not of the work: signals are judged side by side

    def among(self, times: Floats, t: Floats, side: str) -> Indices:
        """`np.searchsorted`."""
        indices: Indices = self._once(("among", side), (times, t), lambda: np.searchsorted(times, t, side))  # type: ignore[call-overload]
        return indices

    def has_edges(self, times: Floats) -> bool:
        """Whether two rows have one time anywhere."""
        is_doubled: bool = self._once(("edges",), (times,), lambda: bool((np.diff(times) <= 0).any()))
        return is_doubled

    def are_same(self, a: Floats, b: Floats) -> bool:
        """Whether both have the same times."""
        return a is b or bool(self._once(("same",), (a, b), lambda: np.array_equal(a, b)))

    def moved(self, t: Floats, by: float) -> Floats:
        """`t + by`."""
        moved: Floats = self._once(("moved", by), (t,), lambda: t + by)
        return moved

    def within(self, times: Floats, start: float, stop: float) -> Floats:
        """Those from start to stop."""
        inside: Floats = self._once(
            ("within", start, stop), (times,), lambda: times[(times >= start) & (times <= stop)]
        )
        return inside

    def union(self, a: Floats, b: Floats, start: float, stop: float) -> tuple[Floats, Floats]:
        """All times of both from start to stop, and both of these, each once: beginnings and ends of pieces."""

        def every() -> tuple[Floats, Floats]:
            parts = [self.within(a, start, stop), self.within(b, start, stop), np.array([start, stop])]
            grid = np.unique(np.concatenate(parts))
            return grid[:-1], grid[1:]

        pieces: tuple[Floats, Floats] = self._once(("union", start, stop), (a, b), every)
        return pieces

    def segments(self, times: Floats, t: Floats, side: str) -> Segments:
        """Where a curve is looked up: in segments that are not vertical; beyond the ends at the outermost point."""

        def looked_up() -> Segments:
            right, last = self.among(times, t, side), len(times) - 1
            high = np.clip(right, 0, last)
            low = np.clip(right - 1, 0, last)
            width = times[high] - times[low]
            return Segments(low, high, np.divide(t - times[low], width, out=np.zeros_like(t), where=width > 0))

        segments: Segments = self._once(("segments", side), (times, t), looked_up)
        return segments

    def windows(self, times: Floats, start: Floats, stop: Floats) -> list[Windows]:
        """The points in each window from start to stop, by length; those without a point are left out."""

        def by_length() -> list[Windows]:
            first, past = self.among(times, start, "left"), self.among(times, stop, "right")
            level = np.frexp(np.maximum(past - first, 0).astype(np.float64))[1] - 1  # floor of log2; -1: no point
            out = []
            for k in range(int(level.max(initial=-1)) + 1):
                which = np.flatnonzero(level == k)
                if len(which):
                    out.append(Windows(1 << k, which, first[which], past[which] - (1 << k)))
            return out

        windows: list[Windows] = self._once(("windows",), (times, start, stop), by_length)
        return windows

    def _once(self, what: tuple[object, ...], arrays: tuple[Floats, ...], make: Callable[[], Any]) -> Any:
        key = (*what, *(id(a) for a in arrays))
        with self._lock:
            known = self._found.get(key)
            if known is not None:
                self._found.move_to_end(key)
                return known[1]
        made = make()
        with self._lock:
            self._found[key] = (arrays, made)
            if len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Curve:
    """Times never decrease; beyond the ends the curve is constant."""

    time: Floats
    value: Floats
    places: Places = field(default_factory=Places, compare=False, repr=False)

    def before(self, t: Floats) -> Floats:
        """Limits from the left."""
        return self._between(self.places.segments(self.time, t, "left"))

    def after(self, t: Floats) -> Floats:
        """Limits from the right."""
        return self._between(self.places.segments(self.time, t, "right"))

    def _between(self, at: Segments) -> Floats:
        low = self.value[at.low]
        inside: Floats = low + at.share * (self.value[at.high] - low)
        return inside

    def highest(self, start: Floats, stop: Floats) -> Floats:
        """The largest value in each window [start, stop]."""
        return self._extreme(np.maximum, -np.inf, start, stop)

    def lowest(self, start: Floats, stop: Floats) -> Floats:
        """The smallest value in each window [start, stop]."""
        return self._extreme(np.minimum, np.inf, start, stop)

    def _extreme(self, better: np.ufunc, neutral: float, start: Floats, stop: Floats) -> Floats:
        """At a window's edges the curve is interpolated; between them its points decide.

        The extreme of n points is the better of those of its first and its last 2^k, for the largest 2^k up to n; of
        2^k points it follows from those of 2^(k-1).  So the work is log2 of the longest window for each point.
        """
        points = np.full(len(start), neutral)
        extremes, length = np.asarray(self.value), 1  # of `length` points from each one on
        for window in self.places.windows(self.time, start, stop):
            while length < window.length:
                extremes = better(extremes[:-length], extremes[length:])
                length *= 2
            points[window.which] = better(extremes[window.first], extremes[window.last])
        extreme: Floats = better(better(self.after(start), self.before(stop)), points)
        return extreme

    @property
    def has_edges(self) -> bool:
        """Whether it can show both sides of a jump."""
        return self.places.has_edges(self.time)

    def shares_rows(self, other: Curve) -> bool:
        """Whether each row of one is to be compared with the same row of the other, and nothing lies in between."""
        return self.places.are_same(self.time, other.time) and not self.has_edges

    def seen_by(self, other: Curve) -> Curve:
        """This curve at the times of the other one, within its own; at an edge the end that is nearer to the other."""
        start, stop = float(self.time[0]), float(self.time[-1])
        shown, rounded = other.clipped(start, stop), _ROUNDED * (stop - start)
        before = self.before(self.places.moved(shown.time, -rounded))
        after = self.after(self.places.moved(shown.time, rounded))
        is_before = np.abs(before - shown.value) < np.abs(after - shown.value)
        return Curve(shown.time, np.where(is_before, before, after), self.places)

    def clipped(self, start: float, stop: float) -> Curve:
        """Only the points within [start, stop]."""
        time = self.places.within(self.time, start, stop)
        if len(time) == len(self.time):
            return self
        return Curve(time, self.value[(self.time >= start) & (self.time <= stop)], self.places)

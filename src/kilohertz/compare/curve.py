"""A piecewise linear curve that may jump: two points with one time are a vertical edge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Curve:
    """Times never decrease; beyond the ends the curve is constant."""

    time: Floats
    value: Floats

    def before(self, t: Floats) -> Floats:
        """Limits from the left."""
        return self._between(np.searchsorted(self.time, t, "left"), t)

    def after(self, t: Floats) -> Floats:
        """Limits from the right."""
        return self._between(np.searchsorted(self.time, t, "right"), t)

    def _between(self, right: NDArray[np.intp], t: Floats) -> Floats:
        """Interpolate in the segment that ends at point `right`; such a segment is never vertical."""
        last = len(self.time) - 1
        j = np.clip(right, 1, last) if last else np.zeros_like(right)
        i = np.maximum(j - 1, 0)
        width = self.time[j] - self.time[i]
        share = np.divide(t - self.time[i], width, out=np.zeros_like(t), where=width > 0)
        inside = self.value[i] + share * (self.value[j] - self.value[i])
        return np.where(right == 0, self.value[0], np.where(right > last, self.value[-1], inside))

    def highest(self, start: Floats, stop: Floats) -> Floats:
        """The largest value in each window [start, stop]."""
        return self._extreme(np.maximum, -np.inf, start, stop)

    def lowest(self, start: Floats, stop: Floats) -> Floats:
        """The smallest value in each window [start, stop]."""
        return self._extreme(np.minimum, np.inf, start, stop)

    def _extreme(self, better: np.ufunc, neutral: float, start: Floats, stop: Floats) -> Floats:
        """At a window's edges the curve is interpolated; between them its points decide.

        `reduceat` over the pairs (first, past) gives the extreme of each window at even places.
        """
        edges = better(self.after(start), self.before(stop))
        first = np.searchsorted(self.time, start, "left")
        past = np.searchsorted(self.time, stop, "right")
        pairs = np.column_stack([first, past]).ravel()
        padded = np.append(self.value, neutral)  # `past` may lie one behind the last point
        points = better.reduceat(padded, pairs)[::2]
        extreme: Floats = better(edges, np.where(first < past, points, neutral))
        return extreme

    def clipped(self, start: float, stop: float) -> Curve:
        """Only the points within [start, stop]."""
        keep = (self.time >= start) & (self.time <= stop)
        return Curve(self.time[keep], self.value[keep])

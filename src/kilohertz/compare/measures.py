"""How far one curve is from another: a tube around the reference, and error norms.

The tube is the one of the Modelica community's csv-compare: a rectangle of half width dx and half height dy slides
along the reference, and what it covers is allowed.  With [t0, t1] the reference's time and [lo, hi] its values,

    dx = tol * max(t1 - t0, |t0|)          dy = tol * max(hi - lo, |lo|, nominal)
    upper(t) = max ref[t - dx, t + dx] + dy          lower(t) = min ref[t - dx, t + dx] - dy

The error e = result - reference is integrated exactly on the union of both time grids and divided by scale = dy/tol.
Where only the reference has rows before and after its events (a recording has one row a step), it is looked at in the
rows of the result, and at a jump with the value that is nearer: what no row could show is no error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kilohertz.compare.curve import Curve, Floats


class Size(NamedTuple):
    """Half width (time) and half height (value) of the tube, and the height that errors are measured in."""

    dx: float
    dy: float
    scale: float


class Outside(NamedTuple):
    """Points outside a tube: how many, when first, and by how much at worst (in units of the scale)."""

    n_points: int
    first: float | None
    excess: float


class Errors(NamedTuple):
    """Root mean square, largest and mean absolute error and the error at the end, in units of the scale.

    `away` leaves the neighbourhood of jumps out of the largest one.
    """

    rms: float
    largest: float
    away: float
    mean: float
    final: float


def tube_size(reference: Curve, tolerance: float, nominal: float, dx: float | None = None) -> Size:
    """How large the rectangle is that slides along the reference; its half width may be given in seconds."""
    t, y = reference.time, reference.value
    width = max(float(t[-1] - t[0]), abs(float(t[0])), 1e-12)
    height = max(float(y.max() - y.min()), abs(float(y.min())), nominal)
    return Size(tolerance * width if dx is None else dx, tolerance * height, height)


def outside(around: Curve, points: Curve, size: Size) -> Outside:
    """Which points lie outside the tube around a curve."""
    t, y = points.time, points.value
    is_near = points.shares_rows(around) and bool((np.abs(y - around.value) <= size.dy).all())
    if is_near or not len(t):  # what is near at its own instant is near in a window around it
        return Outside(0, None, 0.0)
    start, stop = around.places.moved(t, -size.dx), around.places.moved(t, size.dx)
    upper = around.highest(start, stop) + size.dy
    lower = around.lowest(start, stop) - size.dy
    rounding = 1e-14 * size.scale + 4e-16 * np.maximum(np.abs(upper), np.abs(lower))  # a point on the edge is inside
    excess = np.maximum(y - upper, lower - y) - rounding
    bad = np.flatnonzero(excess > 0)
    if not len(bad):
        return Outside(0, None, 0.0)
    return Outside(len(bad), float(t[bad[0]]), float(excess[bad].max()) / size.scale)


def as_shown(reference: Curve, result: Curve) -> Curve:
    """The reference as errors are taken from it: in the rows of the result where only the reference has rows on both
    sides of its events."""
    if not reference.has_edges or result.has_edges:
        return reference
    shown = reference.seen_by(result)
    return shown if len(shown.time) else reference


def error_curve(result: Curve, reference: Curve) -> Curve:
    """result - reference over the time both cover, as `errors` measures it; two rows with one time where it jumps."""
    shown = as_shown(reference, result)
    start, stop = float(max(result.time[0], shown.time[0])), float(min(result.time[-1], shown.time[-1]))
    if not stop > start:
        return Curve(np.zeros(0), np.zeros(0))
    left, right, e0, e1 = _pieces(result, shown, start, stop)
    time, value = np.column_stack([left, right]).ravel(), np.column_stack([e0, e1]).ravel()
    is_new = np.concatenate([[True], (np.diff(time) > 0) | (np.diff(value) != 0)])
    return Curve(time[is_new], value[is_new])


def errors(result: Curve, reference: Curve, size: Size) -> Errors:
    """Norms of result - reference over the time both cover."""
    start = max(result.time[0], reference.time[0])
    stop = min(result.time[-1], reference.time[-1])
    if not stop > start:
        last = abs(float(result.value[-1] - reference.value[-1])) / size.scale
        return Errors(last, last, last, last, last)
    left, right, e0, e1 = _pieces(result, reference, float(start), float(stop))
    mean_square = float(np.sum((right - left) * (e0 * e0 + e0 * e1 + e1 * e1))) / 3 / (stop - start)
    largest = max(float(np.abs(e0).max()), float(np.abs(e1).max()))
    jumps = _jump_times(reference, size)
    away = largest
    if len(jumps):
        far = (np.abs(part[_are_far(times, jumps, size)]) for times, part in ((left, e0), (right, e1)))
        away = max(float(part.max(initial=0.0)) for part in far)
    values = (mean_square**0.5, largest, away, _mean(left, right, e0, e1), abs(float(e1[-1])))
    return Errors(*(v / size.scale for v in values))


def _pieces(result: Curve, reference: Curve, start: float, stop: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Where the error is linear: beginnings and ends of these pieces, and the error there."""
    if result.shares_rows(reference):
        e = result.value - reference.value
        return result.time[:-1], result.time[1:], e[:-1], e[1:]
    left, right = result.places.union(result.time, reference.time, start, stop)
    return left, right, result.after(left) - reference.after(left), result.before(right) - reference.before(right)


def _mean(left: Floats, right: Floats, e0: Floats, e1: Floats) -> float:
    """The integral of |e| by the time: e is linear between `left` and `right`, and may pass zero there."""
    a, b = np.abs(e0), np.abs(e1)
    crosses = e0 * e1 < 0
    with np.errstate(invalid="ignore", divide="ignore"):
        area = np.where(crosses, (a * a + b * b) / (2 * (a + b)), (a + b) / 2)
    return float(np.sum((right - left) * area)) / float(right[-1] - left[0])


def _jump_times(reference: Curve, size: Size) -> Floats:
    """When the reference jumps by more than dy."""
    if not reference.has_edges:
        return np.zeros(0)
    t, y = reference.time, reference.value
    times: Floats = t[1:][(np.diff(t) == 0) & (np.abs(np.diff(y)) > size.dy)]
    return times


def _are_far(times: Floats, jumps: Floats, size: Size) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether each time is more than dx away from every jump."""
    padded = np.concatenate([[-np.inf], jumps, [np.inf]])
    nearest = np.searchsorted(padded, times)
    far: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (padded[nearest] - times > size.dx) & (
        times - padded[nearest - 1] > size.dx
    )
    return far

"""The verdict on one signal: every measure, and the reasons why it does not count as equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kilohertz.compare.bars import Bars
from kilohertz.compare.curve import Curve, Floats
from kilohertz.compare.event_matching import Jumps, Matched, jumps, match
from kilohertz.compare.measures import Errors, Size, as_shown, errors, outside, tube_size
from kilohertz.compare.shift import time_shift

_MOST_SHIFT = 0.1  # of the time span: where a shift is looked for


@dataclass(frozen=True, slots=True)
class SignalVerdict:
    """One signal's verdict; `reason` is empty when it passed.  Errors are in units of the signal's own scale."""

    name: str
    reason: str = ""
    n_outside: int = 0
    first_outside: float | None = None
    excess: float = 0.0
    rms: float = 0.0
    largest: float = 0.0
    largest_away_from_jumps: float = 0.0
    mean: float = 0.0
    final: float = 0.0
    shift: float | None = None  # seconds; positive: the result is late.  None: not asked for, or it cannot be told
    n_events: int = 0  # jumps with a partner on the other side
    n_events_only_result: int = 0
    n_events_only_reference: int = 0
    event_error: float = 0.0  # largest time error of an event, seconds; positive: the result is late
    scale: float = 0.0  # what errors are parts of, in the unit of the reference
    is_measured: bool = True  # False: the reason kept it from being measured

    @property
    def ok(self) -> bool:
        """The signal counts as equal."""
        return not self.reason


def not_measured(name: str, reason: str) -> SignalVerdict:
    """A signal that fails before anything can be measured."""
    return SignalVerdict(name, reason, is_measured=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """`min` and `max` of a signal's declaration, in the unit of the reference."""

    low: float | None = None
    high: float | None = None


def judge(name: str, result: Curve, reference: Curve, bars: Bars, limits: Limits) -> SignalVerdict:
    """Measure one signal; both curves are in the unit of the reference."""
    if not np.isfinite(reference.value).all():
        return not_measured(name, "the reference has a NaN")
    finite = np.isfinite(result.value)
    if not finite.all():
        return not_measured(name, f"not a finite number at t = {result.time[int(np.argmin(finite))]:g}")
    size = tube_size(reference, bars.tolerance, bars.nominal, bars.time)
    out = outside(reference, result.clipped(reference.time[0], reference.time[-1]), size)
    reasons = ["outside the tube"] if out.n_points else []
    first, excess = out.first, out.excess
    if bars.symmetric:
        back = outside(result, reference.clipped(result.time[0], result.time[-1]), size)
        reasons += ["does not follow the reference"] if back.n_points else []
        first = first if first is not None else back.first
        excess = max(excess, back.excess)
    shown = as_shown(reference, result)
    e = errors(result, shown, size)
    events = _events(result, reference, shown, size, bars)
    span = float(reference.time[-1] - reference.time[0])
    seen = bool(reasons) or bars.shift is not None
    shift = time_shift(result, reference, _MOST_SHIFT * span) if seen else None
    reasons += [*_thresholds(e, shift, events, bars), *_left(result, reference, size, limits)]
    return SignalVerdict(
        name,
        ", ".join(reasons),
        out.n_points,
        first,
        excess,
        *e,
        shift,
        len(events.pairs),
        len(events.only_result),
        len(events.only_reference),
        events.worst,
        size.scale,
    )


def _events(result: Curve, reference: Curve, shown: Curve, size: Size, bars: Bars) -> Matched:
    """`shown`: the reference as rows like those of the result show it; jumps that do not show there do not count."""
    height = max(size.dy, 0.05 * size.scale)  # smaller ones are noise of a grid, not events
    window = max(size.dx, bars.events or 0.0)
    theirs = jumps(shown, height)
    if shown is not reference:
        theirs = _at_edges(theirs, shown.time, reference)
    return match(jumps(result, height), theirs, window)


def _at_edges(seen: Jumps, rows: Floats, reference: Curve) -> Jumps:
    """Jumps that were seen between two rows, at the last edge of the reference between them."""
    times = np.array([j.time for j in seen])
    edges = reference.time[1:][np.diff(reference.time) <= 0]
    if not len(edges) or not len(times):
        return seen
    last = edges[np.maximum(np.searchsorted(edges, times, "right") - 1, 0)]
    row_before = rows[np.maximum(np.searchsorted(rows, times) - 1, 0)]
    exact = np.where((last > row_before) & (last <= times), last, times)
    return tuple(replace(j, time=float(t)) for j, t in zip(seen, exact, strict=True))


def _thresholds(e: Errors, shift: float | None, events: Matched, bars: Bars) -> Iterator[str]:
    if bars.rms is not None and e.rms > bars.rms:
        yield "rms error"
    if bars.largest is not None and e.largest > bars.largest:
        yield "largest error"
    if bars.mean is not None and e.mean > bars.mean:
        yield "mean error"
    if bars.final is not None and e.final > bars.final:
        yield "final value"
    if bars.shift is not None and shift is not None and abs(shift) > bars.shift:
        yield f"{abs(shift):.3g} s {'late' if shift > 0 else 'early'}"
    if bars.events is not None:
        alone = len(events.only_result) + len(events.only_reference)
        if alone:
            yield f"{alone} event{'s' if alone > 1 else ''} without a partner"
        if abs(events.worst) > bars.events:
            yield f"an event {abs(events.worst):.3g} s {'late' if events.worst > 0 else 'early'}"


def _left(result: Curve, reference: Curve, size: Size, limits: Limits) -> Iterator[str]:
    """Physically impossible: the result leaves min or max by more than the tube allows, and the reference does not."""
    for limit, sign, word in ((limits.low, -1.0, "below min"), (limits.high, 1.0, "above max")):
        if limit is None:
            continue
        beyond = sign * (result.value - limit) > size.dy
        if beyond.any() and not (sign * (reference.value - limit) > 0).any():
            yield f"{word} = {limit:g} at t = {result.time[int(np.argmax(beyond))]:g}"

"""Is a result still right?  Signal by signal against a reference, with a reason for every failure.

Stricter than csv-compare on purpose: a missing signal, a NaN, a late start, an early end, gaps and time that runs
backwards all fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kilohertz.compare.curve import Curve, Floats
from kilohertz.compare.measures import errors, outside, tube_size
from kilohertz.results import Result


@dataclass(frozen=True, slots=True)
class Bars:
    """What has to be met.  Off-line: tolerance 0.002, rms 1e-3; fixed step in real time: 0.01 and 5e-3."""

    tolerance: float = 0.002
    nominal: float = 0.001
    rms: float | None = None
    symmetric: bool = False  # also: the reference within the tube around the result
    max_gap: float = 0.01  # largest step between rows, as a share of the time span
    end_slack: float = 0.0  # how much of the span may be missing at either end


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

    @property
    def ok(self) -> bool:
        """The signal counts as equal."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Verdict:
    """All signals, and what is wrong with the result as a whole (empty: nothing)."""

    coverage: str
    signals: tuple[SignalVerdict, ...]

    @property
    def ok(self) -> bool:
        """The results cover the same time, and every signal counts as equal."""
        return bool(self.signals) and not self.coverage and all(s.ok for s in self.signals)

    @property
    def failed(self) -> tuple[SignalVerdict, ...]:
        """The signals that do not count as equal."""
        return tuple(s for s in self.signals if not s.ok)


def compare(result: Result, reference: Result, names: Iterable[str] | None = None, bars: Bars | None = None) -> Verdict:
    """Compare the named signals (default: all of the reference) of a result with those of a reference."""
    bars = bars or Bars()
    wanted = [n for n in names or () if n != "time" and n in reference] or list(reference.names)
    whole = _coverage(result.time, reference.time, bars)
    if whole.startswith("time") or not len(result.time):
        return Verdict(whole, tuple(SignalVerdict(n, whole) for n in wanted))
    unspaced = {n.replace(" ", ""): n for n in result}
    verdicts = []
    for name in wanted:
        here = name if name in result else unspaced.get(name.replace(" ", ""))
        if here is None:
            verdicts.append(SignalVerdict(name, "missing in the result"))
        else:
            curves = Curve(result.time, result[here]), Curve(reference.time, reference[name])
            verdicts.append(_signal(name, *curves, bars))
    return Verdict(whole, tuple(verdicts))


def _coverage(time: Floats, reference: Floats, bars: Bars) -> str:
    if not len(time):
        return "the result has no rows"
    if not np.isfinite(time).all():
        return "time has a NaN"
    steps = np.diff(time)
    if (steps < 0).any():
        return f"time runs backwards after t = {time[int(np.argmax(steps < 0))]:g}"
    start, stop = float(reference[0]), float(reference[-1])
    span = stop - start
    slack = max(1e-9 * max(abs(stop), span), 1e-12) + bars.end_slack * span
    if time[0] > start + slack:
        return f"starts at {time[0]:g}, the reference at {start:g}"
    if time[-1] < stop - slack:
        return f"ends at {time[-1]:g}, the reference at {stop:g}"
    widest = max(bars.max_gap * span, 4 * float(np.diff(reference).max(initial=0.0))) * (1 + 1e-6)
    if span > 0 and steps.max(initial=0.0) > widest:
        return f"too sparse: a gap of {steps.max():g} where {widest:g} is allowed"
    return ""


def _signal(name: str, result: Curve, reference: Curve, bars: Bars) -> SignalVerdict:
    if not np.isfinite(reference.value).all():
        return SignalVerdict(name, "the reference has a NaN")
    finite = np.isfinite(result.value)
    if not finite.all():
        return SignalVerdict(name, f"not a finite number at t = {result.time[int(np.argmin(finite))]:g}")
    size = tube_size(reference, bars.tolerance, bars.nominal)
    out = outside(reference, result.clipped(reference.time[0], reference.time[-1]), size)
    reasons = ["outside the tube"] if out.n_points else []
    first = out.first
    if bars.symmetric:
        back = outside(result, reference.clipped(result.time[0], result.time[-1]), size)
        reasons += ["does not follow the reference"] if back.n_points else []
        first = first if first is not None else back.first
    e = errors(result, reference, size)
    if bars.rms is not None and e.rms > bars.rms:
        reasons.append("rms error")
    return SignalVerdict(name, ", ".join(reasons), out.n_points, first, out.excess, e.rms, e.largest, e.away)

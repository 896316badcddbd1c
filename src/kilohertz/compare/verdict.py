"""Is a result still right?  Signal by signal against a reference, with a reason for every failure.

Stricter than csv-compare on purpose: a NaN, a late start, an early end, gaps and time that runs backwards all fail.
What only one side has is told, and fails only where it was asked for by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.base.units import UnitError, as_modelica, conversion
from kilohertz.compare.bars import Bars
from kilohertz.compare.curve import Curve, Floats, Places
from kilohertz.compare.judge import Limits, SignalVerdict, judge, not_measured
from kilohertz.compare.signal_expressions import values_of
from kilohertz.compare.signal_pairs import Pair, Pairing, Wanted, pair_up, spelt
from kilohertz.results import Result

_MUCH, _THREADS = 1_000_000, 4  # rows of all signals; that are judged at a time


@dataclass(frozen=True, slots=True)
class Verdict:
    """All signals, and what is wrong with the result as a whole (empty: nothing)."""

    coverage: str
    signals: tuple[SignalVerdict, ...]
    pairing: Pairing = field(default=Pairing(()))

    @property
    def ok(self) -> bool:
        """The results cover the same time, and every signal counts as equal."""
        return bool(self.signals) and not self.coverage and all(s.ok for s in self.signals)

    @property
    def failed(self) -> tuple[SignalVerdict, ...]:
        """The signals that do not count as equal."""
        return tuple(s for s in self.signals if not s.ok)

    @property
    def worst_first(self) -> tuple[SignalVerdict, ...]:
        """All signals: those that failed first, and of them those that have no numbers; then by how far they are
        outside, then by error."""
        return tuple(sorted(self.signals, key=lambda s: (s.ok, s.is_measured, -s.excess, -s.rms, s.name)))


def compare(
    result: Result,
    reference: Result,
    names: Iterable[str] | None = None,
    bars: Bars | None = None,
    wanted: Wanted | None = None,
) -> Verdict:
    """Compare the signals that both sides have, or those named: what is asked for by name must be there.

    `wanted` says more: pairs with other names, expressions, bars for some signals.
    """
    check_reference(reference)
    wanted = wanted or Wanted(bars or Bars())
    asked = [n for n in names or () if n != "time"]
    pairing = _named(asked, result, reference) if asked else pair_up(result, reference, wanted)
    whole = coverage(result.time, reference.time, wanted.bars)
    if whole.startswith("time") or not len(result.time):
        return Verdict(whole, tuple(not_measured(p.name, whole) for p in pairing.pairs), pairing)
    missing = [not_measured(n, "missing in the result") for n in pairing.only_reference if asked]
    missing += [not_measured(n, "missing in the reference") for n in pairing.only_result if asked]
    all_judged = judged(pairing.pairs, result, reference, wanted)
    return Verdict(whole, (*all_judged, *missing), pairing)


def judged(pairs: Sequence[Pair], result: Result, reference: Result, wanted: Wanted) -> list[SignalVerdict]:
    """Signal by signal, some at a time where there is much to do: NumPy lets other threads run meanwhile."""
    places = Places()

    def one(pair: Pair) -> SignalVerdict:
        return _judged(pair, result, reference, wanted, places)

    first, rest = [one(p) for p in pairs[:1]], pairs[1:]  # the first one looks for what all of them ask
    if len(rest) * len(reference.time) < _MUCH:
        return first + [one(p) for p in rest]
    with ThreadPoolExecutor(_THREADS) as pool:
        return first + list(pool.map(one, rest))


def _named(names: list[str], result: Result, reference: Result) -> Pairing:
    by_spelling = {spelt(n): n for n in result}
    there = {n: n if n in result else by_spelling.get(spelt(n)) for n in names}
    pairs = tuple(Pair(n, here, n) for n, here in there.items() if here is not None and n in reference)
    no_result = tuple(n for n, here in there.items() if here is None)
    return Pairing(pairs, tuple(n for n in names if n not in reference and n not in no_result), no_result)


def check_reference(reference: Result) -> None:
    """R761 where nothing can be compared with this."""
    time, problem = reference.time, ""
    if not len(time):
        problem = "it has no rows"
    elif not np.isfinite(time).all():
        problem = "its time has a NaN"
    elif (np.diff(time) < 0).any():
        problem = f"its time runs backwards after t = {time[int(np.argmax(np.diff(time) < 0))]:g}"
    if problem:
        raise ModelError(Diagnostic("R761", f"`{reference.name}` cannot be a reference: {problem}"))


def coverage(time: Floats, reference: Floats, bars: Bars) -> str:
    """What is wrong with the times of a result; empty where nothing is."""
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


def curves(pair: Pair, result: Result, reference: Result, places: Places | None = None) -> tuple[Curve, Curve]:
    """Both sides of a pair, in the unit of the reference; UnitError where there is no way to it."""
    factor, offset = _conversion(pair, result, reference)
    values = pair.sign * values_of(pair.result, result) * factor + offset
    places = places or Places()
    return Curve(result.time, values, places), Curve(reference.time, values_of(pair.reference, reference), places)


def unit_of(pair: Pair, reference: Result) -> str:
    """The unit that both sides are compared in; empty where it is not known."""
    return pair.reference_unit or (reference.unit(pair.reference) if pair.reference in reference else "")


def _conversion(pair: Pair, result: Result, reference: Result) -> tuple[float, float]:
    """A side without a unit is taken to have that of the other."""
    mine = pair.result_unit or (result.unit(pair.result) if pair.result in result else "")
    theirs = unit_of(pair, reference)
    return conversion(as_modelica(mine), as_modelica(theirs)) if mine and theirs and mine != theirs else (1.0, 0.0)


def _judged(pair: Pair, result: Result, reference: Result, wanted: Wanted, places: Places) -> SignalVerdict:
    try:
        mine, theirs = curves(pair, result, reference, places)
    except UnitError as error:
        return not_measured(pair.name, str(error))
    return judge(pair.name, mine, theirs, wanted.bars_of(pair.name), _limits(pair, result, reference))


def _limits(pair: Pair, result: Result, reference: Result) -> Limits:
    """Those that the reference's model declares, else the result's own."""
    if pair.reference in reference:
        s = reference.signals[pair.reference]
        if s.min is not None or s.max is not None:
            return Limits(s.min, s.max)
    if pair.result not in result:
        return Limits()
    s, (factor, offset) = result.signals[pair.result], _conversion(pair, result, reference)
    low, high = (None if v is None else pair.sign * v * factor + offset for v in (s.min, s.max))
    return Limits(low, high) if pair.sign > 0 else Limits(high, low)

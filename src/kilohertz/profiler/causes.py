"""Why the worst cycles took so long, and the first line of a report.

A cycle is held against the median one, place by place.  What speaks for itself comes first: the thread was taken off
its processor, memory was not there.  Else the place with the largest excess says it: a device, an event, a loop with
more iterations than usual, or plain cost.  A function that was called more often has no say: who called it has.

The first line names the largest part of a bad cycle: what exceeds the median one, where cycles of one cause exceed it
by more than any place has of every cycle; else the place, or the events, that have most of every cycle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import Place
from kilohertz.profiler.shares import callers
from kilohertz.runtime import family

_EVENT = family("KHZ_STEP_")["event"]
USUAL = 1.5  # a cycle below so many times the median is not an exception: it costs what it costs
EXPLAINS = 0.5  # of the excess: iterations beyond the usual ones that took so much of it are its cause
LOOKED_AT = 256  # of the worst cycles, for the first line
SEVERAL = 3  # cycles with one place in excess: fewer are an accident
CAUSES = ("preempted", "page fault", "late wake-up", "device", "event", "more iterations", "first cycle", "plain cost")
MACHINE = ("preempted", "page fault", "late wake-up", "first cycle")  # not of the model


@dataclass(frozen=True, slots=True)
class Cause:
    """Of one cycle: a word of CAUSES, the place with the largest excess, and a sentence."""

    index: int
    cycle: int
    ns: float
    kind: str
    place: int  # -1: none
    text: str

    def as_data(self, profile: Profile) -> dict[str, Any]:
        """With the whole breakdown."""
        sums, own = profile.records["places"][self.index], profile.own_ns[self.index]
        order = [i for i in np.argsort(-np.nan_to_num(own)) if own[i] > 0]
        return {
            "cycle": self.cycle,
            "ns": self.ns,
            "cause": self.kind,
            "text": self.text,
            "places": [
                {
                    "number": int(i),
                    "name": profile.places[i].name,
                    "ns": float(own[i]),
                    "calls": int(sums["calls"][i]),
                    "iterations": int(sums["iterations"][i]),
                }
                for i in order
            ],
        }


@dataclass(frozen=True, slots=True)
class _Usual:
    """The median cycle."""

    ns: float
    own: Any  # [places]
    iterations: Any
    calls: Any
    callers: Mapping[int, Mapping[int, float]]  # of functions

    def each(self, place: int) -> float:
        """Iterations of a call."""
        return float(self.iterations[place]) / max(1.0, float(self.calls[place]))


def _usual(profile: Profile) -> _Usual:
    timed, sums = np.isfinite(profile.own_ns), profile.records["places"]
    iterations, calls = (_medians(np.where(timed, sums[n], np.nan)) for n in ("iterations", "calls"))
    return _Usual(float(np.median(profile.cycle_ns)), _medians(profile.own_ns), iterations, calls, callers(profile))


def _medians(values: Any) -> Any:
    some = np.isfinite(values).any(axis=0)
    found = np.zeros(values.shape[1])
    found[some] = np.nanmedian(values[:, some], axis=0)
    return found


def worst_causes(profile: Profile, n: int) -> list[Cause]:
    """The n worst cycles with their causes, costliest first; missed deadlines come before all others."""
    if not len(profile.records):
        return []
    usual = _usual(profile)
    missed = profile.misses
    late = missed[np.argsort(-profile.cycle_ns[missed], kind="stable")]
    order = [*late, *(i for i in profile.worst(n + len(missed)) if i not in set(missed.tolist()))]
    return [_cause(profile, usual, int(i)) for i in order[:n]]


def _cause(profile: Profile, usual: _Usual, index: int) -> Cause:
    head = profile.records["head"][index]
    ns, own = float(profile.cycle_ns[index]), profile.own_ns[index]
    kind, place, text = _why(profile, usual, index, np.nan_to_num(own - usual.own))
    times = f"{ns / usual.ns:.1f} times the median" if usual.ns > 0 else "no median"
    return Cause(index, int(head["cycle"]), ns, kind, place, f"{ns / 1e3:.2f} us, {times}: {text}")


def _why(profile: Profile, usual: _Usual, index: int, excess: Any) -> tuple[str, int, str]:
    head, sums = profile.records["head"][index], profile.records["places"][index]
    ns = float(profile.cycle_ns[index])
    late = int(head["woke_ns"] - head["release_ns"])
    if profile.period_ns and late > max(ns, 0.5 * profile.period_ns):
        return "late wake-up", -1, f"it woke {late / 1e3:.0f} us late: the processor was not free, or slept"
    if ns <= USUAL * usual.ns:
        return _plain(profile, usual)
    place = _behind(profile, usual, sums, int(np.argmax(excess)))
    name = profile.places[place].name
    usually, now = usual.each(place), sums["iterations"][place] / max(1, sums["calls"][place])
    own = usual.own[place] + excess[place]
    if profile.places[place].loop is not None and _more(now, usually, own) > EXPLAINS * excess[place]:
        return "more iterations", place, f"`{name}` needed {now:.1f} iterations a call, usually {usually:.1f}"
    if profile.places[place].kind == "device":
        return "device", place, f"{name} took {own / 1e3:.1f} us"
    if int(head["switches"]) > 0:
        return "preempted", place, f"the thread was preempted, most of it in `{name}`"
    if int(head["faults"]) > 0:
        return "page fault", place, f"memory was not there ({head['faults']} page faults), most of it in `{name}`"
    if int(head["flags"]) & _EVENT:
        passes = int(sums["iterations"][[i for i, p in enumerate(profile.places) if _is_event(p)]].sum())
        return "event", place, f"an event was handled ({passes} passes), most of it in `{name}`"
    if index == 0:
        return "first cycle", place, f"caches were cold, most of it in `{name}`"
    took = f"`{name}` took {own / 1e3:.1f} us{_where(profile, place)}"
    return "plain cost", place, f"{took}, usually {usual.own[place] / 1e3:.1f}, with no more work counted"


def _more(now: float, usually: float, own: float) -> float:
    """How much of a loop's own time its iterations beyond the usual ones took."""
    return own * (1.0 - usually / now) if 0.0 < usually < now else 0.0


def _behind(profile: Profile, usual: _Usual, sums: Any, place: int) -> int:
    """Of a function that took longer because it was called more often: the loop around it that iterated more often."""
    now, usually = float(sums["calls"][place]), float(usual.calls[place])
    if profile.places[place].kind != "function" or now < 1.0 + EXPLAINS * usually:
        return place
    loops = [i for i in usual.callers.get(place, ()) if profile.places[i].loop is not None]
    grown = [i for i in loops if sums["iterations"][i] > usual.iterations[i] > 0]
    return max(grown, key=lambda i: sums["iterations"][i] / usual.iterations[i], default=place)


def _is_event(place: Place) -> bool:
    return place.kind == "phase" and place.phase == "event"


def _plain(profile: Profile, usual: _Usual) -> tuple[str, int, str]:
    """What has most of every cycle: events, where they are in every one, or a place."""
    place = int(np.argmax(usual.own))
    events, passes = _events(profile, usual)
    if passes >= 1.0 and events >= usual.own[place]:
        share = events / usual.ns
        return "event", -1, f"events have {share:.0%} of every cycle ({passes:.0f} passes in each)"
    share = usual.own[place] / usual.ns if usual.ns > 0 else 0.0
    text = f"`{profile.places[place].name}` has {share:.0%} of every cycle{_where(profile, place)}"
    return "plain cost", place, text


def _events(profile: Profile, usual: _Usual) -> tuple[float, float]:
    """What events take of the median cycle, and its passes: their own phases, and blocks computed more often than
    the stages of the step ask for."""
    kinds = [p.phase if p.kind == "phase" else "" for p in profile.places]
    passes = float(sum(n for n, kind in zip(usual.iterations, kinds, strict=True) if kind == "event"))
    phases = float(sum(ns for ns, kind in zip(usual.own, kinds, strict=True) if kind in ("event", "crossing")))
    stages = float(sum(n for n, kind in zip(usual.calls, kinds, strict=True) if kind in ("stage", "output")))
    blocks = 0.0
    for place, ns, calls in zip(profile.places, usual.own, usual.calls, strict=True):
        if place.phase == "block" and calls > stages > 0:
            blocks += float(ns) * (1.0 - stages / float(calls))
    return phases + blocks, passes


def _where(profile: Profile, place: int) -> str:
    found = profile.places[place].lines
    if not found:
        return ""
    top = max(found, key=lambda x: x.share)
    return f" ({top.file.rsplit('/', 1)[-1]}:{top.line})"


# ------------------------------------------------------------------------------------------------------- the first line


def headline(profile: Profile, causes: list[Cause]) -> str:
    """The first line of a report: what most of the misses had, or else the largest part of a bad cycle."""
    if not causes:
        return f"{profile.name}: no cycle was recorded"
    missed, every = len(profile.misses), worst_causes(profile, LOOKED_AT)
    if missed:
        groups = _groups(every[:missed])
        most = max(groups, key=lambda kind: len(groups[kind]))
        example = groups[most][0]
        some = f"{len(groups[most])} of {min(missed, len(every))} by {most[0]}"
        return f"{profile.name}: {missed} deadlines missed, {some}; cycle {example.cycle}: {example.text}"
    usual = _usual(profile)
    exceptions = _exceptions(profile, usual, every)
    _, place, text = _plain(profile, usual)
    base = float(usual.own[place]) if place >= 0 else _events(profile, usual)[0]
    if exceptions and _excess(exceptions, usual) > base:
        example = exceptions[len(exceptions) // 2]
        rest = f"; {len(exceptions)} cycles like it" if len(exceptions) > 1 else ""
        return f"{profile.name}: cycle {example.cycle} took {example.text}{rest}"
    return f"{profile.name}: {text}; median {usual.ns / 1e3:.2f} us"


def _groups(causes: Sequence[Cause]) -> dict[tuple[str, int], list[Cause]]:
    """Those of one kind, and where the place is the cause, of one place; costliest first."""
    groups: dict[tuple[str, int], list[Cause]] = {}
    for cause in causes:
        place = cause.place if cause.kind in ("plain cost", "more iterations", "device") else -1
        groups.setdefault((cause.kind, place), []).append(cause)
    return groups


def _excess(causes: Sequence[Cause], usual: _Usual) -> float:
    return float(np.median([c.ns for c in causes])) - usual.ns


def _exceptions(profile: Profile, usual: _Usual, every: Sequence[Cause]) -> list[Cause]:
    """The cycles that exceed the median by one cause, of the cause by which they exceed it most.

    Off-line, what the machine did to a cycle tells nothing of the model.  A longer time without more work is an
    interrupt, which falls on any place in proportion to its time, unless it falls on one far more often than that.
    """
    passing = MACHINE if not profile.period_ns else ("first cycle",)
    some = [c for c in every if c.ns > USUAL * usual.ns and c.kind not in passing]
    groups = _groups(some)
    plain = [len(found) for (kind, _), found in groups.items() if kind == "plain cost"]
    for (kind, place), found in list(groups.items()):
        share = min(1.0, float(usual.own[place]) / usual.ns) if usual.ns > 0 else 1.0
        chance = sum(plain) * share + 2.0 * (sum(plain) * share * (1.0 - share)) ** 0.5
        if kind == "plain cost" and len(found) < max(SEVERAL, chance):
            del groups[kind, place]
    return max(groups.values(), key=lambda found: _excess(found, usual), default=[])

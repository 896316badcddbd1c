"""Why the worst cycles took so long.

A cycle is held against the median one, place by place.  What speaks for itself comes first: the thread was taken off
its processor, memory was not there.  Else the place with the largest excess says it: a device, an event, a loop with
more iterations than usual, or plain cost.  A function that was called more often has no say: who called it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.median_cycle import Usual, event_places, events, usual_cycle
from kilohertz.runtime import family

EVENT = family("KHZ_STEP_")["event"]
USUAL = 1.5  # a cycle below so many times the median is not an exception: it costs what it costs
EXPLAINS = 0.5  # of the excess: iterations beyond the usual ones that took so much of it are its cause
STANDS_OUT = 0.9  # of the excess; less does
_SEEN = 0.005  # of every cycle: a share that rounds to a percent
CONCENTRATED = 0.3  # beyond its share of every cycle: a place with so much of the excess stands out
CAUSES = (
    "preempted",
    "page fault",
    "late wake-up",
    "device",
    "event",
    "more iterations",
    "first cycle",
    "slower all over",
    "not timed",
    "plain cost",
)
REST = 0  # the place of what no other has
MACHINE = ("preempted", "page fault", "late wake-up", "first cycle", "slower all over")  # not of the model


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
        sums, own_ns = profile.records["places"][self.index], profile.own_ns[self.index]
        order = [i for i in np.argsort(-np.nan_to_num(own_ns)) if own_ns[i] > 0]
        return {
            "cycle": self.cycle,
            "ns": self.ns,
            "cause": self.kind,
            "text": self.text,
            "places": [
                {
                    "number": int(i),
                    "name": profile.places[i].name,
                    "ns": float(own_ns[i]),
                    "calls": int(sums["calls"][i]),
                    "iterations": int(sums["iterations"][i]),
                }
                for i in order
            ],
        }


def worst_causes(profile: Profile, n: int) -> list[Cause]:
    """The n worst cycles with their causes, costliest first; missed deadlines come before all others; off-line without
    those in which the thread was preempted."""
    if not len(profile.records):
        return []
    usual = usual_cycle(profile)
    missed = profile.misses
    late = missed[np.argsort(-profile.cycle_ns[missed], kind="stable")]
    known = set(missed.tolist()) | set(np.flatnonzero(profile.disturbed).tolist())
    order = [*late, *(i for i in profile.worst(n + len(known)) if i not in known)]
    return [_cause(profile, usual, int(i)) for i in order[:n]]


def _cause(profile: Profile, usual: Usual, index: int) -> Cause:
    head = profile.records["head"][index]
    ns, own_ns = float(profile.cycle_ns[index]), profile.own_ns[index]
    kind, place, text = _why(profile, usual, index, np.nan_to_num(own_ns - usual.own))
    times = f"{ns / usual.ns:.1f} times the median" if usual.ns > 0 else "no median"
    return Cause(index, int(head["cycle"]), ns, kind, place, f"{ns / 1e3:.2f} us, {times}: {text}")


def _why(profile: Profile, usual: Usual, index: int, excess: Any) -> tuple[str, int, str]:
    head, sums = profile.records["head"][index], profile.records["places"][index]
    ns = float(profile.cycle_ns[index])
    late = int(head["woke_ns"] - head["release_ns"])
    if profile.period_ns and late > max(ns, 0.5 * profile.period_ns):
        return _late(profile, usual, index, late)
    if ns <= USUAL * usual.ns:
        return plain(profile, usual)
    place = _behind(profile, usual, sums, int(np.argmax(excess)))
    name = profile.places[place].name
    usually, now = usual.each(place), sums["iterations"][place] / max(1, sums["calls"][place])
    took_ns = usual.own[place] + excess[place]
    if profile.places[place].loop is not None and _more(now, usually, took_ns) > EXPLAINS * excess[place]:
        return "more iterations", place, f"`{name}` needed {now:.1f} iterations a call, usually {usually:.1f}"
    if profile.places[place].kind == "device":
        return "device", place, f"{name} took {took_ns / 1e3:.1f} us"
    if int(head["switches"]) > 0:
        return "preempted", place, f"the thread was preempted, most of it in `{name}`"
    if int(head["faults"]) > 0:
        return "page fault", place, f"memory was not there ({head['faults']} page faults), most of it in `{name}`"
    if int(head["flags"]) & EVENT and _again(profile, usual, index) > EXPLAINS * (ns - usual.ns):
        n, passes = (int(sums[what][event_places(profile)].sum()) for what in ("calls", "iterations"))
        some = f"{n} events were" if n > 1 else "an event was"
        return "event", place, f"{some} handled ({passes} passes), most of it in `{name}`"
    if index == 0:
        return "first cycle", place, f"caches were cold, most of it in `{name}`"
    if place == REST and not profile.times.is_burst[index]:
        return "not timed", -1, "nothing more was counted, and nobody timed where it went"
    share = usual.own[place] / usual.ns if usual.ns > 0 else 0.0  # a median below what probes take counts as nothing
    part = excess[place] / (ns - usual.ns)
    if part < min(share + CONCENTRATED, STANDS_OUT):
        return "slower all over", place, f"no place stands out: the machine was slower, most of it in `{name}`"
    took = f"`{name}` took {took_ns / 1e3:.1f} us{_where(profile, place)}"
    return "plain cost", place, f"{took}, usually {usual.own[place] / 1e3:.1f}, with no more work counted"


def _again(profile: Profile, usual: Usual, index: int) -> float:
    """What a cycle took because an event computed things again: places that were entered more often than usual, at the
    time that one call takes, and the event's own phases."""
    own_ns, calls = np.nan_to_num(profile.own_ns[index]), profile.records["places"]["calls"][index]
    seldom = usual.calls == 0
    each = usual.own / np.maximum(usual.calls, 1.0)
    more = np.where(seldom, own_ns, np.minimum(own_ns, each * np.maximum(calls - usual.calls, 0.0)))
    here = event_places(profile)
    if profile.records["places"]["iterations"][index, here].sum() > usual.iterations[here].sum():
        phases = [i for i, p in enumerate(profile.places) if p.phase in ("event", "crossing", "step")]
        more[phases] = np.maximum(own_ns - usual.own, 0.0)[phases]
    return float(more.sum())


def root(profile: Profile, index: int) -> int:
    """The first of the cycles one after the other of which each was not over when the next was due, up to this one."""
    head = profile.records["head"]
    while index > 0 and head["ended_ns"][index - 1] > head["release_ns"][index]:
        index -= 1
    return index


def _late(profile: Profile, usual: Usual, index: int, late: int) -> tuple[str, int, str]:
    """A cycle that began late: the cycle before it was not over, or the thread was not woken in time."""
    first = root(profile, index)
    if first < index:
        before = _cause(profile, usual, first)
        return before.kind, before.place, f"late since cycle {before.cycle}, which took {before.text}"
    others = int(profile.records["head"]["delayed_ns"][index])
    if others > EXPLAINS * late:
        text = (
            f"it began {late / 1e3:.0f} us late: preempted, another process had the processor for {others / 1e3:.0f} us"
        )
        return "preempted", -1, text
    return "late wake-up", -1, f"it woke {late / 1e3:.0f} us late: the processor slept, or the machine stood still"


def _more(now: float, usually: float, took_ns: float) -> float:
    """How much of a loop's own time its iterations beyond the usual ones took."""
    return took_ns * (1.0 - usually / now) if 0.0 < usually < now else 0.0


def _behind(profile: Profile, usual: Usual, sums: Any, place: int) -> int:
    """Of a function that took longer because it was called more often: the loop around it that iterated more often."""
    now, usually = float(sums["calls"][place]), float(usual.calls[place])
    if profile.places[place].kind != "function" or now < 1.0 + EXPLAINS * usually:
        return place
    loops = [i for i in usual.callers.get(place, ()) if profile.places[i].loop is not None]
    grown = [i for i in loops if sums["iterations"][i] > usual.iterations[i] > 0]
    return max(grown, key=lambda i: sums["iterations"][i] / usual.iterations[i], default=place)


def plain(profile: Profile, usual: Usual) -> tuple[str, int, str]:
    """What has most of every cycle: events, where they are in every one, or a place."""
    first = leading(profile, usual)
    ns, passes = events(profile, usual)
    if passes >= 1.0 and ns >= first.of(usual.blamed):
        share = ns / usual.ns
        return "event", -1, f"events have {share:.0%} of every cycle ({passes:.0f} passes in each)"
    share = first.of(usual.blamed) / usual.ns if usual.ns > 0 else 0.0
    if share < _SEEN:
        return "plain cost", first.place, "every cycle is too short for the timers to tell what has most of it"
    have = "and its derivatives have" if len(first.parts) > 1 else "has"
    text = f"`{profile.places[first.place].name}` {have} {share:.0%} of every cycle{first.where}"
    return "plain cost", first.place, text


@dataclass(frozen=True, slots=True)
class Leading:
    """What has most of every cycle: a place, or a line with its parts of several."""

    parts: Mapping[int, float]  # of each place its part
    place: int  # with the largest part
    where: str

    def of(self, own_ns: Any) -> float:
        """What it took in a cycle."""
        return float(sum(part * own_ns[i] for i, part in self.parts.items() if own_ns[i] > 0))


def leading(profile: Profile, usual: Usual) -> Leading:
    """A loop, function, device or phase is one thing; other equations are taken line by line: a line may stand in the
    right-hand side, in the Jacobian and in inlined stages."""
    groups: dict[int | tuple[str, str, int, str], dict[int, float]] = {}
    for i in np.flatnonzero(usual.blamed > 0).tolist():
        place = profile.places[i]
        if place.kind != "equations" or not place.lines:
            groups[i] = {i: 1.0}
            continue
        for x in place.lines:
            parts = groups.setdefault((place.unit, x.file, x.line, x.component), {})
            parts[i] = parts.get(i, 0.0) + x.share
    times = {key: sum(part * usual.blamed[i] for i, part in parts.items()) for key, parts in groups.items()}
    best = max(times, key=lambda key: times[key], default=0)
    parts = groups.get(best, {0: 1.0})
    number = max(parts, key=lambda i: parts[i] * usual.blamed[i])
    where = f" ({best[1].rsplit('/', 1)[-1]}:{best[2]})" if isinstance(best, tuple) else _where(profile, number)
    return Leading(parts, number, where)


def _where(profile: Profile, place: int) -> str:
    lines = profile.places[place].lines
    if not lines:
        return ""
    top = max(lines, key=lambda x: x.share)
    return f" ({top.file.rsplit('/', 1)[-1]}:{top.line})"

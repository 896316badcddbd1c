"""Why the worst cycles took so long, and the first line of a report.

A cycle is held against the median one, place by place.  What speaks for itself comes first: the thread was taken off
its processor, memory was not there.  Else the place with the largest excess says it: a device, an event, a loop with
more iterations than usual, or plain cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import Place
from kilohertz.runtime import family

_EVENT = family("KHZ_STEP_")["event"]
USUAL = 1.5  # a cycle below so many times the median is not an exception: it costs what it costs
EXPLAINS = 0.5  # of the excess: more iterations by so much more time, at the usual time of one, are its cause
CAUSES = ("preempted", "page fault", "late wake-up", "device", "event", "more iterations", "first cycle", "plain cost")


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


def _usual(profile: Profile) -> _Usual:
    timed = np.isfinite(profile.own_ns)
    iterations = np.where(timed, profile.records["places"]["iterations"], np.nan)
    return _Usual(float(np.median(profile.cycle_ns)), _medians(profile.own_ns), _medians(iterations))


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
    place = int(np.argmax(excess))
    name = profile.places[place].name
    late = int(head["woke_ns"] - head["release_ns"])
    if profile.period_ns and late > max(ns, 0.5 * profile.period_ns):
        return "late wake-up", -1, f"it woke {late / 1e3:.0f} us late: the processor was not free, or slept"
    if ns <= USUAL * usual.ns:
        return _plain(profile, usual)
    usually, now = float(usual.iterations[place]), float(sums["iterations"][place])
    explained = usual.own[place] * (now / usually - 1.0) if usually > 0 else 0.0
    if profile.places[place].loop is not None and explained > EXPLAINS * (ns - usual.ns):
        return "more iterations", place, f"`{name}` needed {now:.0f} iterations, usually {usually:.0f}"
    if profile.places[place].kind == "device":
        return "device", place, f"{name} took {(excess[place] + usual.own[place]) / 1e3:.1f} us"
    if int(head["switches"]) > 0:
        return "preempted", place, f"the thread was preempted, most of it in `{name}`"
    if int(head["faults"]) > 0:
        return "page fault", place, f"memory was not there ({head['faults']} page faults), most of it in `{name}`"
    if int(head["flags"]) & _EVENT:
        passes = int(sums["iterations"][[i for i, p in enumerate(profile.places) if _is_event(p)]].sum())
        return "event", place, f"an event was handled ({passes} passes), most of it in `{name}`"
    if index == 0:
        return "first cycle", place, f"caches were cold, most of it in `{name}`"
    took = f"`{name}` took {(excess[place] + usual.own[place]) / 1e3:.1f} us{_where(profile, place)}"
    return "plain cost", place, f"{took}, usually {usual.own[place] / 1e3:.1f}, with no more work counted"


def _is_event(place: Place) -> bool:
    return place.kind == "phase" and place.phase == "event"


def _plain(profile: Profile, usual: _Usual) -> tuple[str, int, str]:
    place = int(np.argmax(usual.own))
    share = usual.own[place] / usual.ns if usual.ns > 0 else 0.0
    text = f"`{profile.places[place].name}` has {share:.0%} of every cycle{_where(profile, place)}"
    return "plain cost", place, text


def _where(profile: Profile, place: int) -> str:
    found = profile.places[place].lines
    if not found:
        return ""
    top = max(found, key=lambda x: x.share)
    return f" ({top.file.rsplit('/', 1)[-1]}:{top.line})"


def headline(profile: Profile, causes: list[Cause]) -> str:
    """The first line of a report: what the worst cycle had, or most of the misses."""
    if not causes:
        return f"{profile.name}: no cycle was recorded"
    missed = len(profile.misses)
    first = causes[0]
    if not missed:
        return f"{profile.name}: worst cycle {first.text}"
    kinds = [c.kind for c in causes[:missed]]
    most = max(dict.fromkeys(kinds), key=kinds.count)
    example = next(c for c in causes if c.kind == most)
    some = f"{kinds.count(most)} of {len(kinds)} by {most}"
    return f"{profile.name}: {missed} deadlines missed, {some}; cycle {example.cycle}: {example.text}"

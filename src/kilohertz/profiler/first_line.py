"""The first line of a report: what most of the missed deadlines had, or else the largest part of a bad cycle.

Without a miss, what exceeds the median cycle is weighed against what every cycle has: where cycles of one cause exceed
it by more than any place has of every cycle, they are named; else the place, or the events, with most of every cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kilohertz.profiler.causes import MACHINE, USUAL, Cause, leading, plain, root, worst_causes
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.median_cycle import Usual, event_places, events, usual_cycle

LOOKED_AT = 256  # of the worst cycles
SEVERAL = 8  # cycles with one place in excess and no more work: fewer are an accident
_SIGMAS = 3.0  # beyond what falls on a place by chance


def headline(profile: Profile, causes: list[Cause]) -> str:
    """The first line of a report: what most of the misses had, or else the largest part of a bad cycle."""
    if not causes:
        return f"{profile.name}: no cycle was recorded"
    missed, every = len(profile.misses), worst_causes(profile, LOOKED_AT)
    if missed:
        return f"{profile.name}: {missed} deadlines missed, {_most(profile, every[:missed])}"
    usual = usual_cycle(profile)
    kind, _, text = plain(profile, usual)
    if _stands_out(profile, usual, kind, alike := _exceptions(profile, usual, every)):
        example = alike[len(alike) // 2]
        rest = f"; {len(alike)} cycles like it" if len(alike) > 1 else ""
        return f"{profile.name}: cycle {example.cycle} took {example.text}{rest}"
    return f"{profile.name}: {text}; median {usual.ns / 1e3:.2f} us"


def _most(profile: Profile, causes: Sequence[Cause]) -> str:
    """What most of the misses had; cycles that were late only since the one before was count as one with it."""
    first: dict[int, Cause] = {}
    for cause in causes:
        first.setdefault(root(profile, cause.index), cause)
    groups = _groups(list(first.values()))
    kind, place = max(groups, key=lambda key: len(groups[key]))
    example, times = groups[kind, place][0], len(groups[kind, place])
    return f"{times} of {len(first)} times by {kind}; cycle {example.cycle}: {example.text}"


def _stands_out(profile: Profile, usual: Usual, kind: str, alike: Sequence[Cause]) -> bool:
    """Whether the excess of some cycles is more than the costliest has of every cycle.

    An event computes everything again, which is in order: the median of these cycles (where they are few, of all with
    more passes than usual) is weighed against what the costliest has of it, twice where there is one event, the less
    the more there are.
    """
    if not alike:
        return False
    if kind == "event":
        return _excess(alike, usual) > events(profile, usual)[0]
    first = leading(profile, usual)
    if alike[0].kind != "event":
        return _excess(alike, usual) > first.of(usual.blamed)
    here, sums = event_places(profile), profile.records["places"]
    more = sums["iterations"][:, here].sum(axis=1) > usual.iterations[here].sum()
    cycles = np.array([c.index for c in alike]) if len(alike) >= SEVERAL else np.flatnonzero(more & profile.counted)
    if not len(cycles):
        return False
    middle = cycles[np.argsort(profile.cycle_ns[cycles], kind="stable")[len(cycles) // 2]]
    n_events = int(sums["calls"][middle, here].sum())
    return float(profile.cycle_ns[middle] - usual.ns) > first.of(profile.own_ns[middle]) * 2.0 / max(1, n_events)


def _groups(causes: Sequence[Cause]) -> dict[tuple[str, int], list[Cause]]:
    """Those of one kind, and where the place is the cause, of one place; costliest first."""
    groups: dict[tuple[str, int], list[Cause]] = {}
    for cause in causes:
        place = cause.place if cause.kind in ("plain cost", "more iterations", "device") else -1
        groups.setdefault((cause.kind, place), []).append(cause)
    return groups


def _excess(causes: Sequence[Cause], usual: Usual) -> float:
    return float(np.median([c.ns for c in causes])) - usual.ns


def _exceptions(profile: Profile, usual: Usual, every: Sequence[Cause]) -> list[Cause]:
    """The cycles that exceed the median by one cause, of the cause by which they exceed it most in all.

    Off-line, what the machine did to a cycle tells nothing of the model.  A longer time without more work is an
    interrupt, which falls on any place in proportion to its time, unless it falls on one far more often than that: how
    many there were is told by all cycles that were longer without more work, wherever it fell.
    """
    passing = MACHINE if not profile.period_ns else ("first cycle", "slower all over")
    if profile.times.by_cycle:  # others were timed, and say where it goes
        passing = (*passing, "not timed")
    long = [c for c in every if c.ns > USUAL * usual.ns]
    groups = _groups([c for c in long if c.kind not in passing])
    n_plain = sum(c.kind in ("plain cost", "not timed", *MACHINE) for c in long)
    for (kind, place), alike in list(groups.items()):
        share = min(1.0, float(usual.own[place]) / usual.ns) if usual.ns > 0 else 1.0
        chance = n_plain * share + _SIGMAS * (n_plain * share * (1.0 - share)) ** 0.5
        if kind == "plain cost" and len(alike) < max(SEVERAL, chance):
            del groups[kind, place]
    return max(groups.values(), key=lambda alike: sum(c.ns - usual.ns for c in alike), default=[])

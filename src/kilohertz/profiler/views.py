"""A profile from several sides: rows by block, function, phase, line, component; trees; what the worst cycles had.

Terminal, JSON and page show these rows: each number is worked out once, here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import short_name
from kilohertz.profiler.cycle_records import QUANTILES, Profile, Statistics
from kilohertz.profiler.places import Place
from kilohertz.profiler.shares import by_class, by_component, by_line, callers
from kilohertz.profiler.timing import Floats

if TYPE_CHECKING:
    from kilohertz.profiler.advice import Tried

_OF_STEP = {
    "block": "right-hand side",
    "directional": "Jacobian",
    "time_slope": "Jacobian",
    "inlined": "inlined stage",
}
_PHASE_OF = {"stage": "right-hand side", "jacobian": "Jacobian"}


@dataclass(frozen=True, slots=True)
class Row:
    """A place with its numbers."""

    number: int
    place: Place
    numbers: Statistics

    @property
    def was_there(self) -> bool:
        """Whether it has something to show: time, or calls of a function that is too short to be timed."""
        return self.numbers.mean > 0 or (self.place.kind == "function" and self.numbers.calls > 0)


@dataclass(frozen=True, slots=True)
class Shared:
    """What belongs to a line or a component: the time of its places by their shares, and those places."""

    name: str
    ns: float
    share: float
    places: tuple[int, ...]
    file: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A node of a tree: own time and that of all below are in `ns`."""

    name: str
    ns: float
    below: tuple[Branch, ...] = ()
    place: int = -1
    path: str = ""  # of a component: its whole name, where it has time of its own


def cycle_numbers(profile: Profile) -> dict[str, float]:
    """Mean, variance, quantiles and maximum of the whole cycle, in nanoseconds; the mean is that of the cycles whose
    places were timed, to which the means of places sum."""
    ns = profile.cycle_ns[profile.counted]
    if not len(ns):
        return {}
    p50, p99, p999 = (float(q) for q in np.quantile(ns, QUANTILES))
    spread = {"p50": p50, "p99": p99, "p999": p999, "max": float(ns.max())}
    return {"mean": profile.mean_ns or float(ns.mean()), "variance": float(ns.var()), **spread}


def rows(profile: Profile, *kinds: str) -> list[Row]:
    """Places of these kinds that took time, costliest first; functions whose calls alone were counted come last."""
    every = [Row(i, p, s) for i, (p, s) in enumerate(zip(profile.places, profile.statistics, strict=True))]
    return sorted((r for r in every if r.was_there and (not kinds or r.place.kind in kinds)), key=_costliest)


def _costliest(row: Row) -> float:
    return -row.numbers.mean


def lines(profile: Profile) -> list[Shared]:
    """Lines of source, costliest first."""
    text = {(x.file, x.line): x.text for p in profile.places for x in p.lines}
    places = _places_of(profile, lambda x: (x.file, x.line))
    whole = _whole(profile)
    return [
        Shared(f"{short_name(file)}:{line}", ns, ns / whole, places[file, line], file, line, text[file, line])
        for (file, line), ns in by_line(profile).items()
        if ns > 0
    ]


def components(profile: Profile) -> list[Shared]:
    """Component instances, costliest first."""
    return _shared(profile, by_component(profile), lambda x: x.component)


def classes(profile: Profile) -> list[Shared]:
    """Classes, costliest first."""
    return _shared(profile, by_class(profile), lambda x: x.in_class)


def _shared(profile: Profile, times: Mapping[str, float], key: Any) -> list[Shared]:
    places, whole = _places_of(profile, key), _whole(profile)
    return [Shared(name, ns, ns / whole, places[name]) for name, ns in times.items() if ns > 0]


def _places_of(profile: Profile, key: Any) -> dict[Any, tuple[int, ...]]:
    places: dict[Any, dict[int, None]] = {}
    for i, place in enumerate(profile.places):
        for line in place.lines:
            places.setdefault(key(line), {})[i] = None
    return {k: tuple(v) for k, v in places.items()}


def _whole(profile: Profile) -> float:
    return profile.mean_ns or 1.0


# ---------------------------------------------------------------------------------------------------------------- trees


def component_tree(profile: Profile) -> Branch:
    """Time by component instance; what belongs to no component stands beside them."""
    times = by_component(profile)
    rest = _whole(profile) - sum(times.values())
    root: dict[str, Any] = {}
    for path, ns in times.items():
        at = root
        for part in _parts(path):
            at = at.setdefault(part, {})
        at[""] = at.get("", 0.0) + ns
        at[" "] = path
    top = _branch(profile.name, root)
    return Branch(top.name, top.ns + rest, (*top.below, Branch("solver and task", rest)))


def _branch(name: str, node: Mapping[str, Any]) -> Branch:
    below = tuple(_branch(n, child) for n, child in node.items() if n.strip())
    own, path = float(node.get("", 0.0)), str(node.get(" ", ""))
    if own > 0 and below:
        below = (*below, Branch(f"{name} itself", own, path=path))
    return Branch(name, sum(b.ns for b in below) if below else own, below, path=path)


def _parts(path: str) -> list[str]:
    """`a.b[1].'c.d'` at its dots."""
    return re.findall(r"(?:'[^']*'|\[[^]]*\]|[^.'\[])+", path)


def cycle_tree(profile: Profile, own: Floats) -> Branch:
    """One cycle (a row of `own_ns`, or the mean) as a tree: task, phases of the step, blocks."""
    groups: dict[str, list[Branch]] = {}
    top: list[Branch] = []
    for i, place in enumerate(profile.places):
        ns = float(own[i])
        if not ns > 0:  # not timed, or nothing
            continue
        branch = Branch(place.name, ns, place=i)
        group = _group(place)
        if group:
            groups.setdefault(group, []).append(branch)
        else:
            top.append(branch)
    inner = [
        Branch(n, sum(b.ns for b in below), tuple(sorted(below, key=lambda b: -b.ns))) for n, below in groups.items()
    ]
    every = sorted((*top, *inner), key=lambda b: -b.ns)
    return Branch("cycle", sum(b.ns for b in every), tuple(every))


def _group(place: Place) -> str:
    if place.kind == "function":
        return "functions"
    if place.kind == "device":
        return "devices"
    if place.kind == "phase":
        return _PHASE_OF.get(place.phase, "")
    return _OF_STEP.get(place.phase, place.phase)


# ----------------------------------------------------------------------------------------------------------------- data


def report_data(
    profile: Profile, causes: Sequence[Mapping[str, Any]], headline: str, tried: Sequence[Tried] = ()
) -> dict[str, Any]:
    """All of a report, for JSON (docs/reference/profile.md)."""
    called = callers(profile)
    return {
        "format": "khz-profile-report 1",
        "name": profile.name,
        "headline": headline,
        "about": dict(profile.about),
        "cycles": len(profile.records),
        "left_out": int(profile.disturbed.sum()),
        "missed": len(profile.misses),
        "period_ns": profile.period_ns,
        "cycle_ns": cycle_numbers(profile),
        "attributed": profile.attributed,
        "apart": profile.apart,
        "every": profile.every,
        "swept": profile.swept,
        "probes_ns": float(np.mean(profile.overhead_ns)) if len(profile.records) else 0.0,
        "clock": {
            "counter": profile.costs.is_counter,
            "ns_per_read": profile.costs.ns_per_read,
            "probe_ns": profile.costs.probe_ns,
        },
        "places": [_row_data(r, called) for r in rows(profile)],
        "lines": [{**_shared_data(s), "file": s.file, "line": s.line, "text": s.text} for s in lines(profile)],
        "components": [_shared_data(s) for s in components(profile)],
        "classes": [_shared_data(s) for s in classes(profile)],
        "worst": [dict(c) for c in causes],
        "advice": [t.as_data() for t in tried],
    }


def _row_data(row: Row, called: Mapping[int, Mapping[int, float]]) -> dict[str, Any]:
    place, s = row.place, row.numbers
    loop = None
    if place.loop is not None:
        torn, why = list(place.loop.torn), list(place.loop.why)
        loop = {"kind": place.loop.kind, "size": place.loop.size, "torn": torn, "why": why, "residual": s.residual}
    return {
        "number": row.number,
        "name": place.name,
        "kind": place.kind,
        "phase": place.phase,
        "unit": place.unit,
        "function": place.symbol,
        "external": place.is_external,
        "callers": sorted(called.get(row.number, ())),
        "unknowns": list(place.unknowns),
        "loop": loop,
        "lines": [
            {"file": x.file, "line": x.line, "component": x.component, "class": x.in_class, "share": x.share}
            for x in place.lines
        ],
        "ns": {q: getattr(s, q) for q in ("mean", "variance", "p50", "p99", "p999", "max")},
        "share": s.share,
        "calls": s.calls,
        "calls_in_loops": s.looped,
        "iterations": s.iterations,
        "turns": s.turns,
        "caps": s.caps,
        "cycles": s.cycles,
    }


def _shared_data(shared: Shared) -> dict[str, Any]:
    return {"name": shared.name, "ns": shared.ns, "share": shared.share, "places": list(shared.places)}

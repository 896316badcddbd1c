"""The time of places shared out: by line, by component, by class; and who calls a function.

A function's own time is that of its own line and class.  Of components, it belongs to those whose blocks call it: by
how often its calls stand in a block, times how often the block is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import Line

Key = TypeVar("Key")


def by_line(profile: Profile) -> dict[tuple[str, int], float]:
    """Mean nanoseconds a cycle by file and line, from all places that have lines."""
    return _summed(profile, _means(profile), lambda line: (line.file, line.line))


def by_class(profile: Profile) -> dict[str, float]:
    """Mean nanoseconds a cycle by the class whose equations, or whose function, it is."""
    times = _summed(profile, _means(profile), lambda line: line.in_class)
    return {name: ns for name, ns in times.items() if name}


def by_component(profile: Profile) -> dict[str, float]:
    """Mean nanoseconds a cycle by instance path, with the functions that its equations call."""
    times = _means(profile)
    for function, blocks in callers(profile).items():
        whole = sum(blocks.values())
        for block, weight in blocks.items():
            times[block] += times[function] * weight / whole
        if whole:
            times[function] = 0.0
    return _summed(profile, {i: ns for i, ns in times.items() if not _is_function(profile, i)}, _component)


def _component(line: Line) -> str:
    return line.component


def _means(profile: Profile) -> dict[int, float]:
    return {i: s.mean for i, s in enumerate(profile.statistics)}


def _is_function(profile: Profile, number: int) -> bool:
    return profile.places[number].kind == "function"


def _summed(profile: Profile, times: Mapping[int, float], key: Callable[[Line], Key]) -> dict[Key, float]:
    sums: dict[Key, float] = {}
    for number, ns in times.items():
        for line in profile.places[number].lines:
            sums[key(line)] = sums.get(key(line), 0.0) + line.share * ns
    return dict(sorted(sums.items(), key=lambda entry: -entry[1]))


def callers(profile: Profile) -> dict[int, dict[int, float]]:
    """Of each function that was called the blocks that call it, through other functions too, with their weights."""
    tree = _Calls(profile)
    return {i: tree.blocks(i) for i, s in enumerate(profile.statistics) if _is_function(profile, i) and s.calls > 0}


@dataclass(slots=True)
class _Calls:
    profile: Profile
    sites: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)  # (place, calls) of a function
    known: dict[int, dict[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for i, place in enumerate(self.profile.places):
            for name, n in place.calls:
                self.sites.setdefault((place.unit, name), []).append((i, n))

    def blocks(self, function: int) -> dict[int, float]:
        """Blocks and weights; a function that calls itself adds nothing by that."""
        if function not in self.known:
            self.known[function] = {}
            place = self.profile.places[function]
            weights: dict[int, float] = {}
            for caller, n in self.sites.get((place.unit, place.name), ()):
                numbers = self.profile.statistics[caller]
                if not _is_function(self.profile, caller):
                    weights[caller] = weights.get(caller, 0.0) + n * max(numbers.calls, numbers.iterations)
                    continue
                above = self.blocks(caller)
                for block, weight in above.items():
                    weights[block] = weights.get(block, 0.0) + n * numbers.calls * weight / sum(above.values())
            self.known[function] = {block: weight for block, weight in weights.items() if weight > 0}
        return self.known[function]

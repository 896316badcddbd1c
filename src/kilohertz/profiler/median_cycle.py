"""The median cycle: what each place has of it, and how much of that is there because of events.

An event cuts a step: it has passes of its own, and the rest of the step begins anew, with its stages, its Jacobian and
what the stepper does around them.  All of it beyond what one step without events asks for belongs to the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.shares import callers

_OF_EVENTS = ("event", "crossing")  # phases that are there for nothing else


@dataclass(frozen=True, slots=True)
class Usual:
    """The median cycle."""

    ns: float
    own: Any  # [places]
    iterations: Any
    calls: Any
    callers: Mapping[int, Mapping[int, float]]  # of functions
    of_events: Any  # [places] the part of its own time that is there because of events
    blamed: Any  # [places] own times, of phases without that part: equations cost what they cost, whoever asks for them

    def each(self, place: int) -> float:
        """Iterations of a call."""
        return float(self.iterations[place]) / max(1.0, float(self.calls[place]))


def usual_cycle(profile: Profile) -> Usual:
    timed, sums = np.isfinite(profile.own_ns), profile.records["places"]
    iterations, calls = (_medians(np.where(timed, sums[n], np.nan)) for n in ("iterations", "calls"))
    if not profile.times.by_cycle:  # always on, records have the calls of loops only
        calls = np.where(calls > 0, calls, profile.times.calls)
    by = callers(profile)
    own, of_events = _medians(profile.own_ns), _parts_of_events(profile, iterations, calls, by)
    is_phase = np.array([p.kind == "phase" for p in profile.places])
    blamed = own * np.where(is_phase, 1.0 - of_events, 1.0)
    return Usual(float(np.median(profile.cycle_ns)), own, iterations, calls, by, of_events, blamed)


def _medians(values: Any) -> Any:
    some = np.isfinite(values).any(axis=0)
    medians = np.zeros(values.shape[1])
    medians[some] = np.nanmedian(values[:, some], axis=0)
    return medians


def event_places(profile: Profile) -> list[int]:
    """The places of event iterations, one for each model."""
    return [i for i, p in enumerate(profile.places) if p.kind == "phase" and p.phase == "event"]


def events(profile: Profile, usual: Usual) -> tuple[float, float]:
    """What the median cycle takes because of events, and their passes."""
    return float(usual.own @ usual.of_events), float(usual.iterations[event_places(profile)].sum())


def _parts_of_events(profile: Profile, iterations: Any, calls: Any, callers: Mapping[int, Mapping[int, float]]) -> Any:
    """[places] of a model with events in every cycle: phases and blocks by how much more often they were entered than
    a step without events asks for, functions as those who call them."""
    parts = np.zeros(len(profile.places))
    phases = {(p.unit, p.phase): i for i, p in enumerate(profile.places) if p.kind == "phase"}
    for i, place in enumerate(profile.places):
        event = phases.get((place.unit, "event"))
        if event is None or iterations[event] < 1 or place.kind in ("function", "device"):
            continue
        made = sum(float(calls[phases[place.unit, p]]) for p in ("stage", "output") if (place.unit, p) in phases)
        stages = profile.about.get("stages", {}).get(place.unit)
        asked = made if stages is None else min(made, stages + 1.0)  # and one for the values at the end
        if place.phase in _OF_EVENTS:
            parts[i] = 1.0
        elif place.phase == "block":  # computed in passes too
            parts[i] = 1.0 - asked / calls[i] if calls[i] > asked > 0 else 0.0
        elif made > 0:
            parts[i] = 1.0 - asked / made
    for function, blocks in callers.items():
        whole = sum(blocks.values())
        parts[function] = sum(weight * parts[i] for i, weight in blocks.items()) / whole if whole else 0.0
    return parts

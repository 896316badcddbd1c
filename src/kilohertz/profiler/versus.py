"""Two variants of a model side by side: loops, iterations, time by block, and what is saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.timing import Floats
from kilohertz.profiler.views import Row, cycle_numbers, rows


@dataclass(frozen=True, slots=True)
class Side:
    """One of them: several profiles of it, made in turn with those of the other."""

    name: str
    profiles: tuple[Profile, ...]

    @property
    def ns(self) -> float:
        """Its median cycle: the median over the profiles."""
        return float(np.median(self._medians()))

    @property
    def spread_ns(self) -> tuple[float, float]:
        """The least and the greatest of the medians."""
        return min(self._medians()), max(self._medians())

    def _medians(self) -> list[float]:
        return [cycle_numbers(p)["p50"] for p in self.profiles]

    @property
    def loops(self) -> list[Row]:
        """Loops that are solved in a step, costliest first."""
        return [r for r in rows(self.profiles[0], "loop") if r.numbers.calls > 0]

    def ns_of(self, row: Row) -> float:
        """The median own time of a place: the median over the profiles."""
        return self.ns_of_place(row.number)

    def ns_of_place(self, number: int) -> float:
        """The same by the number of the place."""
        return float(np.median([p.statistics[number].p50 for p in self.profiles]))


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a signal of the variant is from that of the model: the largest, and of the signal's range."""

    signal: str
    largest: float
    share: float
    time: Floats = field(default_factory=lambda: np.empty(0), compare=False)
    model: Floats = field(default_factory=lambda: np.empty(0), compare=False)  # its values there
    variant: Floats = field(default_factory=lambda: np.empty(0), compare=False)


@dataclass(frozen=True, slots=True)
class Versus:
    """A model, a variant of it, and what the variant costs in accuracy."""

    model: Side
    variant: Side
    deviations: tuple[Deviation, ...] = ()

    @property
    def saved(self) -> float:
        """Share of the median cycle; negative where the variant takes longer."""
        return 1.0 - self.variant.ns / self.model.ns

    def as_data(self) -> dict[str, Any]:
        """All of it, for JSON (docs/reference/profile.md)."""
        return {
            "format": "khz-profile-versus 1",
            "model": _side_data(self.model),
            "variant": _side_data(self.variant),
            "saved": self.saved,
            "deviations": [{"signal": d.signal, "largest": d.largest, "share": d.share} for d in self.deviations],
        }


def _side_data(side: Side) -> dict[str, Any]:
    low, high = side.spread_ns
    return {
        "name": side.name,
        "ns": side.ns,
        "least_ns": low,
        "greatest_ns": high,
        "loops": [
            {
                "name": r.place.name,
                "kind": r.place.loop.kind,
                "size": r.place.loop.size,
                "torn": list(r.place.loop.torn),
                "ns": side.ns_of(r),
                "calls": r.numbers.calls,
                "iterations": r.numbers.iterations,
            }
            for r in side.loops
            if r.place.loop is not None
        ],
        "places": [{"name": r.place.name, "kind": r.place.kind, "ns": side.ns_of(r)} for r in rows(side.profiles[0])],
    }


def text_rows(versus: Versus) -> list[Sequence[str]]:
    """One line for each place of either: name, loop, iterations a call, microseconds of both."""
    out: list[Sequence[str]] = []
    sides = (versus.model, versus.variant)
    for i, side in enumerate(sides):
        for row in rows(side.profiles[0]):
            ns = side.ns_of(row)
            if ns < 0.002 * sides[0].ns:  # of no account
                continue
            place, calls = row.place, row.numbers.calls
            loop = f"{place.loop.kind} {place.loop.size}" if place.loop else ""
            each = f"{row.numbers.iterations / calls:.2f}" if place.loop and calls else ""
            times = ("", f"{ns / 1e3:.3f}") if i else (f"{ns / 1e3:.3f}", "")
            if place.kind == "phase":
                same = next((k for k, o in enumerate(out) if i and o[0] == place.name), None)
                if same is not None:
                    out[same] = (*out[same][:4], times[1])
                    continue
            out.append((place.name, loop, each, *times))
    return out

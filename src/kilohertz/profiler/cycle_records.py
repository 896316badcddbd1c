"""A profile: records of cycles, what their places are, and numbers from them.

The own times of all places of a cycle sum to the cycle.  What the probes themselves cost is taken off: of each place
the part of its own probes that falls inside it, and of each place around others the rest of theirs; `probe_ns` and its
part inside were calibrated before the first cycle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.profiler.places import Place
from kilohertz.runtime import family, fields

FORMAT = "khz-profile 2"
Floats = NDArray[np.float64]
MODES = tuple(family("KHZ_PROFILE_"))
QUANTILES = (0.5, 0.99, 0.999)


def record_type(n_places: int) -> np.dtype[np.void]:
    """`khz_cycle_record` with its sums, as khz_probe.h lays them out."""
    head, one = (
        np.dtype([(n, np.dtype(kind)) for n, kind in fields(s)]) for s in ("khz_cycle_record", "khz_place_sum")
    )
    return np.dtype([("head", head), ("places", one, (n_places,))])


@dataclass(frozen=True, slots=True)
class Costs:
    """What was calibrated, in nanoseconds."""

    ns_per_tick: float
    ns_per_read: float
    probe_ns: float
    probe_inside_ns: float
    cycle_ns: float  # a cycle with nothing in it, besides its probes
    is_counter: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of one place over all cycles in which it was timed, in nanoseconds a cycle."""

    mean: float
    variance: float
    p50: float
    p99: float
    p999: float
    max: float
    calls: float  # a cycle
    iterations: float  # a cycle
    turns: float
    looped: float  # of its calls those inside a loop
    residual: float  # of a loop: the largest it ended with
    caps: int  # in all
    cycles: int  # in which it was timed
    share: float  # of the mean cycle


@dataclass(frozen=True)
class Profile:
    """Cycles of one thread."""

    name: str
    places: tuple[Place, ...]
    costs: Costs
    period_ns: int  # 0: nobody waits for it
    records: NDArray[np.void]
    about: Mapping[str, Any]  # model, method, machine, build, dropped cycles, ...
    listings: Mapping[str, Mapping[int, str]] = field(default_factory=dict)  # lines around those with a cost, by file

    @cached_property
    def own_ns(self) -> Floats:
        """[cycles, places] own times without what the probes cost; NaN where a place was not timed."""
        sums, c = self.records["places"], self.costs
        raw = sums["ticks"] * c.ns_per_tick
        inside = sums["calls"] * c.probe_inside_ns + sums["inside"] * (c.probe_ns - c.probe_inside_ns)
        inside[:, 0] += c.cycle_ns
        corrected = np.maximum(raw - inside, 0.0)
        burst = self.records["head"]["mode"][:, None] == MODES.index("burst")
        timed = burst | (sums["calls"] > 0)
        timed[:, 0] = burst[:, 0]  # what is left of a cycle is known where all places of it were timed
        return np.where(timed, corrected, np.nan)

    @cached_property
    def cycle_ns(self) -> Floats:
        """[cycles] the whole cycle, without what the probes cost: the sum of all own times where all were timed."""
        head = self.records["head"]
        probes = head["timed"] * self.costs.probe_ns + self.costs.cycle_ns
        whole = np.maximum(head["ticks"] * self.costs.ns_per_tick - probes, 0.0)
        return np.where(head["mode"] == MODES.index("burst"), np.nansum(self.own_ns, axis=1), whole)

    @cached_property
    def overhead_ns(self) -> Floats:
        """[cycles] what the probes cost."""
        cost: Floats = self.records["head"]["timed"] * self.costs.probe_ns + self.costs.cycle_ns
        return cost

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """[cycles] those that numbers are worked out from: off-line not those in which the thread was preempted, since
        that tells nothing of the model; in real time all."""
        undisturbed: NDArray[np.bool_] = self.records["head"]["switches"] == 0
        return undisturbed if not self.period_ns and undisturbed.any() else np.ones(len(self.records), np.bool_)

    @cached_property
    def mean_ns(self) -> float:
        """The mean cycle."""
        return float(np.mean(self.cycle_ns[self.counted])) if len(self.records) else 0.0

    @cached_property
    def statistics(self) -> tuple[Statistics, ...]:
        """One for each place."""
        return tuple(self._statistics(i) for i in range(len(self.places)))

    def _statistics(self, i: int) -> Statistics:
        own = self.own_ns[:, i]
        timed = np.isfinite(own) & self.counted
        own = own[timed]
        if not len(own):
            return Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0)
        sums = self.records["places"][timed, i]
        mean = float(own.mean())
        p50, p99, p999 = (float(q) for q in np.quantile(own, QUANTILES))
        return Statistics(
            mean,
            float(own.var()),
            p50,
            p99,
            p999,
            float(own.max()),
            float(sums["calls"].mean()),
            float(sums["iterations"].mean()),
            float(sums["turns"].mean()),
            float(sums["looped"].mean()),
            float(sums["residual"].max()),
            int(sums["caps"].sum()),
            len(own),
            mean / self.mean_ns if self.mean_ns else 0.0,
        )

    @property
    def attributed(self) -> float:
        """The share of the step that lies in named places: all but the rest of the cycle."""
        return 1.0 - self.statistics[0].mean / self.mean_ns if self.mean_ns else 0.0

    @property
    def misses(self) -> NDArray[np.intp]:
        """Cycles that ended after their deadline, where there was one."""
        head = self.records["head"]
        if not self.period_ns:
            return np.empty(0, np.intp)
        return np.flatnonzero(head["ended_ns"] - head["release_ns"] > self.period_ns)

    def worst(self, n: int) -> NDArray[np.intp]:
        """The n costliest cycles, costliest first."""
        return np.argsort(-self.cycle_ns, kind="stable")[:n]

    # ------------------------------------------------------------------------------------------------------------ files

    def write(self, path: str | Path) -> Path:
        """`F.json` with places and calibration, `F.cycles` with the records."""
        file = Path(path).with_suffix(".json")
        data = {
            "format": FORMAT,
            "name": self.name,
            "period_ns": self.period_ns,
            "costs": asdict(self.costs),
            "about": dict(self.about),
            "places": [p.as_data() for p in self.places],
            "listings": {f: {str(n): text for n, text in lines.items()} for f, lines in self.listings.items()},
        }
        try:
            file.write_text(json.dumps(data, indent=1), encoding="utf-8")
            file.with_suffix(".cycles").write_bytes(np.ascontiguousarray(self.records).tobytes())
        except OSError as error:
            raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error
        return file


def read_profile(path: str | Path) -> Profile:
    """Read what `write` wrote; a record cut short (the task was killed) is left out."""
    file = Path(path).with_suffix(".json")
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        raw = file.with_suffix(".cycles").read_bytes()
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{error.filename}`: {error.strerror}")) from error
    except json.JSONDecodeError as error:
        raise ModelError(Diagnostic("R791", f"`{file}` is not a profile: {error}")) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ModelError(Diagnostic("R791", f"`{file}` is not a profile of this version ({FORMAT})"))
    places = tuple(Place.of_data(p) for p in data["places"])
    return Profile(
        data["name"],
        places,
        Costs(**data["costs"]),
        data["period_ns"],
        records_of(raw, len(places)),
        data["about"],
        {file: {int(n): text for n, text in lines.items()} for file, lines in data["listings"].items()},
    )


def records_of(raw: bytes, n_places: int) -> NDArray[np.void]:
    """Whole records from bytes."""
    kind = record_type(n_places)
    return np.frombuffer(raw[: len(raw) // kind.itemsize * kind.itemsize], kind)


def table(profile: Profile, most: int = 20) -> Sequence[tuple[Place, Statistics]]:
    """Places with their numbers, costliest first."""
    rows = [(p, s) for p, s in zip(profile.places, profile.statistics, strict=True) if s.mean > 0]
    return sorted(rows, key=lambda row: -row[1].mean)[:most]

"""A profile: records of cycles, what their places are, and numbers from them."""

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
from kilohertz.profiler.timing import Costs, Floats, Times, border_type, record_type

FORMAT = "khz-profile 4"
QUANTILES = (0.5, 0.99, 0.999)


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
    cycles: int  # in which it was timed; always on: put together from windows
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

    borders: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, border_type()))  # timed in windows

    @cached_property
    def times(self) -> Times:
        """How long everything took."""
        devices = tuple(i for i, p in enumerate(self.places) if p.kind == "device")
        loops = tuple(i for i, p in enumerate(self.places) if p.loop is not None and p.loop.kind != "linear")
        events = tuple(i for i, p in enumerate(self.places) if p.kind == "phase" and p.phase == "event")
        return Times(self.records, self.borders, self.costs, devices, loops, events, self.counted)

    @property
    def own_ns(self) -> Floats:
        """[cycles, places] own times without what the probes cost: measured in a burst, else reckoned (times.py)."""
        return self.times.own_ns

    @property
    def cycle_ns(self) -> Floats:
        """[cycles] the whole cycle, without what the probes cost."""
        return self.times.cycle_ns

    @property
    def overhead_ns(self) -> Floats:
        """[cycles] what the probes cost."""
        return self.times.probes_ns

    @cached_property
    def every(self) -> int:
        """Always on: of so many cycles one left its record, besides those that were slow or missed their deadline; the
        budget of short cycles pays for no more."""
        every = self.records["head"]["every"][self.counted]
        return int(np.median(every)) if len(every) else 1

    @property
    def swept(self) -> float:
        """The share of a cycle that was timed: below 1 where a cycle is too long for the time that was there."""
        return self.times.swept

    @property
    def apart(self) -> float | None:
        """How far the sum of the parts is from cycles that went without probes; None: too few of them."""
        return self.times.apart

    @cached_property
    def disturbed(self) -> NDArray[np.bool_]:
        """[cycles] those that tell nothing of the model: off-line preempted ones; the first after some with probes, or
        without, which finds its copy of the models cold."""
        head = self.records["head"]
        by_others: NDArray[np.bool_] = (head["switches"] > 0) | (head["is_warm"] == 0)
        if self.period_ns:
            by_others = head["is_warm"] == 0
        return by_others & ~by_others.all()

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """[cycles] those that numbers are worked out from: not disturbed, and there whatever they took."""
        regular: NDArray[np.bool_] = self.records["head"]["every"] > 0
        return regular & ~self.disturbed

    @cached_property
    def mean_ns(self) -> float:
        """The mean cycle: of those whose places were timed, where there are such."""
        return float(np.mean(self.cycle_ns[self.times.with_counters])) if self.times.with_counters.any() else 0.0

    @cached_property
    def _means_ns(self) -> Floats:
        """[places] their sum is the mean cycle: always on, what sweeps have not seen of it (cycles that others on the
        machine made longer) is in the rest of the cycle."""
        means: Floats = self.times.parts_ns.mean(axis=0)
        if not self.times.by_cycle:
            means *= min(1.0, self.mean_ns / max(float(means.sum()), 1e-9))
            means[0] += self.mean_ns - float(means.sum())
        return means

    @cached_property
    def statistics(self) -> tuple[Statistics, ...]:
        """One for each place."""
        return tuple(self._statistics(i) for i in range(len(self.places)))

    def _statistics(self, i: int) -> Statistics:
        own = self.times.parts_ns[:, i]
        if not len(own):
            return Statistics(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0)
        sums = self.records["places"][self.times.with_counters, i]
        mean = float(self._means_ns[i])
        p50, p99, p999 = (float(q) for q in np.quantile(own, QUANTILES))
        return Statistics(
            mean,
            float(own.var()),
            p50,
            p99,
            p999,
            float(own.max()),
            float(self.times.calls[i]),
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
        """The share of what was timed that lies in named places: all but the rest of the cycle."""
        parts = self.times.parts_ns
        return 1.0 - float(parts[:, 0].sum() / parts.sum()) if len(parts) and parts.any() else 0.0

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
        """`F.json` with places and calibration, `F.cycles` with the records, `F.borders` with the borders."""
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
            file.with_suffix(".borders").write_bytes(np.ascontiguousarray(self.borders).tobytes())
        except OSError as error:
            raise ModelError(Diagnostic("R702", f"cannot write `{file}`: {error.strerror}")) from error
        return file


def read_profile(path: str | Path) -> Profile:
    """Read what `write` wrote; a record cut short (the task was killed) is left out."""
    file = Path(path).with_suffix(".json")
    try:
        data = json.loads(_bytes_of(file).decode("utf-8", "replace"))
    except json.JSONDecodeError as error:
        raise ModelError(Diagnostic("R791", f"`{file}` is not a profile: {error}")) from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        kind = str(data.get("format", "")) if isinstance(data, dict) else ""
        if kind.startswith("khz-profile"):
            text = f"`{file}` is of another version ({kind}, not {FORMAT}): profile the model again"
            raise ModelError(Diagnostic("R791", text))
        raise ModelError(Diagnostic("R791", f"`{file}` is not a profile ({FORMAT}): `khz profile -o` writes one"))
    raw, borders = (_bytes_of(file.with_suffix(ending)) for ending in (".cycles", ".borders"))
    try:
        places = tuple(Place.of_data(p) for p in data["places"])
        return Profile(
            data["name"],
            places,
            Costs(**data["costs"]),
            data["period_ns"],
            _whole(raw, record_type(len(places))),
            data["about"],
            {file: {int(n): text for n, text in lines.items()} for file, lines in data["listings"].items()},
            _whole(borders, border_type()),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(Diagnostic("R791", f"`{file}` is not a whole profile: {error} is missing or wrong")) from error


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{file}`: {error.strerror}")) from error


def _whole(raw: bytes, kind: np.dtype[np.void]) -> NDArray[np.void]:
    """Whole items from bytes."""
    return np.frombuffer(raw[: len(raw) // kind.itemsize * kind.itemsize], kind)


def table(profile: Profile, most: int = 20) -> Sequence[tuple[Place, Statistics]]:
    """Places with their numbers, costliest first."""
    rows = [(p, s) for p, s in zip(profile.places, profile.statistics, strict=True) if s.mean > 0]
    return sorted(rows, key=lambda row: -row[1].mean)[:most]

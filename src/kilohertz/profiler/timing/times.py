"""Own times of places, and whole cycles, without what timing them cost.

In a burst every place of a cycle is timed.  What the probes cost is taken off: of each place the part of its own probes
that falls inside it, and of each place around others the rest of theirs.  How much that is was calibrated before the
first cycle; where enough cycles went without probes (KHZ_PLAIN_RUN in a row out of KHZ_PLAIN_EVERY), the difference
between them and their neighbours says it better than a loop around nothing can: so the parts sum to a whole that owes
nothing to them.

Always on, a cycle has its whole, its devices and its counters; the times of all other places come from sweeps
(windows.py), likewise without what makes their sum more than cycles without a window.  A cycle is opened by what its
places usually take, loops in proportion to their iterations; what it took beyond that is its events', where it has more
passes than usual, else the rest of the cycle, since nobody timed where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kilohertz.profiler.timing.record_rows import BURST
from kilohertz.profiler.timing.windows import calls, is_part, sweeps

Floats = NDArray[np.float64]
_ENOUGH = 16  # cycles without probes before they say what probes cost
_BESIDE = 8  # cycles with probes on either side of some without that these are held against
_FACTORS = 0.1, 10.0  # what is believed of the difference
_AROUND = 32  # cycles that tell how fast the machine is
_NEAR = 0.1  # a cycle within this part of what its places usually take has nothing that nobody timed


@dataclass(frozen=True, slots=True)
class Costs:
    """What was calibrated, in nanoseconds (khz_probe_costs)."""

    ns_per_tick: float
    ns_per_read: float
    probe_ns: float
    probe_inside_ns: float
    cycle_ns: float  # a cycle with nothing in it, besides its probes
    border_ns: float
    passed_ns: float
    empty_ns: float  # begin, end and record of a cycle; ...
    idle_ns: float  # ... without the record
    monotonic_ns: float
    is_counter: bool

    @staticmethod
    def of_numbers(n: Sequence[float]) -> Costs:
        """In the order of fields, as C gives them."""
        return Costs(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], bool(n[10]))


def _middle(values: Floats) -> float:
    """The mean of the middle half: a median that is not bound to the steps of a coarse clock."""
    low, high = np.quantile(values, (0.25, 0.75))
    half = values[(values >= low) & (values <= high)]
    return float(half.mean() if len(half) else np.median(values))  # a quantile may be rounded past all of them


@dataclass(frozen=True)
class Times:
    """Of the cycles of one thread; `devices`, `loops` and `events` are numbers of places, loops those that iterate."""

    records: NDArray[np.void]
    borders: NDArray[np.void]
    costs: Costs
    devices: tuple[int, ...]
    loops: tuple[int, ...]
    events: tuple[int, ...]  # places of event iterations
    counted: NDArray[np.bool_]  # cycles that numbers are worked out from

    @cached_property
    def is_burst(self) -> NDArray[np.bool_]:
        """[cycles] all places were timed."""
        burst: NDArray[np.bool_] = self.records["head"]["mode"] == BURST
        return burst

    @cached_property
    def measured(self) -> NDArray[np.bool_]:
        """[cycles] those whose places count."""
        return self.is_burst & self.counted

    @cached_property
    def plain(self) -> NDArray[np.bool_]:
        """[cycles] those without a clock beside that of the task; not the first after some with probes, which finds
        the plain copy of its models cold."""
        head = self.records["head"]
        untimed: NDArray[np.bool_] = ~self.is_burst & self.counted & (head["window"] == 0) & (head["is_warm"] > 0)
        return untimed

    @cached_property
    def wall_ns(self) -> Floats:
        """[cycles] by the readings that a task makes anyhow."""
        head = self.records["head"]
        wall: Floats = (head["ended_ns"] - head["woke_ns"]).astype(np.float64)
        return wall

    # ---------------------------------------------------------------------------------------------- what timing costs

    @cached_property
    def _calibrated_ns(self) -> Floats:
        """[cycles] what was calibrated, of the probes of each."""
        sums, head, c = self.records["places"], self.records["head"], self.costs
        probes = self._n_timed.sum(axis=1) * c.probe_inside_ns
        probes = probes + sums["inside"].sum(axis=1) * (c.probe_ns - c.probe_inside_ns) + c.cycle_ns
        few = head["n_borders"] * self.border_ns + head["crossed"] * c.passed_ns + c.empty_ns
        return np.where(self.is_burst, probes, few)

    @cached_property
    def _n_timed(self) -> NDArray[np.int64]:
        """[cycles, places] calls whose clock was read: not those of functions that are too short for it."""
        sums = self.records["places"]
        return np.where(sums["ticks"] > 0, sums["calls"], 0).astype(np.int64)

    @cached_property
    def factor(self) -> float:
        """What probes of a burst cost over what was calibrated, by the cycles that went without; 1 where few did."""
        if self.plain.sum() < _ENOUGH or self.measured.sum() < _ENOUGH:
            return 1.0
        took = self.records["head"]["ticks"] * self.costs.ns_per_tick - self._beyond_ns
        more = self._more_than_plain(took, np.flatnonzero(self.measured))
        expected = float(np.median(self._calibrated_ns[self.measured]))
        return float(np.clip(_middle(more) / expected, *_FACTORS)) if len(more) else 1.0

    def _more_than_plain(self, values: Floats, probed: NDArray[np.intp]) -> Floats:
        """[runs of plain cycles] how much more `values` are in their probed neighbours than plain cycles take: what
        happens to the machine, or to the model, happens to both."""
        plain = np.flatnonzero(self.plain)
        runs = np.split(plain, np.flatnonzero(np.diff(plain) > 1) + 1) if len(plain) else []
        more = []
        for run in runs:
            at = np.searchsorted(probed, run[0])
            beside = probed[max(0, at - _BESIDE) : at + _BESIDE]
            if len(beside):
                more.append(np.median(values[beside]) - np.median(self.wall_ns[run]))
        return np.array(more, np.float64)

    @cached_property
    def border_ns(self) -> float:
        """What a timed border adds to a stretch, by sweeps and cycles without a window, likewise."""
        (raw, n_stretches), without = self._raw_sweeps, self.wall_ns[self.plain] + self._beyond_ns
        if len(without) < _ENOUGH or len(raw) < _ENOUGH:
            return self.costs.border_ns
        expected = float(np.median(n_stretches.sum(axis=1))) * self.costs.border_ns
        factor = np.clip((_middle(raw.sum(axis=1)) - _middle(without)) / expected, *_FACTORS)
        return self.costs.border_ns * float(factor)

    @cached_property
    def probes_ns(self) -> Floats:
        """[cycles] what timing them cost."""
        return np.where(self.is_burst, self._calibrated_ns * self.factor, self._calibrated_ns)

    # ---------------------------------------------------------------------------------------------------- whole cycles

    @cached_property
    def _beyond_ns(self) -> float:
        """What lies between the readings of the task and the ends of a cycle as its parts see it."""
        head = self.records["head"]
        if not self.by_cycle:  # of the accounting after the cycle without the record, and one reading in all
            after = _middle(head["accounted_ns"]) if len(head) else 0.0
            is_rare = len(head) > 0 and np.median(head["every"]) > 1  # most cycles leave no record
            return after - (self.costs.idle_ns if is_rare else self.costs.empty_ns) - self.costs.monotonic_ns
        burst = head["ticks"][self.measured] * self.costs.ns_per_tick - self.wall_ns[self.measured]
        return _middle(burst)

    @cached_property
    def cycle_ns(self) -> Floats:
        """[cycles] each as a whole, without what timing it cost."""
        burst = self.records["head"]["ticks"] * self.costs.ns_per_tick - self.probes_ns
        timed = self.records["head"]["n_borders"] * self.border_ns
        return np.maximum(np.where(self.is_burst, burst, self.wall_ns + self._beyond_ns - timed), 0.0)

    @cached_property
    def apart(self) -> float | None:
        """How far the sum of all parts is from a whole that owes nothing to them: cycles without probes.  None: too
        few."""
        if self.plain.sum() < _ENOUGH or len(self.parts_ns) < _ENOUGH:
            return None
        whole = _middle(self.cycle_ns[self.plain])
        if not self.by_cycle:
            return _middle(self.parts_ns.sum(axis=1)) / whole - 1.0
        sums = self._burst_ns.sum(axis=1) - self._beyond_ns
        return _middle(self._more_than_plain(sums, np.flatnonzero(self.measured))) / whole

    # ---------------------------------------------------------------------------------------------------------- places

    @cached_property
    def _burst_ns(self) -> Floats:
        """[cycles, places] own times where all were timed; else nothing to rely on."""
        sums, c = self.records["places"], self.costs
        inside = self._n_timed * c.probe_inside_ns + sums["inside"] * (c.probe_ns - c.probe_inside_ns)
        inside[:, 0] += c.cycle_ns
        own_ns = np.maximum(sums["ticks"] * c.ns_per_tick - inside * self.factor, 0.0)
        # of a short place more may be taken off than it has: the others have that too much
        own_ns *= (self.cycle_ns / np.maximum(own_ns.sum(axis=1), 1e-9))[:, None]
        return own_ns

    @cached_property
    def _raw_sweeps(self) -> tuple[Floats, NDArray[np.int64]]:
        n_places = self.records["places"].shape[1]
        return sweeps(self.records["head"], self.borders, n_places, self.costs.ns_per_tick / self.pace)

    @cached_property
    def sweeps_ns(self) -> Floats:
        """[sweeps, places] whole cycles put together from windows; of a part of a cycle, as if all were like it."""
        return self._seen_ns / self.swept

    @cached_property
    def _seen_ns(self) -> Floats:
        raw, n_stretches = self._raw_sweeps
        return raw - n_stretches * self.border_ns

    @cached_property
    def swept(self) -> float:
        """The share of a cycle that windows went over: all, but for cycles so long that no sweep was complete."""
        whole = _middle(self.cycle_ns[self.plain]) if self.plain.any() else 0.0
        if self.by_cycle or not len(self._seen_ns) or whole <= 0.0 or not is_part(self.records["head"]):
            return 1.0
        return float(np.clip(self._seen_ns.sum() / whole, 1e-3, 1.0))

    @cached_property
    def pace(self) -> Floats:
        """[cycles] how slow the machine was just then: cycles around each over others with as many passes of events, by
        their medians.  Windows do not come evenly over time; slow moments must not count more than others."""
        ratio = np.ones(len(self.records))
        passes = self.records["places"]["iterations"][:, self.events].sum(axis=1)
        for n in np.unique(passes).tolist():
            alike = passes == n
            if alike.sum() >= _AROUND:
                ratio[alike] = self.wall_ns[alike] / max(1.0, float(np.median(self.wall_ns[alike])))
        whole = len(ratio) // _AROUND * _AROUND
        ratio[:whole] = np.repeat(np.median(ratio[:whole].reshape(-1, _AROUND), axis=1), _AROUND)
        ratio[whole:] = 1.0
        return ratio

    @cached_property
    def parts_ns(self) -> Floats:
        """[cycles or sweeps, places] what numbers of places are worked out from."""
        return self._burst_ns[self.measured] if self.by_cycle else self.sweeps_ns

    @cached_property
    def by_cycle(self) -> bool:
        """Whether places were timed cycle by cycle; else by sweeps."""
        n_windows = int((self.records["head"]["window"] > 0).sum())
        return int(self.measured.sum()) > min(n_windows, 64 * len(self._raw_sweeps[0]))

    @cached_property
    def calls(self) -> Floats:
        """[places] how often each was entered in a cycle."""
        if self.by_cycle:
            return np.asarray(self.records["places"]["calls"][self.measured].mean(axis=0), np.float64)
        return calls(self.records["head"], self.borders, self.records["places"].shape[1]) / self.swept

    @cached_property
    def with_counters(self) -> NDArray[np.bool_]:
        """[cycles] those that the counters of places are taken from."""
        return self.measured if self.by_cycle else self.counted & ~self.is_burst

    @cached_property
    def own_ns(self) -> Floats:
        """[cycles, places] each cycle opened: measured in a burst, else reckoned."""
        own_ns = self._burst_ns.copy()
        rest = np.flatnonzero(~self.is_burst)
        if len(rest):
            own_ns[rest] = self._reckoned(rest)
        return own_ns

    def _reckoned(self, cycles: NDArray[np.intp]) -> Floats:
        """What places usually take, loops by their iterations, devices as measured; the remainder is the rest."""
        parts, sums = self.parts_ns, self.records["places"][cycles]
        usual = np.array([_middle(p) for p in parts.T]) if len(parts) else np.zeros(sums.shape[1])
        own_ns = np.tile(np.maximum(usual, 0.0), (len(cycles), 1))
        counts = (sums["iterations"] + sums["turns"]).astype(np.float64)
        for loop in self.loops:
            mean = float(np.median(counts[:, loop]))
            own_ns[:, loop] *= counts[:, loop] / mean if mean > 0 else 1.0
        self._enter_devices(own_ns, cycles)
        whole, known = self.cycle_ns[cycles], own_ns.sum(axis=1)
        near = known * (1.0 + _NEAR) > whole  # more or less what it usually is
        own_ns[near] *= (whole[near] / np.maximum(known[near], 1e-9))[:, None]
        rest = np.where(near, 0.0, whole - known)
        for event in self.events:  # what is computed again in an event is the event's
            more = sums["iterations"][:, event] > np.median(sums["iterations"][:, event])
            own_ns[more, event] += rest[more]
            rest[more] = 0.0
        own_ns[:, 0] += rest
        return own_ns

    def _enter_devices(self, own_ns: Floats, cycles: NDArray[np.intp]) -> None:
        head, sums = self.records["head"][cycles], self.records["places"][cycles]
        if len(self.devices) == 1:
            received = head["received_ns"].astype(np.int64) - head["began_ns"]
            own_ns[:, self.devices[0]] = received + (head["sent_ns"].astype(np.int64) - head["stepped_ns"])
        for device in self.devices if len(self.devices) > 1 else ():
            timed = sums["calls"][:, device] > 0
            own_ns[timed, device] = sums["ticks"][timed, device] * self.costs.ns_per_tick

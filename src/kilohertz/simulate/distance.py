"""How far a fixed-step run is from the reference run: the largest distance of each variable, as a share of its range.

Compared are states, discrete variables and all others that are computed, each stored column once; derivatives are not,
since the states stand for them.  Where the reference has an event (the start is one) within a few steps of an instant,
the distance is that to what the reference takes around it: an event inside a step may be handled at its end, and what
dies away within a step is not followed.  Elsewhere there is no slack.  Where rows of the reference are farther apart
than steps, nothing is compared between them: what dies away after an event is no straight line to the next row.  `late`
is the same with that slack everywhere, for what changes at once without an event (an amplifier that saturates).  States
and variables with whole values are looked at in the rows around every event of the run too: peaks between two steps
show there, and a mode that the reference never takes, however short.  Where asked for, so are all others, with slack in
time.

A variable is at rest where it changes by less than a millionth of its size, or by no more than what rounding leaves of
the largest values of its unit: a sum of forces of 1e5 N that cancel is 1e-9 N of noise, which no two runs have alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kilohertz.ir.dae import der_name
from kilohertz.results import Result, Signal

SLACK_STEPS = 2
MOST_COMPARED = 2000  # variables besides states
_ROUNDING = 1e-13  # of the largest value of a unit
_NUMBERS_AT_ONCE = 200_000  # of tables in memory, where all rows of a run are looked at; more leave the caches
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Distances:
    """By variable, in the order of the judge's names; infinite where the run had no number."""

    names: tuple[str, ...]
    states: NDArray[np.intp]  # which of them are states
    share: Floats
    late: Floats

    @property
    def largest(self) -> float:
        return float(self.share.max(initial=0.0))

    @property
    def largest_late(self) -> float:
        return float(self.late.max(initial=0.0))

    @property
    def farthest(self) -> str:
        """The variable that is off most where slack is given around events alone."""
        return self.names[int(self.share.argmax())] if len(self.names) else ""

    @property
    def worst(self) -> str:
        return self.names[int(self.late.argmax())] if len(self.names) else ""

    def n_beyond(self, limit: float) -> int:
        """Variables that are off by more, wherever one looks within the slack."""
        return int((self.late > limit).sum())


class Judge:
    """Knows the reference around each instant at which runs are compared."""

    def __init__(self, reference: Result, states: Sequence[str], step: float, stop: float) -> None:
        """`stop` is where the runs to be compared end, at or before the end of the reference."""
        self.names = tuple(_compared(reference, states))
        table = _table(reference, self.names)
        start = float(reference.time[0])
        rows = np.unique(np.ceil((reference.time - start) / step - 1e-6))
        # an event at the very end is in the one run and not in the other: there is no row after it
        last = stop - start - SLACK_STEPS * step if len(rows) > 10 * SLACK_STEPS else stop - start
        ends = np.unique(np.minimum(start + rows * step, stop))
        ends = ends[ends <= start + last + 1e-6 * step]
        self.instants = ends[_is_known(reference.time, ends, step)]
        slack = _slack(reference.time, self.instants, step)
        self._band = _around(reference.time, table, self.instants, slack)
        self._slack = SLACK_STEPS * step
        self._wide = _around(reference.time, table, self.instants, np.full_like(slack, self._slack))
        known = frozenset(states)
        is_state = np.array([n in known for n in self.names], np.bool_)
        self.states = np.flatnonzero(is_state)
        watched = (table == np.round(table)).all(axis=0) | is_state
        self._watched, self._time, self._values = np.flatnonzero(watched), reference.time, table
        extent, size = np.ptp(table, axis=0), np.abs(table).max(axis=0)
        self._rests = extent == 0.0
        still = extent <= np.maximum(
            1e-6 * np.maximum(size, 1e-3), _ROUNDING * _largest_alike(reference, self.names, size)
        )
        self.scale = np.where(still, np.maximum(1e-3 * size, 1e-3), extent)
        self._same = 1e-6 * step
        self.due = self.instants - self._same  # a run is compared by its first rows from these on

    def ahead(self, signals: Mapping[str, Signal], n_columns: int, limit: float) -> Ahead:
        """For a run that is under way: its signals, of those in its rows."""
        found = [(k, s) for k, n in enumerate(self.names) if (s := signals[n]).column is not None]
        here = [(k, s.column, s.sign) for k, s in found if s.column is not None and s.column < n_columns]
        which, columns, signs = (np.array([one[i] for one in here], np.intp) for i in range(3))
        return Ahead(self.instants + self._same, self._band, self.scale, (which, columns + 1, signs), limit)

    def distances(self, run: Result, *, everywhere: bool = False) -> Distances:
        """`everywhere`: all variables count in all rows of the run that the reference has a row near to."""
        at = np.searchsorted(run.time, self.instants + self._same, "right") - 1
        values = _table(run, self.names, at)
        both = [_outside(values, band, self.scale) for band in (self._band, self._wide)]
        end = self.instants[-1] + self._same if len(self.instants) else -np.inf
        rows = np.flatnonzero(run.time <= end)
        looked_at = [(self._watched, rows)]
        if everywhere:
            near = rows[_has_row(self._time, run.time[rows], self._slack)]
            looked_at.append((np.setdiff1d(np.arange(len(self.names)), self._watched), near))
        for columns, which in looked_at:
            in_rows = self._in_rows(run, columns, which)
            for share in both:
                share[columns] = np.maximum(share[columns], in_rows)
        return Distances(self.names, self.states, *both)

    def _in_rows(self, run: Result, columns: Indices, rows: Indices) -> Floats:
        """Of these variables, in these rows of the run, with slack in time; few columns at a time."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(rows), len(self._time)))
        parts = [columns[first : first + at_once] for first in range(0, len(columns), at_once)]
        return np.concatenate([np.zeros(0), *(self._in_part(run, part, rows) for part in parts)])

    def _in_part(self, run: Result, columns: Indices, rows: Indices) -> Floats:
        table, scale = _table(run, [self.names[k] for k in columns], rows), self.scale[columns]
        shares, rests = np.empty(len(columns)), self._rests[columns]
        still = self._values[:1, columns[rests]]  # the reference is one number there, whatever the slack
        shares[rests] = _outside(table[:, rests], (still, still), scale[rests])
        slack = np.full(len(rows), self._slack)
        band = _around(self._time, self._values[:, columns[~rests]], run.time[rows], slack)
        shares[~rests] = _outside(table[:, ~rests], band, scale[~rests])
        return shares


class Ahead:
    """Whether a run is off by more than a limit already, while its rows come: such a run will not be within it."""

    def __init__(
        self,
        until: Floats,
        band: tuple[Floats, Floats],
        scale: Floats,
        places: tuple[Indices, Indices, Indices],
        limit: float,
    ) -> None:
        """`places`: of the variables in the band, which are seen; their columns; their signs."""
        self._until, self._band, self._limit = until, band, limit
        self._which, self._columns, self._signs = places
        self._scale = scale[self._which]
        self._before: Floats | None = None  # the last row so far
        self._next = 0  # instant

    def is_beyond(self, rows: Floats) -> bool:
        """With these rows, time first, after those before."""
        rows = rows if self._before is None else np.concatenate([self._before, rows])
        self._before = rows[-1:]
        due = slice(self._next, max(self._next, int(np.searchsorted(self._until, rows[-1, 0], "left"))))
        self._next = due.stop
        at = np.searchsorted(rows[:, 0], self._until[due], "right") - 1
        values = rows[at[:, None], self._columns] * self._signs
        high, low = (side[due][:, self._which] for side in self._band)
        return bool((_outside(values, (high, low), self._scale) > self._limit).any())


def _largest_alike(result: Result, names: Sequence[str], size: Floats) -> Floats:
    """For each of these signals the largest value of those with its unit; 0 where it has none."""
    units = [result.signals[n].unit for n in names]
    largest: dict[str, float] = {}
    for unit, value in zip(units, size.tolist(), strict=True):
        largest[unit] = max(largest.get(unit, 0.0), value)
    return np.array([largest[unit] if unit else 0.0 for unit in units])


def _outside(values: Floats, band: tuple[Floats, Floats], scale: Floats) -> Floats:
    """How far each column leaves its band, as a share of its scale."""
    high, low = band
    away = values - high
    away = np.maximum(away, low - values, out=away).max(axis=0, initial=0.0)
    share: Floats = np.where(np.isfinite(values).all(axis=0), away / scale, np.inf)
    return share


def _compared(result: Result, states: Sequence[str]) -> list[str]:
    """One name for each column that has numbers: the first, which is the variable's own.  Of very many some are left
    out, evenly, but no state."""
    seen: dict[int, str] = {}
    for name, signal in result.signals.items():
        if signal.column is not None:
            seen.setdefault(signal.column, name)
    has_numbers: NDArray[np.bool_] = np.asarray(np.isfinite(result.data).all(axis=0))
    rates = {der_name(name) for name in result.signals}
    names = [n for k, n in seen.items() if n not in rates and has_numbers[k]]
    known, every = frozenset(states), -(-len(names) // MOST_COMPARED)
    return [n for i, n in enumerate(names) if n in known or i % every == 0]


def _table(result: Result, names: Sequence[str], rows: NDArray[np.intp] | slice = slice(None)) -> Floats:
    """The values of these signals in these rows."""
    signals = [result.signals[n] for n in names]
    if all(s.column == k and s.sign > 0 for k, s in enumerate(signals)):
        return result.data[rows, : len(names)]
    columns = [s.column for s in signals if s.column is not None]
    signs = [s.sign for s in signals if s.column is not None]
    data = result.data[:, columns] if isinstance(rows, slice) else result.data[rows[:, None], columns]
    if len(columns) == len(signals):
        return data * signs if min(signs) < 0 else data
    table = np.empty((len(data), len(names)))
    table[:] = [s.value for s in signals]
    table[:, [k for k, s in enumerate(signals) if s.column is not None]] = data * signs
    return table


def _slack(time: Floats, instants: Floats, step: float) -> Floats:
    """How far around each instant values count: not at all, some steps near events, one step where there is no row."""
    jumps = np.concatenate([time[:1], time[1:][np.diff(time) <= 0.0]])
    wide = SLACK_STEPS * step
    near = _has_row(jumps, instants, wide)
    close = 1e-6 * step
    slack: Floats = np.where(near, wide, np.where(_has_row(time, instants, close), close, step))
    return slack


def _is_known(time: Floats, instants: Floats, step: float) -> NDArray[np.bool_]:
    """Whether the reference tells of each instant: it has a row there, or is no coarser there than the steps are."""
    after = np.clip(np.searchsorted(time, instants), 1, max(1, len(time) - 1))
    is_fine = time[np.minimum(after, len(time) - 1)] - time[after - 1] <= (1 + 1e-6) * step
    known: NDArray[np.bool_] = is_fine | _has_row(time, instants, 1e-6 * step)
    return known


def _has_row(time: Floats, instants: Floats, width: float) -> NDArray[np.bool_]:
    """Whether there is a row that is no farther away, for each instant."""
    first, past = np.searchsorted(time, instants - width, "left"), np.searchsorted(time, instants + width, "right")
    has: NDArray[np.bool_] = first < past
    return has


def _around(time: Floats, table: Floats, instants: Floats, slack: Floats) -> tuple[Floats, Floats]:
    """The highest and the lowest row within the slack of each instant; at the ends of such a window interpolated."""
    first, past = np.searchsorted(time, instants - slack, "left"), np.searchsorted(time, instants + slack, "right")
    edges = np.stack([_between(time, table, instants - slack), _between(time, table, instants + slack)])
    return _extreme(np.maximum, table, first, past, edges), _extreme(np.minimum, table, first, past, edges)


def _extreme(better: np.ufunc, table: Floats, first: Indices, past: Indices, edges: Floats) -> Floats:
    """The better of both edges and of the rows of each window.

    The extreme of n rows is the better of those of its first and its last 2^k, for the largest 2^k up to n; of 2^k
    rows it follows from those of 2^(k-1).
    """
    best: Floats = better(edges[0], edges[1])
    level = np.frexp(np.maximum(past - first, 0).astype(np.float64))[1] - 1  # floor of log2; -1: no row
    rows, length = table, 1  # `rows[i]`: the extreme of `length` rows from i on
    for k in range(int(level.max(initial=-1)) + 1):
        which = np.flatnonzero(level == k)
        while len(which) and length < 1 << k:
            rows = better(rows[:-length], rows[length:])
            length *= 2
        ends = better(rows[first[which]], rows[past[which] - length])
        best[which] = better(best[which], ends)
    return best


def _between(time: Floats, table: Floats, t: Floats) -> Floats:
    last = len(time) - 1
    j = np.clip(np.searchsorted(time, t, "right"), 1, max(1, last))
    i, j = j - 1, np.minimum(j, last)
    width = time[j] - time[i]
    share = np.clip(np.divide(t - time[i], width, out=np.zeros_like(t), where=width > 0), 0.0, 1.0)
    rows: Floats = table[i] + share[:, None] * (table[j] - table[i])
    return rows

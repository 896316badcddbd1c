"""A series from its first case to its report: what is known is not run again, what is done is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.sweep.batches import Done, Job
from kilohertz.sweep.case_store import opened
from kilohertz.sweep.cases import Table
from kilohertz.sweep.pool import Pool, cores
from kilohertz.sweep.series_definition import Series

if TYPE_CHECKING:
    import polars

Progress = Callable[[int, int, float], None]  # cases done, cases in all, seconds left


@dataclass(frozen=True, slots=True)
class Outcome:
    """A series that was run to its end: its table of cases (a row each) and the folder of its results."""

    series: Series
    cases: Table
    table: polars.DataFrame
    folder: Path
    seconds: float  # of this run
    resumed: int = 0  # cases that were known when it began


@dataclass(frozen=True, slots=True)
class Means:
    """Where cases are run and results are kept."""

    folder: Path
    jobs: int | None = None  # processes; None: as many as there are cores
    scheduler: str = ""  # of a Dask cluster; "": this machine
    fresh: bool = False


def run_series(
    series: Series, cases: Table, job: Job, about: dict[str, Any], means: Means, progress: Progress | None = None
) -> Outcome:
    """Run all cases that are not known yet."""
    began = time.monotonic()
    with opened(means.folder, about, cases, series.measures, means.fresh) as store:
        store.keep_signals(job.curves)
        known = store.known()
        left = np.ones(len(cases), bool)
        if known is not None:
            left[known["case"].to_numpy()] = False
        numbers = np.flatnonzero(left).astype(np.int64)
        teller = _Teller(progress, len(cases), len(cases) - len(numbers))
        for done in _results(job, means, numbers, cases.values[numbers]):
            store.add(done)
            teller.more(len(done.numbers))
        table = store.finish()
    return Outcome(series, cases, table, means.folder, time.monotonic() - began, len(cases) - len(numbers))


def _results(job: Job, means: Means, numbers: NDArray[np.int64], values: NDArray[np.float64]) -> Iterator[Done]:
    if not len(numbers):
        return iter(())
    if means.scheduler:
        from kilohertz.sweep.cluster import run_on

        return run_on(means.scheduler, job, numbers, values)
    return Pool(job, means.jobs if means.jobs is not None else cores()).run(numbers, values)


class _Teller:
    """Tells how far it is, by the pace of this run."""

    def __init__(self, progress: Progress | None, total: int, known: int) -> None:
        self._progress, self._total, self._known, self._done = progress, total, known, known
        self._began = time.monotonic()
        if progress is not None:
            progress(known, total, float("inf"))

    def more(self, n: int) -> None:
        self._done += n
        if self._progress is not None:
            each = (time.monotonic() - self._began) / (self._done - self._known)
            self._progress(self._done, self._total, each * (self._total - self._done))

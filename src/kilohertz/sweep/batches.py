"""Cases in batches: what is sent to whoever runs them, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import ModelError
from kilohertz.sweep.case_numbers import exceeds, measured
from kilohertz.sweep.kit import Kit
from kilohertz.sweep.runner import FAILED, OK, Runner
from kilohertz.sweep.series_definition import TIMES, Measure

Floats = NDArray[np.float64]
CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Job:
    """What a series needs of whoever runs its cases; sent once."""

    digest: str
    kits: Mapping[str, Kit]  # by side
    measures: Sequence[Measure]
    curves: Mapping[str, Sequence[str]]  # signals whose curves are kept, by side
    keep: str
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some cases: their numbers and values."""

    numbers: NDArray[np.int64]
    values: Floats

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(slots=True)
class Done:
    """Cases that were run, whatever became of them."""

    numbers: list[int] = field(default_factory=list)
    status: list[str] = field(default_factory=list)
    message: list[str] = field(default_factory=list)
    measures: list[list[float | None]] = field(default_factory=list)
    exceeds: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    curves: list[tuple[int, str, Floats]] = field(default_factory=list)  # case, side, time and signals in columns

    def add(
        self, number: int, status: str, message: str, values: list[float | None], bits: int, seconds: float
    ) -> None:
        """One more case."""
        self.numbers.append(number)
        self.status.append(status)
        self.message.append(message)
        self.measures.append(values)
        self.exceeds.append(bits)
        self.seconds.append(seconds)


def lost(number: int, job: Job, message: str) -> Done:
    """A case that took its process with it."""
    out = Done()
    out.add(number, CRASHED, message, [None] * len(job.measures), 0, 0.0)
    return out


class Worker:
    """A job with its kits loaded."""

    def __init__(self, job: Job) -> None:
        self.job = job
        timed = {m.of for m in job.measures if m.cost in TIMES}
        self._runners = {s: Runner(kit, job.timeout, is_timed=s in timed) for s, kit in job.kits.items()}

    def run(self, batch: Batch) -> Done:
        """All cases of a batch; one that fails is told and loses nothing else."""
        done = Done()
        for number, values in zip(batch.numbers.tolist(), batch.values, strict=True):
            self._case(number, values, done)
        return done

    def _case(self, number: int, values: Floats, done: Done) -> None:
        job = self.job
        try:
            runs = {side: runner.run(values) for side, runner in self._runners.items()}
        except ModelError as error:
            done.add(number, FAILED, str(error), [None] * len(job.measures), 0, 0.0)
            return
        numbers = measured(job.measures, runs)
        bits = exceeds(job.measures, numbers)
        bad = next(((side, run) for side, run in runs.items() if not run.ok), None)
        status = OK if bad is None else bad[1].status
        message = "" if bad is None else bad[1].message if len(runs) == 1 else f"{bad[0]}: {bad[1].message}"
        done.add(number, status, message, numbers, bits, sum(r.cost.get("seconds", 0.0) for r in runs.values()))
        if job.keep == "all" or (job.keep == "exceeding" and (bits or bad is not None)):
            for side, run in runs.items():
                columns = [run.rows.time, *(run.rows[name] for name in job.curves[side])]
                done.curves.append((number, side, np.column_stack(columns)))

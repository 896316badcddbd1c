"""Which late wake-ups of a task the machine itself caused: a witness at the highest priority on the same cores.

The witness (witness.c) wakes every 200 us at SCHED_FIFO 99 and notes when it was late.  A task of a lower priority
cannot make it late.  Of a late wake-up the time in which the witness was not woken either is the machine's, the rest
the task's.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from kilohertz.realtime import Report

Floats = npt.NDArray[np.float64]
PERIOD = 0.2e-3  # seconds, of the witness


class Witness:
    """`with Witness((0, 1), folder) as w: ...`, then `w.explains(...)`; all in seconds of the monotonic clock."""

    def __init__(self, cpus: Sequence[int], folder: Path) -> None:
        self._program = folder / "witness"
        source = Path(__file__).with_name("witness.c")
        subprocess.run(["cc", "-O2", "-pthread", "-o", str(self._program), str(source)], check=True)
        self._cpus = tuple(cpus)
        self.gaps: dict[int, Floats] = {}

    def __enter__(self) -> Witness:
        words = [str(self._program), *map(str, self._cpus)]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        text = self._process.communicate()[0]
        rows = np.array([line.split() for line in text.splitlines()], dtype=np.float64).reshape(-1, 3)
        self.gaps = {cpu: _windows(rows[rows[:, 0] == cpu][:, 1:] * 1e-9) for cpu in self._cpus}

    def explains(self, cpu: int, since: float, until: float, margin: float) -> bool:
        """Whether a cycle due and done then would have been late by no more than the margin but for the machine."""
        return until - since - self.late(cpu, since, until) <= margin

    def late(self, cpu: int, since: float, until: float) -> float:
        """Seconds of that time without a sign of the core before a late wake-up of the witness."""
        gaps = self.gaps[cpu]
        both = np.minimum(gaps[:, 1], until) - np.maximum(gaps[:, 0], since)
        return float(both[both > 0].sum())


def _windows(gaps: Floats) -> Floats:
    """From the last time the witness was awake, at most a period before it was due, to when it was woken late."""
    seen = np.concatenate(([-np.inf], gaps[:-1, 1]))
    return np.column_stack((np.maximum(gaps[:, 0] - PERIOD, seen), gaps[:, 1]))


@dataclass(frozen=True)
class Cycles:
    """The recorded times of a run (`[record] times = true`), step by step, in seconds of the monotonic clock."""

    release: Floats
    woke: Floats
    done: Floats  # the cycle over, its outputs sent
    messages: Floats

    compute: Floats  # the cycle's own work

    @staticmethod
    def of(report: Report) -> Cycles:
        result = report.result
        columns = ("cycle.lateness", "cycle.slack", "cycle.messages", "cycle.compute")
        late, slack, messages, compute = (np.asarray(result[c][2:], dtype=np.float64) for c in columns)
        wall = report.period * report.data["wall_num"] / report.data["wall_den"]
        release = report.data["began_ns"] * 1e-9 + wall * np.arange(len(late))
        return Cycles(release, release + late, release + wall - slack, messages, compute)

    def late(self, margin: float, period: float) -> list[tuple[int, float, float]]:
        """Runs of cycles that were late by more than the margin: the step, when it was due, when it was done.

        What is late because the cycle before was belongs to that one.
        """
        found = []
        for i in np.flatnonzero(self.done - self.release > margin):
            over = i > 0 and self.done[i - 1] > self.release[i]
            if not (over and self.done[i] - self.done[i - 1] < period / 2):
                found.append(
                    (int(i), float(max(self.release[i], self.done[i - 1] if over else 0.0)), float(self.done[i]))
                )
        return found

    def overruns(self, witness: Witness, cpu: int, period: float) -> tuple[int, int]:
        """Cycles whose own work took longer than the period, and those of them that the machine made so."""
        long = [(a, a + b) for a, b in zip(self.woke, self.compute, strict=True) if b > period]
        return len(long), sum(witness.explains(cpu, since, until, period) for since, until in long)

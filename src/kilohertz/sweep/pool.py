"""Cases on the cores of this machine: one process each, replaced when a case takes it along or holds it for ever."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.sweep.batches import Batch, Done, Job, lost

Floats = NDArray[np.float64]
_SECONDS_OF_BATCH = 0.2
_MOST_IN_BATCH = 500
_IN_FLIGHT = 2  # batches that a process has: one to run, one to go on with
_GRACE = 10.0  # seconds beyond the time that its cases may take, before a process is given up


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(slots=True)
class _Process:
    child: subprocess.Popen[bytes]
    connection: Connection
    batches: deque[Batch] = field(default_factory=deque)
    deadline: float = float("inf")
    is_ready: bool = False


class Pool:
    """Runs cases in `n` processes."""

    def __init__(self, job: Job, n: int) -> None:
        self._job, self._n = job, max(1, n)
        self._processes: list[_Process] = []
        self._todo: deque[Batch] = deque()
        self._pace = 0.0  # seconds that a case takes, as seen so far

    def run(self, numbers: NDArray[np.int64], values: Floats) -> Iterator[Done]:
        """All these cases, in any order, as they come."""
        self._numbers, self._values, self._next = numbers, values, 0
        try:
            for _ in range(min(self._n, len(numbers))):
                self._processes.append(self._start())
            while self._processes:
                yield from self._round()
        finally:
            for process in self._processes:
                _end(process)

    # ----------------------------------------------------------------------------------------------------------- cases

    def _more(self) -> Batch | None:
        """The next batch: again what a lost process had, then as many cases as fit into a moment."""
        if self._todo:
            return self._todo.popleft()
        left = len(self._numbers) - self._next
        if left <= 0:
            return None
        size = 1 if not self._pace else int(_SECONDS_OF_BATCH / self._pace) + 1
        size = max(1, min(size, _MOST_IN_BATCH, -(-left // (2 * self._n))))
        part = slice(self._next, self._next + size)
        self._next += size
        return Batch(self._numbers[part], self._values[part])

    def _feed(self, process: _Process) -> None:
        while len(process.batches) < _IN_FLIGHT and (batch := self._more()) is not None:
            process.batches.append(batch)
            with suppress(OSError):  # it is gone: whoever listens to it next will notice
                process.connection.send(batch)
            if len(process.batches) == 1:
                self._set_deadline(process)

    def _set_deadline(self, process: _Process) -> None:
        limit, sides = self._job.timeout, len(self._job.kits)
        if limit is not None and process.batches:
            process.deadline = time.monotonic() + limit * sides * len(process.batches[0]) + _GRACE

    # --------------------------------------------------------------------------------------------------------- talking

    def _round(self) -> Iterator[Done]:
        """Wait for the next to say something, take it, give it more."""
        now = time.monotonic()
        patience = min(p.deadline for p in self._processes) - now
        ready = wait([p.connection for p in self._processes], None if patience == float("inf") else max(0.0, patience))
        for process in list(self._processes):
            if process.connection in ready:
                yield from self._heard(process)
            elif time.monotonic() > process.deadline:
                yield from self._replaced(process, "its process did not answer in time")

    def _heard(self, process: _Process) -> Iterator[Done]:
        try:
            said = process.connection.recv()
        except (EOFError, OSError):
            yield from self._replaced(process, f"its process ended with code {process.child.wait()}")
            return
        if not process.is_ready:
            if said is not None:
                raise ModelError(*said)
            process.is_ready = True
            self._go_on(process)
            return
        batch, process.deadline = process.batches.popleft(), float("inf")
        if len(batch):
            pace = sum(said.seconds) / len(batch)
            self._pace = pace if not self._pace else 0.7 * self._pace + 0.3 * pace
        self._set_deadline(process)
        self._go_on(process)
        assert isinstance(said, Done)
        yield said

    def _go_on(self, process: _Process) -> None:
        """Give it more; it may leave where there is no more."""
        self._feed(process)
        if not process.batches:
            _end(process)
            self._processes.remove(process)

    def _replaced(self, process: _Process, why: str) -> Iterator[Done]:
        """Another process in its place.  What it had is run again one by one; a case alone is known to be the cause."""
        if not process.is_ready:
            raise ModelError(Diagnostic("R774", f"a process for the cases could not start: {why}"))
        self._processes.remove(process)
        _end(process)
        first, *others = process.batches or [Batch(np.zeros(0, np.int64), np.zeros((0, 0)))]
        if len(first) == 1:
            yield lost(int(first.numbers[0]), self._job, f"the case took its process along: {why}")
        else:
            self._todo += [Batch(first.numbers[i : i + 1], first.values[i : i + 1]) for i in range(len(first))]
        self._todo += others
        if self._todo or self._next < len(self._numbers):
            self._processes.append(self._start())

    def _start(self) -> _Process:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "kilohertz.sweep.worker", str(theirs.fileno())]
        child = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=_environment())
        theirs.close()
        connection = Connection(ours.detach())
        with suppress(OSError):
            connection.send(self._job)
        return _Process(child, connection)


def _end(process: _Process) -> None:
    process.child.kill()
    process.child.wait()
    process.connection.close()


def _environment() -> dict[str, str]:
    """Modules are found where this process finds them; libraries of numbers use the one core that a worker has."""
    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

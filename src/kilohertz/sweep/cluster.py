"""The same cases on a Dask cluster: the built model travels once to each worker, results come back as they finish.

A worker that is lost loses the cases it had: the scheduler gives them to another one.  Workers need this package.
Code: R774 no Dask here, no scheduler there, or no worker that can run the model.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.sweep.batches import Batch, Done, Job, Worker, lost

Floats = NDArray[np.float64]
_IN_FLIGHT = 4  # batches for each thread of the cluster
_SECONDS_OF_BATCH = 0.5
_MOST_IN_BATCH = 500
_PATIENCE = "10s"  # for a scheduler to answer

_jobs: dict[str, bytes] = {}  # in a worker: what travelled to it
_loaded = threading.local()  # by thread: a runner is for one at a time


def run_on(address: str, job: Job, numbers: NDArray[np.int64], values: Floats) -> Iterator[Done]:
    """All these cases, in any order, as they come."""
    distributed = _distributed()
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise ModelError(Diagnostic("R774", f"no Dask scheduler answers at `{address}`: {error}")) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise ModelError(Diagnostic("R774", f"the scheduler at `{address}` has no workers"))
        client.register_plugin(_plugin(distributed, job), name=f"kilohertz-{job.digest}")
        try:
            yield from _streamed(distributed, client, job, numbers, values)
        finally:
            client.unregister_worker_plugin(f"kilohertz-{job.digest}")


def _streamed(distributed: Any, client: Any, job: Job, numbers: NDArray[np.int64], values: Floats) -> Iterator[Done]:
    """As many batches are under way as keep all threads busy."""
    source = _Batches(numbers, values)
    under_way: dict[Any, Batch] = {}
    finished = distributed.as_completed(with_results=False)

    def fill() -> None:
        threads = max(1, sum(client.nthreads().values()))
        while len(under_way) < _IN_FLIGHT * threads and (batch := source.more(threads)) is not None:
            future = client.submit(run_batch, job.digest, batch, pure=False)
            under_way[future] = batch
            finished.add(future)

    fill()
    while under_way:
        future = next(finished)
        batch = under_way.pop(future)
        if future.status == "finished":
            done: Done = future.result()
            source.seen(done, len(batch))
            yield done
        else:
            yield from _failed(future, batch, job, source)
        fill()


def _failed(future: Any, batch: Batch, job: Job, source: _Batches) -> Iterator[Done]:
    """What killed worker after worker: run one by one; a case alone is known to be the cause."""
    error = future.exception()
    if isinstance(error, ModelError):
        raise error
    if len(batch) == 1:
        yield lost(int(batch.numbers[0]), job, f"the case took its worker along: {type(error).__name__}")
    else:
        source.again(batch)


class _Batches:
    """Cuts cases into batches of about half a second."""

    def __init__(self, numbers: NDArray[np.int64], values: Floats) -> None:
        self._numbers, self._values, self._next, self._pace = numbers, values, 0, 0.0
        self._again: list[Batch] = []

    def more(self, threads: int) -> Batch | None:
        if self._again:
            return self._again.pop()
        left = len(self._numbers) - self._next
        if left <= 0:
            return None
        size = 1 if not self._pace else int(_SECONDS_OF_BATCH / self._pace) + 1
        size = max(1, min(size, _MOST_IN_BATCH, -(-left // (2 * threads))))
        part = slice(self._next, self._next + size)
        self._next += size
        return Batch(self._numbers[part], self._values[part])

    def again(self, batch: Batch) -> None:
        self._again += [Batch(batch.numbers[i : i + 1], batch.values[i : i + 1]) for i in range(len(batch))]

    def seen(self, done: Done, n: int) -> None:
        pace = sum(done.seconds) / max(1, n)
        self._pace = pace if not self._pace else 0.7 * self._pace + 0.3 * pace


def run_batch(digest: str, batch: Batch) -> Done:
    """Runs in a worker: the job is there already."""
    if getattr(_loaded, "digest", "") != digest:
        _loaded.worker, _loaded.digest = Worker(pickle.loads(_jobs[digest])), digest
    worker: Worker = _loaded.worker
    return worker.run(batch)


def keep_job(digest: str, data: bytes) -> None:
    """Runs in a worker: what `run_batch` will need."""
    _jobs.clear()  # one series at a time
    _jobs[digest] = data


def _plugin(distributed: Any, job: Job) -> Any:
    """Brings the job to every worker, those that join later too."""

    class Brings(distributed.WorkerPlugin):  # type: ignore[misc]
        def __init__(self, digest: str, data: bytes) -> None:
            self.digest, self.data = digest, data

        def setup(self, worker: Any) -> None:
            from kilohertz.sweep.cluster import keep_job

            keep_job(self.digest, self.data)

    return Brings(job.digest, pickle.dumps(job))


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        text = "a cluster needs Dask: install `kilohertz[dask]` here and on the workers"
        raise ModelError(Diagnostic("R774", text)) from error
    return distributed

"""A pool for jobs that may crash, hang or eat all memory: one process per job slot, replaced whenever it misbehaves.

Unlike `concurrent.futures`, a job here has a time-out of its own, and a worker that dies takes only its own job along.
A worker runs in an empty folder of its own, which goes with it: what a model writes lands there, and paths in tasks
must be absolute.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from kilohertz.base import ModelWarning

Record = dict[str, Any]
LIMIT_BYTES = 8 << 30  # a job that asks for more gets a MemoryError, and the machine lives on
MAX_KIB = 3_000_000  # a worker above this is replaced after its job: hash-consed expressions are never freed


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    folder: tempfile.TemporaryDirectory[str]
    task: Any = None
    deadline: float = float("inf")


def run_all(
    function: Callable[[Any], Record], tasks: Iterable[Any], jobs: int = 2, timeout: float = 300.0
) -> Iterator[tuple[Any, Record]]:
    """Yield (task, record) as jobs end; `status` is `timeout` or `crash` where the worker had to be replaced.

    `function` must be importable by name (a module-level function); an exception in it gives `status` `internal`.
    """
    todo = iter(tasks)
    workers = [_start(function) for _ in range(jobs)]
    try:
        busy = [w for w in workers if _give(w, todo, timeout)]
        while busy:
            patience = max(0.0, min(w.deadline for w in busy) - time.monotonic())
            wait([w.pipe for w in busy], timeout=patience)
            for i, worker in enumerate(busy):
                record, healthy = _collect(worker, timeout)
                if record is None:
                    continue
                task = worker.task
                if not healthy:
                    _stop(worker)
                    workers.remove(worker)
                    busy[i] = worker = _start(function)
                    workers.append(worker)
                worker.task = None
                if not _give(worker, todo, timeout):
                    worker.deadline = float("inf")
                yield task, record
            busy = [w for w in busy if w.task is not None]
    finally:
        for worker in workers:
            _stop(worker)


def _start(function: Callable[[Any], Record]) -> _Worker:
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    folder = tempfile.TemporaryDirectory(prefix="khz-worker-")
    process = context.Process(target=_serve, args=(function, theirs, folder.name), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, folder)


def _stop(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()
    worker.folder.cleanup()


def _give(worker: _Worker, todo: Iterator[Any], timeout: float) -> bool:
    for task in todo:
        worker.task, worker.deadline = task, time.monotonic() + timeout
        worker.pipe.send(task)
        return True
    return False


def _collect(worker: _Worker, timeout: float) -> tuple[Record | None, bool]:
    """The record of a worker that has one (or has failed), and whether the worker may go on."""
    try:
        if worker.pipe.poll():
            record: Record = worker.pipe.recv()
            return record, record["worker_kib"] < MAX_KIB
    except (EOFError, OSError):
        worker.process.join(5)
        return {"status": "crash", "message": f"the worker ended with code {worker.process.exitcode}"}, False
    if time.monotonic() > worker.deadline:
        return {"status": "timeout", "message": f"more than {timeout:g} s", "seconds": timeout}, False
    return None, True


def _serve(function: Callable[[Any], Record], pipe: Connection, folder: str) -> None:
    os.chdir(folder)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # AddressSanitizer reserves more than any limit of sense
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    warnings.simplefilter("ignore", ModelWarning)  # of hundreds of models: who counts them asks for them
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        started, spent = time.perf_counter(), _processor_time()
        try:
            record = function(task)
        except BaseException as error:
            record = {"status": "internal", "message": describe(error)}
        record.setdefault("seconds", round(time.perf_counter() - started, 4))
        record["processor_s"] = round(_processor_time() - spent, 2)  # with compilers that it called
        record["worker_kib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pipe.send(record)


def _processor_time() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def describe(error: BaseException) -> str:
    """An exception by type, text and the innermost place in our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "kilohertz" in f.filename] or list(frames)
    place = f" at {ours[-1].filename.rpartition('kilohertz/')[2]}:{ours[-1].lineno} {ours[-1].name}" if ours else ""
    return f"{type(error).__name__}: {str(error)[:300]}{place}"


def progress(done: int, total: int, text: str) -> None:
    """One line that overwrites itself, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{done}/{total} {text[:100]}", end="" if done < total else "\n", file=sys.stderr, flush=True)

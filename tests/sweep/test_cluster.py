"""A real scheduler and three real worker processes, one of them killed half way."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.sweep import Measure, Range

_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
_CASES = 3000


def start(stack: ExitStack, module: str, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", module, *words]
    child = subprocess.Popen(command, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(child.wait)
    stack.callback(child.kill)
    return child


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Address of the scheduler, and its workers."""
    pytest.importorskip("distributed", reason="Dask (kilohertz[dask]) is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, place = f"tcp://127.0.0.1:{port}", str(tmp_path / "scratch")
    with ExitStack() as stack:
        start(stack, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        words = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", place)
        workers = [start(stack, "distributed.cli.dask_worker", *words) for _ in range(3)]
        wait_for(address, 3)
        yield address, workers


def wait_for(address: str, n: int) -> None:
    distributed = pytest.importorskip("distributed")
    until = time.monotonic() + 120
    while True:
        try:
            with distributed.Client(address, timeout="5s") as client:
                client.wait_for_workers(n, timeout=60)
            return
        except (OSError, TimeoutError):
            if time.monotonic() > until:
                raise


@pytest.mark.filterwarnings("default")  # theirs
def test_a_worker_that_is_killed_loses_nothing(
    folder: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    seen: list[int] = []

    def progress(done: int, total: int, left: float) -> None:
        if not seen and done > _CASES // 3:
            workers[0].send_signal(signal.SIGKILL)
            seen.append(done)

    model = kilohertz.load(str(folder / "swing.mo"))
    given = {"parameters": {"k": Range(5, 20), "d": Range(0.1, 4)}, "way": "sobol", "count": _CASES}
    measures = [Measure("x", "min"), Measure("e", "final")]
    report = model.series(**given, measures=measures, folder=folder / "dask", scheduler=address, progress=progress)  # type: ignore[arg-type]
    assert seen and workers[0].wait(10) == -signal.SIGKILL
    assert report.table["case"].to_list() == list(range(_CASES)) and not report.failed
    here = model.series(**given, measures=measures, folder=folder / "here")  # type: ignore[arg-type]
    assert here.table.drop("seconds_taken").equals(report.table.drop("seconds_taken"))


@pytest.mark.filterwarnings("default")
def test_no_scheduler_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="Dask (kilohertz[dask]) is not installed")
    monkeypatch.setattr("kilohertz.sweep.cluster._PATIENCE", "1s")
    model = kilohertz.load(str(folder / "swing.mo"))
    with pytest.raises(ModelError) as caught:
        model.series({"k": [1.0]}, folder=folder / "out", scheduler="tcp://127.0.0.1:1")
    assert caught.value.diagnostics[0].code == "R774"


def test_without_dask_it_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    model = kilohertz.load(str(folder / "swing.mo"))
    with pytest.raises(ModelError, match=r"kilohertz\[dask\]") as caught:
        model.series({"k": [1.0]}, folder=folder / "out", scheduler="tcp://127.0.0.1:1")
    assert caught.value.diagnostics[0].code == "R774"

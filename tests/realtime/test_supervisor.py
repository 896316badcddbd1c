"""Whatever ends who started a rig: the rig ends in order, or goes on where that was asked for."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kilohertz.realtime import attach, running
from kilohertz.results import read, read_recording

SAFE = -7.0
MODEL = """
model Lag
  input Real u(start = 1);
  output Real y(start = 0, fixed = true);
equation
  der(y) = u - y;
end Lag;
"""
SUPERVISOR = """
import sys
import kilohertz
kilohertz.run(sys.argv[1], folder=sys.argv[2], check=False)
"""


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def scenario(tmp_path: Path, name: str, port: int, more: str = "") -> Path:
    (tmp_path / "lag.mo").write_text(MODEL)
    file = tmp_path / f"{name}.toml"
    file.write_text(
        f'model = "{tmp_path / "lag.mo"}"\nsolver = "rk4"\nduration = "100s"\n{more}\n'
        "[realtime]\npriority = 0\nlock_memory = false\n"
        f'[[device]]\nname = "line"\ndriver = "udp"\nremote = "127.0.0.1:{port}"\n'
        f'[[device.send]]\nsignal = "y"\nsafe = {SAFE}\n'
    )
    return file


class Line:
    """What the rig sends to: reads along, so that nothing is lost, and keeps the last value."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self.port = int(self._socket.getsockname()[1])
        self.last = 0.0
        self._is_over = False
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        while not self._is_over:
            with contextlib.suppress(TimeoutError):
                (self.last,) = struct.unpack_from("<d", self._socket.recv(4096), 32)

    def close(self) -> None:
        self._is_over = True
        self._thread.join()
        self._socket.close()


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.close()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_rig_ends_in_order_with_its_supervisor(tmp_path: Path, line: Line, number: signal.Signals) -> None:
    name = f"supervised-{number.name}-{os.getpid()}"
    file, folder = scenario(tmp_path, name, line.port), tmp_path / "out"
    who = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(file), str(folder)])
    wait_for("the rig runs", lambda: name in running())
    with attach(name) as live:
        wait_for("it is on its way", lambda: live.time > 0.2)
        who.send_signal(number)
        who.wait(20)
        wait_for("it ended", lambda: live.state != "running")
    wait_for("its report", (folder / f"{name}.report.json").exists)
    report = json.loads((folder / f"{name}.report.json").read_text())
    alone = number is signal.SIGKILL
    assert report["ended"] == ("alone" if alone else "signal")
    rows = read_recording(folder / f"{name}.recording")
    assert len(rows.time) == report["counts"]["steps"] + 1 > 100
    wait_for("a safe output at the end", lambda: line.last == SAFE)


def test_a_rig_goes_on_where_it_is_kept(tmp_path: Path, line: Line) -> None:
    name = f"supervised-keep-{os.getpid()}"
    file, folder = scenario(tmp_path, name, line.port, "keep = true"), tmp_path / "out"
    who = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(file), str(folder)])
    wait_for("the rig runs", lambda: name in running())
    with attach(name) as live:
        wait_for("it is on its way", lambda: live.time > 0.2)
        who.kill()
        who.wait(20)
        before = live.time
        wait_for("it goes on", lambda: live.time > before + 1.5)
        live.stop()
        wait_for("it ended", lambda: live.state != "running")


def test_a_run_that_is_terminated_writes_what_it_recorded(tmp_path: Path, line: Line) -> None:
    name = f"supervised-written-{os.getpid()}"
    file, out = scenario(tmp_path, name, line.port), tmp_path / "rows.csv"
    words = [sys.executable, "-m", "kilohertz", "run", str(file), "--no-check", "-o", str(out)]
    who = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    wait_for("the rig runs", lambda: name in running())
    with attach(name) as live:
        wait_for("it is on its way", lambda: live.time > 0.2)
    who.send_signal(signal.SIGTERM)
    said, _ = who.communicate(timeout=30)
    assert "stopped by a signal" in said
    assert len(read(out).time) > 100

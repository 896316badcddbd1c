"""Work that takes long says what it is and how far it got, to who listens."""

from __future__ import annotations

import os
import pty
import threading

import pytest

from kilohertz.base import progress
from kilohertz.base.progress import listening, taking_time
from kilohertz.cli.progress import told_of_long_work
from kilohertz.toolchain import Source, Unit, build_objects, object_files


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes long."""
    monkeypatch.setattr(progress, "FIRST_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.001)


class Heard:
    """What was announced; the work waits until enough was."""

    def __init__(self, n: int) -> None:
        self.lines: list[str] = []
        self._n, self.enough = n, threading.Event()

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        if len(self.lines) >= self._n:
            self.enough.set()


def test_work_tells_how_far_it_got() -> None:
    heard, done = Heard(2), iter(range(10**6))
    with listening(heard), taking_time("counting", lambda: f": {next(done)}"):
        assert heard.enough.wait(20)
    assert heard.lines[:2] == ["counting: 0", "counting: 1"]


def test_nobody_listens_and_nothing_is_said() -> None:
    before = threading.active_count()
    with taking_time("counting"):
        assert threading.active_count() == before


def test_a_compilation_counts_its_files(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path))
    heard, run = Heard(1), object_files._run

    def slow(command: list[str], folder: object, what: str) -> None:
        assert heard.enough.wait(20)
        run(command, folder, what)  # type: ignore[arg-type]

    monkeypatch.setattr(object_files, "_run", slow)
    with listening(heard):
        build_objects([Unit((Source("a.c", "int a;"), Source("b.c", "int b;")))])
    assert heard.lines[0].startswith("compiling C for ")
    assert heard.lines[0].endswith("it is kept for the next time: 0 of 2 files")


def test_linking_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """A compiler that builds its C library does so when it first links."""
    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path))
    units, said, run = [Unit((Source("a.c", "int a;"),))], list[str](), object_files._run
    build_objects(units)
    told = threading.Event()

    def hear(line: str) -> None:
        if line.startswith("linking for "):
            said.append(line)
            told.set()

    def slow(command: list[str], folder: object, what: str) -> None:
        assert told.wait(20)
        run(command, folder, what)  # type: ignore[arg-type]

    monkeypatch.setattr(object_files, "_run", slow)
    with listening(hear):
        object_files.build_shared(units)
    assert "it is kept for the next time: " in said[0] and said[0].endswith(" s so far")


def test_a_terminal_is_told_and_a_log_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with told_of_long_work(quiet=False):
        assert progress._listeners == []
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stderr:
        monkeypatch.setattr("sys.stderr", stderr)
        with told_of_long_work(quiet=False):
            assert len(progress._listeners) == 1
        with told_of_long_work(quiet=True):
            assert progress._listeners == []
    os.close(controller)

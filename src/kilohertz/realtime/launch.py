"""Start a built rig, watch over it, and bring back its report.

The rig needs none of this while it runs, but it ends in order with us, with safe outputs, recording and report;
it holds one end of a pipe, and ours closes whatever kills us.  `keep = true` lets it go on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.building import MARCH
from kilohertz.realtime.executable import Built
from kilohertz.realtime.live import FOLDER, Live
from kilohertz.realtime.report import Report, read_report
from kilohertz.results import read_recording, write

_POLL = 0.05
_STOP_SECONDS = 30.0
_NOTE = "note: "  # before lines of the rig's log that belong into the report

Progress = Callable[[float, Live | None], None]


@dataclass(slots=True)
class Running:
    """A rig that was started."""

    built: Built
    process: subprocess.Popen[bytes]
    recording: Path
    report_file: Path
    log: Path
    leash: int | None = None  # our end of the pipe that ends it with us; None: it goes on

    def live(self) -> Live | None:
        """Its live memory, or None as long as there is none."""
        path = FOLDER / f"khz-{self.built.name}"
        if not self.built.scenario.live or not path.exists():
            return None
        try:
            return Live(path)
        except ModelError:
            return None

    def stop(self) -> None:
        """Ask it to end; it writes its report."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)

    def wait(self, progress: Progress | None = None) -> Report:
        """Until it ends.  Ctrl-C stops the rig and still brings the report; so do SIGTERM and SIGHUP, unless it is to
        go on without us."""
        live: Live | None = None
        try:
            with _interrupting() if self.leash is not None else contextlib.nullcontext():
                if progress is None:
                    self.process.wait()  # every wake-up of ours may delay one of the rig
                while self.process.poll() is None:
                    live = live or self.live()
                    assert progress is not None
                    progress(live.time - self.built.scenario.start if live is not None else 0.0, live)
                    time.sleep(_POLL)  # not `wait(_POLL)`, which looks every few milliseconds
        except KeyboardInterrupt:
            self.stop()
            self.process.wait(_STOP_SECONDS)
        finally:
            if live is not None:
                live.close()
            if self.leash is not None and self.process.poll() is not None:
                os.close(self.leash)
                self.leash = None
        return self._report()

    def _report(self) -> Report:
        code = self.process.returncode
        said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if not self.report_file.exists():
            notes = (*(Note(line) for line in said[-8:]), *self._left_behind())
            how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
            name = self.built.name
            raise ModelError(Diagnostic("R747", f"the rig `{name}` did not run to an end ({how})", notes=notes))
        data = read_report(self.report_file)
        march = self.built.scenario.march
        data["machine_code"] = {"march": march, "promise": MARCH[march].promise}
        recording = self.recording if data["recorder"] is not None else None
        told = tuple(line.removeprefix(_NOTE) for line in said if line.startswith(_NOTE))
        report = Report(data, code, recording, notes=told)
        target = self.built.scenario.recording.file
        if target:
            report = replace(report, unwritten=_unwritten(target, report))
        return report

    def _left_behind(self) -> list[Note]:
        """Rows that were recorded before it was killed: written where the scenario wants them, and told."""
        try:
            rows = read_recording(self.recording, self.built.name)
        except ModelError:
            return []  # nothing was recorded, or not even its head
        if not len(rows.time):
            return []
        held = f"holds a part of the run: {len(rows.time)} rows, until {rows.time[-1]:g} s"
        target = self.built.scenario.recording.file
        try:
            if target:
                write(target, rows)
                return [Note(f"`{target}` {held}")]
        except ModelError as error:
            return [*(Note(d.message) for d in error.diagnostics), Note(f"`{self.recording}` {held}")]
        return [Note(f"`{self.recording}` {held}; `khz compare` reads it, the next run replaces it")]


@contextlib.contextmanager
def _interrupting() -> Iterator[None]:
    """SIGTERM and SIGHUP as Ctrl-C, in the main thread: what was recorded is written before we end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, _: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _unwritten(target: str, report: Report) -> tuple[Diagnostic, ...]:
    """Write what was recorded; where that fails the report comes all the same, and says where the rows are."""
    if report.recording is None:
        return (Diagnostic("R702", f"cannot write `{target}`: nothing was recorded, for no signal of it changes"),)
    try:
        write(target, report.result)
    except ModelError as error:
        kept = Note(f"what was recorded stands in `{report.recording}`, which `khz compare` reads")
        return tuple(replace(d, notes=(*d.notes, kept)) for d in error.diagnostics)
    return ()


def start(built: Built, overrides: Mapping[str, object] | None = None, folder: Path | None = None) -> Running:
    """Start the executable in a session of its own; unless the scenario says `keep = true` it ends when we are gone.

    `overrides` are lines of the flat scenario, e.g. {"wall_num": 0} for a run as fast as possible.
    """
    if built.target:
        raise ModelError(Diagnostic("R747", f"`{built.name}` was built for {built.target} and does not run here"))
    place = (folder or built.folder).absolute()
    files = [place / f"{built.name}{ending}" for ending in (".recording", ".report.json", ".log")]
    for file in files:
        file.unlink(missing_ok=True)
    recording, report, log = files
    words: dict[str, object] = {"record.file": recording, "report": report, "quiet": 1, **(overrides or {})}
    if built.scenario.profile:
        words = {"profile.file": trace_path(built, place), "profile.build": built.build_id, **words}
    command = [str(built.executable.absolute()), str(built.scenario_file.absolute())]
    command += [f"{key}={value}" for key, value in words.items()]
    far, near = os.pipe() if not built.scenario.keep else (None, None)
    held = () if far is None else (far,)
    try:
        with open(log, "wb") as out:
            process = subprocess.Popen(
                [*command, *(f"leash={end}" for end in held)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                cwd=place,
                pass_fds=held,
            )
    except OSError:
        if near is not None:
            os.close(near)
        raise
    finally:
        for end in held:
            os.close(end)
    return Running(built, process, recording, report, log, near)


def trace_path(built: Built, folder: Path | None = None) -> Path:
    """Where the threads of a task leave the records of their cycles, each with its number behind."""
    return (folder or built.folder).absolute() / f"{built.name}.trace"


def measure(built: Built, steps: int = 2000, seconds: float = 0.3) -> Report:
    """A short run as fast as possible, without devices: what a cycle takes here.

    At the lowest real-time priority where one was asked for: a rig that runs already is not delayed by it.
    """
    words = {
        "name": f"{built.name[:40]}.probe",
        "wall_num": 0,
        "probe_ns": round(seconds * 1e9),
        "cycles": steps,
        "grace": 0,
        "n_devices": 0,
        "n_faults": 0,
        "record.n": 0,
        "views": 1,
        "live": 0,
        "fault.slow_ns": 0,
        "profile.mode": -1,
    }
    running = start(built, words, _probe_folder(built))
    return running.wait()


def _probe_folder(built: Built) -> Path:
    folder = built.folder / "probe"
    folder.mkdir(exist_ok=True)
    return folder

"""Off-line runs of FMUs: the run happens in a process of its own (`worker.py`); here it is prepared, watched and told.

Codes: R815 the FMU does not offer what is asked for, R816 a function is missing, R817 a function of the FMU failed,
R818 the FMU ended its process, R819 a call does not return, R820 values are not numbers (warning), R821 a variable that
is not there or cannot be set, R822 the solver of Model Exchange gives up, R824 the process cannot be isolated, R825
events chatter (warning).
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import kilohertz
from kilohertz.base import Diagnostic, ModelError, Note, Severity, near
from kilohertz.fmi.importing import worker
from kilohertz.fmi.importing.archive import Fmu
from kilohertz.fmi.importing.description import FmuVariable
from kilohertz.fmi.importing.driving import driven_steps
from kilohertz.fmi.importing.instance import PLACE_SIZE
from kilohertz.fmi.importing.jacobian import jacobian_plan
from kilohertz.results import Result, Selection, Signal
from kilohertz.runtime import constant
from kilohertz.simulate import RunFailed
from kilohertz.simulate.inputs import Driving

PATIENCE = 60.0  # seconds that one call of an FMU may take
_STEPS = 500  # where neither the user nor the FMU says a step
_LOOKS = constant("KHZ_LOOKS")  # so many steps a run has at least: nothing is passed over
_POLL = 0.02  # seconds
_STATUS = {2: "discard", 3: "error", 4: "fatal", 5: "pending"}
_PACKAGE = Path(kilohertz.__file__).parent
_SETTABLE = ("parameter", "structuralParameter", "input")


@dataclass(frozen=True, slots=True)
class Run:
    """What is run: times in seconds; None: as the FMU says."""

    start: float | None = None
    stop: float | None = None
    step: float | None = None
    intervals: int | None = None
    settings: Mapping[str, float | str] | None = None
    inputs: Driving | None = None
    record: str | Sequence[str] = "all"
    patience: float = PATIENCE
    kind: str = ""  # me or cs; "": cs where the FMU offers it
    tolerance: float | None = None
    max_step: float = 0.0  # of CVODE; 0: as long as it finds, within the rows
    isolate: bool = False  # with a filter on system calls (`isolation.py`)


def simulate_fmu(fmu: Fmu, run: Run) -> Result:
    """Run an FMU from start to stop: its Co-Simulation, or its Model Exchange with CVODE."""
    job = _Job(fmu, run)
    found: list[Diagnostic] = []
    with tempfile.TemporaryDirectory(prefix="khz-run-") as name:
        folder = Path(name)
        report = in_own_process(job.content(), folder, run.patience)
        if report["how"] == "load" and fmu.rebuilt(job.kind) is not None:
            found.append(built_instead(fmu, report))
            report = in_own_process(job.content(), folder, run.patience)
        result = job.result(folder)
    if report["how"] not in ("done", "terminated"):
        said = failure(fmu, report)
        raise RunFailed(said, replace(result, problems=(said,), ok=False))
    if report.get("chattered") is not None:
        text = f"events of `{fmu.path.name}` follow each other without end from {report['chattered']:.9g} s on: short "
        text += "steps, in which nobody looks for them, left them behind"
        found.append(Diagnostic("R825", text, severity=Severity.WARNING))
    return _judged(result, [*found, *job.left_out()])


def built_instead(fmu: Fmu, report: Mapping[str, Any]) -> Diagnostic:
    """What is told where the sources of an FMU took the place of its binary."""
    text = f"the binary of `{fmu.path.name}` cannot be loaded: its sources were built instead"
    return Diagnostic("R814", text, notes=(Note(report["text"]),), severity=Severity.WARNING)


def in_own_process(job: Mapping[str, Any], folder: Path, patience: float) -> dict[str, Any]:
    """Do a job in a worker; its report, or one about what became of it."""
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    place = folder / "place"
    place.write_bytes(bytes(PLACE_SIZE))
    command = [sys.executable, "-m", worker.__name__, str(folder)]
    paths = os.pathsep.join(p for p in (str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")) if p)
    with open(folder / "said", "wb") as said:
        surroundings = {**os.environ, "PYTHONPATH": paths}
        process = subprocess.Popen(command, env=surroundings, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        try:
            hangs = _watched(process, place, patience)
        finally:
            process.kill()
            process.wait()
    where = _call(place)
    if hangs:
        return {"how": "hangs", "where": where, "seconds": patience}
    report = folder / "report.json"
    if report.is_file() and report.stat().st_size > 0:
        return dict(json.loads(report.read_text(encoding="utf-8")))
    code = process.returncode
    return {"how": "crash", "where": where, "code": code, "text": _tail(folder / "said")}


def _watched(process: subprocess.Popen[bytes], place: Path, patience: float) -> bool:
    """Wait for the end; True where one call took longer than it may."""
    seen, since = "", time.monotonic()
    while True:
        try:
            process.wait(_POLL)
            return False
        except subprocess.TimeoutExpired:
            now = _call(place)
            if now != seen or not now:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > patience:
                return True


def _call(place: Path) -> str:
    """The call that is being made; empty between calls."""
    return place.read_bytes().partition(b"\0")[0].decode("utf-8", "replace")


def _tail(file: Path) -> str:
    lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


class _Job:
    def __init__(self, fmu: Fmu, run: Run) -> None:
        self.fmu, self.run, d = fmu, run, fmu.description
        self.kind = run.kind or ("cs" if "cs" in d.identifiers else "me")
        if self.kind not in d.identifiers:
            text = f"`{fmu.path.name}` does not offer `{self.kind}`; it offers {', '.join(d.identifiers)}"
            raise ModelError(Diagnostic("R815", text))
        self.start = run.start if run.start is not None else d.start
        self.stop = run.stop if run.stop is not None else d.stop if d.stop is not None else self.start + 1.0
        if not (math.isfinite(self.start) and math.isfinite(self.stop) and self.stop >= self.start):
            raise ModelError(Diagnostic("R723", f"a run goes from a time to a later one: {self.start} to {self.stop}"))
        span = self.stop - self.start
        stated = d.step if self.kind == "cs" else None
        self.step = run.step or stated or (span / (run.intervals or _STEPS) if span else 1.0)
        if not self.step > 0:
            raise ModelError(Diagnostic("R723", f"a step is longer than 0, not {self.step}"))
        self.steps = max(0, math.ceil(span / self.step - 1e-6))
        self.by_name = {v.name: v for v in d.variables}
        self.arrays = _Arrays(v for v in d.variables if v.is_array)
        self.recorded = self._recorded()

    def content(self) -> dict[str, Any]:
        d, run = self.fmu.description, self.run
        every = 1 if run.intervals is None else max(1, round(self.steps / run.intervals))
        return {
            "what": "simulate" if self.kind == "cs" else "integrate",
            "version": d.version,
            "prefix": self.fmu.prefix(self.kind),
            "kind": self.kind,
            "states": len(d.derivatives),
            "indicators": d.n_indicators,
            "jacobian": jacobian_plan(d) if self.kind == "me" else None,
            "token": d.token,
            "binary": str(self.fmu.binary(self.kind)),
            "resources": str(self.fmu.folder / "resources"),
            "start": self.start,
            "stop": self.stop,
            "step": self.step,
            "steps": self.steps,
            "every": every,
            "tell_stop": True,
            "tolerance": run.tolerance or d.tolerance,
            "max_step": min((d for d in (run.max_step, (self.stop - self.start) / _LOOKS) if d), default=0.0),
            "settings": [[_plain(v), value] for v, value in self._settings()],
            "inputs": self._inputs(),
            "record": [_plain(v) for v in self.recorded],
            "isolate": run.isolate,
        }

    def _recorded(self) -> list[FmuVariable]:
        wanted = Selection(self.run.record)
        numbers = [v for v in self.fmu.description.variables if v.holds_numbers and v.causality != "independent"]
        out = [v for v in numbers if wanted.takes(v.name, is_output=v.causality == "output")]
        problems = wanted.problems([v.name for v in numbers])
        if problems:
            raise ModelError(*problems)
        return out

    def left_out(self) -> list[Diagnostic]:
        """Outputs that a result has no place for."""
        return [
            Diagnostic("R813", f"the output `{v.name}` is not recorded: it is {v.type}", severity=Severity.WARNING)
            for v in self.fmu.description.of("output")
            if not v.holds_numbers
        ]

    def _settings(self) -> list[tuple[FmuVariable, Any]]:
        settings = (self.run.settings or {}).items()
        return self.arrays.joined([(v := self._settable(name), _value(v, value)) for name, value in settings])

    def _settable(self, name: str) -> FmuVariable:
        v = self.arrays.elements.get(name) or self.by_name.get(name)
        if v is None:
            raise ModelError(Diagnostic("R821", f"the FMU has no variable `{name}`{near(name, self.by_name)}"))
        if v.causality not in _SETTABLE and (v.start is None or v.variability == "constant"):
            raise ModelError(Diagnostic("R821", f"`{name}` cannot be set: it is {v.causality} and computed by the FMU"))
        if v.is_array:
            raise ModelError(
                Diagnostic("R821", f"`{name}` is an array: its elements are set, `{v.elements()[0]}`, ...")
            )
        return v

    def _inputs(self) -> list[list[list[Any]]]:
        if self.run.inputs is None:
            return []
        instants = [self.start + k * self.step for k in range(self.steps)] or [self.start]
        single = [v for v in (*self.by_name.values(), *self.arrays.elements.values()) if v.is_number]
        steps = driven_steps(self.run.inputs, [v for v in single if _is_driven(v)], instants, self.stop)
        known = {v.name: v for v in single}
        joined = (self.arrays.joined([(known[n], _value(known[n], x)) for n, x in step.items()]) for step in steps)
        return [[[_plain(v), value] for v, value in step] for step in joined]

    def result(self, folder: Path) -> Result:
        """The rows so far."""
        columns = [(name, v) for v in self.recorded for name in v.elements()]
        n, file = len(columns) + 1, folder / "rows"
        data = np.fromfile(file) if file.is_file() else np.empty(0)
        rows = data[: len(data) // n * n].reshape(-1, n)
        signals = {name: Signal(i, 1, v.unit, v.description) for i, (name, v) in enumerate(columns)}
        return Result(self.fmu.description.name, rows[:, 0].copy(), rows[:, 1:].copy(), signals)


class _Arrays:
    """Arrays by their elements: FMI sets them as a whole, so that the other elements must be known."""

    def __init__(self, arrays: Iterable[FmuVariable]) -> None:
        self._owner = {name: (v, i) for v in arrays for i, name in enumerate(v.elements())}
        self.elements = {name: replace(v, name=name, shape=()) for name, (v, _) in self._owner.items()}
        self._values: dict[str, list[Any]] = {}

    def joined(self, given: Sequence[tuple[FmuVariable, Any]]) -> list[tuple[FmuVariable, Any]]:
        """The same with arrays in the place of their elements."""
        out: dict[str, tuple[FmuVariable, Any]] = {}
        for v, value in given:
            if v.name not in self._owner:
                out[v.name] = v, value
                continue
            array, i = self._owner[v.name]
            values = self._values.setdefault(array.name, self._starts(array))
            values[i] = value
            out[array.name] = array, list(values)
        return list(out.values())

    def _starts(self, array: FmuVariable) -> list[Any]:
        if not array.starts:
            text = f"elements of `{array.name}` cannot be set: the FMU does not say what the others are"
            raise ModelError(Diagnostic("R821", text))
        return [_value(array, text) for text in array.starts]


def _is_driven(v: FmuVariable) -> bool:
    """Whether it may be given other values during a run."""
    return v.causality == "input" or (v.causality == "parameter" and v.variability == "tunable")


def _plain(v: FmuVariable) -> dict[str, Any]:
    shown = asdict(v)
    return {key: shown[key] for key in ("reference", "type", "kind")} | {"size": v.size}


def _value(v: FmuVariable, value: Any) -> Any:
    """A value as the worker gets it; R821 where it does not fit."""
    if v.type == "String":
        return str(value)
    text = str(value).strip().lower()
    try:
        number = float({"true": 1, "false": 0}.get(text, text))
    except ValueError:
        raise ModelError(_unfit(v, value)) from None
    if v.type != "Real" and not number.is_integer():
        raise ModelError(_unfit(v, value))
    return number if v.type == "Real" else int(number)


def _unfit(v: FmuVariable, value: Any) -> Diagnostic:
    words = {
        "Enumeration": "an enumeration, which is given as a number",
        "Boolean": "true or false",
        "Integer": "an Integer",
    }
    return Diagnostic("R821", f"`{v.name}` cannot be set to `{value}`: it is {words.get(v.type, v.type)}")


def _judged(result: Result, found: Sequence[Diagnostic]) -> Result:
    """A result in which a value is no number is not ok."""
    odd = [name for name in result.names if not np.isfinite(result[name]).all()]
    if not odd:
        return replace(result, problems=tuple(found))
    first = min(float(result.time[np.argmin(np.isfinite(result[name]))]) for name in odd)
    text = f"{', '.join(odd[:5])}{', ...' if len(odd) > 5 else ''}: not a number, first at time = {first:g}"
    return replace(result, problems=(*found, Diagnostic("R820", text, severity=Severity.WARNING)), ok=False)


def failure(fmu: Fmu, report: Mapping[str, Any]) -> Diagnostic:
    """What became of a run, in words about the FMU."""
    name, notes = fmu.path.name, tuple(Note(f"it said: {text}") for text in report.get("messages", ()) if text)
    match report["how"]:
        case "missing":
            return Diagnostic("R816", f"`{name}` has no function {report['function']}")
        case "load":
            return Diagnostic("R814", f"the binary of `{name}` cannot be loaded", notes=(Note(report["text"]),))
        case "open":
            return Diagnostic("R824", f"`{name}` cannot be isolated: {report['text']}")
        case "instantiate":
            return Diagnostic("R817", f"`{name}` makes no instance of itself", notes=notes)
        case "status":
            status = _STATUS.get(report["status"], str(report["status"]))
            text = f"{report['function']} of `{name}` gives the status `{status}` at time = {report['time']:g}"
            return Diagnostic("R817", text, notes=notes)
        case "solver":
            text = f"CVODE gives up on `{name}` at time = {report['time']:g}"
            return Diagnostic("R822", text, notes=(Note(report["text"]),))
        case "chatters":
            return Diagnostic("R822", f"`{name}` has events without end at time = {report['time']:g}")
        case "hangs":
            text = f"{report['where']} of `{name}` has not returned after {report['seconds']:g} s"
            return Diagnostic("R819", text)
        case _:
            said = (Note(report["text"]),) if report["text"] else ()
            where = f" in {report['where']}" if report["where"] else ""
            return Diagnostic("R818", f"`{name}` ended its process ({_ending(report['code'])}){where}", notes=said)


def _ending(code: int) -> str:
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    return f"exit code {code}"

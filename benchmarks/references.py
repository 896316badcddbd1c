"""Simulate every model that has a published reference result, and compare.

    python benchmarks/references.py MSLDIR REFDIR [--jobs 2] [--timeout 300] [--resume F.jsonl] [--only TEXT]

MSLDIR holds the libraries, REFDIR a copy of MAP-LIB_ReferenceResults: folders `Package/.../Model/` with `Model.csv`,
`comparisonSignals.txt` and `creation.txt` (the settings the reference was made with).  A model counts as matched when
every comparison signal stays in a tube of 0.2 % of its range and of the simulated time and its normalised rms error is
at most 1e-3 (`kilohertz.compare`).  REFDIR may hold files `Package.Model.mat` instead, results of a tool in which all
signals that both have are compared, from the first to the last of their rows.  With --resume, what is in the file is
not run again; --retry runs failures again.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kilohertz.base import Diagnostic, ModelError
from library_sweep import session
from sweeps import absolute, add_options, sweep
from tables import Record, print_stages

if TYPE_CHECKING:
    from kilohertz.results import Result


T = TypeVar("T")
Task = tuple[str, str, str]  # class name, folder or file of the reference, library folder
STAGES = ("flattened", "compiled", "simulated", "in the tube", "matched")
TUBE, RMS = 0.002, 1e-3
EFFORT = ("steps", "rhs", "jacobians", "state_events", "time_events", "restarts")  # of a run, kept beside its verdict


def run_one(task: Task) -> Record:
    """Runs in a worker: how far the model came, and what stopped it."""
    from kilohertz.simulate import Statistics

    name, place, library = task
    reference, wanted, settings = _reference(Path(place))
    record: Record = {"status": "not flattened", "reached": []}
    try:
        model = session((library,)).model(name)
        _timed(record, "flattened", model.flatten)
        record["status"] = "not compiled"
        _timed(record, "compiled", model.compile)
        record["status"] = "not simulated"
        statistics = Statistics()
        record["result"] = _timed(record, "simulated", lambda: model.simulate(statistics=statistics, **settings))
        record["effort"] = {what: getattr(statistics, what) for what in EFFORT}
    except ModelError as error:
        return record | _stopped(error.diagnostics)
    if Path(place).is_file():
        wanted = [n for n in reference.names if n in record["result"]]
    return _judged(record, reference, wanted)


def _reference(place: Path) -> tuple[Result, list[str], dict[str, Any]]:
    """A published result, its signals to compare, and the settings it was made with."""
    from kilohertz.results import read, read_csv

    if place.is_dir():
        file = next(place.glob("*.csv"))
        return read_csv(file), comparison_signals(place), experiment(place / "creation.txt")
    found = read(place)
    return found, [], {"start": float(found.time[0]), "stop": float(found.time[-1])}


def _timed(record: Record, stage: str, job: Callable[[], T]) -> T:
    started = time.perf_counter()
    outcome = job()
    record[f"{stage}_s"] = round(time.perf_counter() - started, 4)
    record["reached"].append(stage)
    return outcome


def _stopped(diagnostics: tuple[Diagnostic, ...]) -> Record:
    return {"code": diagnostics[0].code, "message": diagnostics[0].message}


def _judged(record: Record, reference: Result, wanted: list[str]) -> Record:
    from kilohertz.compare import Bars, compare

    names = [n for n in wanted if n in reference] or list(reference.names)
    verdict = compare(record.pop("result"), reference, names, Bars(TUBE))
    record["signals"] = len(verdict.signals)
    if not verdict.ok:
        reasons = sorted({s.reason for s in verdict.failed}) or [verdict.coverage]
        worst = [f"{s.name} rms {s.rms:.1e} from t = {s.first_outside}" for s in verdict.failed[:3]]
        return record | {"status": "mismatch", "message": "; ".join(reasons), "worst": worst}
    record["reached"].append("in the tube")
    record["rms"] = max(s.rms for s in verdict.signals)
    if record["rms"] > RMS:
        return record | {"status": "mismatch", "message": "rms error"}
    record["reached"].append("matched")
    return record | {"status": "matched"}


def experiment(file: Path) -> dict[str, Any]:
    """Start, stop, tolerance and number of intervals the reference was made with."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    found = dict(re.findall(r"^(StartTime|StopTime|Interval|Tolerance) *= *([-+.\deE]+)", text, re.MULTILINE))
    start, stop = float(found.get("StartTime", 0)), found.get("StopTime")
    settings: dict[str, Any] = {"start": start}
    if stop is not None:
        settings["stop"] = float(stop)
        interval = float(found.get("Interval", 0))
        if interval > 0:
            settings["intervals"] = max(1, round((float(stop) - start) / interval))
    if "Tolerance" in found:
        settings["tolerance"] = float(found["Tolerance"])
    return settings


def comparison_signals(folder: Path) -> list[str]:
    file = folder / "comparisonSignals.txt"
    text = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    return [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "time"]


def cases(references: Path, library: Path, only: str) -> list[Task]:
    """Every reference, named by the folder it lies in or by its file; not those with nothing to compare."""
    files = sorted(references.glob("*/**/*.csv"))
    folders = sorted({f.parent for f in files if f.stem == f.parent.name})
    folders = [f for f in folders if comparison_signals(f) or not (f / "comparisonSignals.txt").exists()]
    named = [(".".join(f.relative_to(references).parts), str(f), str(library)) for f in folders]
    named += [(f.stem, str(f), str(library)) for f in sorted(references.glob("*.mat"))]
    return [task for task in named if only in task[0]]


def asked(about: str | None) -> argparse.Namespace:
    """The arguments of a sweep over references."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("references", type=absolute, metavar="REFDIR")
    add_options(parser)
    parser.add_argument("--only", default="", help="only models whose name contains this")
    return parser.parse_args()


def main() -> None:
    arguments = asked(__doc__)
    tasks = cases(arguments.references, arguments.library, arguments.only)
    sweep(run_one, tasks, arguments, report, ("matched",))


def report(records: list[Record]) -> None:
    """How many reached each stage, why the others did not, and the slowest."""
    print_stages(records, STAGES)
    print("\nslowest")
    for record in sorted(records, key=lambda r: -float(r.get("seconds", 0)))[:10]:
        print(f"  {record.get('seconds', 0):8.2f} s  {record['status']:14} {record['class']}")


if __name__ == "__main__":
    main()

"""Check every class with an experiment annotation: how many parse, flatten, balance, and why the others fail.

    python benchmarks/library_sweep.py LIBRARY_DIR [--package Modelica] [--jobs 2] [--timeout 300] [--resume F.jsonl]

LIBRARY_DIR holds libraries (folders with package.mo, or single .mo files), or is one itself.  Without --package all
packages in it are swept.  With --resume results are appended to a file, and classes that are in it are not run again;
--retry runs those again that were not balanced.
"""

from __future__ import annotations

import argparse
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Severity
from tables import Journal, Record, machine, print_causes, share
from workers import progress, run_all

if TYPE_CHECKING:
    from kilohertz.driver import Session

Task = tuple[str, tuple[str, ...]]  # class name, library folders


@cache
def session(libraries: tuple[str, ...]) -> Session:
    """One per worker: files are parsed once."""
    from kilohertz.driver import Session

    return Session(libraries)


def check(task: Task) -> Record:
    """Runs in a worker."""
    name, libraries = task
    started = time.perf_counter()
    try:
        report = session(libraries).model(name).check()
    except ModelError as error:
        return failure(error.diagnostics)
    status = "balanced" if report.ok else "singular" if report.balance.is_balanced else "unbalanced"
    record: Record = {"status": status, **report.counts()}
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    if errors:
        record |= {"code": errors[0].code, "message": errors[0].message}
    record["seconds"] = round(time.perf_counter() - started, 4)
    return record


def failure(diagnostics: tuple[Diagnostic, ...]) -> Record:
    """A record for a model that stopped with diagnostics: the first one counts."""
    first = diagnostics[0]
    status = "not parsed" if first.code[0] == "P" else "not flattened"
    return {"status": status, "code": first.code, "message": first.message, "n_errors": len(diagnostics)}


def experiments(libraries: tuple[str, ...], packages: list[str]) -> list[str]:
    """Full names of all classes with an experiment annotation, partial ones left out."""
    from kilohertz.driver import Session

    own = Session(libraries)
    return own.experiments(packages or own.libraries.names())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path, help="folder with libraries")
    parser.add_argument("--package", action="append", default=[], help="only this package; may be repeated")
    parser.add_argument("--also", action="append", default=[], help="a further folder to find used libraries in")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--resume", type=Path, metavar="F.jsonl")
    parser.add_argument("--retry", action="store_true", help="run those again that were not balanced")
    arguments = parser.parse_args()

    libraries = (str(arguments.library), *arguments.also)
    names = experiments(libraries, arguments.package)
    journal = Journal(arguments.resume)
    done = {n for n, r in journal.records.items() if not (arguments.retry and r["status"] != "balanced")}
    tasks = [(name, libraries) for name in names if name not in done]
    started = time.perf_counter()
    for i, (task, record) in enumerate(run_all(check, tasks, arguments.jobs, arguments.timeout), 1):
        journal.add({"class": task[0], **record})
        progress(i, len(tasks), f"{record['status']:14} {task[0]}")
    elapsed = time.perf_counter() - started
    report([journal.records[n] for n in names if n in journal.records])
    print(f"\n{len(tasks)} models run in {elapsed:.1f} s with {arguments.jobs} workers; {machine()}")


def report(records: list[Record]) -> None:
    """The table, failures by cause, the slowest models."""
    total = len(records)
    parsed = [r for r in records if r["status"] != "not parsed"]
    flattened = [r for r in records if r["status"] in ("balanced", "singular", "unbalanced")]
    balanced = [r for r in records if r["status"] == "balanced"]
    print(f"classes with an experiment annotation: {total}")
    print(f"  parsed     {share(len(parsed), total)}")
    print(f"  flattened  {share(len(flattened), total)}")
    print(f"  balanced   {share(len(balanced), total)}")
    failures = [r for r in records if r["status"] != "balanced"]
    if failures:
        print("\nfailures by cause")
        print_causes(failures)
    print("\nslowest")
    for record in sorted(records, key=lambda r: -float(r.get("seconds", 0)))[:10]:
        size = f"{record['equations']:8} equations" if "equations" in record else f"{record['status']:>18}"
        print(f"  {record.get('seconds', 0):8.2f} s {size}  {record['class']}")


if __name__ == "__main__":
    main()

"""Check every class with an experiment annotation: how many parse, flatten, balance, and why the others fail.

    python benchmarks/library_sweep.py LIBRARY_DIR [--package Modelica] [--until check|compile|simulate] [--sample N]
                                       [--seed 1] [--share 1.0] [--method M]... [--jobs 2] [--timeout 300]
                                       [--resume F.jsonl]

LIBRARY_DIR holds libraries (folders with package.mo, or single .mo files), or is one itself.  Without --package all
packages in it are swept.  --until compile goes on to a loaded C library, --until simulate to the end of the
experiment with CVODE (no reference is compared: that is references.py), or for a --share of it, and so with every
--method, at a five-hundredth of the experiment as step.  With --resume results are
appended to a file, and classes that are in it are not run again; --retry runs those again that did not come to the end.
The twenty slowest are told by phase, in processor seconds: check, compile, the C compiler, run.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Severity
from sweeps import absolute, add_options, sweep
from tables import Record, print_causes, share

if TYPE_CHECKING:
    from kilohertz.driver import Model, Session

Task = tuple[str, tuple[str, ...], str, float, tuple[str, ...]]  # class, folders, how far to go, of its time, methods

LAST = {"check": "balanced", "compile": "compiled", "simulate": "simulated"}
PHASES = ("check_s", "compile_s", "cc_s", "run_s")


@cache
def session(libraries: tuple[str, ...]) -> Session:
    """One per worker: files are parsed once."""
    from kilohertz.driver import Session

    return Session(libraries)


def check(task: Task) -> Record:
    """Runs in a worker."""
    name, libraries, until, part, methods = task
    since = spent()
    try:
        model = session(libraries).model(name)
        report = model.check()
    except ModelError as error:
        return failure(error.diagnostics)
    status = "balanced" if report.ok else "singular" if report.balance.is_balanced else "unbalanced"
    record: Record = {"status": status, **report.counts()}
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    if errors:
        record |= {"code": errors[0].code, "message": errors[0].message}
    record["check_s"] = round(sum(spent()) - sum(since), 2)
    if not errors and until != "check":
        record |= further(model, until, part, methods)
    return record


def spent() -> tuple[float, float]:
    """Processor time of this process, and that of the compilers that it started."""
    times = os.times()
    return times.user + times.system, times.children_user + times.children_system


def further(model: Model, until: str, part: float, methods: tuple[str, ...]) -> Record:
    """From the balanced model to C and trajectories, and what each took."""
    from kilohertz.simulate.experiment import experiment_times

    record: Record = {}
    since = spent()
    try:
        start, stop = experiment_times(model.compile(), None, None)
        built = spent()
        record |= {"compile_s": round(built[0] - since[0], 2), "cc_s": round(built[1] - since[1], 2)}
        if until == "compile":
            return record | {"status": "compiled"}
        model.simulate(stop=start + part * (stop - start), record="outputs")
        for method in methods:
            model.simulate(
                solver=method, step=(stop - start) / 500, stop=start + part * (stop - start), record="outputs"
            )
    except ModelError as error:
        first = error.diagnostics[0]
        status = "stopped" if first.code[0] == "R" else "not compiled"
        return record | {"status": status, "code": first.code, "message": first.message}
    return record | {"status": "simulated", "run_s": round(sum(spent()) - sum(built), 2)}


def failure(diagnostics: tuple[Diagnostic, ...]) -> Record:
    """A record for a model that stopped with diagnostics: the first one counts."""
    first = diagnostics[0]
    status = "not parsed" if first.code[0] == "P" or first.code == "L308" else "not flattened"
    return {"status": status, "code": first.code, "message": first.message, "n_errors": len(diagnostics)}


def experiments(libraries: tuple[str, ...], packages: list[str]) -> list[str]:
    """Full names of all classes with an experiment annotation, partial ones left out."""
    from kilohertz.driver import Session

    own = Session(libraries)
    return own.experiments(packages or own.libraries.names())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, help="folder with libraries")
    parser.add_argument("--package", action="append", default=[], help="only this package; may be repeated")
    parser.add_argument(
        "--also", action="append", type=absolute, default=[], help="a further folder to find used libraries in"
    )
    parser.add_argument("--until", choices=list(LAST), default="check", help="how far to go (default: check)")
    parser.add_argument("--sample", type=int, metavar="N", help="a random N of them, the same ones in every run")
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="another K, another sample (default: 1)")
    parser.add_argument("--share", type=float, default=1.0, metavar="S", help="of its experiment a model is run for")
    parser.add_argument("--method", action="append", default=[], help="run with this method too; may be repeated")
    add_options(parser)
    arguments = parser.parse_args()

    libraries = (str(arguments.library), *map(str, arguments.also))
    names = experiments(libraries, arguments.package)
    if arguments.sample is not None:  # in random order: what was run when a sweep is stopped is a sample too
        names = random.Random(arguments.seed).sample(names, min(arguments.sample, len(names)))
    tasks = [(name, libraries, arguments.until, arguments.share, tuple(arguments.method)) for name in names]
    sweep(check, tasks, arguments, lambda records: report(records, arguments.until), (LAST[arguments.until],))


def report(records: list[Record], until: str) -> None:
    """The table, failures by cause, the slowest models."""
    total = len(records)
    reached: dict[str, Callable[[str], bool]] = {
        "parsed": lambda status: status != "not parsed",
        "flattened": lambda status: status not in ("not parsed", "not flattened"),
        "balanced": lambda status: status in ("balanced", "not compiled", "compiled", "stopped", "simulated"),
        "compiled": lambda status: status in ("compiled", "stopped", "simulated"),
        "simulated": lambda status: status == "simulated",
    }
    print(f"classes with an experiment annotation: {total}")
    for stage, holds in reached.items():
        print(f"  {stage:10} {share(sum(holds(r['status']) for r in records), total)}")
        if stage == LAST[until]:
            break
    failures = [r for r in records if r["status"] != LAST[until]]
    if failures:
        print("\nfailures by cause")
        print_causes(failures)
    print("\nslowest, processor seconds: check, compile, C compiler, run")
    for record in sorted(records, key=lambda r: -sum(r.get(p, 0.0) for p in PHASES))[:20]:
        size = f"{record['equations']:8} equations" if "equations" in record else f"{record['status']:>18}"
        print("  " + " ".join(f"{record.get(p, 0.0):7.2f}" for p in PHASES), f"{size}  {record['class']}")


if __name__ == "__main__":
    main()

"""The process that an FMU runs in: `python -m kilohertz.fmi.importing.worker JOB`; for Co-Simulation ctypes alone.

An FMU is foreign code: it may crash, hang, or write where it should not.  So it has a process of its own, which tells
through files what it does: rows of values as they come, the call that is being made (for the case that it never
returns), messages, and how it ended.  Whoever started it reads them (`offline.py`).
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kilohertz.fmi.importing.instance import Instance, Library, Stopped


def co_simulate(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Steps from start to stop, a row after each of those that are wanted."""
    rows = os.open(folder / "rows", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)  # before a filter forbids it
    instance = Instance(job, folder)
    pack = struct.Struct(f"{1 + sum(v['size'] for v in job['record'])}d").pack
    inputs: list[list[list[Any]]] = job["inputs"]  # what is set before each step
    instance.start(job["settings"], inputs[0] if inputs else [])
    read = instance.reader(job["record"])
    os.write(rows, pack(job["start"], *read()))
    n, h, terminated = job["steps"], job["step"], False
    for k in range(n):
        time = job["start"] + k * h
        until = job["stop"] if k + 1 == n else job["start"] + (k + 1) * h
        for variable, value in inputs[k] if k < len(inputs) else ():
            instance.set(variable, value)
        terminated = instance.step(time, until - time)
        instance.call.time = until
        if (k + 1) % job["every"] == 0 or k + 1 == n or terminated:
            os.write(rows, pack(until, *read()))
        if terminated:
            break
    instance.close()
    return {"how": "terminated" if terminated else "done", "messages": instance.call.messages}


def probe(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Load the library and look for functions."""
    library = Library(job, folder)
    return {"how": "done", "missing": [library.prefix + name for name in job["functions"] if not library.has(name)]}


def _work(what: str) -> Callable[[dict[str, Any], Path], dict[str, Any]]:
    if what == "integrate":
        from kilohertz.fmi.importing.exchange import integrate  # with the solver, which the others need not load

        return integrate
    return {"simulate": co_simulate, "probe": probe}[what]


def main(folder: Path) -> None:
    """Do the job in a folder, and leave there how it ended."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    out = os.open(folder / "report.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        report = _work(job["what"])(job, folder)
    except Stopped as stopped:
        report = stopped.report
    os.write(out, json.dumps(report).encode())
    os._exit(0)  # no destructor of a foreign library has a say any more


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Sizes of algebraic loops beside those in the logs of the tool that made the reference results.

    python benchmarks/loops_beside_logs.py MSLDIR REFDIR [--only TEXT] [--jobs 2] [--timeout 300] [--resume F.jsonl]

Each model with a `translate_passed.log` goes through flattening and the symbolic passes; nothing is compiled.  Compared
are the systems of the simulated model after tearing, linear and nonlinear ones apart: the sum of their sizes and the
largest.  Those inside a mixed loop count with their kind, as in the logs.  What is solved in closed form
does not count: in the logs a size of 0, here a linear loop of one unknown, which is a division.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from kilohertz.base import ModelError
from library_sweep import session
from references import Task, asked, cases
from sweeps import sweep
from tables import Record, share

KINDS = ("linear", "nonlinear")


def in_log(text: str, kind: str) -> list[int]:
    """Sizes after manipulation, those of 0 left out; the initial problem has lines of its own further down."""
    model = text.split("Initialization problem", 1)[0]
    found = re.search(rf"Sizes after manipulation of the {kind} systems: \{{([^}}]*)\}}", model)
    return [n for n in map(int, re.findall(r"\d+", found[1])) if n] if found else []


def run_one(task: Task) -> Record:
    """Runs in a worker."""
    name, folder, library = task
    log = Path(folder) / "translate_passed.log"
    if not log.exists():
        return {"status": "no log"}
    text = log.read_text(encoding="utf-8", errors="replace")
    try:
        loops = session((library,)).model(name).analyse().loops
    except ModelError as error:
        return {"status": "failed", "message": error.diagnostics[0].message}
    sizes = {
        kind: {
            "here": [x.torn_size for x in loops if x.kind == kind and (x.torn_size > 1 or kind != "linear")],
            "there": in_log(text, kind),
        }
        for kind in KINDS
    }
    larger = [kind for kind in KINDS if _is_larger(sizes[kind])]
    unknowns = [u for x in loops if x.kind in larger for u in x.unknowns]
    return {"status": "larger" if larger else "not larger", "larger": larger, "sizes": sizes, "unknowns": unknowns[:12]}


def _is_larger(sizes: dict[str, list[int]]) -> bool:
    here, there = sizes["here"], sizes["there"]
    return sum(here) > sum(there) or max(here, default=0) > max(there, default=0)


def report(records: list[Record]) -> None:
    """How many are equal or smaller, and each that is larger."""
    compared = [r for r in records if "sizes" in r]
    others = Counter(r["status"] for r in records if "sizes" not in r)
    print(f"models with a log: {len(compared)}; others: {dict(others)}")
    for kind in KINDS:
        fine = sum(kind not in r["larger"] for r in compared)
        smaller = sum(sum(r["sizes"][kind]["here"]) < sum(r["sizes"][kind]["there"]) for r in compared)
        print(f"  {kind:9} equal or smaller {share(fine, len(compared))}, smaller in sum {smaller}")
    for record in compared:
        for kind in record["larger"]:
            print(f"  {kind:9} {_sides(record['sizes'][kind])}  {record['class']}")


def _sides(sizes: dict[str, Any]) -> str:
    here, there = (sorted(sizes[side], reverse=True) for side in ("here", "there"))
    return f"{here[:8]} (sum {sum(here)}) there {there[:8]} (sum {sum(there)})"


def main() -> None:
    arguments = asked(__doc__)
    tasks = cases(arguments.references, arguments.library, arguments.only)
    sweep(run_one, tasks, arguments, report, ("larger", "not larger"))


if __name__ == "__main__":
    main()

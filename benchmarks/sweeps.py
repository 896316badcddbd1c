"""What the sweeps over many models share: their options, and the run with a journal that can be gone on with."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from tables import Journal, Record, machine
from workers import progress, run_all


def add_options(parser: argparse.ArgumentParser) -> None:
    """How many at once, for how long, and what was done before."""
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--resume", type=Path, metavar="F.jsonl", help="go on where a run was stopped")
    parser.add_argument("--retry", action="store_true", help="run those again that did not come to a good end")


def absolute(text: str) -> Path:
    """An argument that tasks are made of: workers run in folders of their own."""
    return Path(text).absolute()


def sweep(
    function: Callable[[Any], Record],
    tasks: Sequence[tuple[Any, ...]],
    arguments: argparse.Namespace,
    report: Callable[[list[Record]], None],
    good: Collection[str],
) -> None:
    """Run every task (its name comes first) that is not in the journal, or ended otherwise than well; then report."""
    journal = Journal(arguments.resume)
    done = {n for n, r in journal.records.items() if not arguments.retry or r["status"] in good}
    todo = [t for t in tasks if t[0] not in done]
    started = time.perf_counter()
    for i, (task, record) in enumerate(run_all(function, todo, arguments.jobs, arguments.timeout), 1):
        journal.add({"class": task[0], **record})
        progress(i, len(todo), f"{record['status']:14} {task[0]}")
    elapsed = time.perf_counter() - started
    report([journal.records[t[0]] for t in tasks if t[0] in journal.records])
    print(f"\n{len(todo)} models run in {elapsed:.1f} s with {arguments.jobs} workers; {machine()}")

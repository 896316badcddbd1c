"""Steps, right-hand sides and events of CVODE beside those that the reference tool logged for the same runs.

    python benchmarks/solver_effort.py SWEEP.jsonl REFDIR

SWEEP.jsonl is what `references.py --resume` wrote, REFDIR has `simulate_passed.log` files of the reference tool, which
integrates with DASSL.  Its state events are compared with our restarts: a crossing after which derivatives and states
are as before is no event for a solver.  Models that did not match their reference are left out, and of those with
restarts on both sides the ten with most are shown.
"""

from __future__ import annotations

import argparse
import re
import statistics
from pathlib import Path

from tables import Journal, machine

LOGGED = {
    "steps": re.compile(r"Number of accepted steps *: *(\d+)"),
    "rhs": re.compile(r"Number of f-evaluations \(dynamics\) *: *(\d+)"),
    "jacobians": re.compile(r"Number of Jacobian-evaluations *: *(\d+)"),
    "state_events": re.compile(r"Number of state events *: *(\d+)"),
    "time_events": re.compile(r"Number of model time events *: *(\d+)"),
}
Pair = tuple[str, dict[str, int], dict[str, int]]  # a model, its numbers there, and here


def logged(file: Path) -> dict[str, int] | None:
    """What the reference tool counted; None where its log says something else."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    found = {what: pattern.search(text) for what, pattern in LOGGED.items()}
    return {what: int(match[1]) for what, match in found.items() if match} if all(found.values()) else None


def pairs(sweep: Path, references: Path) -> list[Pair]:
    """Matched models that both have counted."""
    found = []
    for name, record in Journal(sweep).records.items():
        there = logged(references.joinpath(*name.split(".")) / "simulate_passed.log")
        if record["status"] == "matched" and "effort" in record and there is not None:
            found.append((name, there, record["effort"]))
    return found


def ratio(what: str, found: list[Pair]) -> str:
    """Ours to theirs: median and 90th percentile, of models in which the reference tool makes a hundred or more."""
    ratios = sorted(here[what] / there[what] for _, there, here in found if there[what] >= 100)
    if not ratios:
        return "none with a hundred or more"
    high = ratios[min(len(ratios) - 1, int(0.9 * len(ratios)))]
    return f"median {statistics.median(ratios):.2f}, 90 % at most {high:.2f} ({len(ratios)} models)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sweep", type=Path)
    parser.add_argument("references", type=Path)
    arguments = parser.parse_args()
    found = pairs(arguments.sweep, arguments.references)
    print(f"{len(found)} matched models with a log; {machine()}")
    for what in ("steps", "rhs", "jacobians"):
        print(f"  {what:10} {ratio(what, found)}")
    print("\n| model | steps there | here | right-hand sides | here | state events | here | restarts |")
    print("|---|---|---|---|---|---|---|---|")
    most = sorted(found, key=lambda p: -min(p[1]["state_events"], p[2]["restarts"]))[:10]
    for name, there, here in most:
        numbers = (
            there["steps"],
            here["steps"],
            there["rhs"],
            here["rhs"],
            there["state_events"],
            here["state_events"],
        )
        print(f"| {name.rpartition('.')[2]} | {' | '.join(map(str, numbers))} | {here['restarts']} |")


if __name__ == "__main__":
    main()

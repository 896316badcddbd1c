"""Every fixed-step method by itself on the cases of fixed_step.py: how many stay within 1 % of CVODE at 1 ms.

    python benchmarks/fixed_step_methods.py MSLDIR REFDIR [--step 1e-3] [--events catch-up] [--most N] [--resume FILE]

Rule and measure are those of fixed_step.py; a model is compiled once and run with each method in turn, none of them
chosen for it.  That an explicit method leaves the range of a stiff model is the finding, not a fault of the run: the
table says for how many cases a method alone would do, and what choosing among them could reach at best (`any`).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from fixed_step import MOST_STATES, ROWS, SLACK_STEPS, WITHIN, reference_of, signal_errors, tasks_of
from kilohertz.base import ModelError
from kilohertz.solvers import METHODS
from library_sweep import session
from references import comparison_signals, experiment
from sweeps import absolute, add_options, sweep
from tables import Record, share


def run_one(task: tuple[str, str, str, str, float]) -> Record:
    """Runs in a worker: CVODE, then every method; `task[3]` is how events are handled."""
    from kilohertz.ir.step import Kind
    from kilohertz.simulate import Statistics

    name, folder, library, events, step = task
    settings = {k: v for k, v in experiment(Path(folder) / "creation.txt").items() if k in ("start", "stop")}
    try:
        model = session((library,)).model(name)
        equations = model.process()
        states = [v.name for v in equations.of_kind(Kind.STATE)]
        if not 1 <= len(states) <= MOST_STATES:
            return {"status": "not chosen"}
        compared = comparison_signals(Path(folder))
        names = [*states, *(n for n in compared if n in equations.variables or n in equations.aliases)]
        reference = reference_of(model, settings, names, step)
    except ModelError:
        return {"status": "not chosen"}
    fixed: Record = {"step": step, "events": events, "intervals": ROWS, "record": ["time", *names], **settings}
    errors: dict[str, float | None] = {}
    for method in METHODS:
        statistics = Statistics()
        try:
            result = model.simulate(solver=method, statistics=statistics, **fixed)
        except ModelError:
            errors[method] = None
            continue
        found = signal_errors(result, reference, names, SLACK_STEPS * step)
        errors[method] = None if statistics.counts.get("held") else max(found.values(), default=0.0)
    return {"status": "run", "states": len(states), "errors": errors}


def report(records: list[Record]) -> None:
    """One line per method, and what the best of all could reach."""
    ran = [r["errors"] for r in records if r["status"] == "run"]
    print(f"cases by the rule: {len(ran)} (looked at {len(records)})")
    print(f"{'method':12} {'within 1 %':>18} {'held/failed':>12} {'median error of those within':>30}")
    for method in METHODS:
        errors = [e[method] for e in ran]
        within = [x for x in errors if x is not None and x <= WITHIN]
        median = f"{float(np.median(within)):.1e}" if within else "-"
        print(f"{method:12} {share(len(within), len(ran)):>18} {sum(x is None for x in errors):12} {median:>30}")
    best = [min((x for x in e.values() if x is not None), default=np.inf) for e in ran]
    print(f"{'any':12} {share(sum(x <= WITHIN for x in best), len(ran)):>18}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("references", type=absolute, metavar="REFDIR")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--events", default="catch-up", help="how events are handled (default: catch-up)")
    parser.add_argument("--most", type=int, help="stop after so many cases")
    add_options(parser)
    arguments = parser.parse_args()

    tasks = tasks_of(arguments.references, arguments.library, arguments.events, arguments.step)[: arguments.most]
    sweep(run_one, tasks, arguments, report, ("run", "not chosen"))


if __name__ == "__main__":
    main()

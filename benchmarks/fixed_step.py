"""Fixed steps of 1 ms with the method that `auto` chooses, against CVODE on the same model.

    python benchmarks/fixed_step.py MSLDIR [REFDIR] [--step 1e-3] [--solver auto|tune|NAME] [--most N]
                                    [--also DIR]... [--package P]... [--resume F.jsonl] [--jobs 2]

The rule.  Cases are all models of the Modelica library with a published reference and an experiment of at most 10 s;
they are run in the order of the SHA-1 of their names, so that any first part of them is a fair sample.  A case counts
when the model has 1 to 100 states and CVODE simulates it; the others are listed as not chosen, with the reason.

Without REFDIR cases are all classes with an experiment annotation of the packages in the folder (--package: of these
alone; --also: where used libraries are), the first 10 s of each experiment, and signals are the states.

The measure.  Signals are the states and the comparison signals of the reference.  At each row of the fixed-step run
the distance to what CVODE's signal takes within two steps before or after is divided by the range of CVODE's signal
(for one that does not move: by 0.001, or a thousandth of its size).  A case is within when no signal is off by more
than 1 %.  The time slack is there because an event in a step of 1 ms may be handled at its end; it is not a percentage
of the run.  CVODE has a row per step and goes on for the slack after the end, so that its signal is known there.

Cases that are outside are run with CVODE at a hundredth of the tolerance too: a signal that is off by more than 1 %
there, by the same measure, has no reference (a chaotic model, or numbers that are zero but for rounding).  The case
still counts as outside; the report names it where all other signals are within.

Internal steps.  `auto` may take several internal steps of the whole model in each step of 1 ms.  Where it does, the
case is run again with `internal_steps=1`, and both shares are printed: with internal steps allowed, and without.

With `--solver tune` the settings are those that `tune` takes for an error of 0.5 %; it may take internal steps as it
likes, and no case is run again without them.

With --resume, what is in the file is not run again; --retry runs those again that were not within.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kilohertz.base import ModelError
from library_sweep import experiments, session
from references import cases, comparison_signals, experiment
from sweeps import absolute, add_options, sweep
from tables import Record, print_causes, share

if TYPE_CHECKING:
    from kilohertz.results import Result
    from kilohertz.simulate import Statistics

LONGEST, MOST_STATES, WITHIN = 10.0, 100, 0.01
SLACK_STEPS, ROWS = 2, 500
Task = tuple[str, str, tuple[str, ...], str, float]  # class name, folder of the reference, libraries, solver, step


def run_one(task: Task) -> Record:
    """Runs in a worker: CVODE, then fixed steps, then the errors."""
    from kilohertz.ir.flat import Purpose
    from kilohertz.ir.step import Kind

    name, folder, libraries = task[:3]
    try:
        model = session(libraries).model(name)
        step = model.process()
        settings = times_of(model, folder)
        states = [v.name for v in step.of_kind(Kind.STATE)]
        if not 1 <= len(states) <= MOST_STATES:
            return _not_chosen("no states" if not states else f"more than {MOST_STATES} states")
        asked = comparison_signals(Path(folder)) if folder else []
        compared = (n for n in asked if n in step.variables or n in step.aliases)
        declared = (n for n in states if step.variables[n].purpose is Purpose.DECLARED)  # not those chosen in the run
        names = [*declared, *compared]
        reference = reference_of(model, settings, names, task[4])
    except ModelError as error:
        return _not_chosen(f"CVODE does not simulate it: {error.diagnostics[0].message}")
    record = _fixed(model, reference, settings, names, task)
    more: Record = {}
    if record["internal_steps"] > 1 and task[3] != "tune":
        more["one"] = _fixed(model, reference, settings, names, task, internal_steps=1)
    if record["status"] == "outside":
        more["known"] = _known_error(model, reference, settings, record["errors"], task[4])
    for part in (record, more.get("one", record)):
        part.pop("errors", None)
    return {"states": len(states), **record, **more}


def times_of(model: Any, folder: str) -> dict[str, float]:
    """Start and stop: those of the reference, or of the first seconds of the experiment."""
    from kilohertz.simulate.experiment import experiment_times

    if folder:
        return {k: v for k, v in experiment(Path(folder) / "creation.txt").items() if k in ("start", "stop")}
    start, stop = experiment_times(model.compile(), None, None)
    return {"start": start, "stop": min(stop, start + LONGEST)}


def _known_error(model: Any, reference: Result, settings: Record, errors: dict[str, float], step: float) -> float:
    """The largest error of signals on which CVODE agrees with itself at a tighter tolerance; 0 where it fails there."""
    try:
        tight = reference_of(model, settings, list(errors), step, 1e-9)
    except ModelError:
        return 0.0
    own = signal_errors(tight, reference, list(errors), SLACK_STEPS * step)
    return max((e for n, e in errors.items() if own.get(n, 0.0) <= WITHIN), default=0.0)


def reference_of(model: Any, settings: Record, names: list[str], step: float, tolerance: float = 1e-7) -> Result:
    stop = settings["stop"] + min(SLACK_STEPS * step, settings["stop"] - settings["start"])
    rows = max(ROWS, round((stop - settings["start"]) / step))
    result: Result = model.simulate(
        start=settings["start"], stop=stop, intervals=rows, tolerance=tolerance, record=["time", *names]
    )
    return result


def _not_chosen(why: str) -> Record:
    return {"status": "not chosen", "message": why}


def _fixed(
    model: Any, reference: Result, settings: Record, names: list[str], task: Task, internal_steps: int | None = None
) -> Record:
    from kilohertz.simulate import Statistics

    statistics = Statistics()
    stepping: Record = {"solver": task[3], "step": task[4], "internal_steps": internal_steps}
    tuned: Record = {}
    try:
        if task[3] == "tune":
            found = model.tune(step=task[4], internal_steps=internal_steps, **settings)
            stepping, tuned = found.keywords, {"tuned": found.chosen.title, "trials": len(found.points), "ok": found.ok}
        result = model.simulate(intervals=ROWS, statistics=statistics, record=["time", *names], **stepping, **settings)
    except ModelError as error:
        message = error.diagnostics[0].message
        return {"status": "failed", "message": message} | _taken(statistics)
    record: Record = {"counts": statistics.counts} | _taken(statistics) | tuned
    if statistics.counts.get("held"):
        return record | {"status": "held", "message": "steps failed and were held"}
    errors = signal_errors(result, reference, names, SLACK_STEPS * task[4])
    worst = sorted(errors.items(), key=lambda e: -e[1])[:3]
    record |= {"error": worst[0][1] if worst else 0.0, "worst": worst, "signals": len(errors), "errors": errors}
    fine = record["error"] <= WITHIN
    return record | {"status": "within" if fine else "outside", "message": "" if fine else "more than 1 % of the range"}


def _taken(statistics: Statistics) -> Record:
    """What `auto` took, and its reasons."""
    how = statistics.stepping
    method = "none" if how is None else how.solver + (", inlined" if how.inline else "")
    internal_steps = 1 if how is None else how.internal_steps
    return {"method": method, "internal_steps": internal_steps, "notes": statistics.notes}


def signal_errors(result: Result, reference: Result, names: list[str], slack: float) -> dict[str, float]:
    """For each signal the largest distance, as a share of its range."""
    from kilohertz.compare.curve import Curve

    found = {}
    for name in dict.fromkeys(names):
        if name not in result or name not in reference:
            continue
        around, value = Curve(reference.time, reference[name]), result[name]
        if not np.isfinite(value).all():
            found[name] = float("inf")
            continue
        t = result.time
        high, low = around.highest(t - slack, t + slack), around.lowest(t - slack, t + slack)
        extent, size = float(np.ptp(around.value)), float(np.abs(around.value).max())
        scale = extent if extent > 1e-6 * max(size, 1e-3) else max(1e-3 * size, 1e-3)
        found[name] = float(np.maximum(np.maximum(value - high, low - value), 0.0).max()) / scale
    return found


def tasks_of(references: Path, library: Path, solver: str, step: float) -> list[Task]:
    """The cases by the rule, in the order of their hashes."""
    found: list[Task] = []
    for name, folder, where in cases(references, library, "Modelica."):
        settings = experiment(Path(folder) / "creation.txt")
        if name.startswith("Modelica.") and "stop" in settings and settings["stop"] - settings["start"] <= LONGEST:
            found.append((name, folder, (where,), solver, step))
    return by_hash(found)


def own_tasks(libraries: tuple[str, ...], packages: list[str], solver: str, step: float) -> list[Task]:
    """Every class with an experiment of these packages, or of all in the first folder."""
    from kilohertz.driver import Session

    own = Session(libraries[:1]).libraries.names()
    wanted = packages or [name for name in own if name != "Kilohertz"]
    return by_hash([(name, "", libraries, solver, step) for name in experiments(libraries, wanted)])


def by_hash(tasks: list[Task]) -> list[Task]:
    return sorted(tasks, key=lambda t: hashlib.sha1(t[0].encode()).hexdigest())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("references", type=absolute, metavar="REFDIR", nargs="?")
    parser.add_argument("--also", action="append", type=absolute, default=[], help="where used libraries are")
    parser.add_argument("--package", action="append", default=[], help="without REFDIR: only of this package")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--most", type=int, help="stop after so many cases")
    add_options(parser)
    arguments = parser.parse_args()

    if arguments.references is not None:
        tasks = tasks_of(arguments.references, arguments.library, arguments.solver, arguments.step)
    else:
        libraries = (str(arguments.library), *map(str, arguments.also))
        tasks = own_tasks(libraries, arguments.package, arguments.solver, arguments.step)
    sweep(run_one, tasks[: arguments.most], arguments, report, ("within", "not chosen"))


def report(records: list[Record]) -> None:
    """The share within 1 %, by method; the others by cause."""
    chosen = [r for r in records if r["status"] != "not chosen"]
    within = [r for r in chosen if r["status"] == "within"]
    print(f"cases by the rule: {len(chosen)} (looked at {len(records)})")
    print(f"  within 1 % of CVODE, internal steps allowed  {share(len(within), len(chosen))}")
    if not any("tuned" in r for r in chosen):
        alone = [r for r in chosen if r.get("one", r)["status"] == "within"]
        print(f"  within 1 % of CVODE, one internal step       {share(len(alone), len(chosen))}")
    several = [r for r in chosen if r.get("internal_steps", 1) > 1]
    print(
        f"  internal steps taken in {len(several)} cases, most {max((r['internal_steps'] for r in several), default=1)}"
    )
    if within:
        print(f"  median error of these {float(np.median([r['error'] for r in within])):.1e} of the range")
    vague = [r["class"] for r in chosen if r.get("known", 1.0) <= WITHIN]
    print(f"  outside only in signals on which CVODE does not agree with itself: {len(vague)}")
    for name in vague:
        print(f"    {name}")
    by_method: dict[str, list[Record]] = {}
    for r in chosen:
        by_method.setdefault(r.get("method", "none"), []).append(r)
    for name, group in sorted(by_method.items(), key=lambda g: -len(g[1])):
        print(f"  {name:12} {share(sum(r['status'] == 'within' for r in group), len(group))}")
    print("\nnot within, by cause")
    print_causes([r for r in chosen if r["status"] != "within"])
    for r in sorted((r for r in chosen if r["status"] == "outside"), key=lambda r: r["error"]):
        print(f"  {r['error']:9.2e}  {r['method']:10} {r['class']}  {r['worst'][0][0]}")
    print("\nnot chosen, by cause")
    print_causes([r for r in records if r["status"] == "not chosen"])


if __name__ == "__main__":
    main()

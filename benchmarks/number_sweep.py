"""Fixed steps in single precision beside the same steps in doubles, over models of the Modelica library.

    python benchmarks/number_sweep.py MSLDIR REFDIR [--step 1e-3] [--most N] [--public CASES.csv] [--resume F.jsonl]
                                                    [--jobs 2] [--timeout 300]

Cases are those of `fixed_step.py`, in its order (the SHA-1 of their names: any first part is a fair sample), or the
models that a CSV has in its first column.  Each is run with the method that `auto` takes in doubles, and with the same
settings in singles.  A case counts when it has 1 to 100 states, CVODE simulates it, and the run in doubles ends, holds
no step and is within 1 % of CVODE (the measure of `fixed_step.py`).

fine     the run in singles ends, holds no step, and is within 1 % of CVODE too
outside  it ends, and a signal is further off: the error beside CVODE, beside the run in doubles, and the signals
edge     so is a run in doubles with a step that is a thousandth shorter: an event lies on the border of a step
zero     only signals are that CVODE has as zero but for rounding: its own are below 1e-6
held, NaN, failed, refused
         it does not get so far; told or not: a run that is outside without a word from it is the bad one

Printed are the shares, a row for each case that is not fine, and causes.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fixed_step import MOST_STATES, ROWS, SLACK_STEPS, WITHIN, Task, reference_of, signal_errors, tasks_of
from kilohertz.base import ModelError
from library_sweep import session
from references import cases, comparison_signals, experiment
from sweeps import absolute, add_options, sweep
from tables import Record, print_causes, share

if TYPE_CHECKING:
    from kilohertz.results import Result

COUNTED = ("held", "newton_caps", "not_finite", "event_caps", "state_events", "time_events")
REFUSED = ("R776",)
ZERO, SHORTER = 1e-6, 0.999


def run_one(task: Task) -> Record:
    """Runs in a worker: CVODE, doubles, singles, and what is between them."""
    from kilohertz.ir.flat import Purpose
    from kilohertz.ir.step import Kind

    name, folder, libraries, _, step = task
    settings = {k: v for k, v in experiment(Path(folder) / "creation.txt").items() if k in ("start", "stop")}
    try:
        model = session(libraries).model(name)
        form = model.process()
        states = [v.name for v in form.of_kind(Kind.STATE)]
        if not 1 <= len(states) <= MOST_STATES:
            return _not_chosen("no states" if not states else f"more than {MOST_STATES} states")
        compared = (n for n in comparison_signals(Path(folder)) if n in form.variables or n in form.aliases)
        declared = (n for n in states if form.variables[n].purpose is Purpose.DECLARED)
        names = list(dict.fromkeys([*declared, *compared]))
        reference = reference_of(model, settings, names, step)
        exact, of_doubles, how = _run(model, names, settings, {"solver": "auto", "step": step})
    except ModelError as error:
        return _not_chosen(f"not in doubles: {error.diagnostics[0].message}")
    record: Record = {"states": len(states), "method": how["solver"], "doubles": of_doubles}
    record["error_of_doubles"], _ = _worst(signal_errors(exact, reference, names, SLACK_STEPS * step))
    if of_doubles.get("held") or record["error_of_doubles"] > WITHIN:
        return record | _not_chosen("doubles are held, or more than 1 % off")
    return record | _in_singles(model, names, settings, how, (exact, reference))


def _run(model: Any, names: list[str], settings: Record, how: Record) -> tuple[Result, Record, Record]:
    """The result, what was counted, and the settings that were taken."""
    from kilohertz.simulate import Statistics

    statistics = Statistics()
    result = model.simulate(intervals=ROWS, statistics=statistics, record=["time", *names], **how, **settings)
    taken = statistics.stepping
    assert taken is not None
    found = {k: v for k, v in statistics.counts.items() if v} | {
        "state_events": statistics.state_events,
        "time_events": statistics.time_events,
        "warnings": [w.message for w in statistics.warnings],
    }
    given = {k: getattr(taken, k) for k in taken.given} | {"solver": taken.solver}
    return result, found, given


def _in_singles(model: Any, names: list[str], settings: Record, how: Record, beside: tuple[Result, Result]) -> Record:
    """The verdict on the run in singles."""
    record: Record = {}
    step = how["step"]
    try:
        rounded, record["singles"], _ = _run(model, names, settings, how | {"number": "single"})
    except ModelError as error:
        first = error.diagnostics[0]
        status = "refused" if first.code in REFUSED else "failed"
        return {"status": status, "code": first.code, "message": first.message}
    exact, reference = beside
    record["error"], record["of"] = _worst(signal_errors(rounded, reference, names, SLACK_STEPS * step))
    record["beside"], record["beside_of"] = _worst(signal_errors(rounded, exact, names, SLACK_STEPS * step))
    if not np.isfinite(record["error"]):
        return record | {"status": "NaN", "message": "a signal is no number"}
    if record["singles"].get("held"):
        return record | {"status": "held", "message": "; ".join(record["singles"]["warnings"])}
    if record["error"] <= WITHIN:
        return record | {"status": "fine"}
    found = signal_errors(rounded, reference, names, SLACK_STEPS * step)
    far = {n: e for n, e in found.items() if e > WITHIN}
    record["far"] = [n for n, _ in sorted(far.items(), key=lambda f: -f[1])[:3]]
    said = "; ".join(record["singles"]["warnings"]) or "nothing said"
    if all(float(np.abs(reference[n]).max()) < ZERO for n in far):
        return record | {"status": "zero", "message": said}
    other, _, _ = _run(model, names, settings, how | {"step": SHORTER * step})
    edge, _ = _worst(signal_errors(other, reference, names, SLACK_STEPS * step))
    return record | {"status": "edge" if edge > WITHIN else "outside", "message": said}


def _worst(errors: dict[str, float]) -> tuple[float, str]:
    return max(((e, n) for n, e in errors.items()), default=(0.0, ""))


def _not_chosen(why: str) -> Record:
    return {"status": "not chosen", "message": why}


def public_tasks(file: Path, references: Path, library: Path, step: float) -> list[Task]:
    """The models of a list, in its order."""
    with file.open(newline="", encoding="utf-8") as rows:
        names = [row["model"] for row in csv.DictReader(rows)]
    found = {name: (folder, where) for name, folder, where in cases(references, library, "Modelica.")}
    return [(n, found[n][0], (found[n][1],), "auto", step) for n in names if n in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("references", type=absolute, metavar="REFDIR")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--most", type=int, help="stop after so many cases")
    parser.add_argument("--public", type=absolute, metavar="CASES.csv", help="the models in the first column of this")
    add_options(parser)
    arguments = parser.parse_args()
    where = (arguments.references, arguments.library)
    tasks = (
        public_tasks(arguments.public, *where, arguments.step)
        if arguments.public
        else tasks_of(*where, "auto", arguments.step)
    )
    sweep(run_one, tasks[: arguments.most], arguments, report, ("fine", "not chosen"))


def report(records: list[Record]) -> None:
    """Shares, a row for each that is not fine, causes."""
    chosen = [r for r in records if r["status"] != "not chosen"]
    print(f"cases by the rule: {len(chosen)} (looked at {len(records)})")
    for status in sorted({r["status"] for r in chosen}, key=lambda s: (s != "fine", s)):
        print(f"  {status:10} {share(sum(r['status'] == status for r in chosen), len(chosen))}")
    beside = [r["beside"] for r in chosen if r["status"] == "fine"]
    if beside:
        worst = np.quantile(beside, [0.5, 0.9, 1.0])
        print(f"  beside doubles, of the fine: median {worst[0]:.1e}, nine in ten {worst[1]:.1e}, most {worst[2]:.1e}")
    print(
        "\n| model, method | end | error of doubles | of singles | beside doubles (signal) | counted, double / single |"
    )
    print("|---|---|---|---|---|---|")
    for r in sorted((r for r in chosen if r["status"] != "fine"), key=lambda r: (r["status"], r["class"])):
        print(f"| {r['class']}, {r.get('method', '')} | {r['status']} | {' | '.join(_cells(r))} |")
    print("\nnot fine, by cause")
    print_causes([r for r in chosen if r["status"] != "fine"])
    print("\nnot chosen, by cause")
    print_causes([r for r in records if r["status"] == "not chosen"])


def _cells(record: Record) -> list[str]:
    cells = [f"{record[k]:.1e}" if k in record else "–" for k in ("error_of_doubles", "error")]
    cells.append(
        f"{record['beside']:.1e} ({', '.join(record.get('far', [record['beside_of']]))})"
        if "beside" in record
        else record.get("code", "–")
    )
    counts = [record.get(k, {}) for k in ("doubles", "singles")]
    shown = [f"{what} {counts[0].get(what, 0)} / {counts[1].get(what, 0)}" for what in COUNTED]
    return [*cells, ", ".join(s for s in shown if not s.endswith(" 0 / 0"))]


if __name__ == "__main__":
    main()

"""Random models whose answers are known by construction, through every door: silent wrong values, errors, false alarms.

    python benchmarks/random_models.py [--count 200] [--seed 1] [--first 0] [--jobs 2] [--only KIND ...] [--show]

A model is made of parts (`randomly/`), each around another structure of the language, joined by signals; its answers
are computed in Python.  It runs with CVODE, IDA, fixed steps and inlined ones, as it is, inherited, as a component and
in an array; some run as a task and as an FMU of our own.  These models are valid: any diagnostic is an alarm.
A failing model is shrunk: parts are left out while it still fails in the same way.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from kilohertz.base import InternalError, ModelError, ModelWarning
from randomly.doors import DOORS, Door, run_door
from randomly.making import KINDS, make
from randomly.parts import GRID, STOP, Answers, Model, UnsureError
from tables import Record, machine
from workers import run_all

ROWS = 64  # intervals of the output; answers are asked for halfway between events


def wrong_values(model: Model, door: Door, result: Any) -> tuple[list[str], int]:
    """What differs from its answer, with the parts at fault; how many values were looked at."""
    answers, wrong, seen = Answers(model), [], 0
    rows = {round(t * ROWS): i for i, t in enumerate(result.time) if abs(t * ROWS - round(t * ROWS)) < 1e-6}
    for part in model.parts:
        for name, code in part.checks:
            column = result.get(door.prefix + name)
            for k in range(2, ROWS, ROWS // GRID):
                try:
                    value = float(answers.at(k / ROWS * STOP).value(code))
                except UnsureError:
                    continue
                seen += 1
                if column is None and door.name == "task":
                    break  # what is constant is not recorded
                if column is None:
                    wrong.append(f"{part.kind}: {name} is not in the result")
                    break
                found, limit = float(column[rows[k]]), door.tolerance * part.loose * (1 + abs(value))
                if not abs(found - value) <= limit:
                    wrong.append(f"{part.kind}: {name} is {found!r} at {k / ROWS}, not {value!r}")
                    break
    return wrong, seen


def failures(model: Model, door: Door, file: Path) -> tuple[list[str], int]:
    """What is wrong at one door, each in a line that begins with its cause; and how many values were looked at."""
    file.write_text(model.text())
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        try:
            result = run_door(door, file)
        except ModelError as error:
            d = error.diagnostics[0]
            return [f"refused {d.code}: {d.message}"], 0
        except InternalError as error:
            return [f"internal: {error}"], 0
        except Exception as error:
            return [f"internal {type(error).__name__}: {error}"], 0
    heard = [str(w.message).splitlines()[0] for w in caught if issubclass(w.category, ModelWarning)]
    said += [f"alarm {text}" for text in heard if "warning[R72" in text]  # steps failed, values are no numbers
    wrong, seen = wrong_values(model, door, result)
    return [f"wrong: {w}" for w in wrong] + said, seen


def cause(line: str) -> str:
    """Of a failure without names: two are the same where this is."""
    return " ".join(line.split(":")[:2] if line.startswith("wrong") else line.split()[:2])


def shrunk(model: Model, door: Door, first: str, file: Path) -> Model:
    """The fewest parts that fail in the same way."""
    k, tries = len(model.parts) - 1, 0
    while k >= 0 and tries < 40:
        smaller = model.without(k)
        tries += 1
        if smaller.parts and any(cause(f) == first for f in failures(smaller, door, file)[0]):
            model = smaller
            k = min(k, len(model.parts))
        k -= 1
    return model


def work(task: tuple[str, tuple[str, ...], bool]) -> Record:
    """One model through some doors."""
    seed, only, shrink = task
    r = random.Random(seed)
    model = make(r, seed, only)
    file, found, seen, runs = Path("m.mo").absolute(), [], 0, Counter[str]()
    for door in DOORS:
        if r.random() >= door.share:
            continue
        failed, n = failures(model, door, file)
        seen, runs[door.name] = seen + n, 1
        if failed:
            first = cause(failed[0])
            small = shrunk(model, door, first, file) if shrink else model
            again = failures(small, door, file)[0]
            found.append({"door": door.name, "cause": first, "lines": (again or failed)[:5], "model": small.text()})
            break
    kinds = Counter(p.kind for p in model.parts)
    return {"status": "ok", "found": found, "seen": seen, "runs": dict(runs), "kinds": dict(kinds)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="number of the first model")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], choices=sorted(KINDS), help="parts, beside the signals")
    parser.add_argument("--show", action="store_true", help="print the first model and its answers; run nothing")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("-o", "--output", type=Path, help="failures as lines of JSON")
    asked = parser.parse_args()
    seeds = [f"{asked.seed}/{k}" for k in range(asked.first, asked.first + asked.count)]
    if asked.show:
        print(make(random.Random(seeds[0]), seeds[0], tuple(asked.only)).text())
        return 0
    return report(asked, seeds)


def report(asked: argparse.Namespace, seeds: list[str]) -> int:
    tasks = [(s, tuple(asked.only), not asked.no_shrink) for s in seeds]
    causes, runs, kinds, seen = Counter[str](), Counter[str](), Counter[str](), 0
    begun = time.perf_counter()
    for (seed, *_), record in run_all(work, tasks, asked.jobs, 300):
        if record["status"] != "ok":
            record["found"] = [{"door": "?", "cause": record["status"], "lines": [str(record)[-600:]], "model": ""}]
        runs.update(record.get("runs", {}))
        kinds.update(record.get("kinds", {}))
        seen += record.get("seen", 0)
        for f in record["found"]:
            causes[f["cause"]] += 1
            print(f"{seed}, {f['door']}: " + "\n    ".join(f["lines"]), flush=True)
            if asked.output:
                with asked.output.open("a") as out:
                    out.write(json.dumps({"seed": seed, **f}) + "\n")
    print("\n| parts of a kind | in models |\n|---|---|")
    for kind, n in sorted(kinds.items()):
        print(f"| {kind} | {n} |")
    print(
        f"\n{len(seeds)} models, {kinds.total()} features of {len(kinds)} kinds, seed {asked.seed}, {dict(runs)} runs,"
    )
    took = f"{time.perf_counter() - begun:.0f} s; {machine()}"
    print(f"{seen} values looked at, failures {causes.total()}: {dict(causes)}; {took}")
    return 1 if causes else 0


if __name__ == "__main__":
    sys.exit(main())

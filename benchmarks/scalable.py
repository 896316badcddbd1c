"""How cost grows on models that come in many sizes: casella/ScalableTestSuite, family by family, phase by phase.

    python benchmarks/scalable.py LIBRARY [--only TEXT] [--budget 300] [--family 600]    LIBRARY: its folder; needs MSL
    python benchmarks/scalable.py LIBRARY --child 'MODEL(N = 100000)'            one model, in the caches as they are

A family is the experiments whose names differ in numbers alone.  Its members are run from the smallest on, each in a
fresh process with empty caches but for parsed libraries and the runtime, until one takes more than `--budget` seconds
of processor time, or the family more than `--family` in all.  After one that took a third of what is left, the next is
not tried, which is said, where it would take 1.25 times as much as is left if time grew in proportion to size.

Printed for each: equations, processor seconds of each phase (of the C compilers too; *draft* is compiling as an
off-line run begins with it), peak memory, steps of the run; and at the end for the largest member of each family,
between the two members with most equations, the exponents of growth with the number of equations, of phases that took a
second, and of a run also that of one step.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

from linear_growth import processor_seconds
from tables import machine

PHASES = ("flatten", "check", "process", "generate", "draft", "simulate")
Numbers = dict[str, float]


def child(name: str, library: str) -> Numbers:
    """One model, phase by phase."""
    from kilohertz.driver import Session
    from kilohertz.driver.stages import units_for_seldom_jacobians
    from kilohertz.simulate import Statistics, load_soon, simulate

    gc.disable()  # as `khz` does; else what was compiled is searched for cycles in the middle of the run
    numbers: Numbers = {}
    model = Session([library]).model(name)

    def mark(phase: str, since: float) -> float:
        now = processor_seconds()
        numbers[phase] = now - since
        return now

    at = processor_seconds()
    model.flatten()
    at = mark("flatten", at)
    numbers["equations"] = model.check().equations
    at = mark("check", at)
    model.process()
    at = mark("process", at)
    built = units_for_seldom_jacobians(model._work)
    at = mark("generate", at)
    program = load_soon(built)
    at = mark("draft", at)
    statistics = Statistics()
    simulate(program, statistics=statistics)
    mark("simulate", at)
    numbers["steps"] = statistics.steps
    numbers["mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return numbers


def families(library: Path, only: str) -> list[list[str]]:
    from kilohertz.driver import Session

    def family(name: str) -> str:
        return re.sub(r"\d+", "N", name)

    names = [n for n in Session([library]).experiments(["ScalableTestSuite"]) if only in n and re.search(r"\d", n)]
    ordered = sorted(names, key=lambda n: (family(n), size(n)))
    return [list(members) for _, members in groupby(ordered, family)]


def size(name: str) -> int:
    return math.prod(map(int, re.findall(r"\d+", name.rpartition(".")[2])))


def run(name: str, library: Path, budget: float, environment: dict[str, str]) -> Numbers | None:
    """None where it did not come to its end within the budget, or failed."""
    command = [sys.executable, __file__, str(library), "--child", name]
    limited = f'ulimit -t {math.ceil(budget)}; exec "$@"'  # of processor time
    done = subprocess.run(
        ["bash", "-c", limited, "bash", *command], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode == 0:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    last = done.stderr.strip().splitlines()[-1:] or [f"ended by signal {-done.returncode}"]
    print(f"| {name.rpartition('.')[2]} | | {last[0][:80]} |", flush=True)
    return None


def exponents(small: Numbers, large: Numbers) -> str:
    grown = math.log(large["equations"] / small["equations"])
    found = {p: math.log(large[p] / small[p]) / grown for p in PHASES if large[p] >= 1.0 and small[p] > 0.0}
    if "simulate" in found and small["steps"] and large["steps"]:
        found["step"] = found["simulate"] - math.log(large["steps"] / small["steps"]) / grown
    return ", ".join(f"{phase} {e:.2f}" for phase, e in found.items()) or "all below a second"


def seconds(numbers: Numbers) -> float:
    return sum(numbers[p] for p in PHASES)


def row(name: str, numbers: Numbers) -> str:
    times = " | ".join(f"{numbers[p]:.2f}" for p in PHASES)
    short = name.rpartition(".")[2]
    return f"| {short} | {numbers['equations']:.0f} | {times} | {numbers['mib']:.0f} | {numbers['steps']:.0f} |"


def measure(members: list[str], library: Path, arguments: argparse.Namespace, environment: dict[str, str]) -> str:
    """The largest member of a family, with the exponents of growth to it; empty where none ended."""
    found: list[tuple[str, Numbers]] = []
    left = arguments.family
    for name in members:
        if len(found) > 1:
            last, took = found[-1][0], seconds(found[-1][1])
            expected, most = took * size(name) / size(last), min(arguments.budget, left)
            if took > most / 3 and expected > 1.25 * most:
                print(f"| {name.rpartition('.')[2]} | | not tried: {expected:.0f} s in proportion |", flush=True)
                break
        numbers = run(name, library, min(arguments.budget, left), environment)
        if numbers is None:
            break
        found.append((name, numbers))
        left -= seconds(numbers)
        print(row(name, numbers), flush=True)
    ordered = sorted({n["equations"]: (name, n) for name, n in found}.values(), key=lambda f: f[1]["equations"])[-2:]
    if not ordered:
        return ""
    return f"{row(*ordered[-1])} {exponents(ordered[0][1], ordered[1][1]) if len(ordered) > 1 else '–'} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=300.0)
    parser.add_argument("--family", type=float, default=math.inf)
    parser.add_argument("--child", default="")
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(arguments.child, str(arguments.library))))
        return
    head = f"| model | equations | {' | '.join(PHASES)} | MiB | steps |"
    rule = f"|---{'|---' * (len(PHASES) + 3)}|"
    print(f"{machine()}\n\n{head}\n{rule}", flush=True)
    largest: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"KHZ_CACHE_DIR": folder}
        for members in families(arguments.library, arguments.only):
            largest.append(measure(members, arguments.library, arguments, environment))
    print(f"\n{head} exponents |\n{rule}---|", *filter(None, largest), sep="\n")


if __name__ == "__main__":
    main()

"""A car at four levels of detail in a double lane change, beside Elmqvist et al. 2004: sizes, errors, cost of a step.

    python benchmarks/vehicles.py [1] ... [4] [--parts sizes compile errors cost] [--seconds 8] [--runs 5]

sizes    equations, states, linear and nonlinear systems before and after tearing
compile  processor seconds of a fresh process with an empty cache, from the source to a loaded program, gcc apart
errors   of side acceleration, yaw rate and roll in parts of their peaks, against CVODE, at 1 and 0.1 ms (levels 1, 2)
cost     instructions of a mean step by callgrind; times as `papers.py` has them

The paper's figures: 15, 15, 36, 72 degrees of freedom, 40, 40, 118, 154 states, linear systems of about 10, 10, 20, 20;
0.1, 0.3, 1.3, < 1 ms for a step of 1 ms on a Pentium 4 of 3 GHz; errors of the side acceleration below 0.25 % (levels 1
and 2) and 0.5 % (level 4).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

import kilohertz
from kilohertz.results import Result
from papers import Case, Measuring, cost_of, counted_instructions
from tables import machine

MODEL = "Kilohertz.Examples.Handling.LaneChange{}"
SIGNALS = ("car.chassis.a_y", "car.chassis.yaw_rate", "car.chassis.roll")
PARTS = ("sizes", "compile", "errors", "cost")
METHODS = {1: ("euler", 1), 2: ("euler", 1), 3: ("ieuler", 10), 4: ("ieuler", 10)}  # and how long a Jacobian is kept
TOLERANCE = {1: 1e-8, 2: 1e-8, 3: 1e-7, 4: 1e-7}  # of CVODE
STEPS = {1: (1e-3, 1e-4), 2: (1e-3, 1e-4), 3: (1e-3,), 4: (1e-3, 2e-3)}


def sizes(level: int, _: Measuring) -> None:
    model = kilohertz.load(MODEL.format(level))
    analysis = model.analyse()
    loops = [loop for loop in analysis.loops if loop.partition == "step"]
    nonlinear = sum(loop.kind != "linear" for loop in loops)
    torn = ", ".join(f"{loop.size} > {loop.torn_size}" for loop in sorted(loops, key=lambda one: -one.torn_size))
    print(f"  {model.check().equations} equations, {len(analysis.states)} states", end="; ")
    print(f"nonlinear systems: {nonlinear}; linear: {torn}")


def compiling(level: int, _: Measuring) -> None:
    """In a process of its own, nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", str(level)]
        environment = os.environ | {"KHZ_CACHE_DIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    print(f"  {done.stdout.strip() or done.stderr[-500:]}")


def child(level: str) -> None:
    kilohertz.load(MODEL.format(level)).compile()
    own, gcc = (resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"compiled in {own:.1f} s of processor time, and {gcc:.1f} s of the C compiler (and the runtime)")


def errors(level: int, _: Measuring) -> None:
    model = kilohertz.load(MODEL.format(level))
    exact = model.simulate(tolerance=TOLERANCE[level], intervals=8000)
    solver, kept = METHODS[level]
    for step in STEPS[level]:
        run = model.simulate(solver=solver, step=step, jacobian_every=kept, intervals=round(8 / max(step, 1e-3)))
        off = ", ".join(f"{name.split('.')[-1]} {100 * _off(run, exact, name):.3f} %" for name in SIGNALS)
        print(f"  {solver} at {step * 1e3:g} ms against CVODE at {TOLERANCE[level]:g}: {off}")


def _off(run: Result, exact: Result, name: str) -> float:
    right = np.interp(run.time, exact.time, exact[name])
    return float(np.abs(run[name] - right).max() / np.abs(right).max())


def cost(level: int, measuring: Measuring) -> None:
    solver, kept = METHODS[level]
    case = Case(MODEL.format(level), solver, 1e-3, SIGNALS, 8.0, counted_from=0.5, jacobian_every=kept)
    counted = f"{counted_instructions(case)} instructions" + " with a Jacobian in each step" * (kept > 1)
    words = f", a Jacobian every {kept} steps" * (kept > 1)
    print(f"  {solver} at 1 ms{words}: {counted}; {cost_of(case, measuring)}")


RUNS = {"sizes": sizes, "compile": compiling, "errors": errors, "cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("levels", nargs="*", type=int, default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=float, default=8.0, help="of model time for the cost of a step")
    parser.add_argument("--runs", type=int, default=5, help="of which the shortest time of each cycle counts")
    arguments = parser.parse_args()
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}")
    for level in arguments.levels:
        print(f"level {level}", flush=True)
        for part in arguments.parts:
            RUNS[part](level, Measuring(arguments.seconds, arguments.runs, None))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main()

"""Inline integration on two models of the standard library: what is left to iterate on, and the cost of a step.

    python benchmarks/step_inline.py [--step 1e-3] [--steps 20] [--compare 0.2] [MODEL ...]
                                                                                 needs valgrind and MODELICAPATH

For each model: states, the nonlinear and linear systems of an inlined stage, and instructions per step (callgrind, mean
over the steps after the first --skip) of implicit Euler and SDIRK2 with the stages solved by simplified Newton on the
states (2 iterations, Jacobian every step) and inlined (Newton until converged, at most 6).  One program has both.
With --compare the trajectories up to that time instead: the largest difference of a state, relative to its range (at
least 1e-3), between inlined stages and 25 Newton iterations on the states.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from kilohertz import Model, load
from kilohertz.driver.analysing.analysis_text import stage_text
from kilohertz.ir.step import Kind
from kilohertz.toolchain import find_compiler
from stepping import build, count
from tables import machine

MODELS = (
    "Modelica.Mechanics.MultiBody.Examples.Systems.RobotR3.FullRobot",
    "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6",
)
METHODS = ("ieuler", "sdirk2")


def compare(model: Model, step: float, stop: float) -> None:
    """Print how far inlined trajectories are from those of the same method with converged stages."""
    states = [v.name for v in model.process().of_kind(Kind.STATE)]
    for method in METHODS:
        joined = model.simulate(solver=method, step=step, stop=stop, inline=True)
        plain = model.simulate(solver=method, step=step, stop=stop, newton=25)
        apart = {n: np.abs(joined[n] - plain[n]).max() / max(np.ptp(plain[n]), 1e-3) for n in states}
        worst = max(apart, key=lambda n: apart[n])
        print(f"  {method:8} {len(plain.time)} rows, largest difference {apart[worst]:.1e} of the range in {worst}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=list(MODELS))
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--skip", type=int, default=5)
    parser.add_argument("--compare", type=float, metavar="STOP", help="compare trajectories instead of costs")
    arguments = parser.parse_args()
    print(f"{machine()}; {find_compiler().version.splitlines()[0]}")
    print("$ " + " ".join(["python", *sys.argv]))
    for name in arguments.models:
        model = load(name)
        stage = model.analyse(inline=True).inlined
        assert stage is not None
        print(f"{name}: {stage_text(stage)}")
        if arguments.compare is not None:
            compare(model, arguments.step, arguments.compare)
            continue
        program = build(model.inlined())
        for method in METHODS:
            both = [count(program, method, arguments.step, on, arguments.skip, arguments.steps) for on in (False, True)]
            plain, joined = both
            notes = "; some step failed" if plain.failed or joined.failed else ""
            ratio = plain.per_step / joined.per_step
            figures = f"{plain.per_step:12.0f} {joined.per_step:12.0f} {ratio:6.2f}"
            print(f"  {method:8} instructions per step, on the states and inlined, ratio: {figures}{notes}", flush=True)


if __name__ == "__main__":
    main()

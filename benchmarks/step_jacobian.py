"""CVODE with the symbolic Jacobian against CVODE with coloured differences: work and distance between the results.

    python benchmarks/step_jacobian.py Modelica.Mechanics.Rotational.Examples.CoupledClutches ...

Prints for each model: states, colours, entries of the Jacobian, then for both runs accepted steps, evaluations of the
right-hand side (those of Jacobians included), Jacobians and seconds; `apart` is the largest distance between the final
values of states, as a part of each state's range (at least 1e-6).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import kilohertz
from kilohertz.base import ModelError
from kilohertz.graphs import colour_columns
from kilohertz.ir.step import Kind, Step, without_directional
from kilohertz.results import Result
from kilohertz.simulate import Statistics, build_program, simulate


def run(step: Step) -> tuple[Result, Statistics, float]:
    program = build_program(step)
    statistics = Statistics()
    started = time.perf_counter()
    result = simulate(program, statistics=statistics)
    return result, statistics, time.perf_counter() - started


def apart(step: Step, a: Result, b: Result) -> float:
    worst = 0.0
    for v in step.of_kind(Kind.STATE):
        p, q = np.asarray(a[v.name]), np.asarray(b[v.name])
        span = max(float(np.ptp(p)), 1e-6 * float(np.abs(p).max()), 1e-6)
        worst = max(worst, abs(float(p[-1] - q[-1])) / span)
    return worst


def line(name: str) -> str:
    step = kilohertz.load(name).process()
    n = len(step.of_kind(Kind.STATE))
    if step.directional is None:
        return f"{name}: {n} states, no symbolic Jacobian ({step.no_directional or 'no states'})"
    rows = [list(r) for r in step.state_sparsity]
    colours = max(colour_columns(rows, n), default=-1) + 1
    symbolic, differences = run(step), run(without_directional(step))
    text = f"{name}: {n} states, {colours} colours, {sum(map(len, rows))} entries"
    for label, (_, s, seconds) in (("symbolic", symbolic), ("differences", differences)):
        text += f"; {label} {s.steps} steps, {s.rhs} rhs, {s.jacobians} J, {seconds:.3f} s"
    return text + f"; apart {apart(step, symbolic[0], differences[0]):.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", help="full class names")
    for name in parser.parse_args().model:
        try:
            print(line(name), flush=True)
        except ModelError as error:
            print(f"{name}: {error}", flush=True)


if __name__ == "__main__":
    main()

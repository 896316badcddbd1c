"""The index-1 form beside the ordinary one: what a step costs, and what the answer is worth.

    python benchmarks/step_index1.py [NAME ...]                                 needs valgrind

For each model and method: instructions per step (callgrind, mean over the whole run) with the nonlinear loops solved in
every right-hand side and with their unknowns left to the method; the share of steps in which loops were solved after
all; the largest error of a state against CVODE with a tolerance of 1e-9, in parts of its range, in both forms.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kilohertz import load
from kilohertz.driver.api import Model
from kilohertz.ir.step import Kind
from kilohertz.simulate import Statistics
from kilohertz.toolchain import find_compiler
from stepping import build, count
from tables import machine

HERE = Path(__file__).parent
NETS = HERE / "models" / "NonlinearLoops.mo"
CIRCUITS = HERE.parent / "tests" / "solvers" / "index1.mo"
METHODS = ("lie", "ros3prl", "rodas4", "sdirk2", "sdirk3")


@dataclass(frozen=True, slots=True)
class Case:
    """A model, the step it is run with, and how long."""

    name: str
    model: str
    step: float
    stop: float


CASES = (
    Case("Pipeline", f"{NETS}:NonlinearLoops.Pipeline", 1e-3, 1.0),
    Case("Mesh", f"{NETS}:NonlinearLoops.Mesh", 1e-3, 1.0),
    Case("Orifices", f"{CIRCUITS}:Index1.Orifices", 1e-3, 0.5),
    Case("Rectifier", f"{CIRCUITS}:Index1.Rectifier", 1e-4, 0.06),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[c.name for c in CASES])
    arguments = parser.parse_args()
    print(f"{machine()}; {find_compiler().version.splitlines()[0]}")
    print("$ " + " ".join(["python", *sys.argv]))
    print("| model | method | ordinary | index-1 | ratio | steps solved after all | error, ordinary | error, index-1 |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        if case.name in arguments.names:
            measure(case)


def measure(case: Case) -> None:
    """One row for each method."""
    model = load(case.model)
    is_open = model.index1()
    states = [v.name for v in is_open.of_kind(Kind.STATE)]
    title = f"{case.name}, {len(states)} states, {len(is_open.algebraic)} unknowns in loops"
    reference = model.simulate(tolerance=1e-9, stop=case.stop, intervals=2000)
    programs = [build(model.process()), build(is_open)]
    for method in METHODS:
        costs = [count(p, method, case.step, False, 0, round(case.stop / case.step)).per_step for p in programs]
        plain, _ = error(model, case, method, reference, states, False)
        ours, share = error(model, case, method, reference, states, True)
        figures = f"{costs[0]:.0f} | {costs[1]:.0f} | {costs[0] / costs[1]:.2f} | {100 * share:.0f} %"
        print(f"| {title} | {method} | {figures} | {plain:.1e} | {ours:.1e} |", flush=True)


def error(
    model: Model, case: Case, method: str, reference: object, states: list[str], index1: bool
) -> tuple[float, float]:
    """Largest error of a state as a part of its range, and the share of steps with loops solved after all."""
    statistics = Statistics()
    found = model.simulate(
        solver=method, step=case.step, stop=case.stop, index1=index1, intervals=500, statistics=statistics
    )
    worst = 0.0
    for name in states:
        exact = np.interp(found.time, reference.time, reference[name])  # type: ignore[attr-defined, index]
        worst = max(worst, float(np.abs(found[name] - exact).max() / np.ptp(exact)))
    return worst, statistics.counts["corrected"] / statistics.counts["steps"]


if __name__ == "__main__":
    main()

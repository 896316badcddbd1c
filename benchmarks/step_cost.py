"""What one step of each method costs and how far the result is from CVODE, on five models of 2 to 150 states.

    python benchmarks/step_cost.py [--step 1e-3] [--stop 1.0] [--model NAME ...] [--markdown]

Instructions are those of `khz_stepper_step` under callgrind, the mean over 40 steps after the first 10 (a step is the
stages, the Jacobian and its factors, and all values at its end).  The error is the largest over all states and steps
from the start to --stop, in percent of each state's range, against CVODE with a tolerance of 1e-9.  "bound" is what
`Model.cost_bound` says about a regular step.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from kilohertz import load
from kilohertz.building import linked_units, main_unit
from kilohertz.ir.step import Kind
from kilohertz.simulate import Program, Stepper
from kilohertz.solvers import METHODS, StepSettings
from kilohertz.toolchain import build_executable
from tables import machine

SOURCE = Path(__file__).parent / "models" / "StepCost.mo"
NAMES = ("Oscillator", "Valve", "Chain", "Rod", "Line")
SKIPPED, STEPS = 10, 40
DRIVER = """
#include <stdlib.h>
#include <string.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);

int main(int argc, char **argv)
{
    khz_step_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.period_ns = argc > 2 ? atol(argv[2]) : 1000000;
    settings.method = khz_method_index(argv[1]);
    const khz_model *const model = KHZ_MODEL();
    khz_stepper *const s = aligned_alloc(64, khz_stepper_size(model, &settings));
    if (s == NULL || khz_stepper_init(s, model, &settings, 0.0) != KHZ_OK) {
        return 2;
    }
    for (long k = atol(argv[3]); k > 0; k--) {
        (void)khz_stepper_step(s);
    }
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Row:
    method: str
    instructions: int
    bound: int
    error: float  # percent; infinity where it blew up


@cache
def compiled(name: str) -> Program:
    return load(f"{SOURCE}:StepCost.{name}").compile()


@cache
def driver(name: str) -> Path:
    model = compiled(name).built
    units, libraries = linked_units([model], offline=False)
    return build_executable([*units, main_unit(model, DRIVER)], libraries)


def counted(name: str, method: str, step: float, steps: int) -> int:
    """Instructions of so many steps."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=khz_stepper_step", f"--callgrind-out-file={out}"]
        command += [str(driver(name)), method, str(round(step * 1e9)), str(steps)]
        subprocess.run(command, capture_output=True, check=True)
        lines = out.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))


def trajectory(name: str, method: str, step: float, stop: float) -> np.ndarray:
    """All states after each step."""
    program = compiled(name)
    stepper = Stepper(program, StepSettings(method, step))
    stepper.start(0.0)
    states = program.step.of_kind(Kind.STATE)
    rows = [[float(stepper.instance.read(v)) for v in states]]
    for _ in range(round(stop / step)):
        stepper.step()
        rows.append([float(stepper.instance.read(v)) for v in states])
    return np.array(rows) if not stepper.counts["held"] else np.full((len(rows), len(states)), np.inf)


def reference(name: str, step: float, stop: float) -> np.ndarray:
    model = load(f"{SOURCE}:StepCost.{name}")
    n = round(stop / step)
    result = model.simulate(solver="cvode", tolerance=1e-9, stop=stop, intervals=n)
    return np.array([result[v.name] for v in compiled(name).step.of_kind(Kind.STATE)]).T


def measure(name: str, step: float, stop: float) -> list[Row]:
    exact = reference(name, step, stop)
    size = np.maximum(np.ptp(exact, axis=0), 1e-12)
    model = load(f"{SOURCE}:StepCost.{name}")
    rows = []
    for method in METHODS:
        with np.errstate(all="ignore"):
            errors = np.abs(trajectory(name, method, step, stop) - exact) / size
        error = float(errors.max()) * 100 if np.isfinite(errors).all() and errors.max() < 1e3 else float("inf")
        spent = counted(name, method, step, SKIPPED + STEPS) - counted(name, method, step, SKIPPED)
        rows.append(Row(method, spent // STEPS, model.cost_bound(method)["regular"]["instructions"], error))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--stop", type=float, default=1.0)
    parser.add_argument("--model", nargs="*", default=list(NAMES), metavar="NAME")
    arguments = parser.parse_args()
    tables = {name: measure(name, arguments.step, arguments.stop) for name in arguments.model}
    sizes = {name: compiled(name).code.counts[Kind.STATE] for name in tables}
    print("| method | " + " | ".join(f"{n}, {sizes[n]} states" for n in tables) + " |")
    print("|---|" + "---|" * len(tables))
    for i, method in enumerate(METHODS):
        cells = [f"{t[i].instructions}, {_percent(t[i].error)}" for t in tables.values()]
        print(f"| {method} | " + " | ".join(cells) + " |")
    above = [(n, r.method) for n, t in tables.items() for r in t if r.instructions > r.bound and r.error < np.inf]
    print("\n| instructions: bound of a regular step / measured | " + " | ".join(tables) + " |")
    print("|---|" + "---|" * len(tables))
    for i, method in enumerate(METHODS):
        cells = [f"{t[i].bound / t[i].instructions:.2f}" for t in tables.values()]
        print(f"| {method} | " + " | ".join(cells) + " |")
    print(f"\nabove the bound of a regular step: {above or 'none'}")
    print(machine())


def _percent(error: float) -> str:
    return "fails" if np.isinf(error) else f"{error:.2g} %"


if __name__ == "__main__":
    main()

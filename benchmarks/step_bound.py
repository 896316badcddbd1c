"""How far the cost bound is above what steps really take, in instructions, for any models.

    python benchmarks/step_bound.py MODEL ... [--solver rk4 --events none] [--step 1e-3] [--steps 20]

Each step runs under callgrind and is held against the bound of its own kind: `regular`, `event`, or `worst` where the
step says that something failed or took more than its usual way.  A row has the largest count of each kind and how many
times the bound is above it; "above" is printed where a step was above its bound, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from kilohertz import load
from kilohertz.building import linked_units, main_unit
from kilohertz.cost import cost_bound
from kilohertz.simulate import Program
from kilohertz.simulate.stepper import UNUSUAL, Flags
from kilohertz.solvers import EVENTS, StepSettings
from kilohertz.toolchain import build_executable

KINDS = ("regular", "event", "worst")
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);

int main(int argc, char **argv)
{
    khz_step_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.period_ns = argc > 4 ? atol(argv[4]) : 1000000;
    settings.method = khz_method_index(argv[1]);
    settings.events = atoi(argv[2]);
    const khz_model *const model = KHZ_MODEL();
    khz_stepper *const s = aligned_alloc(64, khz_stepper_size(model, &settings));
    if (s == NULL || khz_stepper_init(s, model, &settings, 0.0) != KHZ_OK) {
        return 2;
    }
    for (long k = atol(argv[3]); k > 0; k--) {
        printf("%u\\n", khz_stepper_step(s));
    }
    return 0;
}
"""


def kind(flags: Flags) -> str:
    return "worst" if flags & UNUSUAL else "event" if "event" in flags else "regular"


def measured(program: Program, arguments: argparse.Namespace) -> dict[str, int]:
    """The most instructions of a step of each kind."""
    units, libraries = linked_units([program.built], offline=False)
    executable = build_executable([*units, main_unit(program.built, DRIVER)], libraries)
    most: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=khz_stepper_step"]
        command += ["--dump-after=khz_stepper_step", f"--callgrind-out-file={folder}/out", str(executable)]
        command += [arguments.solver, str(EVENTS.index(arguments.events)), str(arguments.steps)]
        command += [str(round(arguments.step * 1e9))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for k, flags in enumerate(done.stdout.split()):
            lines = (Path(folder) / f"out.{k + 1}").read_text().splitlines()
            count = next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))
            own = kind(Flags(int(flags)))
            most[own] = max(most.get(own, 0), count)
    return most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", metavar="MODEL")
    parser.add_argument("--solver", default="rk4")
    parser.add_argument("--events", default="none")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()
    above = False
    print("| model | states | regular | event | worst |\n|---|---|---|---|---|")
    for name in arguments.model:
        program = load(name).compile()
        bound = cost_bound(program.step, StepSettings(arguments.solver, events=arguments.events))
        most = measured(program, arguments)
        above |= any(count > bound[own]["instructions"] for own, count in most.items())
        cells = [f"{most[k]}, {bound[k]['instructions'] / most[k]:.2f}" if k in most else "" for k in KINDS]
        print(f"| {name} | {bound['states']} | " + " | ".join(cells) + " |", flush=True)
    print("\nabove" if above else "\nno step above its bound")
    return int(above)


if __name__ == "__main__":
    sys.exit(main())

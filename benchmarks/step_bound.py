"""How far the cost bound is above what steps really take, in instructions, for any models.

    python benchmarks/step_bound.py MODEL ... [--solver rk4 --events none --inline] [--step 1e-3] [--steps 20]
                                              [--counted 20] [--made]

Of so many steps those with the most turns of mixed loops, passes of events, iterations and right-hand sides are counted
by callgrind, and as many that are spread over the run, and held against the bound of their own kind: `regular`,
`event`, or `worst` where the step says that something failed or took more than its usual way.  A row has the largest
count of each kind and how many times the bound is above it, and how many times the worst bound is above the largest
count of all; "above" is printed where a step was above its bound, and the exit code is 1; a model in which something
has no bound (tables, external functions, arrays of any size) says so instead.  --made: steps that are made for the
method (building/made_step.py), against bounds in their prices.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from kilohertz import load
from kilohertz.building import linked_units, main_unit
from kilohertz.building.made_step import made_name, made_step, why_generic
from kilohertz.cost import cost_bound, reference
from kilohertz.passes.step.inline_stage import Inlining
from kilohertz.simulate import Program
from kilohertz.simulate.stepper import UNUSUAL, Flags
from kilohertz.solvers import EVENTS, StepSettings
from kilohertz.toolchain import build_executable, find_compiler

KINDS = ("regular", "event", "worst")
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);
#ifdef KHZ_MADE
extern const khz_made KHZ_MADE;
#define STEP KHZ_MADE.step
#else
#define STEP khz_stepper_step
#endif

/* What callgrind counts. */
__attribute__((noinline)) static uint32_t counted_step(khz_stepper *s)
{
    return STEP(s);
}

int main(int argc, char **argv)
{
    khz_step_settings settings;
    memset(&settings, 0, sizeof settings);
    settings.period_ns = atol(argv[4]);
    settings.method = khz_method_index(argv[1]);
    settings.events = atoi(argv[2]);
    settings.inlined = argv[2][strlen(argv[2]) - 1] == 'i';
    const khz_model *const model = KHZ_MODEL();
    khz_stepper *const s = aligned_alloc(64, khz_stepper_size(model, &settings));
    if (s == NULL || khz_stepper_init(s, model, &settings, 0.0) != KHZ_OK) {
        return 2;
    }
    const khz_context *const c = khz_stepper_instance(s);
    const khz_step_counts *const counts = khz_stepper_counts(s);
    int next = 5;
    for (long k = 0; k < atol(argv[3]); k++) {
        const uint32_t turns = c->n_mixed, iterations = c->n_iterations;
        const uint64_t passes = counts->event_passes, rhs = counts->rhs;
        const int is_counted = next < argc && atol(argv[next]) == k;
        next += is_counted;
        const uint32_t flags = is_counted ? counted_step(s) : STEP(s);
        printf("%u %u %u %u %u\\n", flags, c->n_mixed - turns, (uint32_t)(counts->event_passes - passes),
               c->n_iterations - iterations, (uint32_t)(counts->rhs - rhs));
    }
    return 0;
}
"""


def kind(flags: Flags) -> str:
    return "worst" if flags & UNUSUAL else "event" if "event" in flags else "regular"


def measured(program: Program, arguments: argparse.Namespace) -> dict[str, int]:
    """The most instructions of a step of each kind."""
    units, libraries = linked_units([program.built], offline=False)
    flags: tuple[str, ...] = ()
    if arguments.made:
        made = made_step(program.built, _settings(arguments).but(step=arguments.step).check_fixed(), find_compiler())
        if made is None:
            raise SystemExit(f"no step is made: {why_generic(program.built, find_compiler())}")
        units, flags = [*units, made], (f"-DKHZ_MADE={made_name(program.built)}",)
    executable = build_executable([*units, main_unit(program.built, DRIVER, flags)], libraries)
    how = f"{EVENTS.index(arguments.events)}{'i' if arguments.inline else ''}"
    settings = [arguments.solver, how, str(arguments.steps)]
    command = [str(executable), *settings, str(round(arguments.step * 1e9))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    steps = [tuple(int(n) for n in line.split()) for line in ran.stdout.splitlines()]
    chosen = dearest(steps, arguments.counted)
    most: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        watch = ["valgrind", "--tool=callgrind", "--toggle-collect=counted_step", "--dump-after=counted_step"]
        watch += [f"--callgrind-out-file={folder}/out", *command, *map(str, chosen)]
        subprocess.run(watch, capture_output=True, check=True)
        for n, k in enumerate(chosen, 1):
            lines = (Path(folder) / f"out.{n}").read_text().splitlines()
            count = next(int(line.split()[1]) for line in lines if line.startswith(("summary:", "totals:")))
            own = kind(Flags(steps[k][0]))
            most[own] = max(most.get(own, 0), count)
    return most


def dearest(steps: list[tuple[int, ...]], n: int) -> list[int]:
    """The positions of so many steps of each kind, in their order: half of them those with the most turns, passes,
    iterations and so on, the others spread over the run (relations at rest and arguments of functions cost too)."""
    chosen: list[int] = []
    for own in KINDS:
        of_kind = [k for k, step in enumerate(steps) if kind(Flags(step[0])) == own]
        spread = of_kind[:: max(1, -(-2 * len(of_kind) // n))]
        chosen += [*sorted(of_kind, key=lambda k: steps[k][1:], reverse=True)[: n - len(spread)], *spread]
    return sorted(set(chosen))


def _settings(arguments: argparse.Namespace) -> StepSettings:
    return StepSettings.of(solver=arguments.solver, events=arguments.events, inline=arguments.inline)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", metavar="MODEL")
    parser.add_argument("--solver", default="rk4")
    parser.add_argument("--events", default="none")
    parser.add_argument("--inline", action="store_true", help="the stage as one loop of its own")
    parser.add_argument("--made", action="store_true", help="steps that are made for the method")
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=20, help="of the run")
    parser.add_argument("--counted", type=int, default=20, help="of each kind, at most")
    arguments = parser.parse_args()
    above = False
    print("| model | states | regular | event | worst | worst bound / most seen |\n|---|---|---|---|---|---|")
    for name in arguments.model:
        program = load(name).compile(Inlining() if arguments.inline else None)
        target = reference().made if arguments.made else reference()
        bound = cost_bound(program.step, _settings(arguments), target)
        most = measured(program, arguments)
        above |= not bound["unbounded"] and any(count > bound[own]["instructions"] for own, count in most.items())
        cells = [f"{most[k]}, {bound[k]['instructions'] / most[k]:.2f}" if k in most else "" for k in KINDS]
        over = bound["worst"]["instructions"] / max(most.values())
        note = f" without a bound: {'; '.join(bound['unbounded'])}" if bound["unbounded"] else ""
        print(f"| {name} | {bound['states']} | " + " | ".join([*cells, f"{over:.1f}"]) + f" |{note}", flush=True)
    print("\nabove" if above else "\nno step above its bound")
    return int(above)


if __name__ == "__main__":
    sys.exit(main())

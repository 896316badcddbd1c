"""What a step of an imported FMU costs as a task, against a bare C loop that calls the same functions.

    python benchmarks/fmi_cost.py FMU... [--steps N] [--rounds N]

FMUs of FMI 2 with Co-Simulation whose inputs and outputs are Reals.  The loop sets the inputs, calls fmi2DoStep and
gets the outputs, nothing else; the task is built by `khz` and runs as fast as possible.  Both time every step with the
same clock, and alternate; printed are nanoseconds a step: the median of a round, of the best one and of the worst, and
the difference of the best (wanted: at most 1000 ns).  Other processes only ever add to either.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

from kilohertz.driver import open_job
from kilohertz.fmi import Fmu, opened
from kilohertz.realtime import start
from kilohertz.toolchain import find_compiler

STEP = 1e-3
LOOP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void quiet(void *e, const char *i, int s, const char *c, const char *m, ...)
{ (void)e; (void)i; (void)s; (void)c; (void)m; }
static double now(void)
{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec * 1e9 + (double)t.tv_nsec; }
static int order(const void *a, const void *b)
{ return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }
int main(int n, char **words)
{
    static const unsigned in[] = {INPUTS 0}, out[] = {OUTPUTS 0};
    static double u[N_INPUTS + 1], y[N_OUTPUTS + 1];
    const struct { void *log, *take, *give, *done, *who; } calls = {(void *)quiet, (void *)calloc, (void *)free, 0, 0};
    void *const library = dlopen(words[1], RTLD_NOW);
    const int steps = atoi(words[2]);
    if (n < 3 || library == NULL) return 2;
    typedef void *maker(const char *, int, const char *, const char *, const void *, int, int);
    maker *const make = (maker *)dlsym(library, "fmi2Instantiate");
    int (*setup)(void *, int, double, double, int, double) = dlsym(library, "fmi2SetupExperiment");
    int (*enter)(void *) = dlsym(library, "fmi2EnterInitializationMode");
    int (*leave)(void *) = dlsym(library, "fmi2ExitInitializationMode");
    int (*set)(void *, const unsigned *, size_t, const double *) = dlsym(library, "fmi2SetReal");
    int (*get)(void *, const unsigned *, size_t, double *) = dlsym(library, "fmi2GetReal");
    int (*step)(void *, double, double, int) = dlsym(library, "fmi2DoStep");
    void *const me = make("it", 1, TOKEN, RESOURCES, &calls, 0, 0);
    if (me == NULL || setup(me, 0, 0, 0, 0, 0) > 1 || enter(me) > 1 || leave(me) > 1) return 3;
    double *const times = calloc((size_t)steps, sizeof *times);
    double sum = 0;
    for (int i = 0; i < steps; i++) {
        const double began = now();
        if (N_INPUTS > 0) set(me, in, N_INPUTS, u);
        if (step(me, i * STEP, STEP, 1) > 1) return 4;
        if (N_OUTPUTS > 0) get(me, out, N_OUTPUTS, y);
        times[i] = now() - began;
        sum += y[0];
    }
    qsort(times, (size_t)steps, sizeof *times, order);
    printf("%.3f %g\n", times[steps / 2], sum);
    return 0;
}
"""


def bare(fmu: Fmu, folder: Path) -> list[str]:
    """The loop as a program, and what it is called with."""
    d = fmu.description
    inputs = [v.reference for v in d.of("input") if v.type == "Real"]
    outputs = [v.reference for v in d.of("output") if v.type == "Real"]
    words = {
        "N_INPUTS": len(inputs),
        "N_OUTPUTS": len(outputs),
        "INPUTS": "".join(f"{r}u, " for r in inputs),
        "OUTPUTS": "".join(f"{r}u, " for r in outputs),
        "TOKEN": f'"{d.token}"',
        "RESOURCES": f'"{(fmu.folder / "resources").as_uri()}"',
        "STEP": STEP,
    }
    source = folder / "loop.c"
    source.write_text("".join(f"#define {k} {v}\n" for k, v in words.items()) + LOOP, encoding="utf-8")
    program = folder / "loop"
    command = [*find_compiler().command, "-O2", "-w", "-o", str(program), str(source), "-ldl", "-lm"]
    subprocess.run(command, check=True)
    return [str(program), str(fmu.binary("cs"))]


def cost(path: Path, steps: int, rounds: int) -> tuple[list[float], list[float]]:
    """Nanoseconds a step of the loop and of the task, round by round."""
    with opened(path) as fmu, tempfile.TemporaryDirectory() as name:
        loop = bare(fmu, Path(name))
        job = open_job(path, duration=steps * STEP)
        built = job.build(folder=Path(name) / "rig")
        alone, task = [], []
        for _ in range(rounds):
            said = subprocess.run([*loop, str(steps)], check=True, capture_output=True, text=True).stdout
            alone.append(float(said.split()[0]))
            words = {"name": f"cost{os.getpid()}", "wall_num": 0, "record.n": 0, "live": 0, "grace": 0}
            report = start(built, words, Path(name)).wait()
            task.append(report.data["times"]["compute"]["p50"])
    return alone, task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fmus", type=Path, nargs="+")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    for path in arguments.fmus:
        alone, task = cost(path, arguments.steps, arguments.rounds)
        a, t = min(alone), min(task)
        print(f"| {path.stem} | {a:.0f} ({max(alone):.0f}) | {t:.0f} ({max(task):.0f}) | {t - a:.0f} |", flush=True)


if __name__ == "__main__":
    main()

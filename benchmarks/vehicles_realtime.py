"""A car at four levels of detail in real time: lane changes, one after another at 80 km/h, for a million steps.

    python benchmarks/vehicles_realtime.py [1] ... [4] [--step 1e-3] [--steps 1000000] [--cpu 1] [--fast --runs 3]

The hand wheel of `Handling.Steered1` to `Steered4` is driven by a formula: a double lane change every eight seconds.
Deadlines are judged as every task's are: an overrun is a cycle whose own work took more of the processor's time than
its period has; what a host or another task took from it (off the core), late wake-ups and what follows from them are
apart.  With --cpu a witness at the highest priority on the same core (witness.py) sees when the core was gone.

With --fast steps are made one after the other, as often as --runs says, and each cycle counts with the shortest of its
times: what a step itself takes, without what other work takes from it.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from kilohertz.driver import build
from kilohertz.realtime import Recording, Report, Scenario, Stimulus, causes_of, plain_scenario, start
from papers import GRACE
from tables import machine
from vehicles import CARS, HANDLING
from witness import Cycles, Witness

LEVELS = (1, 2, 3, 4)

WAVES = ((0.5, 0.686), (1.4, -0.692), (3.0, -0.729), (3.9, 0.735))  # of `Drivers.LaneChange`: when, how far
WIDTH, PERIOD = 0.9, 8  # s


def hand_wheel() -> str:
    """The formula of double lane changes without end."""
    now = f"mod(time, {PERIOD})"
    return " + ".join(
        f"(if {now} >= {begin} and {now} < {begin + WIDTH:.1f} then {a}*sin(pi*({now} - {begin})/{WIDTH}) else 0)"
        for begin, a in WAVES
    )


def scenario_of(level: int, step: float, steps: int, cpu: int = -1) -> Scenario:
    model, name = f"{HANDLING}.Steered{level}", f"car{level}_{os.getpid()}"
    settings = CARS[level].often if step <= CARS[level].often.step else CARS[level].settings
    how = {name: getattr(settings, name) for name in ("solver", "newton", "jacobian_every", "jacobian_spread")}
    plain = plain_scenario(model, name=name, step=step, **how)
    driven = Stimulus(formulas={"hand_wheel": hand_wheel()})
    recording = Recording(enabled=cpu >= 0, times=True, signals=("car.chassis.y",))
    pinned = replace(plain.realtime, cpu=cpu)
    return replace(plain, cycles=steps, stimuli=(driven,), recording=recording, realtime=pinned)


def in_real_time(scenario: Scenario) -> str:
    cpu = scenario.realtime.cpu
    with tempfile.TemporaryDirectory() as folder:
        built = build(scenario, folder=Path(folder))
        witness = Witness((cpu,), Path(folder)) if cpu >= 0 else None
        with witness or nullcontext():
            report = start(built).wait()
        seen = "" if witness is None else _seen(witness, cpu, report)
    counts, times = report.counts, report.data["times"]
    spent, late = ([times[what][k] * 1e-3 for k in ("p50", "p99.9", "max")] for what in ("compute", "lateness"))
    trouble = {k: v for task in report.data["tasks"] for k, v in task["counts"].items() if v}
    return (
        f"{causes_of(counts)}{seen}\n  "
        f"compute p50 {spent[0]:.1f}, p99.9 {spent[1]:.1f}, max {spent[2]:.1f} us; "
        f"woken late by {late[0]:.1f}, {late[1]:.1f}, {late[2]:.1f} us\n  {trouble}"
    )


def _seen(witness: Witness, cpu: int, report: Report) -> str:
    """How many of the overruns were no more than the core being gone."""
    recorded, by_machine = Cycles.of(report).overruns(witness, cpu, report.period)
    return f" (of {recorded} recorded ones longer than a period the witness saw {by_machine})"


def alone(scenario: Scenario, runs: int) -> str:
    shortest = np.full(scenario.cycles or 0, np.inf)
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            recording = replace(scenario.recording, enabled=True, times=True, file=str(Path(folder) / "run.csv"))
            built = build(replace(scenario, scale=None, recording=recording), folder=Path(folder))
            cycles = start(built).wait().result["cycle.compute"]
        shortest = np.minimum(shortest, cycles[-len(shortest) :])
    median, rare, most = (1e6 * float(np.percentile(shortest[GRACE:], p)) for p in (50, 99.9, 100))
    return f"shortest of {runs} times: p50 {median:.2f}, p99.9 {rare:.2f}, max {most:.2f} us"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("levels", nargs="*", type=int, default=list(LEVELS), choices=LEVELS)
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--cpu", type=int, default=-1, help="on that core, beside a witness")
    parser.add_argument("--fast", action="store_true", help="not in real time: what a step takes by itself")
    parser.add_argument("--runs", type=int, default=3, help="with --fast")
    arguments = parser.parse_args()
    for level in arguments.levels:
        before = os.getloadavg()[0]
        scenario = scenario_of(level, arguments.step, arguments.steps, arguments.cpu)
        told = alone(scenario, arguments.runs) if arguments.fast else in_real_time(scenario)
        print(f"{machine()}; load {before:.1f} before, {os.getloadavg()[0]:.1f} after")
        print(f"level {level}, {arguments.steps} steps of {arguments.step * 1e3:g} ms: {told}", flush=True)


if __name__ == "__main__":
    main()

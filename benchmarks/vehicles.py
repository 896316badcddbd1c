"""A car at four levels of detail in a double lane change, beside Elmqvist et al. 2004: sizes, errors, cost of a step.

    python benchmarks/vehicles.py [1] ... [6] [--parts sizes compile modes errors cost] [--internal-steps 1]
        [--seconds 8] [--runs 5]

1 to 4   the levels: axles by tables, ideal linkages, bushings with rods without mass, and with mass
5        level 2 with engine, converter, six-speed gearbox and drivers, over a drive with the lane change
6        level 2 on joints and bodies of the Modelica Standard Library (on MODELICAPATH); wheels and struts are ours
sizes    equations, states, linear and nonlinear systems before and after tearing
compile  processor seconds of a fresh process with an empty cache, from the source to a loaded program, gcc apart
modes    at rest and at 80 km/h: what swings, undamped frequency, damping ratio, the state with the largest part
errors   of side acceleration, yaw rate and roll in parts of their peaks, against CVODE at 1e-8, over the lane change
cost     instructions of a mean step and of the dearest of 40 by callgrind; times as `papers.py` has them

The paper's figures: 15, 15, 36, 72 degrees of freedom, 40, 40, 118, 154 states, linear systems of about 10, 10, 20, 20;
0.1, 0.3, 1.3, < 1 ms for a step of 1 ms on a Pentium 4 of 3 GHz; errors of the side acceleration below 0.25 % (levels 1
and 2) and 0.5 % (level 4).  With gearbox 3054 equations, 53 states, a linear system of 490 torn to 18, < 1 ms.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import kilohertz
from kilohertz.results import Result
from kilohertz.simulate.stiffness import reference_run
from kilohertz.solvers import StepSettings
from papers import Case, Measuring, cost_of
from stepping import build, count_each
from tables import machine

HANDLING = "Kilohertz.Examples.Handling"
THEIRS = Path(__file__).parents[1] / "tests" / "library" / "theirs.mo"
SIGNALS = ("car.chassis.a_y", "car.chassis.yaw_rate", "car.chassis.roll")
PARTS = ("sizes", "compile", "modes", "errors", "cost")
STRAIGHT = {f"hands.amplitude[{i}]": 0.0 for i in range(1, 5)}
SPEEDS = (0.0, 80.0)  # km/h, for modes
TOLERANCE = 1e-8  # of CVODE
COUNTED = 40  # steps
EXPLICIT = StepSettings("euler", 1e-3)
EXPLICIT_OFTEN = StepSettings("euler", 1e-4)
IMPLICIT = StepSettings("ieuler", 1e-3, newton=3, jacobian_every=10, jacobian_spread=True)
# At 10 kHz: a Jacobian lasts as long as at 1 kHz, so ten times the steps; ros2 keeps its order by any Jacobian.
OFTEN = StepSettings("ros2", 1e-4, jacobian_every=100, jacobian_spread=True)


@dataclass(frozen=True, slots=True)
class Car:
    """A car in its manoeuvre: the settings of its step, how long it takes, other steps whose error is of interest."""

    name: str
    settings: StepSettings
    stop: float = 8.0
    steps: tuple[float, ...] = (1e-4,)
    often: StepSettings = EXPLICIT_OFTEN  # at 10 kHz
    begins: float = 0.0  # the lane change, in s; events of gears before and after it are no part of its errors
    ends: float = 8.0
    counted_from: float = 0.5  # s


CARS = {
    1: Car(f"{HANDLING}.LaneChange1", EXPLICIT),
    2: Car(f"{HANDLING}.LaneChange2", EXPLICIT),
    3: Car(f"{HANDLING}.LaneChange3", IMPLICIT, often=OFTEN),
    4: Car(f"{HANDLING}.LaneChange4", IMPLICIT, steps=(2e-3, 1e-4), often=OFTEN),
    5: Car(f"{HANDLING}.Drive", EXPLICIT, stop=50.0, begins=24.0, ends=33.0, counted_from=25.5),
    6: Car(f"{THEIRS}:Theirs.LaneChange", EXPLICIT),
}


def sizes(car: Car, _: Measuring) -> None:
    model = kilohertz.load(car.name)
    analysis = model.analyse()
    loops = [loop for loop in analysis.loops if loop.partition == "step"]
    nonlinear = sum(loop.kind == "nonlinear" for loop in loops)
    found = sorted((loop for loop in loops if loop.kind != "nonlinear"), key=lambda one: -one.torn_size)
    torn = ", ".join(f"{loop.kind} {loop.size} > {loop.torn_size}" for loop in found)
    print(f"  {model.check().equations} equations, {len(analysis.states)} states", end="; ")
    print(f"nonlinear systems: {nonlinear}; others: {torn}")


def compiling(car: Car, _: Measuring) -> None:
    """In a process of its own, nothing kept."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", car.name]
        environment = os.environ | {"KHZ_CACHE_DIR": folder}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    print(f"  {done.stdout.strip() or done.stderr[-500:]}")


def child(name: str) -> None:
    kilohertz.load(name).compile()
    own, gcc = (resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"compiled in {own:.1f} s of processor time, and {gcc:.1f} s of the C compiler (and the runtime)")


def modes(car: Car, _: Measuring) -> None:
    """Eigenvalues of the Jacobian where the car has settled on its springs."""
    program = kilohertz.load(car.name).compile()
    for speed in SPEEDS:
        seen = reference_run(program, stop=10.0, intervals=10, settings=STRAIGHT | {"car.v_start": speed / 3.6})
        at = seen.points[-1]
        print(f"  at {speed:g} km/h:")
        for k in np.argsort(np.abs(at.eigenvalues)):
            value, most = at.eigenvalues[k], seen.states[int(np.argmax(at.participation[:, k]))]
            if value.imag > 1e-3 * abs(value):
                print(f"  {abs(value) / (2 * np.pi):8.2f} Hz, damping {-value.real / abs(value):.2f}, {most}")
        print(f"  fastest: {max(-at.eigenvalues.real):.0f} 1/s", flush=True)


def errors(car: Car, _: Measuring) -> None:
    model, rows = kilohertz.load(car.name), round(1e3 * car.stop)
    exact = model.simulate(tolerance=TOLERANCE, intervals=rows)
    ways = [car.settings, *(replace(car.settings, step=step) for step in car.steps)]
    for settings in (*ways, *([car.often] if car.often not in ways else [])):
        step = settings.step
        run = model.simulate(**_asked(settings), intervals=min(rows, round(car.stop / step)))
        off = ", ".join(f"{name.split('.')[-1]} {100 * _off(run, exact, name, car):.3f} %" for name in SIGNALS)
        within = f" in {settings.internal_steps} internal steps" * (settings.internal_steps > 1)
        within += f", a Jacobian spread over {settings.jacobian_every} steps" * settings.jacobian_spread
        print(f"  {settings.solver} at {step * 1e3:g} ms{within} against CVODE at {TOLERANCE:g}: {off}", flush=True)


def _asked(settings: StepSettings) -> dict[str, Any]:
    return {
        name: getattr(settings, name)
        for name in ("solver", "step", "internal_steps", "newton", "jacobian_every", "jacobian_spread")
    }


def _off(run: Result, exact: Result, name: str, car: Car) -> float:
    within = (run.time >= car.begins) & (run.time <= car.ends)
    right = np.interp(run.time[within], exact.time, exact[name])
    return float(np.abs(run[name][within] - right).max() / np.abs(right).max())


def cost(car: Car, measuring: Measuring) -> None:
    counting = build(kilohertz.load(car.name).process())
    for settings in (car.settings, car.often):
        counted = count_each(counting, settings, round(car.counted_from / settings.step), COUNTED)
        case = Case(car.name, settings.solver, settings.step, SIGNALS, car.stop, seconds=car.stop, settings=settings)
        words = f", a Jacobian spread over {settings.jacobian_every} steps" * settings.jacobian_spread
        words += f" in {settings.internal_steps} internal steps" * (settings.internal_steps > 1)
        instructions = f"{np.mean(counted):.0f} instructions, {max(counted)} at most"
        print(f"  {settings.solver} at {settings.step * 1e3:g} ms{words}: {instructions};", end=" ")
        print(cost_of(case, measuring), flush=True)


RUNS = {"sizes": sizes, "compile": compiling, "modes": modes, "errors": errors, "cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cars", nargs="*", type=int, default=[1, 2, 3, 4, 5], choices=list(CARS))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--internal-steps", type=int, default=1, help="of errors and cost")
    parser.add_argument("--seconds", type=float, default=8.0, help="of model time for the cost of a step")
    parser.add_argument("--runs", type=int, default=5, help="of which the shortest time of each cycle counts")
    arguments = parser.parse_args()
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}")
    for number in arguments.cars:
        car = replace(CARS[number], settings=replace(CARS[number].settings, internal_steps=arguments.internal_steps))
        print(f"{number}: {car.name}", flush=True)
        for part in arguments.parts:
            RUNS[part](car, Measuring(arguments.seconds, arguments.runs, None))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        main()

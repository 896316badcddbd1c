"""Models of the papers beside what the papers report: sizes, errors against CVODE, cost of a step.

    python benchmarks/papers.py [b2] [b3] [b6] [b7] [b8] [--seconds 10]      without names: all

b2  hydraulic axis, open loop (Menager et al. 2015): error of every method at 1, 5 and 20 ms, and which fail
b3  the same axis with its controller as a second program, in one process and in two (bits: realtime_two_processes.py)
b6  Y-drive (Worschech, Mikelsons 2012)
b7  six-speed gearbox (Elmqvist et al. 2004)
b8  arm with seven joints (Ferretti et al. 2005)

Errors are the largest of the named signals over the range of CVODE's.  Times are those of steps made one after the
other as fast as possible, without waiting, in an ordinary process: on a busy machine the largest are the machine's.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import kilohertz
from kilohertz.base import ModelError, ModelWarning
from kilohertz.driver import build
from kilohertz.realtime import Recording, Report, plain_scenario, read_scenario, start
from kilohertz.results import Result
from kilohertz.solvers import METHODS
from tables import machine

AXIS = "Kilohertz.Examples.HydraulicAxis"
ROBOT = "Kilohertz.Examples.Robot"
HOLDS = 1e6  # a signal further off than this, in parts of its range, has failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help="b2, b3, b6, b7, b8")
    parser.add_argument("--seconds", type=float, default=10.0, help="of model time for the cost of a step")
    arguments = parser.parse_args()
    print(machine())
    for name in arguments.names:
        print(f"\n{name}: {(BENCHMARKS[name].__doc__ or '').strip()}")
        BENCHMARKS[name](arguments.seconds)


def axis_open_loop(seconds: float) -> None:
    """axis, valve sine of 0.5 Hz; the paper: explicit Euler and RK4 fail, LIE, ROS3P and ROS4L work at 20 ms"""
    model = kilohertz.load(f"{AXIS}.OpenLoop")
    signals = ("mass.s", "cylinder.p_a", "cylinder.p_b")
    exact = model.simulate(stop=4.0, intervals=4000, tolerance=1e-10)
    print(f"{'method':12s}" + "".join(f"{f'{h} ms':>12s}" for h in (1, 5, 20)))
    for solver in METHODS:
        errors = [_error(model, exact, signals, solver, h * 1e-3, 4.0) for h in (1, 5, 20)]
        print(f"{solver:12s}" + "".join(f"{e:>12s}" for e in errors))
    _cost(f"{AXIS}.OpenLoop", "ros4l", 1e-3, seconds)


def axis_closed_loop(seconds: float) -> None:
    """the axis and its controller, two generated programs; the paper: both on one device at 1 ms"""
    from kilohertz.driver.demos import EXAMPLES

    source = next(e for e in EXAMPLES if e.name == "hydraulic_axis").scenario
    with tempfile.TemporaryDirectory() as folder:
        plain = replace(read_scenario(source).lasting(seconds), name=f"papers{os.getpid()}", scale=None)
        one = start(build(plain, folder=folder)).wait()
    exact = kilohertz.load(f"{AXIS}.Controlled").simulate(stop=seconds, intervals=round(seconds * 1e3), tolerance=1e-9)
    off = np.abs(one.result["plant.x"] - np.interp(one.result.time, exact.time, exact["plant.x"])).max()
    print(f"one process: position within {off * 1e6:.3g} um of CVODE; {_times(one)}")
    print("two processes over UDP and shared memory, and their bits: benchmarks/realtime_two_processes.py")


def y_drive(seconds: float) -> None:
    """Y-drive; the paper: 360 equations, 25 states, two mixed loops, LI3 at 1 ms, Newton capped at 6 (4 needed)"""
    name = "Kilohertz.Examples.YDrive"
    model = kilohertz.load(name)
    _sizes(name)
    exact = model.simulate(tolerance=1e-9, intervals=20000)
    for solver in ("li3", "ros34pw2", "rodas4"):
        late = _error(model, exact, ("carriage.s", "beam.s"), solver, 1e-3, 20.0, since=8.0)
        whole = _error(model, exact, ("carriage.s", "beam.s"), solver, 1e-3, 20.0)
        print(f"{solver:10s} position off by {whole} of its range, {late} from 8 s on, when the beam is pressed on")
    for cap in (2, 3, 4, 5, 6):
        report = _run(name, "li3", 1e-3, 20.0, loop_newton=cap)
        counts = report.data["tasks"][0]["counts"]
        print(f"Newton iterations capped at {cap}: {counts['newton_caps']} of {counts['steps']} steps hit the cap")
    _cost(name, "li3", 1e-3, seconds)


def six_speeds(seconds: float) -> None:
    """gearbox; the paper: 689 equations, 15 states, linear system 77 > 50 > 7, factors at events, Euler at 1 ms"""
    name = "Kilohertz.Examples.Car.SixSpeeds"
    model = kilohertz.load(name)
    _sizes(name)
    exact = model.simulate(tolerance=1e-6, intervals=9000)
    steps = model.simulate(solver="euler", step=1e-3)
    off = np.abs(steps["car.v"] - np.interp(steps.time, exact.time, exact["car.v"])).max()
    print(f"speed within {off:.3g} m/s of CVODE; gears {_sequence(exact)} (CVODE), {_sequence(steps)} (Euler)")
    _cost(name, "euler", 1e-3, seconds)


def robot_arm(seconds: float) -> None:
    """arm; the paper: 12 000 equations at compile time, 1.5 ms for each step of 1 ms, 1 % faults"""
    _sizes(f"{ROBOT}.Plant")
    name = f"{ROBOT}.ClosedLoop"
    model = kilohertz.load(name)
    exact = model.simulate(stop=2.0, tolerance=1e-8, intervals=2000)
    hand = tuple(f"plant.hand[{i}]" for i in (1, 2, 3))
    for solver, step in (("lie", 1e-3), ("ros2", 1e-3), ("rodas3", 1e-3), ("lie", 1e-4), ("ros2", 1e-4)):
        off = _error(model, exact, hand, solver, step, 2.0)
        print(f"{solver:8s} {step * 1e3:g} ms: hand off by {off} of its range")
        _cost(name, solver, step, min(seconds, 5.0) * min(1.0, step / 1e-3 * 5))


def _sequence(result: Result) -> str:
    gears = result["shift.gear"]
    kept = np.r_[True, np.diff(gears) != 0]
    return " ".join(f"{g:.0f}" for g in gears[kept])


def _sizes(name: str) -> None:
    model = kilohertz.load(name)
    analysis = model.analyse()
    loops = [loop for loop in analysis.loops if loop.partition == "step"]
    print(f"{model.check().equations} equations, {len(analysis.states)} states; loops before and after tearing:")
    for loop in loops:
        when = f", matrix new at every {loop.matrix}" if loop.matrix else ""
        print(f"  {loop.kind:9s} {loop.size:4d} > {loop.torn_size}{when}")


def _error(
    model: kilohertz.Model,
    exact: Result,
    signals: Sequence[str],
    solver: str,
    step: float,
    stop: float,
    since: float = 0.0,
) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # what fails is in the table
            run = model.simulate(solver=solver, step=step, stop=stop)
    except ModelError as error:
        return error.diagnostics[0].code
    late = run.time >= since
    worst = 0.0
    for name in signals:
        off = np.abs(run[name] - np.interp(run.time, exact.time, exact[name]))[late]
        worst = max(worst, float(off.max()) / float(np.ptp(exact[name])))
    return f"{worst:.1e}" if worst < HOLDS else "fails"


def _run(name: str, solver: str, step: float, seconds: float, loop_newton: int = 6) -> Report:
    scenario = plain_scenario(
        name, duration=seconds, name=f"papers{os.getpid()}", solver=solver, step=step, loop_newton=loop_newton
    )
    scenario = replace(scenario, scale=None, recording=Recording(enabled=False))
    with tempfile.TemporaryDirectory() as folder:
        return start(build(scenario, folder=Path(folder))).wait()


def _times(report: Report) -> str:
    compute = report.data["times"]["compute"]
    return ", ".join(f"{k} {compute[k] * 1e-3:.1f} us" for k in ("p50", "p99", "p99.9", "max"))


def _cost(name: str, solver: str, step: float, seconds: float) -> None:
    report = _run(name, solver, step, seconds)
    median = report.data["times"]["compute"]["p50"] * 1e-9
    margin = " and ".join(f"{period / median:.3g} times into {period * 1e3:g} ms" for period in (1e-3, 1e-4))
    print(f"  a step of {name} with {solver}: {_times(report)}; the median fits {margin}")


BENCHMARKS = {"b2": axis_open_loop, "b3": axis_closed_loop, "b6": y_drive, "b7": six_speeds, "b8": robot_arm}

if __name__ == "__main__":
    main()

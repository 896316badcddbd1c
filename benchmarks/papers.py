"""Models of the papers beside what the papers report: sizes, errors against CVODE, cost of a step.

    python benchmarks/papers.py [b2] ... [b8] [--seconds 10] [--runs 5] [--plot cost.png]      without names: all

b2  hydraulic axis, open loop (Menager et al. 2015): error of every method at 1, 5 and 20 ms, and which fail
b3  the same axis with its controller as a second program, in one process and in two (bits: realtime_two_processes.py)
b4  saturating inductors (Huhn et al. 2011), without and with a capacitor; their profile: docs/tutorials
b5  thermal resistors (Huhn et al. 2011), without and with a capacity
b6  Y-drive (Worschech, Mikelsons 2012): Newton iterations of a step, and what a cap of them does
b7  six-speed gearbox (Elmqvist et al. 2004): gears, factorisations, a step with and without tearing (--plot draws it)
b8  arm with seven joints (Ferretti et al. 2005)

Errors are the largest of the named signals over the range of CVODE's.  Instructions are those of a mean step, by
callgrind.  Times are those of steps made one after the other as fast as possible, without waiting, in an ordinary
process: of --runs equal runs each cycle counts with the shortest of its times, since what other work takes from a run
is no part of the step; "at worst" is the largest of one run, with what the machine took.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import kilohertz
from kilohertz.base import ModelError, ModelWarning
from kilohertz.driver import build
from kilohertz.driver.demos import EXAMPLES
from kilohertz.driver.pipeline import compile_flat
from kilohertz.passes.ordered.tear import Tear
from kilohertz.realtime import Recording, Report, plain_scenario, read_scenario, start
from kilohertz.results import Result
from kilohertz.simulate.program import build_program
from kilohertz.simulate.stepper import Stepper
from kilohertz.solvers import METHODS, StepSettings
from stepping import build as build_counted
from stepping import count
from tables import machine

AXIS = "Kilohertz.Examples.HydraulicAxis"
ROBOT = "Kilohertz.Examples.Robot"
HOLDS = 1e6  # a signal further off than this, in parts of its range, has failed
GRACE = 100  # cycles at the start that do not count: caches are cold
PERIODS = (1e-3, 1e-4)  # what a step must fit into


@dataclass(frozen=True, slots=True)
class Case:
    """A model with the settings of its step, and the signals that are held against CVODE."""

    model: str
    solver: str
    step: float
    signals: tuple[str, ...]
    stop: float
    tolerance: float = 1e-8  # of CVODE
    counted_from: float = 0.0  # instructions are counted from this time on
    seconds: float = 0.0  # of model time for the cost; 0: as asked for, less at shorter steps
    settings: StepSettings = field(default_factory=StepSettings)  # besides solver and step


@dataclass(frozen=True, slots=True)
class Measuring:
    """How long and how often."""

    seconds: float
    runs: int
    plot: Path | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), help=", ".join(BENCHMARKS))
    parser.add_argument("--seconds", type=float, default=10.0, help="of model time for the cost of a step")
    parser.add_argument("--runs", type=int, default=5, help="of which the shortest time of each cycle counts")
    parser.add_argument("--plot", type=Path, help="b7: where to draw the cost of its steps")
    arguments = parser.parse_args()
    print(f"{machine()}; load {os.getloadavg()[0]:.1f}")
    measuring = Measuring(arguments.seconds, arguments.runs, arguments.plot)
    for name in arguments.names:
        print(f"\n{name}: {(BENCHMARKS[name].__doc__ or '').strip()}", flush=True)
        BENCHMARKS[name](measuring)


# ---------------------------------------------------------------------------------------------------------- the models


def axis_open_loop(measuring: Measuring) -> None:
    """axis, valve sine of 0.5 Hz; the paper: explicit Euler and RK4 fail, LIE, ROS3P and ROS4L work at 20 ms"""
    model = kilohertz.load(f"{AXIS}.OpenLoop")
    signals = ("mass.s", "cylinder.p_a", "cylinder.p_b")
    exact = model.simulate(stop=4.0, intervals=4000, tolerance=1e-10)
    print(f"{'method':12s}" + "".join(f"{f'{h} ms':>12s}" for h in (1, 5, 20)))
    for solver in METHODS:
        errors = [_error(exact, Case(model.name, solver, h * 1e-3, signals, 4.0)) for h in (1, 5, 20)]
        print(f"{solver:12s}" + "".join(f"{e:>12s}" for e in errors))
    _table([Case(model.name, solver, 1e-3, signals, 4.0) for solver in ("lie", "ros3p", "ros4l")], measuring)


def axis_closed_loop(measuring: Measuring) -> None:
    """the axis and its controller, two generated programs; the paper: both on one device at 1 ms"""
    seconds = measuring.seconds
    example = next(e for e in EXAMPLES if e.name == "hydraulic_axis")
    with tempfile.TemporaryDirectory() as folder:
        plain = replace(read_scenario(example.scenario).lasting(seconds), name=f"papers{os.getpid()}", scale=None)
        recording = replace(plain.recording, file=str(Path(folder) / "axis.csv"))
        one = start(build(replace(plain, recording=recording), folder=folder)).wait()
        run = one.result
    exact = kilohertz.load(example.model).simulate(stop=seconds, intervals=round(seconds * 1e3), tolerance=1e-9)
    off = np.abs(run["plant.x"] - np.interp(run.time, exact.time, exact["plant.x"])).max()
    behind = np.abs(run["plant.x"] - run["controller.x_ref"]).max()
    print(f"two programs in one process: position within {off * 1e6:.3g} um of CVODE on both as one model")
    print(f"  and within {behind * 1e3:.3g} mm of the profile; a cycle of both: {_times(one)}")
    print("two processes over UDP and shared memory, and their bits: benchmarks/realtime_two_processes.py")
    _table([Case(example.model, "ros34pw2", 1e-3, ("plant.x", "plant.p_a", "plant.p_b"), 4.0)], measuring)


def inductors(measuring: Measuring) -> None:
    """inductors; the paper: 24.26 us a step with one nonlinear and one linear loop, 16.94 us with two small loops"""
    _pair("Kilohertz.Examples.SaturatingInductors", ("Original", "WithCapacitor"), "v_B", 1e-5, 0.2, measuring)


def resistors(measuring: Measuring) -> None:
    """resistors; the paper: 12.27 us a step with a nonlinear loop, 1.70 us without"""
    _pair("Kilohertz.Examples.ThermalResistors", ("Original", "WithCapacity"), "T_A", 1e-3, 10.0, measuring)


def y_drive(measuring: Measuring) -> None:
    """Y-drive; the paper: 360 equations, 25 states, two mixed loops, LI3 at 1 ms, Newton capped at 6 (4 needed)"""
    name, signals = "Kilohertz.Examples.YDrive", ("carriage.s", "beam.s", "carriage.v", "beam.v")
    iterations = np.array([s.iterations for s in _stepped(name, StepSettings("li3", 1e-3), 20.0)])
    share = ", ".join(f"{n}: {100 * np.mean(iterations == n):.3g} %" for n in np.unique(iterations))
    print(f"Newton iterations of all loops in a step (3 right-hand sides): {share}")
    for cap in (1, 2, 3, 4, 6):
        report, _ = _run(Case(name, "li3", 1e-3, (), 20.0), 20.0, loop_newton=cap)
        counts = report.data["tasks"][0]["counts"]
        print(f"  capped at {cap} in each loop: {counts['newton_caps']} caps hit in {counts['steps']} steps")
    positions = Case(name, "li3", 1e-3, signals[:2], 20.0, counted_from=9)
    speeds = replace(positions, signals=signals[2:])
    _table([positions, speeds, *(replace(c, step=1e-4) for c in (positions, speeds))], measuring)


def six_speeds(measuring: Measuring) -> None:
    """gearbox; the paper: 689 equations, 15 states, linear system 77 > 50 > 7, factors at events, Euler at 1 ms"""
    name = "Kilohertz.Examples.Car.SixSpeeds"
    model = kilohertz.load(name)
    exact = model.simulate(tolerance=1e-8, intervals=9000)
    steps = model.simulate(solver="euler", step=1e-3)
    off = np.abs(steps["car.v"] - np.interp(steps.time, exact.time, exact["car.v"])).max()
    print(f"speed within {off:.3g} m/s of CVODE; gears {_sequence(exact)} (CVODE), {_sequence(steps)} (Euler)")
    costs = {}
    for whole in (False, True):
        stepping = StepSettings.of(solver="euler", step=1e-3)
        runs = [_stepped(name, stepping, 90.0, Tear(whole=whole)) for _ in range(measuring.runs)]
        first, best = runs[0], np.min([[s.nanoseconds for s in run] for run in runs], axis=0) * 1e-3
        events = np.array([s.event for s in first])
        factored = np.array([s.factored for s in first])
        words = "not torn" if whole else "torn"
        print(f"{words}: {factored[events].sum()} factorisations in {events.sum()} steps with events,", end=" ")
        print(f"{factored[~events].sum()} in {(~events).sum()} others; a step called from Python: median", end=" ")
        print(f"{np.median(best[~events]):.2f} us, with an event {np.median(best[events]):.2f}, most {best.max():.1f}")
        costs[words] = best
    if measuring.plot is not None:
        _draw_costs(measuring.plot, costs)
    drives = {1e-3: 90.0, 1e-4: 30.0}  # at rest and before the first shift it costs less
    _table([Case(name, "euler", h, ("car.v",), 90.0, counted_from=20, seconds=s) for h, s in drives.items()], measuring)


def robot_arm(measuring: Measuring) -> None:
    """arm; the paper: 12 000 equations at compile time, 1.5 ms for each step of 1 ms, 1 % faults"""
    hand = tuple(f"plant.hand[{i}]" for i in (1, 2, 3))
    pairs = (("lie", 1e-3), ("ros2", 1e-3), ("rodas3", 1e-3), ("lie", 1e-4), ("ros2", 1e-4))
    cases = [Case(f"{ROBOT}.ClosedLoop", solver, step, hand, 2.0) for solver, step in pairs]
    _table(cases, replace(measuring, seconds=min(measuring.seconds, 2.0)))


# ------------------------------------------------------------------------------------------------------------- a table


def _table(cases: Iterable[Case], measuring: Measuring) -> None:
    """A line for each case, below the sizes of its model."""
    exact: dict[str, Result] = {}
    for case in cases:
        if case.model not in exact:
            _sizes(case.model)
            intervals = min(20_000, round(case.stop / case.step))
            model = kilohertz.load(case.model)
            exact[case.model] = model.simulate(stop=case.stop, tolerance=case.tolerance, intervals=intervals)
        error, spent = _error(exact[case.model], case), counted_instructions(case)
        names = ", ".join(case.signals)
        print(f"  {case.solver} at {case.step * 1e3:g} ms: {names} off by {error}; {spent} instructions; ", end="")
        print(cost_of(case, measuring), flush=True)


def _sizes(name: str) -> None:
    model = kilohertz.load(name)
    analysis = model.analyse()
    report = model.check()
    loops = [loop for loop in analysis.loops if loop.partition != "initial"]
    print(f"{name}: {report.equations} equations, {len(analysis.states)} states; loops before and after tearing:")
    for loop in loops:
        when = f", matrix new at every {loop.matrix}" if loop.matrix else ""
        print(f"    {loop.kind:9s} {loop.size:4d} > {loop.torn_size}{when}")


def _error(exact: Result, case: Case) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # what fails is in the table
            model = kilohertz.load(case.model)
            run = model.simulate(solver=case.solver, step=case.step, stop=case.stop)
    except ModelError as error:
        return error.diagnostics[0].code
    worst = 0.0
    for name in case.signals:
        off = np.abs(run[name] - np.interp(run.time, exact.time, exact[name]))
        worst = max(worst, float(off.max()) / float(np.ptp(exact[name])))
    return f"{worst:.1e}" if worst < HOLDS else "fails"


def counted_instructions(case: Case) -> str:
    program = build_counted(kilohertz.load(case.model).process())
    skipped = max(10, round(case.counted_from / case.step))
    return f"{count(program, case.solver, case.step, False, skipped, 200).per_step:.0f}"


def _run(case: Case, seconds: float, loop_newton: int = 6, times: bool = False) -> tuple[Report, np.ndarray]:
    scenario = plain_scenario(
        case.model,
        duration=seconds,
        name=f"papers{os.getpid()}",
        solver=case.solver,
        step=case.step,
        loop_newton=loop_newton,
        newton=case.settings.newton,
        jacobian_every=case.settings.jacobian_every,
        jacobian_spread=case.settings.jacobian_spread,
    )
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(times=times, enabled=times, signals=case.signals, file=str(Path(folder) / "run.csv"))
        report = start(build(replace(scenario, scale=None, recording=recording), folder=Path(folder))).wait()
        return report, report.result["cycle.compute"][2 + GRACE :] if times else np.empty(0)


def _times(report: Report) -> str:
    compute = report.data["times"]["compute"]
    return ", ".join(f"{k} {compute[k] * 1e-3:.1f} us" for k in ("p50", "p99", "p99.9", "max"))


def cost_of(case: Case, measuring: Measuring) -> str:
    seconds = case.seconds or measuring.seconds * min(1.0, case.step / 1e-3)
    runs = [_run(case, seconds, times=True) for _ in range(measuring.runs)]
    shortest = np.min([cycles for _, cycles in runs], axis=0)
    median, rare, most = (float(np.percentile(shortest, p)) for p in (50, 99.9, 100))
    worst = min(report.data["times"]["compute"]["max"] for report, _ in runs) * 1e-3
    fits = ", ".join(f"{period / most:.3g}" for period in PERIODS)
    return (
        f"p50 {median * 1e6:.2f}, p99.9 {rare * 1e6:.2f}, max {most * 1e6:.2f} us (at worst {worst:.0f}); "
        f"max fits {fits} times into 1 and 0.1 ms"
    )


# --------------------------------------------------------------------------------------------------------- step by step


@dataclass(frozen=True, slots=True)
class Stepped:
    """What one step took."""

    nanoseconds: int
    iterations: int
    factored: int
    event: bool


def _stepped(name: str, stepping: StepSettings, seconds: float, tearing: Tear | None = None) -> list[Stepped]:
    """Every step by itself, called from Python."""
    from time import perf_counter_ns

    form = compile_flat(kilohertz.load(name).flatten(), tearing if tearing is not None else Tear())
    stepper = Stepper(build_program(form), stepping)
    stepper.start(0.0)
    context, steps = stepper.instance.context, []
    for _ in range(round(seconds / stepping.step)):
        before = context.n_iterations, context.n_factored
        begun = perf_counter_ns()
        flags = stepper.step()
        spent = perf_counter_ns() - begun
        iterations, factored = context.n_iterations - before[0], context.n_factored - before[1]
        steps.append(Stepped(spent, iterations, factored, "event" in flags))
    stepper.close()
    return steps


def _pair(package: str, names: Sequence[str], signal: str, step: float, stop: float, measuring: Measuring) -> None:
    """A model and its variant: the same table for both, and how far the variant's signal is off."""
    cases = [Case(f"{package}.{name}", "euler", step, (signal,), stop) for name in names]
    first, second = (kilohertz.load(c.model).simulate(tolerance=1e-10, intervals=2000) for c in cases)
    off = np.abs(np.interp(first.time, second.time, second[signal]) - first[signal]).max() / np.ptp(first[signal])
    for case in cases:
        done = _stepped(case.model, StepSettings("euler", step), min(stop, 2000 * step))
        print(f"{case.model}: {np.mean([s.iterations for s in done]):.2f} Newton iterations a step")
    print(f"{signal} of the variant deviates by {100 * off:.2g} % of its range, both by CVODE")
    _table(cases, replace(measuring, seconds=min(measuring.seconds, 2000 * step) * max(1.0, 1e-3 / step)))


def _sequence(result: Result) -> str:
    gears = result["shift.gear"]
    kept = np.r_[True, np.diff(gears) != 0]
    return " ".join(f"{g:.0f}" for g in gears[kept])


def _draw_costs(path: Path, costs: dict[str, np.ndarray]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for words, best in reversed(costs.items()):
        axes.semilogy(1e-3 * np.arange(1, len(best) + 1), best, ".", ms=2, label=f"linear system {words}")
    axes.axhline(1e3, color="tab:red", lw=1, label="period, 1 kHz")
    axes.axhline(1e2, color="tab:red", lw=1, ls="--", label="period, 10 kHz")
    axes.set(xlabel="time of the model [s]", ylabel="cost of a step [µs]")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=4, fontsize="small", markerscale=4, frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=100)


BENCHMARKS = {
    "b2": axis_open_loop,
    "b3": axis_closed_loop,
    "b4": inductors,
    "b5": resistors,
    "b6": y_drive,
    "b7": six_speeds,
    "b8": robot_arm,
}

if __name__ == "__main__":
    main()

"""What a bounded step promises: no allocation, no system call, the same bits again, and a way on from every failure."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import load
from kilohertz.building import linked_units, main_unit
from kilohertz.cli.main import main
from kilohertz.cost.bound import Bounds
from kilohertz.simulate import Program, Statistics, Stepper
from kilohertz.simulate.faults import faults
from kilohertz.solvers import EVENTS, StepSettings
from kilohertz.toolchain import build_executable

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "stepping.mo"
FRICTION = FOLDER.parent / "solvers" / "friction.mo"
OPEN_LOOPS = FOLDER.parent / "solvers" / "index1.mo:Index1.Valve"
MS = 1e-3


@cache
def compiled(name: str) -> Program:
    return load(f"{SOURCE}:Stepping.{name}").compile()


def started(name: str, method: str = "ros34pw2", **how: object) -> Stepper:
    stepper = Stepper(compiled(name), StepSettings(method, MS, **how))  # type: ignore[arg-type]
    assert stepper.start(0.0) == 0
    return stepper


def value(stepper: Stepper, name: str) -> float:
    return float(stepper.instance.read(stepper.program.step.variables[name]))


@cache
def watched(index1: bool = False) -> Path:
    program = load(f"{OPEN_LOOPS}").compile(index1=True) if index1 else compiled("Everything")
    units, libraries = linked_units([program.built], offline=False)
    text = (FOLDER / "watched.c.in").read_text()
    watching = main_unit(program.built, text, ("-std=gnu11", "-fno-builtin"))
    return build_executable([*units, watching], libraries)


def run_watched(method: str, events: str, steps: int, how: str = "watch", index1: bool = False) -> int:
    arguments = [str(watched(index1)), method, str(EVENTS.index(events)), str(steps), how]
    return subprocess.run(arguments, check=False, timeout=600).returncode


@pytest.mark.parametrize("method", ["rk4", "ros34pw2"])
def test_a_copy_elsewhere_goes_on_with_the_same_bits(method: str) -> None:
    first, second = started("Everything", method), started("Everything", method)
    for _ in range(100):
        first.step()
    second.restore(first.snapshot())
    for _ in range(100):
        first.step()
        second.step()
    ends = [s.snapshot()[-s.program.size :] for s in (first, second)]
    assert first.address != second.address
    assert ends[0] == ends[1]


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is of Linux")
def test_a_million_steps_without_allocation_or_system_call() -> None:
    assert run_watched("ros34pw2", "linear", 1_000_000) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is of Linux")
@pytest.mark.parametrize(
    ("method", "events"), [("rk4", "none"), ("rodasp", "mid"), ("esdirk4", "predict"), ("li3", "exact")]
)
def test_other_methods_neither(method: str, events: str) -> None:
    assert run_watched(method, events, 20_000) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is of Linux")
@pytest.mark.parametrize(("method", "events"), [("ros3prl", "catch-up"), ("sdirk3", "none")])
def test_nor_the_index_1_form(method: str, events: str) -> None:
    assert run_watched(method, events, 20_000, index1=True) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is of Linux")
def test_the_watch_would_notice() -> None:
    assert run_watched("rk4", "none", 10, "malloc") == 1
    assert run_watched("rk4", "none", 10, "syscall") < 0


@pytest.mark.parametrize(("method", "events"), [("rk4", "linear"), ("rodas4", "mid"), ("sdirk3", "exact")])
def test_a_snapshot_is_a_copy(method: str, events: str) -> None:
    stepper = started("Everything", method, events=events)
    for _ in range(100):
        stepper.step()
    before = stepper.snapshot()
    for _ in range(1000):
        stepper.step()
    after = stepper.snapshot()
    assert after != before
    stepper.restore(before)
    for _ in range(1000):
        stepper.step()
    assert stepper.snapshot() == after


def test_off_line_runs_are_the_stepper() -> None:
    stepper = started("Everything", "li3", events="linear")
    names = ("x", "w", "z", "a", "ticks")
    rows = []
    for _ in range(2000):
        stepper.step()
        rows.append([stepper.time, *(value(stepper, n) for n in names)])
    result = load(f"{SOURCE}:Stepping.Everything").simulate(
        solver="li3", step=1e-3, events="linear", stop=2.0, intervals=2000
    )
    recorded = {t: i for i, t in enumerate(result.time)}  # the last row at each instant
    at = [recorded[row[0]] for row in rows[:-1]]
    for k, name in enumerate(names, 1):
        assert np.array_equal(result[name][at], [row[k] for row in rows[:-1]]), name


def test_no_denormal_numbers_in_a_step() -> None:
    stepper = started("Decay", "euler")
    for _ in range(400):
        stepper.step()
    y = value(stepper, "y")  # with them it would be 5e-319
    assert y == 0.0 or y >= sys.float_info.min
    assert sys.float_info.min / 2 > 0.0  # Python has them still


# ----------------------------------------------------------------------------------------------- ways on from failures


def test_a_value_that_is_not_a_number_is_held_and_placed(capsys: pytest.CaptureFixture[str]) -> None:
    stepper = started("Root", "rk4")
    flags = [stepper.step() for _ in range(40)]
    assert "held" in flags[11]
    assert stepper.counts["held"] > 0
    number, worst = max(enumerate(stepper.blocks), key=lambda b: b[1].not_finite)
    assert worst.not_finite > 0
    assert stepper.program.code.blocks[number].unknowns == ("part.r",)  # not der(y), which only takes it over
    assert sum(stepper.not_finite) == 0
    assert np.isfinite([value(stepper, n) for n in ("x", "y")]).all()
    assert main(["simulate", f"{SOURCE}:Stepping.Root", "--solver", "rk4", "--step", "1ms", "--stop", "0.04"]) == 1
    text = capsys.readouterr().err
    assert "warning[R729]" in text
    line = SOURCE.read_text().splitlines().index("      r = sqrt(u);") + 1
    assert "warning[R727]: part.r was not a number" in text
    assert "in component `part`" in text
    assert f"stepping.mo:{line}:" in text


def test_a_state_that_leaves_the_numbers_is_named() -> None:
    """The method's own doing: no block is to blame."""
    stepper = started("Grows", "rk4")
    for _ in range(40):
        stepper.step()
    assert stepper.counts["not_finite"] > 0
    assert stepper.not_finite[0] + sum(b.not_finite for b in stepper.blocks) > 0
    assert np.isfinite(value(stepper, "x"))


def test_an_endless_series_of_jumps_is_placed() -> None:
    stepper = started("Jumps", "euler", event_cap=5)
    for _ in range(40):
        stepper.step()
    assert stepper.counts["event_caps"] > 0
    (text,) = [w.message for w in faults(stepper) if w.code == "R730"]
    assert text.endswith("x still changing in component `jumper`")


def test_a_newton_cap_is_counted_and_the_loop_goes_on() -> None:
    stepper = started("Hard", "rk4", loop_newton=3)
    for _ in range(60):
        stepper.step()
    assert stepper.counts["newton_caps"] > 0
    assert stepper.counts["held"] == 0
    number, worst = max(enumerate(stepper.blocks), key=lambda b: b[1].newton_caps)
    assert worst.residual > 0
    assert set(stepper.program.code.blocks[number].unknowns) == {"z", "w"}
    assert value(stepper, "z") == pytest.approx(3, abs=0.01)


@pytest.mark.parametrize("method", ["rk4", "lie"])
def test_a_loop_finds_its_root_over_a_piece_without_slope(method: str) -> None:
    stepper = started("Selects", method)
    for _ in range(300):
        stepper.step()
        assert value(stepper, "y") == pytest.approx(value(stepper, "x"), abs=1e-9)
    assert stepper.counts["newton_caps"] == 0


def test_a_singular_system_costs_one_step() -> None:
    stepper = started("Singular", "euler")
    for _ in range(1100):
        stepper.step()
    assert stepper.counts["pivots"] > 0
    assert stepper.counts["held"] <= 2
    assert stepper.time == pytest.approx(1.1)
    assert np.isfinite(value(stepper, "x"))


def test_an_endless_event_iteration_is_cut() -> None:
    stepper = started("Flips", "euler", event_cap=5)
    for _ in range(40):
        stepper.step()
    assert stepper.counts["event_caps"] > 0
    assert stepper.counts["max_step_passes"] <= 5
    assert value(stepper, "x") == pytest.approx(0.04)
    assert value(stepper, "b") == 0.0
    number, worst = max(enumerate(stepper.blocks), key=lambda b: b[1].event_caps)
    assert worst.event_caps == stepper.counts["event_caps"]
    assert "b" in stepper.program.code.blocks[number].unknowns
    text = [w.message for w in faults(stepper) if w.code == "R730"]
    assert text == [f"event iterations reached their cap of 5 passes {worst.event_caps} times, b still changing"]


def test_the_search_for_a_mode_is_cut() -> None:
    """In each period no more turns than allowed, beyond the first in a pass; the event ends, and a message says so."""
    stepper = started("Contrary", "euler", mode_cap=2)
    context = stepper.instance.context
    for _ in range(40):
        turns, passes = context.n_mixed, context.n_passes
        stepper.step()
        assert context.n_mixed - turns <= 2 + context.n_passes - passes
    assert context.n_cut > 0
    (warning,) = [w for w in faults(stepper) if w.code == "R749"]
    assert warning.message.endswith("at the cap of 2 turns")
    assert value(stepper, "x") == pytest.approx(0.04)
    long = started("Contrary", "euler", mode_cap=1000)
    for _ in range(40):
        long.step()
    assert long.instance.context.n_cut == 0
    assert {"R734", "R749"} & {w.code for w in faults(long)} == {"R734"}


@pytest.mark.parametrize(("mode_cap", "passes"), [(10, 5), (1, 3), (1000, 16)])
def test_late_passes_of_an_event_take_turns_of_the_search(mode_cap: int, passes: int) -> None:
    """Three are free, each further takes five turns of the period; the cap of passes holds besides."""
    stepper = started("Restless", "euler", mode_cap=mode_cap)
    for _ in range(40):
        stepper.step()
    assert stepper.counts["max_step_passes"] == passes
    (text,) = [w.message for w in faults(stepper) if w.code == "R730"]
    times = stepper.counts["event_caps"]
    caps = f"16 passes, or of {mode_cap} turns for modes,"
    assert text == f"event iterations reached their cap of {caps} {times} times, b still changing"


@pytest.mark.parametrize(("method", "stages"), [("rk4", 4), ("lie", 1), ("sdirk3", 3 * StepSettings().newton)])
def test_what_a_period_has_to_spare_is_what_the_bound_counts(method: str, stages: int) -> None:
    """A quiet step leaves all of it: no iteration beyond the cap of a solution, no residual beyond one for each."""
    stepper = started("Refuses", method)
    stepper.step()
    context, settings = stepper.instance.context, StepSettings(method, MS)
    assert context.iterations_left == settings.loop_newton * (3 + -(-stages // 2))
    assert context.trials_left == 60 + 40 * stages
    period = Bounds(stepper.program.step)._period(settings, settings.loop_newton)
    assert period.spare == (context.iterations_left, context.trials_left)


def test_a_loop_ends_where_the_period_has_nothing_left_for_it() -> None:
    """The mode without a solution takes what there is, once: no more residuals in a period than those and the usual."""
    stepper = started("Refuses", "euler", events="linear")
    context, cap = stepper.instance.context, StepSettings().loop_newton
    most = 0
    for _ in range(15):
        before, rhs, passes = context.n_iterations, stepper.counts["rhs"], context.n_passes
        stepper.step()
        solutions = stepper.counts["rhs"] - rhs + context.n_passes - passes
        assert context.n_iterations - before <= cap * solutions + 4 * cap
        most = max(most, context.n_iterations - before)
    assert context.iterations_left < 4 * cap or context.trials_left < 100
    assert stepper.counts["newton_caps"] > 0
    assert most > cap


def test_a_singular_mode_takes_turns() -> None:
    """Two clutches locked side by side: each pass solves its system by the smallest norm, and pays for it."""
    program = load(f"{FRICTION}:Friction.TwoClutches").compile()
    turns = {}
    for mode_cap in (16, 2):
        stepper = Stepper(program, StepSettings("rk4", MS, events="linear", mode_cap=mode_cap))
        assert stepper.start(0.0) == 0
        left = []
        for _ in range(1000):
            stepper.step()
            left.append(stepper.instance.context.turns_left)
        turns[mode_cap] = min(left), stepper.instance.context.n_cut
    assert 0 < turns[16][0] < 16
    assert turns[16][1] == 0
    assert turns[2][1] > 0


def test_a_loop_without_a_solution_keeps_its_last_values() -> None:
    stepper = started("Refuses", "euler", events="linear")
    for _ in range(15):
        stepper.step()
    assert value(stepper, "on") == 1.0
    assert value(stepper, "y") == pytest.approx(np.sqrt(1.0105), rel=1e-4)
    assert stepper.counts["newton_caps"] > 0
    for _ in range(25):
        stepper.step()
    assert value(stepper, "on") == 0.0
    assert value(stepper, "y") == pytest.approx(np.sqrt(1 + value(stepper, "x")), rel=1e-9)
    assert stepper.time == pytest.approx(0.04)


@pytest.mark.parametrize("events", ["none", "hermite"])
def test_an_event_that_fails_leaves_the_mode_before_it(events: str) -> None:
    stepper = started("Throws", "rk4", events=events)
    for _ in range(15):
        stepper.step()
    x, b = value(stepper, "x"), value(stepper, "b")
    assert stepper.counts["failures"] > 0
    assert value(stepper, "seen") == 0.0
    assert b == pytest.approx((1 - x) / 2, rel=1e-9)  # the matrix is that of the mode before
    for _ in range(15):
        stepper.step()
    x, b = value(stepper, "x"), value(stepper, "b")
    assert value(stepper, "seen") == pytest.approx(0.0205, abs=1.1e-3)
    assert b == pytest.approx((1 - x) / 3, rel=1e-9)


@pytest.mark.parametrize("events", ["none", "catch-up", "exact"])
def test_chattering_is_reported_with_its_place(events: str) -> None:
    statistics = Statistics()
    how: dict[str, Any] = {"solver": "euler", "step": 1e-3, "events": events}
    load(f"{SOURCE}:Stepping.Chatters").simulate(stop=0.5, statistics=statistics, **how)
    found = [w for w in statistics.warnings if w.code == "R728"]
    assert found
    assert found[0].span is not None
    assert statistics.counts["held"] == 0


def test_an_assertion_does_not_stop_the_stepper() -> None:
    stepper = started("Chair", "euler")
    flags = [stepper.step() for _ in range(20)]
    assert "assertion" in flags[-1]
    assert stepper.counts["assertions"] == 11
    assert value(stepper, "x") == pytest.approx(0.02)


# --------------------------------------------------------------------------------------------------------------- events


@pytest.mark.parametrize("events", ["mid", "linear", "catch-up", "hermite", "predict"])
def test_time_events_are_met_exactly(events: str) -> None:
    stepper = started("Ticks", "rk4", events=events)
    for _ in range(16):
        stepper.step()
    assert value(stepper, "last") == pytest.approx(0.0005 + 4 * 0.0033, abs=1e-15)
    assert value(stepper, "late") == 5
    assert stepper.counts["late_time_events"] == 0
    assert value(stepper, "seen") == pytest.approx(0.0115, abs=1e-3 if events == "mid" else 1e-12)


def test_without_locating_they_come_at_the_end_of_the_step_and_that_is_said() -> None:
    stepper = started("Ticks", "rk4")
    for _ in range(16):
        stepper.step()
    assert value(stepper, "last") == pytest.approx(0.014)
    assert stepper.counts["late_time_events"] == 5


@pytest.mark.parametrize("events", EVENTS)
def test_several_events_in_one_step(events: str) -> None:
    stepper = started("Several", "rk4", events=events)
    for _ in range(20):
        stepper.step()
    first, second = value(stepper, "first"), value(stepper, "second")
    assert value(stepper, "n") == 1
    assert 0.0102 - 1e-12 <= first <= 0.0111
    assert first <= second <= 0.0121
    if events in ("linear", "hermite", "predict"):
        assert first == pytest.approx(0.0102, abs=1e-9)
        # x is at 0.0102 then and goes on twice as fast; the second lies in the next step
        assert value(stepper, "x") == pytest.approx(0.0102 + 2 * (0.02 - 0.0102), abs=1e-9)


def test_inputs_take_effect_when_they_arrive() -> None:
    stepper = started("Pushed", "rk4")
    u, button = (stepper.program.step.variables[n] for n in ("u", "button"))
    for k in range(20):
        stepper.instance.write(u, 1.0 if k >= 5 else 0.0)
        stepper.instance.write(button, float(k in (3, 4, 8)))
        stepper.step()
    assert value(stepper, "presses") == 2
    assert value(stepper, "releases") == 2
    assert value(stepper, "high") == pytest.approx(0.005)
    assert value(stepper, "x") == pytest.approx(0.015)

"""The six-speed gearbox: its ratios by tooth numbers, its gear sequence, and what the car does."""

from __future__ import annotations

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.step import LinearLoop, MixedLoop, mode_turns
from kilohertz.passes.ordered.tear import Tear
from kilohertz.results import Result
from kilohertz.simulate.program import build_program
from kilohertz.simulate.stepper import Stepper
from kilohertz.solvers import StepSettings

CAR = "Kilohertz.Examples.Car"
FIRST, SMALL, LARGE = 71 / 37, 85 / 31, 85 / 38
REDUCED = 1 + 1 / FIRST  # input over reduced shaft
RATIOS = {
    1: REDUCED * SMALL,  # carrier held
    2: REDUCED * (SMALL + LARGE) / (1 + LARGE),  # large sun held
    3: REDUCED,  # the whole second set turns as one
    4: SMALL / (1 / REDUCED + SMALL - 1),  # carrier at the input, small sun reduced
    5: LARGE / (1 + LARGE - 1 / REDUCED),  # carrier at the input, large sun reduced
    6: LARGE / (1 + LARGE),  # carrier at the input, large sun held
}


@pytest.fixture(scope="module")
def drive() -> Result:
    return kilohertz.load(f"{CAR}.SixSpeeds").simulate(tolerance=1e-8)


@pytest.mark.parametrize("gear", RATIOS)
def test_each_gear_has_the_ratio_of_its_teeth(gear: int) -> None:
    result = kilohertz.load(f"{CAR}.GearRatios(gear={gear})").simulate(tolerance=1e-9)
    assert result.final("ratio") == pytest.approx(RATIOS[gear], rel=1e-6)


def test_the_ratios_are_those_of_the_gearbox_that_was_built() -> None:
    assert list(RATIOS.values()) == pytest.approx([4.171, 2.340, 1.521, 1.143, 0.867, 0.691], abs=6e-4)


def test_it_shifts_through_all_gears_up_and_down(drive: Result) -> None:
    gear = drive["shift.gear"]
    changes = np.flatnonzero(np.diff(gear))
    assert [int(gear[0]), *gear[changes + 1].astype(int)] == [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    speeds = drive["car.v"][changes]
    assert speeds[:5] == pytest.approx([5, 10, 16, 22, 29], abs=1e-3)
    assert speeds[5:] == pytest.approx([25, 18.5, 13, 7.5, 3], abs=1e-3)


def test_the_car_follows_its_profile_and_stands_at_last(drive: Result) -> None:
    assert np.abs(drive["car.v"] - drive["profile.y"]).max() < 2
    assert abs(drive.final("car.v")) < 1e-6
    assert drive["engine.w"].min() > 50  # it does not stall


def test_locked_gears_turn_by_their_ratios(drive: Result) -> None:
    """Half a second and more after a shift, engine and output turn as the gear says, the converter locked."""
    t, gear = drive.time, drive["shift.gear"]
    quiet = (t - drive["shift.since"] > 0.9) & (gear >= 3) & (np.append(np.diff(gear), 0) == 0)
    ratio = np.array([RATIOS[int(g)] for g in gear[quiet]])
    turbine = drive["gearbox.input_shaft.w"][quiet]
    assert np.abs(turbine - ratio * drive["gearbox.output_shaft.w"][quiet]).max() < 1e-3
    assert np.abs(drive["engine.w"][quiet] - turbine).max() < 1e-3


def test_explicit_euler_at_a_millisecond_shifts_alike(drive: Result) -> None:
    """What the transmission benchmark reports of explicit Euler at 1 ms: the sequence is the same, the speed close."""
    euler = kilohertz.load(f"{CAR}.SixSpeeds").simulate(solver="euler", step=1e-3)
    gear = euler["shift.gear"]
    changes = np.flatnonzero(np.diff(gear))
    assert [1, *gear[changes + 1].astype(int)] == [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]
    apart = np.interp(drive.time, euler.time, euler["car.v"]) - drive["car.v"]
    assert np.abs(apart).max() < 0.05


def test_the_linear_system_is_torn_to_its_friction_elements_and_factorised_at_events_only() -> None:
    """The same steps with the system as it was before tearing: 45 unknowns in place of 7, the same speeds."""
    flat = kilohertz.load(f"{CAR}.SixSpeeds").flatten()
    speeds = []
    for whole, size in ((False, 7), (True, 45)):
        form = compile_flat(flat, Tear(whole=whole))
        mixed = next(b for b in form.blocks if isinstance(b, MixedLoop))
        assert [len(b.unknowns) for b in mixed.continuous if isinstance(b, LinearLoop)] == [size]
        stepper = Stepper(build_program(form), StepSettings.of(solver="euler", step=1e-3))
        stepper.start(0.0)
        n_events = 0
        for _ in range(4000):
            before = stepper.instance.context.n_factored
            is_event = "event" in stepper.step()
            assert is_event or stepper.instance.context.n_factored == before
            n_events += is_event
        assert 0 < n_events < 100
        speeds.append(stepper.instance.read(form.variables["engine.w"]))
        stepper.close()
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-9)


def test_the_modes_of_seven_friction_elements_are_found_soon() -> None:
    """Shifts up and down with 28 relations in one loop: each search ends with a mode that agrees, none at its cap."""
    program = kilohertz.load(f"{CAR}.SixSpeeds").compile()
    assert mode_turns(program.step) == 42
    stepper = Stepper(program, StepSettings("euler", 1e-3))
    stepper.start(0.0)
    context, most = stepper.instance.context, 0
    for _ in range(60_000):
        before = context.n_mixed
        stepper.step()
        most = max(most, context.n_mixed - before)
    assert 10 < most <= 30
    assert (context.n_cut, context.n_unsettled) == (0, 0)
    stepper.close()


def test_an_engine_map_that_does_not_rise_is_refused() -> None:
    with pytest.raises(ModelError, match="the speeds of an engine map must rise"):
        kilohertz.load(f"{CAR}.SixSpeeds").simulate(settings={"engine.w_points[3]": 10.0}, stop=0.1)

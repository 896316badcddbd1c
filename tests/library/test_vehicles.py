"""Cars in space: tyres against their curves, a car against what mechanics says, a lane change by a bounded method."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import kilohertz
from kilohertz.results import Result

HANDLING = "Kilohertz.Examples.Handling"
WEIGHT = 9.81 * (1442 + 4 * 21 + 2 * 27.62 + 2 * 30.05)
LANES = ((0, 15, -1.115, 1.115), (45, 70, 2.385, 4.795), (95, 125, -1.115, 1.475))  # from, to, right and left edge in m


@functools.cache
def car(model: str) -> kilohertz.Model:
    """What is known of it is used again."""
    return kilohertz.load(f"{HANDLING}.{model}")


@functools.cache
def run(model: str, solver: str = "rk4", step: float = 1e-3, rows: int = 2000, **settings: float) -> Result:
    return car(model).simulate(solver=solver, step=step, intervals=rows, settings=settings)


def loads(result: Result) -> np.ndarray:
    return np.array([result[f"car.load[{i}]"] for i in range(1, 5)])


def parabola(at_one: float, at_two: float, q: float) -> float:
    """Through zero and both numbers."""
    return float(np.polyval(np.polyfit([0, 1, 2], [0, at_one, at_two], 2), q))


def side_force(load: float, slip: np.ndarray) -> np.ndarray:
    """The curve of the side force by its five numbers, for slip across alone."""
    q = load / 3089.1
    slope, top, slide = parabola(65350, 117790, q), parabola(3423.1, 6094.4, q), parabola(2412.7, 3661.4, q)
    at_top = 0.1269 + (0.1195 - 0.1269) * (q - 1)
    rising = slope * slip / (1 + slip / at_top * (slip / at_top + slope * at_top / top - 2))
    b = (slip - at_top) / (1 - at_top)
    return np.where(slip < at_top, rising, top - (top - slide) * b**2 * (3 - 2 * b))


def test_side_force_follows_the_curve_of_the_tyre() -> None:
    result = run("SideSlip", step=2e-3)
    alpha, force = result["alpha"], -result["wheel.tyre.F_y"]
    assert force == pytest.approx(side_force(4000, np.tan(alpha)), abs=0.006 * force.max())
    for degrees, expected in ((2, 2416), (5, 4072), (10, 4275)):
        assert np.interp(math.radians(degrees), alpha, force) == pytest.approx(expected, rel=0.01)


def test_the_magic_formula_follows_its_curve() -> None:
    """Pure slip across without camber, by the formula itself."""
    result = run("MagicSlip", step=2e-3)
    alpha, force, df = result["alpha"], -result["wheel.tyre.F_y"], 4000 / (0.81 * 4850) - 1
    top = (1.0489 - 0.18033 * df) * 4000
    x = 21.92 * 0.81 * 4850 * math.sin(2 * math.atan((df + 1) / 2.0012)) / (1.3507 * top) * alpha
    bent = x - (-0.00747 - 0.00632 * df) * (x - np.arctan(x))
    assert force == pytest.approx(top * np.sin(1.3507 * np.arctan(bent)), abs=0.006 * force.max())
    for degrees, expected in ((2, 2182), (5, 3748), (10, 4180)):
        assert np.interp(math.radians(degrees), alpha, force) == pytest.approx(expected, rel=0.01)


def test_force_along_a_wheel_from_locked_to_spinning() -> None:
    result = run("BrakeSlip", step=2e-3)
    slip, force = result["wheel.tyre.slip[1]"], result["wheel.tyre.F_x"]
    assert force.max() == pytest.approx(4871, rel=0.01)
    assert -force.min() == pytest.approx(4871, rel=0.01)
    assert force[1] == pytest.approx(-parabola(2883.7, 5026.5, 4000 / 3089.1), rel=0.01), "slides"
    near = np.abs(slip) < 0.005
    assert np.polyfit(slip[near], force[near], 1)[0] == pytest.approx(parabola(115220, 223456, 4000 / 3089.1), rel=0.1)


@pytest.mark.parametrize("model", ["LaneChange1", "LaneChange2"])
def test_cars_have_the_sizes_of_the_paper(model: str) -> None:
    """40 states, and of what is solved at once only the accelerations of body, arms or travels: nothing is iterated."""
    report = car(model).analyse(solver="euler", step=1e-3)
    assert len(report.states) == 40
    assert [(loop.kind, loop.torn_size) for loop in report.loops if loop.partition == "step"] == [("linear", 10)]


@pytest.mark.parametrize(("model", "states"), [("LaneChange3", 118), ("LaneChange4", 154)])
def test_cars_in_bushings_have_the_states_of_the_paper_and_iterate_on_nothing(model: str, states: int) -> None:
    report = car(model).analyse()
    assert len(report.states) == states
    loops = [loop for loop in report.loops if loop.partition == "step"]
    assert {loop.kind for loop in loops} == {"linear"}
    assert max(loop.torn_size for loop in loops) == 19, "body, two arms, the rack"


def test_a_car_with_its_gearbox_has_the_states_of_the_paper() -> None:
    """40 + 13 states; beside the ten accelerations of the car five clutches, the lock-up clutch and four brakes."""
    report = car("Drive").analyse()
    assert len(report.states) == 53
    loops = [(loop.kind, loop.torn_size) for loop in report.loops if loop.partition == "step"]
    assert sorted(loops) == [("linear", 20), ("mixed", 20)]


def test_a_car_with_its_gearbox_drives_changes_lanes_and_stops() -> None:
    result = run("Drive", "euler", rows=1000)
    gears = result["shift.gear"]
    assert list(gears[np.r_[True, np.diff(gears) != 0]]) == [1, 2, 3, 4, 5, 4, 3, 2, 1]
    assert result["car.chassis.v_x"].max() == pytest.approx(22.97, rel=0.01)
    assert np.abs(result["car.chassis.v_x"][-1]) < 1e-3
    assert np.ptp(result["car.chassis.a_y"]) == pytest.approx(11.77, rel=0.02)


@pytest.mark.usefixtures("unoptimised")
def test_implicit_euler_at_1_ms_is_right_on_bushings_with_masses() -> None:
    """The first lane change of level 4 as in its demo; expected is what CVODE finds at 1e-6 at 1, 1.5 and 2 s."""
    result = car("LaneChange4").simulate(
        solver="ieuler", step=1e-3, stop=2, intervals=4, newton=3, jacobian_every=10, jacobian_spread=True
    )
    for name, expected, peak in (
        ("a_y", [4.121, 2.6262, -4.8445], 5.07),
        ("yaw_rate", [0.235, 0.0729, -0.2578], 0.269),
    ):
        assert result[f"car.chassis.{name}"][2:] == pytest.approx(expected, abs=0.005 * peak), name


@pytest.mark.usefixtures("unoptimised")
def test_a_car_in_bushings_stands_on_a_jacobian_that_is_kept() -> None:
    """Tyres at rest change their slope with the direction of next to no slip; it fell over after 1.15 s."""
    still = {"car.v_start": 0.0} | {f"hands.amplitude[{i}]": 0.0 for i in range(1, 5)}
    result = car("LaneChange4").simulate(
        solver="ieuler", step=1e-3, stop=2, intervals=4, jacobian_every=10, settings=still
    )
    assert sum(result[f"car.load[{i}]"][-1] for i in range(1, 5)) == pytest.approx(16101.5, abs=2)
    assert np.abs(result["car.chassis.roll"]).max() < 1e-4


def test_a_linkage_moves_as_its_tables_say() -> None:
    """What travel does to toe, camber and place at level 2 are the polynomials of level 1, and loops stay closed."""
    result = run("Travel")
    z, straight = result["z"], result.time < 10
    tables = {"toe": (0.009471, 0.16017, 1.5396), "camber": (0.30631, -1.8074, -2.7921), "outward": (0.0234, -1.231, 0)}
    for name, (first, second, third) in tables.items():
        found = result[name][straight]
        assert found == pytest.approx((z * (first + z * (second + z * third)))[straight], abs=4e-5), name
    for side in ("left", "right"):
        rod = np.array([result[f"axle.side_{side}.guide.rod[{i}]"] for i in (1, 2, 3)])
        assert (rod**2).sum(axis=0) == pytest.approx(0.005**2 + 0.335**2 + 0.015**2, abs=1e-15)
    rack = result["axle.rack.s"]
    steered = np.polyfit(rack[~straight], result["toe"][~straight], 3)
    assert steered[2] == pytest.approx(-7.75, rel=0.02), "rad for a metre of rack"


def test_loads_of_the_wheels_are_the_weight_of_the_car() -> None:
    result = run("LaneChange1")
    rest = loads(result)[:, -1]
    assert rest.sum() == pytest.approx(WEIGHT, abs=1)
    assert rest == pytest.approx([4037, 4037, 4014, 4014], rel=0.01)


@pytest.mark.parametrize("model", ["LaneChange1", "LaneChange2"])
def test_a_lane_change_by_euler_is_within_a_quarter_percent(model: str) -> None:
    exact, fast = run(model), run(model, "euler")
    for name, bound in (("a_y", 0.0025), ("yaw_rate", 0.0025), ("roll", 0.003)):
        right = exact[f"car.chassis.{name}"]
        assert np.abs(fast[f"car.chassis.{name}"] - right).max() < bound * np.abs(right).max(), name


def test_a_hand_wheel_turned_from_outside_is_one_turned_by_the_driver() -> None:
    """The same half-waves as a formula; the speed is held, where that of the other car falls by 9 %."""
    waves = zip((0.5, 1.4, 3.0, 3.9), (0.686, -0.692, -0.729, 0.735), strict=True)
    formula = " + ".join(
        f"(if time >= {t} and time < {t + 0.9} then {a}*sin(pi*(time - {t})/0.9) else 0)" for t, a in waves
    )
    steered = car("Steered1")
    result = steered.simulate(solver="euler", step=1e-3, intervals=800, inputs={"hand_wheel": formula})
    right = run("LaneChange1")
    assert np.abs(result["car.chassis.v_x"] - 80 / 3.6).max() < 0.4
    for name, bound in (("a_y", 0.1), ("yaw_rate", 0.03), ("roll", 0.15)):
        exact = np.interp(result.time, right.time, right[f"car.chassis.{name}"])
        assert np.abs(result[f"car.chassis.{name}"] - exact).max() < bound * np.abs(exact).max(), name


@pytest.mark.parametrize("model", ["Steered2", "Steered3", "Steered4"])
def test_hand_wheels_of_all_levels_are_inputs(model: str) -> None:
    report = car(model).check()
    assert (report.diagnostics, report.equations) == ((), report.unknowns)


def test_tables_stand_for_the_linkages() -> None:
    tables, linkages = run("LaneChange1"), run("LaneChange2")
    for name, bound in (("a_y", 0.03), ("yaw_rate", 0.03), ("roll", 0.05), ("y", 0.02)):
        right = linkages[f"car.chassis.{name}"]
        assert np.abs(tables[f"car.chassis.{name}"] - right).max() < bound * np.abs(right).max(), name


def test_mirrored_steering_gives_mirrored_motion() -> None:
    left = run("LaneChange1")
    mirrored = {f"hands.amplitude[{i}]": -a for i, a in enumerate((0.686, -0.692, -0.729, 0.735), start=1)}
    right = run("LaneChange1", **mirrored)
    for name in ("a_y", "yaw_rate", "roll", "y"):
        assert right[f"car.chassis.{name}"] == pytest.approx(-left[f"car.chassis.{name}"], abs=1e-9), name
    assert loads(right)[[1, 0, 3, 2]] == pytest.approx(loads(left), rel=1e-9)


def test_load_goes_over_to_the_outer_wheels_as_the_acceleration_says() -> None:
    """Moments about the road: of the acceleration, and of weight that leans over; roll inertia is the rest."""
    result = run("LaneChange1")
    gained = (loads(result)[[1, 3]] - loads(result)[[0, 2]]).sum(axis=0) / 2 * 1.5
    heights = 1442 * (0.206 + 0.2997) + (WEIGHT / 9.81 - 1442) * 0.2997
    lean = 1442 * 9.81 * 0.42 * result["car.chassis.roll"]  # the body leans over its roll axis
    assert np.abs(gained - heights * result["car.chassis.a_y"] - lean).max() < 0.15 * np.abs(gained).max()


def test_without_drive_the_car_only_slows_down() -> None:
    assert (np.diff(run("LaneChange1")["car.chassis.v_x"][:120]) < 0).all()


def test_the_driver_touches_no_edge_of_the_lanes() -> None:
    result = run("Track")
    x, y, yaw = (result[f"car.chassis.{name}"] for name in ("x", "y", "yaw"))
    for first, last, right, left in LANES:
        for along in (-2.25, 0, 2.25):
            for across in (-0.9, 0.9):
                corner = x + along * np.cos(yaw) - across * np.sin(yaw), y + along * np.sin(yaw) + across * np.cos(yaw)
                within = (corner[0] > first) & (corner[0] < last)
                assert (corner[1][within] > right).all()
                assert (corner[1][within] < left).all()


def test_a_car_drives_off_stops_on_a_slope_stands_and_rolls_back() -> None:
    result = run("StopAndGo", "euler", rows=1500)
    time, v, x = result.time, result["car.chassis.v_x"], result["car.chassis.x"]
    assert v.max() > 8
    stands = (time > 9) & (time < 12)
    assert np.abs(v[stands]).max() < 0.02
    assert np.ptp(x[stands]) < 0.02
    assert v[-1] == pytest.approx(-3 * 9.81 * math.sin(math.atan(0.05)) * 0.75, rel=0.2), "rolls back"


def test_a_fall_of_a_metre_at_full_lock_and_half_on_ice_ends_on_the_springs() -> None:
    result = run("Fall", "euler")
    assert all(np.isfinite(result[name]).all() for name in result.names)
    assert loads(result).max() > 12000
    assert (loads(result).min(axis=1) == 0).all(), "every wheel was in the air"
    assert loads(result)[:, -1].sum() == pytest.approx(WEIGHT, rel=0.02)
    assert np.abs(result["car.front_left.tyre.F_y"]).max() == 0, "no grip, no force"
    assert np.abs(result["car.front_right.tyre.F_y"]).max() > 500


def test_a_car_goes_straight_over_a_bump_and_bears_its_weight_again() -> None:
    """Both wheels of an axle do the same; in the end they bear the weight."""
    result = run("Bumps")
    assert np.abs(result["car.chassis.y"]).max() < 1e-6
    load = loads(result)
    assert load[[0, 2]] == pytest.approx(load[[1, 3]], abs=1e-3)
    assert np.ptp(load[0]) > 500
    assert load[:, -1].sum() == pytest.approx(WEIGHT, rel=0.02)

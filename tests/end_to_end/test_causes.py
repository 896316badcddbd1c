"""Causes of wrong results that were mended: a small model of ours for each, against values known by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kilohertz
from kilohertz.base import ModelError, Severity
from kilohertz.ir.step import Assignment, Kind
from kilohertz.results import Result
from kilohertz.simulate import Statistics

FILE = Path(__file__).with_name("causes.mo")
TOLERANCE = 1e-5


def run(name: str, stop: float = 2.0, **options: Any) -> Result:
    return kilohertz.load(f"{FILE}:Causes.{name}").simulate(stop=stop, **options)


@pytest.mark.parametrize(
    ("model", "stop", "expected"),
    [
        ("LeftLimit", 2.0, {"kept": 1.0, "y": 11.0}),
        ("EventClockAtStart", 2.0, {"highs": 3.0, "lows": 2.0}),  # at 0, 0.87, 1.92; at 0.17, 1.22
        ("ByHomotopy", 1.0, {"x": 100.0}),
        ("RecordWithText", 1.0, {"T": math.exp(-1.0)}),
        ("ZeroCapacity", 1.0, {"v": math.sin(1.0), "i": 0.0}),
        ("CoupledPerfectly", 1.0, {"i1": math.exp(-0.5), "i2": math.exp(-0.5)}),
        ("ZeroFromFunction", 1.0, {"v": 2.0}),
        (
            "Buffer",
            1.0,
            {"n": 10.0, "buffer[7]": 0.65**2, "total": sum((0.05 + i / 10) ** 2 for i in range(10)), "y": 10.5},
        ),
        ("PreInAlgorithm", 5.0, {"n": 10.0, "before": 8.0, "rises": 3.0}),
        ("PreviousOfArray", 0.55, {"z": 5.0 + 2**5}),
        ("OneTick", 1.9, {"at": 7.0, "n": 0.0}),
        ("OneTick", 3.0, {"at": 2.0, "n": 1.0}),
        ("GrowingResult", 1.0, {"s": 5.0}),
        ("PreferredStates", 1.0, {"m": 2 * 0.52 + 1.0, "U": 2 * 0.52 * 6 - 1.0}),
        ("KeptAtStart", 3.0, {"n": 3, "marks[1]": 3, "marks[2]": 4, "marks[3]": 3, "drawn": 6.25, "any": 1}),
        ("EventsInArguments", 10.0, {"pulses": 4.0}),
        ("BeforeTheStart", 0.0, {"rose": 1.0, "rose_set": 1.0, "fell_off": 1.0, "fell": -2.0, "next": 3.0, "x": 2.0}),
        ("RatioOfOne", 1.0, {"z": 1.0551354888592188}),
        ("CallInMixedLoop", 1.0, {"q": 1 / 0.95, "T": 0.5 + 0.05 / 0.95, "u": (1 + 0.1 / 0.95) ** 2}),
        ("RoundedInFunction", 2.0, {"y": 3.0}),
        ("PreferredStart", 1.0, {"n": 0.5 * math.exp(-1.0), "c": 0.25 * math.exp(-1.0)}),
        ("ArrayOfOneInLoop", 1.0, {"x": 0.4861055725207407, "z": 0.9722111450414814}),
        ("SizedRecord", 1.0, {"a": 4.0, "s": 2.0 * 36}),
        ("Belt", 0.75, {"out1": 1 + 0.25 * 2, "steady0": 3.0, "steady1": 0.0}),
        ("Belt", 1.4, {"out1": 0.4}),
        ("Belt", 2.0, {"out0": 1.0}),
        ("Belt", 2.75, {"out0": -1.75}),
        (
            "PartialDerivatives",
            1.0,
            {"a": 2 + math.sin(2), "w[1]": 2, "w[2]": 16, "b": 3 * math.cos(0.5), "c": 6 + 2 * math.sin(0.5)},
        ),
        ("SecondDerivatives", 1.0, {"x": math.cos(1.0), "p": 0.5, "q": 0.25, "speed": 1.5}),
        ("SolvedInside", 1.0, {"h": 2.5**3 + 2.5}),
        ("TwoResultsConstrained", 1.0, {"followsSum": 2 * 5 * 4 + 5 * 16.0, "followsB": 5 * 16.0}),
        ("ParallelCapacitors", 1.0, {"u1": 2 - 2 * math.exp(-0.25), "u2": 2 * math.exp(-0.25) - 2}),
        ("VaryingClock", 1.1, {"n": 5, "count": 3, "since": 0.4, "late": 1, "seconds": 2}),
        ("StartOfTheType", 1.0, {"T": 280.0, "d": 860.0}),
        ("OwnConstructor", 1.0, {"p.a": 1.0, "p.b": 1.0, "u": 1.0}),
        ("SizedByRedeclaration", 1.0, {"s": 6 * 3.0}),
        ("DiscreteSteadyState", 1.5, {"x": 2.0, "y": 0.0, "f": 2.0, "last": 2.0}),
        ("ClockedInput", 0.25, {"y": 6.0}),
        ("ByInverse", 1.0, {"x": 2.0}),
        ("ByInverseOfNegative", 1.0, {"x": 2.0, "y": -2.0}),
        ("LeftLimitOfOutput", 0.55, {"jump": 0.0, "before": 3 - math.exp(-0.5)}),
        ("OwnSize", 1.0, {"x[3,1]": 1.0, "n": 3}),
        ("NotTaken", 0.5, {"y": -1.0}),
        ("NotTaken", 9.5, {"y": 3.0}),
        ("SampleFromInitial", 0.25, {"n": 0, "on": 0}),
        ("SampleFromInitial", 0.45, {"n": 1, "on": 1}),
        ("SampleFromInitial", 1.9, {"n": 4, "on": 0}),
        ("FreeBoolean", 1.0, {"p": 1.3282688556686084, "large": 1.0}),
        ("StartOfCalls", 1.0, {"x": 12 / 13, "y": 2.0}),
        ("SameInstant", 5.05, {"m": 50, "together": 50}),
        ("SearchedInside", 1.0, {"h": 2.5**3 + 2.5, "x": 3.0, "still": 0.0}),
        ("ArrayUnderAConditionAtStart", 1.0, {"y": 3.0}),
        ("SeveralUnderACondition", 1.0, {"a": 0.5, "b": 2.5, "w": math.log(0.75)}),
        ("RecordUnderACondition", 0.5, {"a": -1.0, "b": 0.5, "nested": 0.0, "p.twice[1]": -1.0, "h[2]": 3.0, "w": 0.0}),
        ("RecordUnderACondition", 3.0, {"a": 4.0, "b": 2.0, "nested": 16.0, "p.square": 4.0, "h[2]": 1.0}),
        ("RecordUnderACondition", 2.0, {"w": math.exp(2.0) - 1}),
        ("Prescribed", 1.0, {"x": 2.0, "v": 3.0, "a": 4.0, "xu": 5.0, "vu": 6.0, "au": 7.0, "z": 0.5}),
        ("Prescribed", 1.0, {"p": math.sin(1.0), "pv": 8.0, "f": 2.0}),
        ("SecondDerivative", 1.0, {"v": 3 * 9 * 3.0, "a": 3 * 9 * 2.0 + 6 * 3 * 9.0}),
    ],
)
def test_the_final_values_are_right(model: str, stop: float, expected: dict[str, float]) -> None:
    result = run(model, stop)
    for name, value in expected.items():
        assert result[name][-1] == pytest.approx(value, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("intervals", [2, 10, 500])
def test_events_in_arguments_of_calls_do_not_hang_on_the_rows(intervals: int) -> None:
    assert run("EventsInArguments", 10.0, intervals=intervals).final("pulses") == 4


@pytest.mark.parametrize("step", [0.01, 0.0625])
def test_samples_of_the_initial_equations_tick_in_fixed_steps_too(step: float) -> None:
    found = run("SampleFromInitial", 1.9, solver="euler", step=step)
    assert (found.final("n"), found.final("on")) == (4, 0)


@pytest.mark.parametrize("solver", ["ieuler", "lie", "ros4l"])
def test_what_is_handed_in_together_is_differentiated_by_states_and_time_as_it_stands(solver: str) -> None:
    """The speed that a function is told is no part of a Jacobian, nor of a derivative by time alone."""
    assert run("Prescribed", 1.0, solver=solver, step=0.01).final("z") == pytest.approx(0.5, rel=1e-6)


def test_an_interval_that_turns_out_to_be_zero_is_refused() -> None:
    with pytest.raises(ModelError, match="the interval of a sample is not positive") as caught:
        run("SampleOfNothing")
    assert caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize("options", [{}, {"solver": "ida"}, {"solver": "rk4", "step": 0.0625}])
def test_reals_and_discrete_reals_that_need_each_other_are_solved_together(options: dict[str, Any]) -> None:
    """u = k*(1 - 2*u - s) at a sample, s' = u - s from there to the next."""
    found, s, u = run("LoopThroughWhen", 1.0 - 1e-6, **options), 0.0, 0.0
    for _ in range(4):
        u = 3 * (1 - s) / 7
        last, s = s, u + (s - u) * math.exp(-0.25)
    assert found.final("y") == pytest.approx(3 - 0.75, rel=1e-9)
    assert found.final("x") == pytest.approx(2 + 0.75, rel=1e-9)
    assert found.final("u") == pytest.approx(3 * (1 - last) / 7, rel=1e-5)
    assert found.final("v") == pytest.approx(2 * u + s, rel=1e-5)
    p = found.final("p")  # below the bound: q = 4 - p
    assert p + p**3 == pytest.approx(2 * (4 - p), rel=1e-9)


def test_a_loop_that_does_not_settle_is_an_error() -> None:
    with pytest.raises(ModelError, match="values that need each other do not settle"):
        run("Unsettled")


def test_an_assertion_has_room_for_rounding_only() -> None:
    model = kilohertz.load(f"{FILE}:Causes.AtTheLimit")
    model.simulate(stop=1.0)
    with pytest.raises(ModelError, match="x is negative"):
        model.simulate(stop=1.0, settings={"slope": 1e-9})


@pytest.mark.parametrize("model", ["ByInverse", "ByInverseOfNegative"])
def test_an_inverse_saves_the_loop(model: str) -> None:
    blocks = kilohertz.load(f"{FILE}:Causes.{model}").process().blocks
    assert [type(b) for b in blocks] == [Assignment]


def test_what_was_taken_as_zero_must_stay_zero() -> None:
    model = kilohertz.load(f"{FILE}:Causes.ZeroCapacity")
    assert any("taken as zero" in note and "C" in note for note in model.process().notes)
    with pytest.raises(ModelError, match="C was zero when the model was translated"):
        model.simulate(settings={"C": 1.0})


def test_states_that_are_wished_for_are_taken() -> None:
    step = kilohertz.load(f"{FILE}:Causes.PreferredStates").process()
    assert {v.name for v in step.of_kind(Kind.STATE)} == {"p", "T"}


def test_a_sign_that_does_not_jump_makes_no_events() -> None:
    statistics = Statistics()
    kilohertz.load(f"{FILE}:Causes.FlowAtRest").simulate(stop=20.0, statistics=statistics)
    assert statistics.state_events == 0


def test_an_assertion_holds_at_every_step() -> None:
    model = kilohertz.load(f"{FILE}:Causes.BriefViolation")
    with pytest.raises(ModelError, match="x is too large"):
        model.simulate(stop=2 * math.pi, intervals=2)


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_an_assertion_that_only_long_steps_fail_is_no_failure(solver: str) -> None:
    model = kilohertz.load(f"{FILE}:Causes.AlmostEmpty")
    result = model.simulate(stop=5.0, tolerance=1e-4, intervals=10, solver=solver)
    assert result["x"] == pytest.approx(np.exp(-50 * result.time), abs=1e-4)
    assert result["x"].min() > -1e-9


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_an_assertion_fails_where_it_is_crossed(solver: str) -> None:
    model = kilohertz.load(f"{FILE}:Causes.BriefViolation")
    with pytest.raises(ModelError, match="x is too large") as caught:
        model.simulate(stop=2 * math.pi, intervals=2, solver=solver)
    time = float(str(caught.value).split("time = ")[1].split(":")[0])
    assert time == pytest.approx(math.asin(0.9), abs=1e-4)


@pytest.mark.parametrize("options", [{}, {"solver": "ida"}, {"solver": "euler", "step": 0.01}])
def test_conditions_that_contradict_the_solution_are_told(options: dict[str, Any]) -> None:
    statistics = Statistics()
    kilohertz.load(f"{FILE}:Causes.NoModeAgrees").simulate(stop=1.0, statistics=statistics, **options)
    (warning,) = [w for w in statistics.warnings if w.code == "R734"]
    assert "component `part`" in warning.message and warning.severity is Severity.WARNING
    assert warning.span is not None and warning.span.file == str(FILE)
    assert any("first at time = 0.5" in note.text for note in warning.notes)


def test_conditions_that_agree_are_not_told() -> None:
    statistics = Statistics()
    kilohertz.load(f"{FILE}:Causes.LeftLimit").simulate(stop=2.0, statistics=statistics)
    assert statistics.warnings == ()


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("Discretised", 0.9),
        ("DiscretisedImplicit", 1 / 1.1),
        ("DiscretisedTrapezoid", 0.95 / 1.05),
        ("DiscretisedByOurName", 0.95 / 1.05),
    ],
)
def test_a_clock_says_how_its_states_move(model: str, factor: float) -> None:
    assert run(model, 0.95).final("y") == pytest.approx(factor**9, rel=1e-12)  # the first of ten ticks starts it


def test_discrete_numbers_that_need_each_other_are_solved_for() -> None:
    """x = -(3 + pre(x))/0.8 and y = 0.9*x + 1; taking turns would never end."""
    found, x = run("LoopInWhen", 0.25), 1.0
    for _ in range(3):
        x = -(3 + x) / 0.8
    assert found.final("x") == pytest.approx(x, rel=1e-12)
    assert found.final("y") == pytest.approx(0.9 * x + 1, rel=1e-12)
    assert found.final("v") + 2 * found.final("w") == pytest.approx(0.2, rel=1e-9)


def test_discrete_numbers_that_need_themselves_through_a_curve_are_solved_for() -> None:
    found = run("CurvedLoopInWhen", 1.1)
    x, a, b = (found.final(name) for name in ("x", "a", "b"))
    assert x == pytest.approx(math.cos(x) + 1.0, rel=1e-8)
    assert (a, b) == pytest.approx((0.5 * math.cos(b) + 0.1, 0.5 * math.sin(a) + 0.2), rel=1e-8)


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("RateOfSearchedInside", "what Causes.halved searches for"),
        ("RateOfOtherWay", "what Causes.halved searches for"),
    ],
)
def test_what_a_function_searches_for_is_not_differentiated_as_if_it_stood_still(model: str, what: str) -> None:
    with pytest.raises(ModelError) as caught:
        run(model)
    [said] = caught.value.diagnostics
    assert said.code == "B206"
    assert f"{what} has no derivative" in said.message


def test_a_root_moves_as_the_function_that_is_handed_over_says() -> None:
    """By the implicit function theorem: 1/(3*x^2 + 1) and (1 - z)/(3*z^2 + h)."""
    found = run("RateOfSolvedInside")
    h, x, z = (found.final(name) for name in ("h", "x", "z"))
    assert found.final("speed") == pytest.approx(1 / (3 * x**2 + 1), rel=1e-9)
    assert found.final("other") == pytest.approx((1 - z) / (3 * z**2 + h), rel=1e-9)


def test_a_state_that_is_wanted_always_and_is_none_is_named() -> None:
    model = kilohertz.load(f"{FILE}:Causes.AlwaysAndNot")
    model.process()
    assert [d.message for d in model.warnings if d.code == "B213"] == ["y has stateSelect=always but is no state here"]


def test_what_is_no_root_is_not_taken_for_one() -> None:
    with pytest.raises(ModelError, match=r"known where that is a root of Causes.shiftedCubic, and it is none"):
        run("RateOfMean")
    mean = sum((i / 10) ** 3 + i / 10 for i in range(1, 11)) / 10
    found = run("MeanInJacobian", 1.0)
    assert found.final("s") == pytest.approx(mean + (1 - mean) * math.e, rel=1e-4)


def test_only_the_way_that_arguments_choose_has_to_have_a_derivative() -> None:
    assert run("RateOfChosenWay").final("speed") == pytest.approx(8.0)


def test_impure_calls_are_made_as_often_as_they_are_written() -> None:
    result = run("ImpureCalls", 0.6)
    at = {name: result[name][0] for name in result}
    assert abs(at["difference"]) in (1, 4)  # three() may be made between them
    assert (at["further"], at["last"]) == (1, 2)
    assert [at["second"], *(at[f"each_[{i}]"] for i in (1, 2, 3))] == [at["first"] + k for k in (1, 2, 3, 4)]
    made = ("x", "same", "other", "d", "v[1]", "v[2]", "f")
    for row in (0, -1):
        x, same, other, d, v1, v2, f = (result[name][row] for name in made)
        assert (same, other, v2, f) == (x + 1, x + 2, 2 * v1, -10)
        assert (3 + d) % 2 == 0  # a - 3*(a + 1)
    later = run("ImpureCalls", 0.8)
    assert later.final("v[2]") == later.final("v[1]") + 1
    assert later.final("x") - later["x"][0] == 6  # calls of a sample: one, two, one, two


def test_an_impure_call_is_made_for_each_element() -> None:
    result = run("ImpureForEach", 1.0)
    v = [result.final(f"v[{i}]") for i in (1, 2, 3)]
    assert v == [v[0], v[0] + 1, v[0] + 2]
    assert [result.final(f"w[{i}]") for i in (1, 2, 3)] == [(v[0] + 2 + i) * i + sum(v[:i]) for i in (1, 2, 3)]


def test_a_start_out_of_all_proportion_is_left_and_said() -> None:
    model = kilohertz.load(f"{FILE}:Causes.StartInWatts")
    for result in (model.simulate(stop=0.1), model.simulate(stop=0.1, solver="rk4", step=0.01)):
        s, x, y = (float(result[name][0]) for name in ("s", "x", "y"))
        assert [0.2 - x - 0.01 * y * x, x + 0.1 * x**3 - 0.1 * s / (0.01 + s**2) - 0.01 * y] == pytest.approx([0, 0])
        assert s == pytest.approx(0.4800506008)
        assert [p.code for p in result.problems] == ["R790"]
        assert " starts at 3e+10, more than a million" in result.problems[0].notes[0].text
    assert kilohertz.load(f"{FILE}:Causes.StartInWatts(s0 = 0.5)").simulate(stop=0.1).problems == ()


def test_a_condition_that_noise_decides_is_held_and_said() -> None:
    for solver, noise in (("cvode", 1e-13), ("ida", 1e-13), ("cvode", 0.0)):
        result = kilohertz.load(f"{FILE}:Causes.NoisyRelation(noise = {noise})").simulate(stop=1.0, solver=solver)
        assert [result.final(name) for name in ("b", "n", "k", "z")] == [1, 1, 30, 1]
        assert [p.code for p in result.problems] == (["R799"] if noise else [])
        if noise:
            assert result.problems[0].span is not None
            assert result.problems[0].notes[0].text == "first at time = 0.5; the condition is `y > 0.5`"


def test_a_relation_that_takes_its_cause_away_by_more_than_noise_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(f"{FILE}:Causes.NoisyRelation(noise = 0.001)").simulate(stop=1.0)
    assert caught.value.diagnostics[0].code == "R715"


@pytest.mark.parametrize("size", [3, 300])
def test_pre_of_the_element_that_a_subscript_names(size: int) -> None:
    result = run(f"PreOfElement(size = {size})", 1.05)
    # i = 2, 3, 1, 2, 3, 1, 2, 3, 1, 2
    assert [result.final(f"count[{k}]") for k in (1, 2, 3)] == [3, 4, 3]
    assert (result.final("before"), result.final("inside")) == (3, 6)
    assert result.final("edges") == 3  # each is named when it becomes true


def test_elements_of_large_arrays() -> None:
    result = run("ElementOfMany", 1.7)
    i, j, time = result["i"], result["j"], result["time"]
    assert np.abs(result["y"] - np.sin(i / 100)).max() < 1e-15
    assert (result["z"] == 11 * j + 2).all()
    assert (result["row[7]"] == 10 * j + 7).all()
    assert np.abs(result["moving"] - i * time).max() < 1e-9
    assert (result["rate"] == i).all()


def test_a_subscript_beyond_a_large_array_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        run("ElementOfMany", 2.5)  # map[21, 23]
    assert caught.value.diagnostics[0].code == "R717"


def test_rounding_in_a_function_makes_no_events() -> None:
    assert not kilohertz.load(f"{FILE}:Causes.RoundedInFunction").process().crossings

"""Causes of the worst cycles, from records that are made up: each cause is planted once."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from kilohertz.profiler import Costs, Loop, Place, Profile, headline, record_type, worst_causes

PLACES = (
    Place("rest of the cycle", "phase", phase="cycle"),
    Place("solve x", "loop", phase="block", loop=Loop("nonlinear", 2, ("x",))),
    Place("compute y", "equations", phase="block"),
    Place("event iteration outside its blocks", "phase", phase="event"),
    Place("device arm", "device"),
)
PLANTED = slice(40, 50)


def made_up(period_ns: int = 0) -> Profile:
    records = np.zeros(100, record_type(len(PLACES)))
    head, places = records["head"], records["places"]
    head["cycle"] = np.arange(100)
    head["mode"], head["every"], head["is_warm"] = 2, 1, 1
    head["release_ns"] = head["woke_ns"] = np.arange(100) * 1000_000
    places["calls"] = 1
    places["ticks"] = (100, 2000, 1000, 100, 500)
    places["iterations"][:, 1] = 4
    head["ticks"] = places["ticks"].sum(axis=1)
    head["ended_ns"] = head["release_ns"] + head["ticks"]
    return Profile("m", PLACES, Costs(1.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, True), period_ns, records, {})


def slower(profile: Profile, place: int, ticks: int) -> None:
    profile.records["places"]["ticks"][PLANTED, place] += ticks
    profile.records["head"]["ticks"][PLANTED] += ticks
    profile.records["head"]["ended_ns"][PLANTED] += ticks


def plant(profile: Profile, cause: str) -> None:
    head, places = profile.records["head"], profile.records["places"]
    match cause:
        case "more iterations":
            slower(profile, 1, 8000)
            places["iterations"][PLANTED, 1] = 20
        case "preempted":
            slower(profile, 2, 9000)
            head["switches"][PLANTED] = 1
        case "page fault":
            slower(profile, 2, 9000)
            head["faults"][PLANTED] = 2
        case "event":
            slower(profile, 3, 9000)
            head["flags"][PLANTED] = 1
            places["iterations"][PLANTED, 3] = 3
        case "device":
            slower(profile, 4, 9000)
        case "plain cost":
            slower(profile, 2, 9000)


@pytest.mark.parametrize("cause", ["more iterations", "preempted", "page fault", "event", "device", "plain cost"])
def test_the_planted_cause_stands_in_the_first_line(cause: str) -> None:
    profile = made_up(period_ns=1_000_000)
    plant(profile, cause)
    causes = worst_causes(profile, 3)
    assert (causes[0].cycle, causes[0].kind) == (PLANTED.start, cause)
    words: dict[str, Any] = {
        "more iterations": "needed 20.0 iterations a call, usually 4.0",
        "preempted": "was preempted",
        "page fault": "page faults",
        "event": "an event was handled",
        "device": "device arm took",
        "plain cost": "`compute y` took 10.0 us",
    }
    assert words[cause] in headline(profile, causes)


def test_a_late_wake_up_is_no_cost_of_the_model() -> None:
    profile = made_up(period_ns=1_000_000)
    for name in ("woke_ns", "ended_ns"):
        profile.records["head"][name][PLANTED] += 1_200_000
    causes = worst_causes(profile, 3)
    assert causes[0].kind == "late wake-up"
    assert "10 deadlines missed, 1 of 1 times by late wake-up" in headline(profile, causes)


def test_a_process_that_has_the_processor_when_a_cycle_is_due_preempts_it() -> None:
    profile = made_up(period_ns=1_000_000)
    for name in ("woke_ns", "ended_ns", "delayed_ns"):
        profile.records["head"][name][40] += 1_200_000
    assert worst_causes(profile, 1)[0].kind == "preempted"
    assert "another process had the processor for 1200 us" in headline(profile, worst_causes(profile, 1))


def test_a_median_below_what_probes_take_is_no_divisor() -> None:
    profile = made_up()
    for name in ("places", "head"):
        profile.records[name]["ticks"][:90] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all("no median" in c.text for c in worst_causes(profile, 3))


def test_where_no_cycle_stands_out_the_costliest_place_is_named() -> None:
    causes = worst_causes(made_up(), 1)
    assert causes[0].kind == "plain cost"
    assert "`solve x` has 54% of every cycle" in causes[0].text


def test_what_the_machine_did_to_a_cycle_off_line_is_not_in_the_first_line() -> None:
    profile = made_up()
    plant(profile, "preempted")
    causes = worst_causes(profile, 1)
    assert causes[0].kind == "plain cost"
    assert headline(profile, causes) == "m: `solve x` has 54% of every cycle; median 3.70 us"


def test_an_interrupt_is_no_cause_but_a_place_that_is_often_slow_is() -> None:
    profile = made_up()
    for cycle, place in ((3, 1), (50, 2), (70, 1)):  # as they fall
        profile.records["places"]["ticks"][cycle, place] += 50_000
    assert "`solve x` has 54% of every cycle" in headline(profile, worst_causes(profile, 1))
    profile = Profile("m", PLACES, profile.costs, 0, profile.records, {})
    plant(profile, "plain cost")
    assert "`compute y` took 10.0 us, usually 1.0" in headline(profile, worst_causes(profile, 1))


def test_a_machine_that_is_slower_for_a_while_is_no_cause() -> None:
    profile = made_up()
    for name in ("places", "head"):
        profile.records[name]["ticks"][20:60] *= 3
    assert worst_causes(profile, 1)[0].kind == "slower all over"
    assert "`solve x` has 54% of every cycle" in headline(profile, worst_causes(profile, 1))


def test_a_cycle_after_a_late_one_has_its_cause() -> None:
    profile = made_up(period_ns=1_000_000)
    slower(profile, 4, 1_800_000)
    head = profile.records["head"]
    head["woke_ns"][41:50] += 850_000
    assert {c.kind for c in worst_causes(profile, 8)} == {"device"}


def test_a_function_called_more_often_points_to_the_loop_around_it() -> None:
    profile = made_up()
    records = np.zeros(100, record_type(len(PLACES) + 1))
    records["head"] = profile.records["head"]
    records["places"][:, :-1] = profile.records["places"]
    records["places"]["ticks"][:, -1] = 8000
    records["places"]["calls"][:, -1] = 4
    records["places"]["ticks"][PLANTED, -1] = 40_000
    records["places"]["calls"][PLANTED, -1] = records["places"]["iterations"][PLANTED, 1] = 20
    records["places"]["ticks"][PLANTED, 1] = 10_000
    records["head"]["ticks"] = records["places"]["ticks"].sum(axis=1)
    loop = Place("solve x", "loop", phase="block", loop=Loop("nonlinear", 2, ("x",)), calls=(("f", 1),))
    places = (PLACES[0], loop, *PLACES[2:], Place("f", "function"))
    grown = Profile("m", places, profile.costs, 0, records, {})
    assert worst_causes(grown, 1)[0].kind == "more iterations"
    assert "`solve x` needed 20.0 iterations a call" in headline(grown, worst_causes(grown, 1))


def test_events_in_every_cycle_are_named() -> None:
    profile = made_up()
    profile.records["places"]["ticks"][:, 3] = 5000
    profile.records["places"]["iterations"][:, 3] = 12
    profile.records["head"]["ticks"] = profile.records["places"]["ticks"].sum(axis=1)
    assert "events have 58% of every cycle (12 passes in each)" in headline(profile, worst_causes(profile, 1))


STORM = (
    *PLACES[:4],
    Place("stepper itself", "phase", phase="step"),
    Place("right-hand side outside its blocks", "phase", phase="stage"),
    Place("outputs outside their blocks", "phase", phase="output"),
)


def stormy(stages: int) -> Profile:
    """Twenty events in every cycle: the stepper makes twenty parts of a step, and has most of the cycle."""
    records = np.zeros(100, record_type(len(STORM)))
    head, places = records["head"], records["places"]
    head["cycle"], head["flags"] = np.arange(100), 1
    head["mode"], head["every"], head["is_warm"] = 2, 1, 1
    places["calls"] = (1, 20, 160, 20, 1, 80, 20)
    places["ticks"] = (10, 500, 2000, 800, 5000, 300, 100)
    places["iterations"][:, 3] = 60
    head["ticks"] = places["ticks"].sum(axis=1)
    head["ended_ns"] = head["ticks"]
    costs = Costs(1.0, 20.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, True)
    return Profile("m", STORM, costs, 0, records, {"stages": {"": stages}})


def test_what_the_stepper_does_because_of_events_is_theirs() -> None:
    storm = stormy(stages=4)
    assert "events have 95% of every cycle (60 passes in each)" in headline(storm, worst_causes(storm, 1))
    steps = stormy(stages=99)  # of a step that has so many stages without any event
    assert "`stepper itself` has 57% of every cycle" in headline(steps, worst_causes(steps, 1))


def test_a_slow_cycle_with_as_many_events_as_usual_is_not_slow_by_events() -> None:
    storm = stormy(stages=4)
    for name in ("places", "head"):
        storm.records[name]["ticks"][20:60] *= 3
    assert {c.kind for c in worst_causes(storm, 20)} == {"slower all over"}


def test_an_accident_in_a_cycle_with_an_event_is_no_cause() -> None:
    profile = made_up()
    profile.records["head"]["flags"][PLANTED] = 1
    profile.records["places"]["iterations"][PLANTED, 3] = 3  # each takes no longer than any other cycle
    profile.records["places"]["ticks"][45, 3] += 20_000
    profile.records["head"]["ticks"][45] += 20_000
    assert worst_causes(profile, 1)[0].kind == "event"
    assert "`solve x` has 54% of every cycle" in headline(profile, worst_causes(profile, 1))


def test_without_cycles_it_says_so() -> None:
    profile = made_up()
    empty = Profile(profile.name, PLACES, profile.costs, 0, profile.records[:0], {})
    assert headline(empty, worst_causes(empty, 3)) == "m: no cycle was recorded"


def test_a_slow_cycle_without_probes_says_nothing_of_places() -> None:
    profile = made_up()
    head, places = profile.records["head"], profile.records["places"]
    without = np.arange(100) % 7 == 6
    head["mode"][without] = 1
    places["ticks"][without] = places["calls"][without] = 0
    head["ended_ns"][np.flatnonzero(without)[:10]] += 30_000
    causes = worst_causes(profile, 3)
    assert {(c.kind, c.place) for c in causes} == {("not timed", -1)}
    assert headline(profile, causes) == "m: `solve x` has 54% of every cycle; median 3.70 us"


def test_always_on_a_miss_that_nothing_explains_says_so() -> None:
    profile = made_up(period_ns=1_000_000)
    profile.records["head"]["mode"] = 1
    profile.records["head"]["ended_ns"][PLANTED] += 1_500_000
    assert "times by not timed; cycle" in headline(profile, worst_causes(profile, 1))


def test_a_profile_says_that_not_every_cycle_left_a_record() -> None:
    profile = made_up()
    profile.records["head"]["every"] = 16
    assert profile.every == 16
    assert made_up().every == 1


def test_cycles_too_short_for_the_timers_are_said_to_be_so() -> None:
    profile = made_up()
    profile.records["places"]["ticks"] = 0
    profile.records["head"]["ticks"] = 0
    said = headline(profile, worst_causes(profile, 1))
    assert said.startswith("m: every cycle is too short for the timers to tell what has most of it")

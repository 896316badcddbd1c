"""Causes of the worst cycles, from records that are made up: each cause is planted once."""

from __future__ import annotations

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
PLANTED = 40


def made_up(period_ns: int = 0) -> Profile:
    records = np.zeros(100, record_type(len(PLACES)))
    head, places = records["head"], records["places"]
    head["cycle"] = np.arange(100)
    head["mode"] = 2
    head["release_ns"] = head["woke_ns"] = np.arange(100) * 1000_000
    places["calls"] = 1
    places["ticks"] = (100, 2000, 1000, 100, 500)
    places["iterations"][:, 1] = 4
    head["ticks"] = places["ticks"].sum(axis=1)
    head["ended_ns"] = head["release_ns"] + head["ticks"]
    return Profile("m", PLACES, Costs(1.0, 20.0, 0.0, 0.0, 0.0, True), period_ns, records, {})


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
        case "device":
            slower(profile, 4, 9000)
        case "plain cost":
            slower(profile, 2, 9000)


@pytest.mark.parametrize("cause", ["more iterations", "preempted", "page fault", "event", "device", "plain cost"])
def test_the_planted_cause_stands_in_the_first_line(cause: str) -> None:
    profile = made_up()
    plant(profile, cause)
    causes = worst_causes(profile, 3)
    assert (causes[0].cycle, causes[0].kind) == (PLANTED, cause)
    words: dict[str, Any] = {
        "more iterations": "needed 20 iterations, usually 4",
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
    assert "1 deadlines missed, 1 of 1 by late wake-up" in headline(profile, causes)


def test_where_no_cycle_stands_out_the_costliest_place_is_named() -> None:
    causes = worst_causes(made_up(), 1)
    assert causes[0].kind == "plain cost"
    assert "`solve x` has 54% of every cycle" in causes[0].text


def test_without_cycles_it_says_so() -> None:
    profile = made_up()
    empty = Profile(profile.name, PLACES, profile.costs, 0, profile.records[:0], {})
    assert headline(empty, worst_causes(empty, 3)) == "m: no cycle was recorded"

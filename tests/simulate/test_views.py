"""What is neither an output nor needed again is computed where somebody looks, with the bits it always has."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.driver import Model
from kilohertz.ir.step import Partition, targets
from kilohertz.simulate import Stepper
from kilohertz.solvers import StepSettings

SOURCE = Path(__file__).with_name("views.mo")
NAMES = ("w", "phi", "power", "energy", "age")


@cache
def model(name: str) -> Model:
    return load(f"{SOURCE}:Views.{name}")


def views(name: str) -> set[str]:
    return {t.name for b in model(name).process().in_partition(Partition.VIEW) for t in targets(b)}


def test_views_are_what_nothing_needs_and_nothing_follows_from() -> None:
    assert views("Wheel") == {"power", "energy", "age"}
    assert views("Kept") == {"v", "q"}


def stepper(name: str, settings: StepSettings) -> Stepper:
    made = Stepper(model(name).compile(), settings)
    assert made.start(0.0) == 0
    return made


def values(s: Stepper) -> list[float]:
    return [float(s.instance.read(s.program.step.variables[name])) for name in NAMES]


@pytest.mark.parametrize("events", ["none", "mid", "linear", "catch-up", "exact", "predict"])
@pytest.mark.parametrize(("mode", "internal"), [("held", 1), ("linear", 1), ("held", 3)])
def test_a_look_gives_the_bits_of_a_step_that_was_seen(events: str, mode: str, internal: int) -> None:
    settings = StepSettings("rk4", 3e-3, events=events, input_mode=mode, internal_steps=internal)
    seen, unseen = stepper("Wheel", settings), stepper("Wheel", settings)
    u = seen.program.step.variables["u"]
    unseen.see(False)
    for k in range(60):
        for s in (seen, unseen):
            s.instance.write(u, 0.3 * k)
            s.step()
        if k % 7 == 0:
            unseen.instance.write(u, -1000.0)  # the inputs of the step count
            unseen.look()
            assert values(seen) == values(unseen), k
            assert unseen.instance.read(u) == -1000.0
        assert values(seen)[:2] == values(unseen)[:2]
    assert seen.counts == unseen.counts and seen.counts["state_events"] > 0


def test_a_step_that_nobody_sees_leaves_views_as_they_were() -> None:
    s = stepper("Wheel", StepSettings("rk4", 1e-3))
    s.instance.write(s.program.step.variables["u"], 1.0)
    s.see(False)
    before = values(s)
    s.step()
    assert values(s)[2:] == before[2:] and values(s)[:2] != before[:2]
    s.see(True)
    s.step()
    assert values(s)[4] == s.time + values(s)[3]


def test_a_view_that_is_no_number_is_told_in_steps_that_show_it() -> None:
    settings = StepSettings("rk4", 1e-2)
    s = stepper("Kept", settings)
    assert "not_finite" in s.step()
    s.see(False)
    flags = s.step()
    assert "not_finite" not in flags and "detour" in flags  # the value of the step before stands there
    s.see(True)
    assert "not_finite" in s.step()
    while s.time < 0.75:
        s.step()
    assert "not_finite" not in s.step()
    s.see(False)
    assert s.step() == 0


def test_a_snapshot_knows_whether_views_were_left_out() -> None:
    s = stepper("Wheel", StepSettings("rk4", 1e-3))
    s.see(False)
    s.step()
    kept = s.snapshot()
    s.look()
    shown = values(s)
    s.step()
    s.restore(kept)
    assert values(s) != shown
    s.look()
    assert values(s) == shown

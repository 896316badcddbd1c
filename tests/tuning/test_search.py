"""The search on models of methods: prices and errors as formulas, so that the best is known."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kilohertz.solvers import METHODS, SETTINGS, SOLVERS, StepSettings
from kilohertz.tuning import Bench, Goal, Point, Prices, Search, Space
from kilohertz.tuning.space import CAPS, TRIED


def space(**given: Any) -> Space:
    return Space(StepSettings.of(step=1e-3, **given), (1e-3,), True, True, True, {})


def price(s: StepSettings) -> Prices:
    """A stage costs 1000, an implicit one five times that unless the Jacobian is kept."""
    each = 1000.0 * SOLVERS[s.solver].order * (1 if s.solver.startswith(("euler", "rk")) else 1 + 4 / s.jacobian_every)
    each *= s.internal_steps * (1.1 if s.events != "none" else 1.0)
    return Prices(each / s.step, each, 10 * each + s.event_cap + s.loop_newton + s.events_per_step, each / s.step)


def run(s: StepSettings, p: Prices) -> Point:
    """The error of the order, and of events that are handled late."""
    order = SOLVERS[s.solver].order
    error = (0.3 / s.internal_steps) ** order + (0.02 / s.internal_steps if s.events == "none" else 0.0)
    error += 1e-4 * (s.jacobian_every - 1)
    return Point(s, p.price, p.period, p.worst, error, error, error)


def searched(where: Space, goal: Goal, run: Any = run, whole: Any = None) -> tuple[Point | None, Bench]:
    reference: Any = SimpleNamespace(eigenvalues=np.array([-10.0 + 0j]), span=1.0)
    bench = Bench(price, run, whole or run)
    return Search(where, reference, goal, bench).run(), bench


def test_at_short_steps_a_jacobian_is_kept_for_more_of_them() -> None:
    """What moves it does so in time."""
    short = replace(space(), steps=(1e-4,))
    assert max(short.values("ros2")["jacobian_every"]) == 100
    assert max(space().values("ros2")["jacobian_every"]) == 20
    assert max(replace(short, steps=(1e-3, 1e-4)).values("ros2")["jacobian_every"]) == 20


@pytest.mark.parametrize("error", [0.05, 0.01, 1e-3, 1e-5])
def test_the_best_of_all_is_found_with_a_tenth_of_the_trials(error: float) -> None:
    where, goal = space(), Goal(error, None, 1e9)
    best, bench = searched(where, goal)
    points = list(where.every())
    exhaustive = min(price(s).price for s in points if run(s, price(s)).error <= error)
    assert best is not None and best.error <= error
    assert best.price <= 1.1 * exhaustive
    assert len(bench.points) <= 0.1 * len(points)


def test_of_two_that_cost_the_same_the_one_that_costs_less_at_worst() -> None:
    """Events that hardly happen: how they are handled changes nothing but the bound."""

    def priced(s: StepSettings) -> Prices:
        p = price(s.but(events="none"))
        return replace(p, worst=p.worst * {"none": 1.0, "hermite": 2.0}.get(s.events, 5.0))

    reference: Any = SimpleNamespace(eigenvalues=np.array([-10.0 + 0j]), span=1.0)
    bench = Bench(priced, *[lambda s, p: replace(run(s.but(events="exact"), p), settings=s)] * 2)
    best = Search(space(), reference, Goal(0.01, None, 1e9), bench).run()
    assert best is not None and best.settings.events == "none"


@pytest.mark.parametrize("n", [1, 3, len(SOLVERS)])
def test_what_fails_over_the_whole_run_is_rejected_and_the_next_is_taken(n: int) -> None:
    """The n best methods drift away after the trial: the cheapest of the others is found; nothing where all do."""
    where, goal = space(), Goal(0.01, None, 1e9)
    good = sorted((price(s).price, s.solver) for s in where.every() if run(s, price(s)).error <= goal.error)
    solvers = tuple(dict.fromkeys(solver for _, solver in good))[:n]

    def drifting(s: StepSettings, p: Prices) -> Point:
        return replace(run(s, p), error=0.3, late=0.3, why="x") if s.solver in solvers else run(s, p)

    best, bench = searched(where, goal, whole=drifting)
    sound = [each for each, solver in good if solver not in solvers]
    assert (best is None) == (not sound)
    assert best is None or best.price <= 1.1 * min(sound)
    assert any(p.why == "x" for p in bench.points.values())
    assert len(bench.points) <= 0.2 * sum(1 for _ in where.every())


def test_caps_stay_where_the_end_of_the_run_needs_them() -> None:
    def late_event(s: StepSettings, p: Prices) -> Point:
        return replace(run(s, p), late=0.5 if s.event_cap < SETTINGS["event_cap"].default else 0.0)

    best, _ = searched(space(), Goal(0.01, None, 1e9), whole=late_event)
    assert best is not None and best.settings.event_cap == SETTINGS["event_cap"].default


def test_a_deadline_leaves_out_what_takes_longer() -> None:
    goal = Goal(1e-5, 6e-6, 1e9)
    best, bench = searched(space(), goal)
    assert all(p.period <= 6000 for p in bench.points.values())
    assert best is None or best.period <= 6000


def test_where_no_run_comes_to_its_end_internal_steps_are_tried() -> None:
    def fragile(s: StepSettings, p: Prices) -> Point:
        is_fine = s.internal_steps >= 5 and s.events == "exact"
        return run(s, p) if is_fine else Point(s, p.price, p.period, p.worst, math.inf, math.inf, math.inf)

    best, _ = searched(space(), Goal(0.01, None, 1e9), fragile)
    assert best is not None and best.settings.events == "exact" and best.settings.internal_steps >= 5
    none, bench = searched(space(events="mid"), Goal(0.01, None, 1e9), fragile)
    assert none is None and len(bench.points) < 100


def test_a_point_that_takes_more_than_its_price_is_not_taken_for_cheaper() -> None:
    """What a run takes is not what was expected, and differs from point to point: the search ends, with the best."""

    def uneven(s: StepSettings, p: Prices) -> Point:
        by_bound, q = price(s), run(s, p)
        factor = 1.0 + 0.5 * (s.internal_steps % 2) + 0.3 * (s.jacobian_every == 5) + 0.7 * s.index1
        return replace(q, price=factor * by_bound.price)

    best, bench = searched(space(), Goal(0.01, None, 1e9), uneven)
    assert best is not None
    assert best.price == min(p.price for p in bench.points.values() if p.error <= 0.01)


def test_what_is_given_is_not_varied() -> None:
    where = space(solver="rodas3", events="mid")
    assert {s.solver for s in where.every()} == {"rodas3"} and {s.events for s in where.every()} == {"mid"}
    best, _ = searched(where, Goal(0.05, None, 1e9))
    assert best is not None and best.settings.events == "mid"


def test_caps_are_lowered_where_nothing_changes() -> None:
    best, _ = searched(space(), Goal(0.01, None, 1e9))
    assert best is not None
    assert {name: getattr(best.settings, name) for name in CAPS} == {name: values[0] for name, values in CAPS.items()}


def test_the_front_has_no_point_that_another_beats() -> None:
    _, bench = searched(space(), Goal(1e-3, None, 1e9))
    prices, errors = [p.price for p in bench.front], [p.error for p in bench.front]
    assert prices == sorted(prices) and errors == sorted(errors, reverse=True)


def test_all_that_is_tried_are_settings_of_the_step() -> None:
    assert set(TRIED) | set(CAPS) <= set(SETTINGS)
    for name, values in {**TRIED, **CAPS}.items():
        assert all(SETTINGS[name].problem(v) is None for v in values)
    assert {s.solver for s in space().every()} == set(METHODS)

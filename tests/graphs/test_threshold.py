"""Pivots chosen by numbers: none is small at any point, few entries arise, what is singular has none."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kilohertz.graphs import Numbers, choose_pivots, plan_along, threshold


def _chain(n: int, seed: int) -> list[dict[int, Numbers]]:
    """A band whose entries beside the diagonal vanish at the second point."""
    rng = random.Random(seed)
    rows: list[dict[int, Numbers]] = []
    for i in range(n):
        beside = {j: (rng.uniform(1, 2), 0.0) for j in (i - 2, i - 1, i + 1) if 0 <= j < n}
        rows.append({**beside, i: (rng.uniform(0.5, 1), rng.uniform(0.5, 1))})
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_what_vanishes_at_a_point_is_no_pivot(seed: int) -> None:
    rows = _chain(30, seed)
    order = choose_pivots(rows, 10**6)
    assert order is not None
    assert sorted(order) == [(i, i) for i in range(30)]


@pytest.mark.parametrize("seed", range(5))
def test_multiples_are_bounded_at_every_point(seed: int) -> None:
    rng = random.Random(seed)
    n = 25
    rows: list[dict[int, Numbers]] = [
        {j: (rng.gauss(0, 1), rng.gauss(0, 1e-3)) for j in {rng.randrange(n), i, (i + 7) % n}} for i in range(n)
    ]
    order = choose_pivots(rows, 10**6)
    assert order is not None
    for point in range(2):
        a = np.zeros((n, n))
        for i, row in enumerate(rows):
            for j, numbers in row.items():
                a[i, j] = numbers[point]
        a /= np.abs(a).max(axis=1, keepdims=True)
        left = set(range(n))
        for i, j in order:
            left.discard(i)
            below = sorted(left)
            factors = a[below, j] / a[i, j]
            assert np.abs(factors).max(initial=0.0) <= 100.0 * (1 + 1e-9)
            a[below] -= np.outer(factors, a[i])


def test_work_on_a_chain_is_in_proportion_to_its_length() -> None:
    def products(n: int) -> int:
        rows = _chain(n, 1)
        order = choose_pivots(rows, 10**6)
        assert order is not None
        plan = plan_along(tuple(tuple(sorted(row)) for row in rows), order)
        assert plan is not None
        assert not plan.n_alike
        return plan.n_products

    assert products(400) < 2.2 * products(200)


def _jointed(n: int) -> list[dict[int, Numbers]]:
    """Links one after the other: five unknowns each, whose equations have some of those beside them."""
    rng = random.Random(0)
    rows: list[dict[int, Numbers]] = []
    for k in range(n):
        near = [j for j in range(5 * k - 5, 5 * k + 10) if 0 <= j < 5 * n]
        for i in range(5 * k, 5 * k + 5):
            rows.append({j: (rng.uniform(0.2, 1),) for j in {i, *rng.sample(near, 6)}})
    return rows


def test_an_order_of_columns_that_takes_fewer_products_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    def products(rows: list[dict[int, Numbers]]) -> int:
        order = choose_pivots(rows, 10**9)
        assert order is not None
        plan = plan_along(tuple(tuple(sorted(row)) for row in rows), order)
        assert plan is not None
        return plan.n_products

    found = products(_jointed(160))
    monkeypatch.setattr(threshold, "order_columns", lambda *_, **__: None)
    assert products(_jointed(160)) > 1.05 * found  # from everywhere at once


def test_what_is_singular_or_too_much_work_has_no_pivots() -> None:
    assert choose_pivots([{0: (1.0,), 1: (2.0,)}, {0: (2.0,), 1: (4.0,)}], 100) is None
    assert choose_pivots([{0: (1.0,)}, {0: (2.0,)}], 100) is None
    assert choose_pivots(_chain(30, 1), 20) is None


def test_a_pivot_is_lost_where_the_run_would_not_take_it() -> None:
    """Forces of small masses beside lengths: 1e-11 of a column is a number, what rounding leaves is none."""
    for size, is_taken in ((1e-11, True), (1e-15, False)):
        rows: list[dict[int, Numbers]] = [{0: (1.0,), 1: (1.0,)}, {0: (1.0,), 1: (1.0 + size,)}]
        assert (choose_pivots(rows, 100) is not None) is is_taken


def test_a_pivot_that_is_no_entry_has_no_plan() -> None:
    assert plan_along(((0,), (1,)), ((0, 1), (1, 0))) is None

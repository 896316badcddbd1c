"""Planned pivots: they solve what they are planned for, rows alike may change places, singular patterns have none."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kilohertz.graphs import Pattern, PivotPlan, plan_pivots


def _solved(plan: PivotPlan, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By the plan, with the largest of the rows that are alike as pivot; entries outside of the plan are not read."""
    inside = np.zeros_like(a)
    for i, row in enumerate(plan.rows):
        inside[i, list(row)] = a[i, list(row)]
    a, b = inside, b.copy()
    for p in plan.pivots:
        best = max((p.row, *p.alike), key=lambda i: abs(a[i, p.column]))
        a[[p.row, best]], b[[p.row, best]] = a[[best, p.row]], b[[best, p.row]]
        for i in p.below:
            factor = a[i, p.column] / a[p.row, p.column]
            a[i, [p.column, *p.right]] -= factor * a[p.row, [p.column, *p.right]]
            b[i] -= factor * b[p.row]
    x = np.zeros(len(b))
    for p in reversed(plan.pivots):
        right = list(p.right)
        x[p.column] = (b[p.row] - a[p.row, right] @ x[right]) / a[p.row, p.column]
    return x


def _random(rng: random.Random, n: int) -> Pattern:
    """With a perfect matching that is not the diagonal."""
    columns = list(range(n))
    rng.shuffle(columns)
    rows = [{c, *(rng.randrange(n) for _ in range(rng.randrange(3)))} for c in columns]
    return tuple(tuple(sorted(row)) for row in rows)


@pytest.mark.parametrize("seed", range(30))
def test_a_plan_solves_its_system(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.randrange(1, 30)
    pattern = _random(rng, n)
    plan = plan_pivots(pattern, 10**6)
    assert plan is not None
    assert sorted(p.row for p in plan.pivots) == sorted(p.column for p in plan.pivots) == list(range(n))
    a = np.zeros((n, n))
    for i, row in enumerate(pattern):
        a[i, list(row)] = [rng.uniform(1, 2) for _ in row]
    x = np.array([rng.uniform(-1, 1) for _ in range(n)])
    if np.linalg.cond(a) < 1e6:
        assert _solved(plan, a, a @ x) == pytest.approx(x, rel=1e-6, abs=1e-6)


def test_all_rows_of_a_full_matrix_are_alike() -> None:
    plan = plan_pivots(((0, 1, 2),) * 3, 100)
    assert plan is not None
    turns = [(p.row, p.column, p.alike, p.other) for p in plan.pivots]
    assert turns == [(0, 0, (1, 2), ()), (1, 1, (2,), ()), (2, 2, (), ())]


def test_a_pair_of_rows_alike_solves_where_one_of_them_has_a_vanishing_pivot() -> None:
    pattern = ((0, 1), (0, 1), (1, 2))
    plan = plan_pivots(pattern, 100)
    assert plan is not None
    a = np.array([[0.0, 2.0, 0.0], [3.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert _solved(plan, a, a @ [1.0, 2.0, 3.0]) == pytest.approx([1.0, 2.0, 3.0])


def test_no_plan_for_a_singular_pattern_or_too_much_work() -> None:
    assert plan_pivots(((0,), (0,)), 100) is None
    assert plan_pivots(((0, 1, 2),) * 3, 5) is None


def test_a_chain_fills_its_end_alone() -> None:
    n = 40
    pattern = tuple(tuple(j for j in (i - 1, i, i + 1) if 0 <= j < n) for i in range(n))
    plan = plan_pivots(pattern, 10**4)
    assert plan is not None
    assert plan.n_entries == sum(map(len, pattern)) + 6  # four rows are left, ten of their sixteen entries are there
    assert [p.alike != () for p in plan.pivots].count(True) == 3

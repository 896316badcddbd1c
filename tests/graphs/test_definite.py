"""Elimination along the diagonal: it solves what it is planned for, and fills no more than it has to."""

from __future__ import annotations

import numpy as np
import pytest

from kilohertz.graphs import DefinitePlan, plan_definite


def _solved(plan: DefinitePlan, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """By the plan; entries outside of it are not read."""
    rows = {i: {i: a[i, i]} | {j: a[i, j] for j in right} for i, right in zip(plan.order, plan.right, strict=True)}
    b = b.copy()
    for i, right in zip(plan.order, plan.right, strict=True):
        for k, j in enumerate(right):
            factor = rows[i][j] / rows[i][i]
            b[j] -= factor * b[i]
            for c in right[k:]:
                rows[j][c] -= factor * rows[i][c]
    for i, right in zip(reversed(plan.order), reversed(plan.right), strict=True):
        b[i] = (b[i] - sum(rows[i][j] * b[j] for j in right)) / rows[i][i]
    return b


@pytest.mark.parametrize("seed", range(20))
def test_a_plan_solves_what_it_is_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    a = np.where(rng.uniform(size=(n, n)) < 0.3, rng.uniform(-1.0, 1.0, (n, n)), 0.0)
    a = a + a.T + 2.0 * n * np.eye(n)
    plan = plan_definite([np.flatnonzero(row).tolist() for row in a], 10_000)
    assert plan is not None and sorted(plan.order) == list(range(n))
    b = rng.uniform(-1.0, 1.0, n)
    assert a @ _solved(plan, a, b) == pytest.approx(b, abs=1e-12)


def test_a_star_does_not_fill() -> None:
    star = [list(range(6)), *([0, i] for i in range(1, 6))]
    plan = plan_definite(star, 100)
    assert plan is not None and plan.n_entries == 11 and plan.n_products == 10
    assert plan_definite([list(range(20))] * 20, 100) is None

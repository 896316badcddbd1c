"""The plan of a sparse LU: its fill is that of elimination step by step, and tree-like patterns fill nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.graphs import elimination, plan_elimination

squares = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n)
)


def fill(rows: list[list[int]], order: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Elimination on a matrix of Booleans, as in a textbook."""
    n = len(rows)
    m = [[i == j or order[j] in rows[order[i]] for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            if m[i][k]:
                m[i] = [a or (b and j > k) for j, (a, b) in enumerate(zip(m[i], m[k], strict=True))]
    return tuple(tuple(j for j in range(n) if m[i][j]) for i in range(n))


@settings(deadline=None, max_examples=300)
@given(squares)
def test_the_fill_is_that_of_elimination(rows: list[list[int]]) -> None:
    plan = plan_elimination(rows)
    assert plan is not None
    assert sorted(plan.order) == list(range(len(rows)))
    assert plan.rows == fill(rows, plan.order)


def test_an_arrow_fills_nothing_and_a_full_matrix_is_given_up() -> None:
    n = 200
    arrow = [list(range(n)), *([0, i] for i in range(1, n))]
    plan = plan_elimination(arrow)
    assert plan is not None
    assert plan.n_entries == sum(len(set(r) | {i}) for i, r in enumerate(arrow))
    assert plan.n_products == 2 * (n - 1)
    assert plan_elimination([list(range(20))] * 20, 399) is None
    assert plan_elimination([list(range(20))] * 20, 400) is not None


def test_what_is_left_without_zeros_is_not_eliminated_entry_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that ends in a full matrix."""
    calls = []

    def counted(rows: list[set[int]], columns: list[set[int]], k: int) -> list[int]:
        calls.append(k)
        return eliminate(rows, columns, k)

    eliminate = elimination._eliminate
    monkeypatch.setattr(elimination, "_eliminate", counted)
    chain, full = 20, 60
    n = chain + full
    pattern = [[i, i + 1] for i in range(chain)] + [
        list(range(chain - 1 if i == chain else chain, n)) for i in range(chain, n)
    ]
    plan = plan_elimination(pattern)
    assert plan is not None
    assert len(calls) <= chain + 1
    assert plan.n_entries == 2 * chain + 1 + full**2
    assert plan_elimination(pattern, plan.n_entries) == plan
    assert plan_elimination(pattern, plan.n_entries - 1) is None

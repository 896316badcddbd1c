"""Room for the factors of a sparse matrix whatever rows become pivots: it is enough, and in proportion where it can."""

from __future__ import annotations

import random

import pytest

from kilohertz.graphs import ColumnOrder, Pattern, any_rows, order_columns


def _random(n: int, n_entries: int, reach: int, seed: int) -> Pattern:
    """A matrix with a matching that is not its diagonal."""
    rng = random.Random(seed)
    return tuple(
        tuple(sorted({(i + 1) % n, *((i + rng.randrange(reach)) % n for _ in range(n_entries))})) for i in range(n)
    )


def _eliminated(pattern: Pattern, order: ColumnOrder, rng: random.Random) -> tuple[int, int]:
    """Entries of both factors and products where any row that can be is the pivot, and nothing cancels."""
    left = [set(row) for row in pattern]
    n_entries = n_products = 0
    waiting = set(range(len(pattern)))
    for j in order.columns:
        rows = sorted(i for i in waiting if j in left[i])
        if not rows:
            continue
        pivot = rng.choice(rows)
        waiting.remove(pivot)
        n_entries += len(rows) + len(left[pivot]) - 1
        n_products += (len(rows) - 1) * len(left[pivot])
        for i in rows:
            left[i] |= left[pivot]
        for i in range(len(left)):
            left[i].discard(j)
    return n_entries, n_products


@pytest.mark.parametrize("by_products", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_it_is_enough_whatever_the_pivots(seed: int, by_products: bool) -> None:
    pattern = _random(40, 2, 9, seed)
    order = order_columns(pattern, 40 * 40, by_products=by_products)
    assert order is not None and sorted(order.columns) == list(range(40))
    for turn in range(20):
        n_entries, n_products = _eliminated(pattern, order, random.Random(turn))
        assert n_entries <= order.n_entries and n_products <= order.n_products


def test_a_tree_takes_entries_in_proportion() -> None:
    sizes = []
    for n in (200, 400):
        parents = [{i, max(i - 1, 0) // 3} for i in range(n)]
        children = [{j for j in range(3 * i + 1, 3 * i + 4) if j < n} for i in range(n)]
        order = order_columns(tuple(tuple(sorted(p | c)) for p, c in zip(parents, children, strict=True)), n * n)
        assert order is not None
        sizes.append(order.n_entries)
    assert sizes[1] < 2.1 * sizes[0] < 12 * 400


def test_a_full_equation_is_no_use() -> None:
    pattern = ((*range(60),), *((i - 1, i) for i in range(1, 60)))
    assert order_columns(pattern, 60 * 60 // 8) is None


def test_prices_that_take_long_to_find_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = _random(60, 2, 9, 0)
    monkeypatch.setattr(any_rows, "_MOST_WORK", 100)
    assert order_columns(pattern, 60 * 60, by_products=True) is None
    assert order_columns(pattern, 60 * 60) is not None


def test_what_has_no_matching_has_an_order_too() -> None:
    order = order_columns(((0,), (0,), (1, 2)), 9)
    assert order is not None and sorted(order.columns) == [0, 1, 2]

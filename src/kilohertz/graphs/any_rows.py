"""Elimination of a sparse linear system by columns whose rows are chosen when numbers are known: room for any choice.

A column is eliminated with one of the rows that may have an entry there; whichever it is, the others get entries at
most where one of them has some.  So these rows become one group, with all their columns, and the next columns see
groups (A. George, E. Ng, Symbolic factorization for sparse Gaussian elimination with partial pivoting, 1987).  The
column whose groups have the fewest columns comes first; or, `by_products`, the one whose elimination takes the fewest
multiplications whatever the rows, which costs more to find and follows chains from one end to the other.  Ties go to
the lowest.  Cost: columns of the groups for each column; it gives up where entries are too many, as with an equation
that has most unknowns, or where that cost is.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import lru_cache

from kilohertz.graphs.pivots import Pattern

_MOST_WORK = 5_000_000  # columns of groups looked at for prices by products: half a second


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """Columns as they are eliminated; entries of both factors and multiplications at most."""

    columns: tuple[int, ...]
    n_entries: int
    n_products: int


@lru_cache(maxsize=16)
def order_columns(pattern: Pattern, most_entries: int, *, by_products: bool = False) -> ColumnOrder | None:
    """For the square pattern, by rows; None where the factors may have more entries."""
    groups = [set(row) for row in pattern]
    n_rows = [1] * len(groups)
    of_column: list[set[int]] = [set() for _ in pattern]
    for i, row in enumerate(groups):
        for j in row:
            of_column[j].add(i)

    work_left = _MOST_WORK

    def price(j: int) -> int:
        nonlocal work_left
        n_columns = sum(len(groups[g]) for g in of_column[j])
        if not by_products:
            return n_columns - len(of_column[j])
        work_left -= n_columns
        return len(set[int]().union(*(groups[g] for g in of_column[j]))) * (sum(n_rows[g] for g in of_column[j]) - 1)

    prices = [price(j) for j in range(len(pattern))]
    heap = sorted((p, j) for j, p in enumerate(prices))
    order: list[int] = []
    n_entries = n_products = 0
    is_done = [False] * len(pattern)
    while heap:
        p, j = heapq.heappop(heap)
        if is_done[j] or p != prices[j]:
            continue  # another entry of the heap speaks for it
        is_done[j] = True
        order.append(j)
        together = of_column[j]
        right = set[int]().union(*(groups[g] for g in together)) - {j}
        left = sum(n_rows[g] for g in together) - 1
        n_entries += 1 + len(right) + max(left, 0)
        n_products += max(left, 0) * (1 + len(right))
        if n_entries > most_entries or work_left < 0:
            return None
        for c in right:
            of_column[c] -= together
        for g in together:
            groups[g] = set()
        if left > 0:
            g = min(together)
            groups[g], n_rows[g] = right, left
            for c in right:
                of_column[c].add(g)
        for c in right:
            prices[c] = price(c)
            heapq.heappush(heap, (prices[c], c))
    return ColumnOrder(tuple(order), n_entries, n_products)

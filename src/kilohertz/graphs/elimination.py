"""Order and fill of a sparse LU with pivots on the diagonal, from the pattern alone.

At each turn the diagonal entry with the smallest Markowitz product, (entries in its row - 1) * (entries in its column
- 1), is eliminated; ties go to the lowest index.  The pattern need not be symmetric; the diagonal is added to it.  What
is left without zeros at the end keeps its order.
H. M. Markowitz (1957); T. A. Davis, Direct Methods for Sparse Linear Systems (2006).  Cost: the fill, times log n.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from kilohertz.graphs.matching import Rows


@dataclass(frozen=True, slots=True)
class Elimination:
    """`order[k]` is the row and column eliminated as number k; `rows` the pattern of L + U in that numbering."""

    order: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]

    @property
    def n_entries(self) -> int:
        return sum(map(len, self.rows))

    @property
    def n_products(self) -> int:
        """Multiplications and divisions of one factorisation."""
        after = [sum(1 for j in row if j > i) for i, row in enumerate(self.rows)]
        return sum(1 + after[j] for i, row in enumerate(self.rows) for j in row if j < i)


def plan_elimination(pattern: Rows, most_entries: int | None = None) -> Elimination | None:
    """A plan for the square pattern; None where L and U would have more than `most_entries` entries."""
    n = len(pattern)
    rows = [{i, *row} for i, row in enumerate(pattern)]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    heap = [(_price(rows, columns, k), k) for k in range(n)]
    heapq.heapify(heap)
    order: list[int] = []
    done = [False] * n
    upper: list[set[int]] = [set() for _ in range(n)]  # by row: what it keeps in U
    lower: list[set[int]] = [set() for _ in range(n)]  # by row: what it keeps in L
    count = 0
    while heap:
        price, k = heapq.heappop(heap)
        if done[k] or price != _price(rows, columns, k):
            continue
        if price == (n - len(order) - 1) ** 2:
            break  # the best has no zeros, so none of those that are left has any
        done[k] = True
        order.append(k)
        upper[k] = set(rows[k])
        for i in columns[k] - {k}:
            lower[i].add(k)
        count += len(rows[k]) + len(columns[k]) - 1
        if most_entries is not None and count > most_entries:
            return None
        for touched in _eliminate(rows, columns, k):
            heapq.heappush(heap, (_price(rows, columns, touched), touched))
    full = [k for k in range(n) if not done[k]]
    if most_entries is not None and count + len(full) ** 2 > most_entries:
        return None
    for at, k in enumerate(full):
        lower[k].update(full[:at])
        upper[k].update(full[at:])
    order += full
    place = {v: k for k, v in enumerate(order)}
    return Elimination(tuple(order), tuple(tuple(sorted(place[j] for j in upper[v] | lower[v])) for v in order))


def _price(rows: list[set[int]], columns: list[set[int]], k: int) -> int:
    return (len(rows[k]) - 1) * (len(columns[k]) - 1)


def _eliminate(rows: list[set[int]], columns: list[set[int]], k: int) -> list[int]:
    """Take row and column k out of the active part; those whose price may have changed."""
    right, below = rows[k] - {k}, columns[k] - {k}
    for i in below:
        rows[i].discard(k)
        rows[i] |= right
    for j in right:
        columns[j].discard(k)
        columns[j] |= below
    rows[k], columns[k] = set(), set()
    return sorted(right | below)

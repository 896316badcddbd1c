"""The order of pivots of a sparse matrix whose numbers are known at some points: few entries arise, and none is small.

Of the columns with the fewest entries left a few are looked at; in each the row with the fewest entries whose entry is
a hundredth of the largest of that column at every point.  The least Markowitz product wins (Z. Zlatev, On some pivotal
strategies in Gaussian elimination by sparse technique, 1980).  Along a chain that begins everywhere at once, and where
the pieces meet entries arise: multiplications grow faster than the chain.  Columns are taken in an order that is chosen
for all of the matrix, too (`any_rows.py`), with rows as above, and what takes fewer multiplications counts.

Rows are scaled to a largest entry of one before.  Cost: the multiplications, for each point, twice.  Gives up where
these are too many, or where no entry of a column is left.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable, Sequence

from kilohertz.graphs.any_rows import order_columns

_LOOKED_AT = 4  # columns
_ENOUGH = 0.01  # of the largest entry of a column
_WAITING = 16  # columns of an order that have no pivot yet
_LOST = 4 * sys.float_info.epsilon  # of the largest entry that a column ever had, for each row: the run takes no less
_LEAST_LOST = 1e-13  # what rounding may leave of few rows

Numbers = tuple[float, ...]  # one for each point


def choose_pivots(rows: Sequence[dict[int, Numbers]], most_products: int) -> tuple[tuple[int, int], ...] | None:
    """(row, column) in order; `rows[i][j]` are the entries."""
    greedy = _Choice(rows, most_products)
    order = greedy.run()
    pattern = tuple(tuple(sorted(row)) for row in rows)
    columns = order_columns(pattern, len(rows) ** 2, by_products=True)
    if columns is None:
        return order
    most = most_products if order is None else most_products - greedy.left - 1
    return _Choice(rows, most).along(columns.columns) or order


class _Choice:
    def __init__(self, rows: Sequence[dict[int, Numbers]], most_products: int) -> None:
        self._rows = [_scaled(row) for row in rows]
        self._columns: list[set[int]] = [set() for _ in rows]
        for i, row in enumerate(self._rows):
            for j in row:
                self._columns[j].add(i)
        self._size = [self._largest(j) for j in range(len(rows))]
        self._heap = [(len(column), j) for j, column in enumerate(self._columns)]
        heapq.heapify(self._heap)
        self.left = most_products
        self._lost = max(_LEAST_LOST, _LOST * len(rows))

    def run(self) -> tuple[tuple[int, int], ...] | None:
        order: list[tuple[int, int]] = []
        for _ in self._rows:
            pivot = self._next()
            if pivot is None:
                return None
            order.append(pivot)
            self._eliminate(*pivot)
            if self.left < 0:
                return None
        return tuple(order)

    def along(self, columns: Iterable[int]) -> tuple[tuple[int, int], ...] | None:
        """Columns in this order, but those that have no pivot yet: these as soon as they have one."""
        order: list[tuple[int, int]] = []
        waiting: list[int] = []
        for column in columns:
            waiting.append(column)
            while (pivot := self._first(waiting)) is not None:
                waiting.remove(pivot[1])
                order.append(pivot)
                self._eliminate(*pivot)
            if self.left < 0 or len(waiting) > _WAITING:
                return None
        return tuple(order) if not waiting else None

    def _first(self, columns: Iterable[int]) -> tuple[int, int] | None:
        found = (self._in_column(j) for j in columns)
        return next((pivot[1:] for pivot in found if pivot is not None), None)

    def _next(self) -> tuple[int, int] | None:
        """The best of the shortest columns; the others stay where they are."""
        seen: list[tuple[int, int]] = []
        best: tuple[int, int, int] | None = None
        while self._heap and (best is None or len(seen) < _LOOKED_AT):
            n, j = heapq.heappop(self._heap)
            if len(self._columns[j]) != n or any(j == other for _, other in seen):
                continue  # another entry of the heap speaks for it
            seen.append((n, j))
            candidate = self._in_column(j)
            if candidate is not None and (best is None or candidate < best):
                best = candidate
        for entry in seen:
            heapq.heappush(self._heap, entry)
        return None if best is None else best[1:]

    def _in_column(self, j: int) -> tuple[int, int, int] | None:
        """Markowitz product, row and column of its best entry."""
        largest = self._largest(j)
        if any(v <= self._lost * size for v, size in zip(largest, self._size[j], strict=True)):
            return None
        n = len(self._columns[j]) - 1
        found: tuple[int, int, int] | None = None
        for i in sorted(self._columns[j]):
            price = ((len(self._rows[i]) - 1) * n, i, j)
            if found is not None and price >= found:
                continue
            if all(abs(v) >= _ENOUGH * most for v, most in zip(self._rows[i][j], largest, strict=True)):
                found = price
        return found

    def _largest(self, j: int) -> Numbers:
        of_points = zip(*(self._rows[i][j] for i in self._columns[j]), strict=True)
        return tuple(max(map(abs, numbers)) for numbers in of_points)

    def _eliminate(self, i: int, j: int) -> None:
        row = self._rows[i]
        pivot = row.pop(j)
        for c in row:
            self._columns[c].discard(i)
        self._columns[j].discard(i)
        for k in self._columns[j]:
            below = self._rows[k]
            factor = tuple(v / p for v, p in zip(below.pop(j), pivot, strict=True))
            for c, right in row.items():
                old = below.get(c)
                if old is None:
                    below[c] = tuple(-f * v for f, v in zip(factor, right, strict=True))
                    self._columns[c].add(k)
                else:
                    below[c] = tuple(o - f * v for o, f, v in zip(old, factor, right, strict=True))
        self.left -= len(self._columns[j]) * (1 + len(row))
        self._columns[j] = set()
        for c in row:
            heapq.heappush(self._heap, (len(self._columns[c]), c))


def _scaled(row: dict[int, Numbers]) -> dict[int, Numbers]:
    """To a largest entry of one at each point."""
    largest = [max(map(abs, numbers)) or 1.0 for numbers in zip(*row.values(), strict=True)]
    return {j: tuple(v / most for v, most in zip(numbers, largest, strict=True)) for j, numbers in row.items()}

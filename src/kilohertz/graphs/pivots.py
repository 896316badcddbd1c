"""Elimination of a sparse linear system whose pivots are planned, each with the rows that may take its place.

At each turn the entry with the smallest Markowitz product, (entries in its row - 1) * (entries in its column - 1), is
the pivot; ties go to the one whose column has the fewest rows that look different, then to the lowest row and column.
An entry whose removal leaves the rest without a perfect matching is not taken.  Rows that have the same columns left as
the row of the pivot, *alike*, may be exchanged with it when numbers are known: the plan stays as it is.  Where most
entries of what is left are there, all are: then all rows are alike, and that is partial pivoting.

H. M. Markowitz (1957).  Cost: entries of the factors for each pivot; it gives up where these are too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from kilohertz.graphs.matching import FREE, Matching, maximum_matching

_MOST = 300  # unknowns
_FULL = 0.6  # of what is left: with more entries the others are taken for entries too

Pattern = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Pivot:
    """One turn: the other columns of its row, and the rows below that have its column, alike or not."""

    row: int
    column: int
    right: tuple[int, ...]
    alike: tuple[int, ...]
    other: tuple[int, ...]

    @property
    def below(self) -> tuple[int, ...]:
        return (*self.alike, *self.other)


@dataclass(frozen=True, slots=True)
class PivotPlan:
    """The turns, and the columns of each row with fill, in the order in which they are eliminated."""

    pivots: tuple[Pivot, ...]
    rows: Pattern
    is_chosen: bool = False  # by numbers

    @property
    def n_entries(self) -> int:
        return sum(map(len, self.rows))

    @property
    def n_alike(self) -> int:
        """Rows that may take the place of a pivot's, over all turns."""
        return sum(len(p.alike) for p in self.pivots)

    @property
    def n_products(self) -> int:
        """Multiplications of one factorisation."""
        return sum(len(p.below) * (1 + len(p.right)) for p in self.pivots)


@lru_cache(maxsize=64)
def plan_pivots(pattern: Pattern, most_products: int) -> PivotPlan | None:
    """A plan for the square pattern; None where it is singular or takes more than so many multiplications."""
    n = len(pattern)
    if n > _MOST or sum(map(len, pattern)) > n + most_products:
        return None
    matching = maximum_matching(pattern, n)
    if not matching.is_perfect:
        return None
    rows = [set(row) for row in pattern]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    filled = [set(row) for row in rows]
    pivots: list[Pivot] = []
    products = 0
    for left in range(n, 0, -1):
        if left**2 > sum(map(len, rows)) >= _FULL * left**2:
            _fill(rows, columns, filled)
        pivot = _next(rows, columns, matching)
        pivots.append(pivot)
        products += len(pivot.below) * (1 + len(pivot.right))
        if products > most_products:
            return None
        _eliminate(pivot, rows, columns)
        for i in pivot.below:
            filled[i].update(pivot.right)
    place = {p.column: k for k, p in enumerate(pivots)}
    return PivotPlan(tuple(pivots), tuple(tuple(sorted(row, key=place.__getitem__)) for row in filled))


@lru_cache(maxsize=16)
def plan_along(pattern: Pattern, order: tuple[tuple[int, int], ...]) -> PivotPlan | None:
    """The plan whose pivots are given, (row, column) one after the other; no rows are alike.  None where one is no
    entry."""
    rows = [set(row) for row in pattern]
    columns: list[set[int]] = [set() for _ in rows]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    filled = [set(row) for row in rows]
    pivots: list[Pivot] = []
    for i, j in order:
        if j not in rows[i]:
            return None
        pivot = Pivot(i, j, tuple(sorted(rows[i] - {j})), (), tuple(sorted(columns[j] - {i})))
        pivots.append(pivot)
        _eliminate(pivot, rows, columns)
        for k in pivot.below:
            filled[k].update(pivot.right)
    place = {p.column: k for k, p in enumerate(pivots)}
    return PivotPlan(tuple(pivots), tuple(tuple(sorted(row, key=place.__getitem__)) for row in filled), True)


def _fill(rows: list[set[int]], columns: list[set[int]], filled: list[set[int]]) -> None:
    """Every entry of what is left."""
    all_rows = {i for i, row in enumerate(rows) if row}
    all_columns = {j for j, column in enumerate(columns) if column}
    for i in all_rows:
        rows[i] = set(all_columns)
        filled[i] |= all_columns
    for j in all_columns:
        columns[j] = set(all_rows)


def _next(rows: list[set[int]], columns: list[set[int]], matching: Matching) -> Pivot:
    """The entry to take; `matching` stays perfect on what is left."""
    prices = sorted(((len(row) - 1) * (len(columns[j]) - 1), i, j) for i, row in enumerate(rows) for j in row)

    def others(entry: tuple[int, int, int]) -> tuple[int, int, int]:
        _, i, j = entry
        return sum(1 for k in columns[j] if rows[k] != rows[i]), i, j

    ordered = (sorted(map(others, together)) for _, together in groupby(prices, key=itemgetter(0)))
    i, j = next((i, j) for together in ordered for _, i, j in together if _take(i, j, rows, matching))
    below = sorted(columns[j] - {i})
    return Pivot(
        i,
        j,
        tuple(sorted(rows[i] - {j})),
        tuple(k for k in below if rows[k] == rows[i]),
        tuple(k for k in below if rows[k] != rows[i]),
    )


def _take(i: int, j: int, rows: list[set[int]], matching: Matching) -> bool:
    """Match row i to column j and the rest anew, along one alternating path; False: there is none."""
    column_of, row_of = matching.column_of, matching.row_of
    if column_of[i] != j:
        came: dict[int, int] = {}  # by column: the row that asked for it
        waiting, wanted = [row_of[j]], column_of[i]
        while waiting and wanted not in came:
            row = waiting.pop()
            for c in sorted(rows[row] - {j} - came.keys()):
                came[c] = row
                waiting.append(row_of[c])
        if wanted not in came:
            return False
        c = wanted
        while c != j:
            row = came[c]
            column_of[row], row_of[c], c = c, row, column_of[row]
    column_of[i] = row_of[j] = FREE
    return True


def _eliminate(pivot: Pivot, rows: list[set[int]], columns: list[set[int]]) -> None:
    """Take row and column of the pivot out of what is left, with fill."""
    for i in pivot.below:
        rows[i].discard(pivot.column)
        rows[i].update(pivot.right)
    for j in pivot.right:
        columns[j].discard(pivot.row)
        columns[j].update(pivot.below)
    rows[pivot.row], columns[pivot.column] = set(), set()

"""Eliminate in a constraint Jacobian: which columns follow from the others, and which pivots may vanish in the run.

A pivot is *safe* where it is a number or made of parameters: it has the same value for good.  Elimination keeps track
of that entry by entry.  Columns are taken group by group (the least wanted states first), in each group safe pivots
before others, and among those the largest first.  Most columns of a mechanism belong to the first groups and have a
safe pivot: those go first, on sparse rows, in the order that fills in least; what is left is small and dense.

What is left when the safe pivots are through is needed as expressions too, for the choice in the run: `reduced`
repeats the safe part of the elimination symbolically, on sparse rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kilohertz.ir import make
from kilohertz.ir.expr import Expr
from kilohertz.passes.algebra import simplify_node

SparseRow: TypeAlias = dict[int, Expr | None]  # by column; None: not known as an expression
Entry: TypeAlias = tuple[float, bool]  # value, and whether it never changes
_SMALL = 1e-9  # after equilibration: no pivot
_LARGE = 0.1  # of the largest entry of its row: a good pivot


@dataclass(frozen=True, slots=True)
class Pivot:
    row: int
    column: int
    safe: bool


def pivots(
    rows: Sequence[dict[int, Entry]], groups: Sequence[Sequence[int]], weights: Sequence[float], n_unwanted: int
) -> list[Pivot]:
    """Gaussian elimination; an entry that is not there is zero for good.

    In the first `n_unwanted` groups it does not matter which columns are taken.
    """
    # The unknowns of one constraint may differ by ten decades: what counts as zero is judged after equilibration.
    of_row, of_column = _equilibrium(rows, len(weights))
    sparse = _Sparse(rows, _SMALL * of_row, of_column)
    first = 0
    while first < n_unwanted and sparse.take(groups[first]):
        first += 1
    left = [i for i in range(len(rows)) if i not in sparse.done]
    least = np.outer(_SMALL * of_row[left], of_column)
    dense = _Dense([sparse.rows[i] for i in left], np.array(weights), least)
    taken = {p.column for p in sparse.pivots}
    for group in groups[first:]:
        open_columns = [c for c in group if c not in taken]
        dense.take(open_columns, safe=True)
        dense.take(open_columns, safe=False)
    return [*sparse.pivots, *(Pivot(left[p.row], p.column, p.safe) for p in dense.pivots)]


class _Sparse:
    """Safe pivots in rows by column."""

    def __init__(
        self, rows: Sequence[dict[int, Entry]], of_row: NDArray[np.float64], of_column: NDArray[np.float64]
    ) -> None:
        """An entry up to `of_row*of_column` counts as zero."""
        self.rows = [dict(r) for r in rows]
        self.done: set[int] = set()
        self.pivots: list[Pivot] = []
        self._of_row, self._of_column = of_row.tolist(), of_column.tolist()
        self._holders: dict[int, dict[int, None]] = {}
        for i, row in enumerate(self.rows):
            for c in row:
                self._holders.setdefault(c, {})[i] = None

    def take(self, group: Iterable[int]) -> bool:
        """Good safe pivots of a group; False where columns are left that could have others."""
        heap = [(len(self._holders.get(c, ())), c) for c in group]
        heapq.heapify(heap)
        complete = True
        while heap:
            count, c = heapq.heappop(heap)
            held = [i for i in self._holders.get(c, ()) if i not in self.done]
            if len(held) > count:
                heapq.heappush(heap, (len(held), c))
                continue
            row = min((i for i in held if self._is_good(i, c)), key=lambda i: (len(self.rows[i]), i), default=None)
            if row is None:
                complete = complete and not held
                continue
            self._eliminate(row, c)
        return complete

    def _is_good(self, i: int, c: int) -> bool:
        value, still = self.rows[i][c]
        most = max(abs(a) for a, _ in self.rows[i].values())
        return still and abs(value) > max(self._of_row[i] * self._of_column[c], _LARGE * most)

    def _eliminate(self, row: int, column: int) -> None:
        self.done.add(row)
        self.pivots.append(Pivot(row, column, True))
        source = self.rows[row]
        pivot = source[column][0]
        for i in list(self._holders[column]):
            if i in self.done:
                continue
            target = self.rows[i]
            value, still = target.pop(column)
            factor = value / pivot
            for c, (a, a_still) in source.items():
                if c != column:
                    old, old_still = target.get(c, (0.0, True))
                    target[c] = (old - factor * a, old_still and still and a_still)
                    self._holders.setdefault(c, {})[i] = None


class _Dense:
    """Pivots of any kind, the largest first."""

    def __init__(
        self, rows: Sequence[dict[int, Entry]], weight: NDArray[np.float64], least: NDArray[np.float64]
    ) -> None:
        self._m = np.zeros((len(rows), len(weight)))
        self._still = np.ones((len(rows), len(weight)), dtype=bool)
        for i, row in enumerate(rows):
            for c, (a, still) in row.items():
                self._m[i, c], self._still[i, c] = a, still
        self._filled = (self._m != 0.0) | ~self._still
        self._weight = weight
        self._open = np.ones(len(rows), dtype=bool)
        self._least = least
        self.pivots: list[Pivot] = []

    def take(self, left: list[int], safe: bool) -> None:
        """Pivots among the columns `left`, which lose those that are taken."""
        while left and self._open.any():
            rows = np.flatnonzero(self._open)
            at = np.ix_(rows, np.array(left))
            part = np.abs(self._m[at])
            part = np.where(part <= self._least[at], 0.0, part * self._weight[left])
            part = np.where(self._still[at], part, 0.0) if safe else part
            i, k = divmod(int(part.argmax()), len(left))  # the first of equals: the lower row, then column
            if part[i, k] == 0.0:
                return
            self._eliminate(int(rows[i]), left.pop(k), safe)

    def _eliminate(self, row: int, column: int, safe: bool) -> None:
        m, still, filled = self._m, self._still, self._filled
        self._open[row] = False
        self.pivots.append(Pivot(row, column, safe))
        rest = np.flatnonzero(self._open & filled[:, column])
        inside = np.flatnonzero(filled[row])
        if not len(rest):
            return
        at = np.ix_(rest, inside)
        m[at] -= np.outer(m[rest, column] / m[row, column], m[row, inside])
        still[at] &= np.outer(still[rest, column] & bool(still[row, column]), still[row, inside])
        filled[at] = True
        m[rest, column] = 0.0
        still[rest, column] = True
        filled[rest, column] = False


def _equilibrium(rows: Sequence[dict[int, Entry]], n_columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A factor for each row and column: divided by both, no row or column is larger than 1."""
    of_row, of_column = np.ones(len(rows)), np.ones(n_columns)
    row = np.array([i for i, r in enumerate(rows) for _ in r], dtype=int)
    column = np.array([c for r in rows for c in r], dtype=int)
    size = np.array([abs(a) for r in rows for a, _ in r.values()])
    for _ in range(6):  # Ruiz: converges quickly; exactness is not needed
        for factors, place in ((of_column, column), (of_row, row)):
            most = np.zeros(len(factors))
            np.maximum.at(most, place, size)
            most = np.where(most == 0.0, 1.0, np.sqrt(most))
            size /= most[place]
            factors *= most
    return of_row, of_column


def reduced(rows: Sequence[SparseRow], firm: Sequence[Pivot]) -> dict[int, SparseRow]:
    """The rows without one of these (safe) pivots, with the columns of the pivots eliminated from them."""
    work: list[SparseRow] = [dict(r) for r in rows]
    holders: dict[int, dict[int, None]] = {}
    for i, row in enumerate(work):
        for c in row:
            holders.setdefault(c, {})[i] = None
    done: set[int] = set()
    for p in firm:
        done.add(p.row)
        for i in list(holders.get(p.column, ())):
            if i not in done and p.column in work[i]:  # an entry may have cancelled since
                _subtract(work, i, p, holders)
    return {i: row for i, row in enumerate(work) if i not in done}


def _subtract(work: list[SparseRow], i: int, p: Pivot, holders: dict[int, dict[int, None]]) -> None:
    target, source = work[i], work[p.row]
    factor = _quotient(target.pop(p.column), source[p.column])
    for c, e in source.items():
        if c == p.column:
            continue
        value = _difference(target.get(c, make.ZERO), factor, e)
        if value is make.ZERO:
            target.pop(c, None)
        else:
            target[c] = value
            holders.setdefault(c, {})[i] = None


def _quotient(a: Expr | None, b: Expr | None) -> Expr | None:
    return None if a is None or b is None else simplify_node(make.div(a, b))


def _difference(a: Expr | None, factor: Expr | None, b: Expr | None) -> Expr | None:
    """a - factor*b."""
    if a is None or factor is None or b is None:
        return None
    return simplify_node(make.sub(a, simplify_node(make.mul(factor, b))))

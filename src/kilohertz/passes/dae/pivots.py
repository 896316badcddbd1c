"""Eliminate in a constraint Jacobian: which columns follow from the others, and which pivots may vanish in the run.

A pivot is *safe* where it is a number or made of parameters: it has the same value for good.  Elimination keeps track
of that entry by entry.  Columns are taken group by group (the least wanted states first), in each group safe pivots
before others, and among those the largest first.

What is left when the safe pivots are through is needed as expressions too, for the choice in the run: `reduced`
repeats the safe part of the elimination symbolically, on sparse rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kilohertz.ir import build
from kilohertz.ir.expr import Expr
from kilohertz.passes.algebra import simplify_node

SparseRow: TypeAlias = dict[int, Expr | None]  # by column; None: not known as an expression
_SMALL = 1e-9  # after equilibration: no pivot


@dataclass(frozen=True, slots=True)
class Pivot:
    row: int
    column: int
    safe: bool


def pivots(
    numbers: NDArray[np.float64], still: NDArray[np.bool_], groups: Sequence[Sequence[int]], weights: Sequence[float]
) -> list[Pivot]:
    """Gaussian elimination; `still` says which entries never change (zeros included)."""
    work = _Elimination(numbers.copy(), still.copy(), np.array(weights))
    for group in groups:
        left = list(group)
        work.take(left, safe=True)
        work.take(left, safe=False)
    return work.found


class _Elimination:
    def __init__(self, m: NDArray[np.float64], still: NDArray[np.bool_], weight: NDArray[np.float64]) -> None:
        self._m, self._still, self._weight = m, still, weight
        self._filled = (m != 0.0) | ~still
        self._open = np.ones(len(m), dtype=bool)
        # The unknowns of one constraint may differ by ten decades: what counts as zero is judged after equilibration.
        self._least = _SMALL * _equilibrium(m)
        self.found: list[Pivot] = []

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
        self.found.append(Pivot(row, column, safe))
        rest = np.flatnonzero(self._open & filled[:, column])
        inside = np.flatnonzero(filled[row])
        if not len(rest):
            return
        at = np.ix_(rest, inside)
        m[at] -= np.outer(m[rest, column] / m[row, column], m[row, inside])
        kept = np.outer(still[rest, column] & bool(still[row, column]), still[row, inside])
        still[at] &= kept
        filled[at] = True
        m[rest, column] = 0.0
        still[rest, column] = True
        filled[rest, column] = False


def _equilibrium(m: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each entry the product of a row and a column factor: divided by it, no row or column is larger than 1."""
    scaled = np.abs(m)
    factors = np.ones_like(scaled)
    for _ in range(6):  # Ruiz: converges quickly; exactness is not needed
        for axis in (0, 1):
            most = np.sqrt(scaled.max(axis=axis, keepdims=True, initial=0.0))
            most[most == 0.0] = 1.0
            scaled /= most
            factors *= most
    return factors


def reduced(rows: Sequence[SparseRow], found: Sequence[Pivot]) -> dict[int, SparseRow]:
    """The rows without a safe pivot, with the columns of all safe pivots eliminated from them."""
    safe = [p for p in found if p.safe]
    work: list[SparseRow] = [dict(r) for r in rows]
    holders: dict[int, dict[int, None]] = {}
    for i, row in enumerate(work):
        for c in row:
            holders.setdefault(c, {})[i] = None
    done: set[int] = set()
    for p in safe:
        done.add(p.row)
        for i in list(holders.get(p.column, ())):
            if i not in done:
                _subtract(work, i, p, holders)
    return {i: row for i, row in enumerate(work) if i not in done}


def _subtract(work: list[SparseRow], i: int, p: Pivot, holders: dict[int, dict[int, None]]) -> None:
    target, source = work[i], work[p.row]
    factor = _quotient(target.pop(p.column), source[p.column])
    for c, e in source.items():
        if c == p.column:
            continue
        value = _difference(target.get(c, build.ZERO), factor, e)
        if value is build.ZERO:
            target.pop(c, None)
        else:
            target[c] = value
            holders.setdefault(c, {})[i] = None


def _quotient(a: Expr | None, b: Expr | None) -> Expr | None:
    return None if a is None or b is None else simplify_node(build.div(a, b))


def _difference(a: Expr | None, factor: Expr | None, b: Expr | None) -> Expr | None:
    """a - factor*b."""
    if a is None or factor is None or b is None:
        return None
    return simplify_node(build.sub(a, simplify_node(build.mul(factor, b))))

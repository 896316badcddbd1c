"""A large linear loop keeps unknowns so that its matrix stays sparse.

  v[i] := v[i-1] + a[i];  f[i-1] := f[i] + m*v[i];  residual r*f[i] - t[i]     a chain of n joints, torn on all a[i]:
                                                                               n*n entries, n^3/3 products
  some v[k] and f[k] guessed, too, and their equations residuals               c*n of either

Tearing guesses as few unknowns as it can, and what follows may depend on all of them.  Where a computed unknown would
depend on more than a few, it is guessed as well, and its equation becomes a residual.  Then each entry is short, and
most are zero.  The order of elimination is chosen by numbers, with parameters as they are, at the start and at random
points (`graphs/threshold.py`), and kept: a run checks every pivot (`runtime/loops/khz_turns.c`).

Taken where it is less work by the counts of both.  Cost: incidences of the loop times the few, and the multiplications
of one elimination.  Gives up where guesses are few, where the torn matrix of a loop that is not large is sparse as it
is, and where the sparse matrix is singular at a point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kilohertz.graphs import Numbers, choose_pivots
from kilohertz.ir.expr import Expr
from kilohertz.ir.step import LinearLoop
from kilohertz.passes.ordered.guesses import Torn
from kilohertz.passes.ordered.random_point import RandomPoint

LEAST = 24  # guesses: smaller matrices are as good full
_LARGE = 64  # guesses: where nothing is loosened, a plan of its own pays from here on
_MOST = 100_000  # unknowns: more were never tried (13 000 of a network were)
_SPARSE = 0.3  # of the entries of a torn loop: with fewer there is nothing to gain
_FEW = 6  # guesses that a computed unknown may depend on
_ENTRY = 4  # products that an entry is worth
_POINTS = 8
_ANGLES = (-math.pi, math.pi)  # states may turn round


def loosened(rows: Sequence[Sequence[int]], torn: Torn) -> Torn | None:
    """With those unknowns guessed that would depend on many guesses; None where that is no use."""
    if len(torn.guessed) < LEAST or (len(torn.guessed) < _LARGE and _is_sparse(rows, torn)):
        return None
    loose = Torn(list(torn.guessed), [], list(torn.residuals))
    needs = {c: frozenset((c,)) for c in torn.guessed}
    for i, column in torn.sequence:
        needed = frozenset[int]().union(*(needs[c] for c in rows[i] if c != column))
        if len(needed) > _FEW:
            loose.guessed.append(column)
            loose.residuals.append(i)
            needed = frozenset((column,))
        else:
            loose.sequence.append((i, column))
        needs[column] = needed
    n = len(loose.guessed)
    if n > _MOST or (n == len(torn.guessed) and n < _LARGE):
        return None
    n_entries = sum(len(frozenset[int]().union(*(needs[c] for c in rows[i]))) for i in loose.residuals)
    return loose if _most_products(len(torn.guessed), n_entries) > 0 else None


def _is_sparse(rows: Sequence[Sequence[int]], torn: Torn) -> bool:
    """Whether the matrix of the torn loop is sparse as it is: several short chains beside each other."""
    needs = {c: frozenset((c,)) for c in torn.guessed}
    for i, column in torn.sequence:
        needs[column] = frozenset[int]().union(*(needs[c] for c in rows[i] if c != column))
    n_entries = sum(len(frozenset[int]().union(*(needs[c] for c in rows[i]))) for i in torn.residuals)
    return n_entries < _SPARSE * len(torn.guessed) ** 2


def chosen_pivots(
    loop: LinearLoop,
    n_full: int,
    sources: Mapping[str, Expr],
    values: Mapping[str, float],
    starts: Mapping[str, float],
) -> tuple[tuple[int, int], ...] | None:
    """The order of elimination of a sparse loop; None where one with a full matrix of n_full is less work."""
    points = [RandomPoint(sources, {**values, **starts}, 0)]
    points += [RandomPoint(sources, values, k, _ANGLES) for k in range(1, _POINTS)]
    rows: list[dict[int, Numbers]] = [{} for _ in loop.unknowns]
    for e in loop.matrix:
        numbers = [v for point in points if (v := point(e.value)) is not None]
        if len(numbers) < _POINTS:
            return None
        rows[e.row][e.column] = tuple(numbers)
    return choose_pivots(rows, _most_products(n_full, len(loop.matrix)))


def _most_products(n_full: int, n_entries: int) -> int:
    """That a sparse elimination may take instead of a full one."""
    return n_full**3 // 3 + _ENTRY * (n_full**2 - n_entries)

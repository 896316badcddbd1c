"""Linear loops with a symmetric matrix: half of it is computed, and its factors need no search for pivots.

  [m11(x)  m12(x)]                      [m11  m21]
  [m21(x)  m22(x)],  m12 = m21     ->   [m21  m22]

Mass matrices are symmetric, but the two entries are other sums of other products.  That they are equal is shown by
exact arithmetic (`passes/exact.py`), with everything that nothing computes an unknown: states, time, inputs, and
parameters that may be set.  Rows may stand in another order than unknowns, with another sign.

A chain of joints that is torn on its accelerations has such a matrix only where torques at joints are residuals; where
they are known before, the loop's residuals are moments of bodies instead, and angular accelerations of bodies go with
these.  So each rate that one sum makes of such an unknown gives way to it:

  z7 = z6 + a7, guessed a7   ->   guessed z7;  a7 := z7 - z6

With parameters as they are, at random points, the matrix must be definite.  Cost: the loop's equations times its
guesses.  Gives up where guesses are few or many or not all rates, and where a rounded literal stands for a root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kilohertz.ir import make
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.step import Assignment, Entry, LinearLoop
from kilohertz.ir.traverse import refs
from kilohertz.passes.algebra import cost, simplify
from kilohertz.passes.exact import PRIME, Exact
from kilohertz.passes.ordered.guesses import Torn
from kilohertz.passes.ordered.random_point import RandomPoint

LEAST, MOST = 4, 60  # guesses: smaller systems are solved where they stand
_POINTS = 2  # at which a matrix must be definite
_CONDITION = 1e-10  # smallest eigenvalue beside the largest, rows and columns scaled


@dataclass(frozen=True, slots=True)
class Rows:
    """For each unknown the row that belongs to it, and its sign."""

    order: tuple[int, ...]
    signs: tuple[int, ...]


def dual(rows: Sequence[Sequence[int]], torn: Torn, is_unit: Callable[[int, int], bool]) -> set[int] | None:
    """Unknowns to guess instead: those that a sum makes of the guesses.  None where there are none.

    `is_unit(i, c)`: the coefficient of unknown c in row i is 1 or -1.
    """
    guessed = set(torn.guessed)
    instead: dict[int, int] = {}
    for i, column in torn.sequence:
        inside = [c for c in rows[i] if c in guessed]
        if len(inside) == 1 and inside[0] not in instead and is_unit(i, column) and is_unit(i, inside[0]):
            instead[inside[0]] = column
    return {instead.get(c, c) for c in torn.guessed} if instead else None


def symmetric_rows(
    guessed: Sequence[Ref], inner: Sequence[Assignment], residuals: Sequence[Expr], sources: Mapping[str, Expr]
) -> Rows | None:
    """The order of rows in which the matrix of a loop is symmetric; None where there is none."""
    inside = {b.target.name for b in inner} | {z.name for z in guessed}
    outside = Exact({name: e for name, e in sources.items() if name not in inside})
    loop = (*(b.value for b in inner), *residuals)
    try:
        names = {r.name: r for e in loop for r in refs(e) if r.name not in inside}
        known = {name: outside(r) for name, r in names.items()}
        at = partial(_residuals, guessed, inner, residuals, known)
        at_rest, columns = at(None), [at(z) for z in guessed]
    except ZeroDivisionError:
        return None
    matrix = [[(c[i] - at_rest[i]) % PRIME for c in columns] for i in range(len(residuals))]
    order = _order(matrix)
    return None if order is None else _signed(matrix, order)


def _residuals(
    guessed: Sequence[Ref],
    inner: Sequence[Assignment],
    residuals: Sequence[Expr],
    known: Mapping[str, int],
    moved: Ref | None,
) -> list[int]:
    """Residuals where one unknown is one and the others are zero."""
    values = {z.name: int(z is moved) for z in guessed}
    exact = Exact({b.target.name: b.value for b in inner}, {**known, **values})
    return [exact(e) for e in residuals]


def _order(matrix: Sequence[Sequence[int]]) -> list[int] | None:
    """For each column the row with the same entries, but for signs; None where some have none, or several."""
    sizes = [[min(x, PRIME - x) for x in row] for row in matrix]
    place: dict[tuple[int, ...], int] = {tuple(sorted(row)): i for i, row in enumerate(sizes)}
    columns = [tuple(sorted(column)) for column in zip(*sizes, strict=True)]
    order = [place.get(column, -1) for column in columns]
    return order if -1 not in order and len(set(order)) == len(order) else None


def _signed(matrix: Sequence[Sequence[int]], order: Sequence[int]) -> Rows | None:
    """With the signs of rows; None where the matrix is not symmetric with any."""
    n = len(order)
    signs = [0] * n
    for first in range(n):
        signs[first] = signs[first] or 1
        waiting = [first]
        while waiting:
            i = waiting.pop()
            for j in range(n):
                x, y = matrix[order[i]][j], matrix[order[j]][i]
                sign = signs[i] if x == y else -signs[i] if (x + y) % PRIME == 0 else 0
                if x == y == 0:
                    continue
                if sign == 0 or signs[j] == -sign:
                    return None
                if signs[j] == 0:
                    signs[j] = sign
                    waiting.append(j)
    return Rows(tuple(order), tuple(signs))


def mirrored(loop: LinearLoop, rows: Rows, sources: Mapping[str, Expr], values: Mapping[str, float]) -> LinearLoop:
    """Rows in order, and one expression for two entries, where the matrix is definite; else the loop as it is."""
    n = len(loop.unknowns)
    entries = {(e.row, e.column): e.value for e in loop.matrix}
    placed = {(i, j): entries[row, j] for i, row in enumerate(rows.order) for j in range(n) if (row, j) in entries}
    whole = {(i, j): e for (i, j), e in placed.items() if (j, i) in placed}  # the others are zero
    sign = _definite(n, whole, rows.signs, sources, values)
    if sign == 0:
        return loop
    signs = [sign * s for s in rows.signs]
    whole = {(i, j): _signed_part(e, signs[i]) for (i, j), e in whole.items()}
    rhs, residuals = (_in_order(each, rows.order, signs) for each in (loop.rhs, loop.residuals))
    rank = sorted(range(n), key=lambda i: (-cost((whole[i, i],)), i))
    place = {i: k for k, i in enumerate(rank)}
    below = {(i, j): e for (i, j), e in whole.items() if place[i] >= place[j]}
    above = {(j, i): e for (i, j), e in whole.items() if place[i] <= place[j]}
    kept = min((below, above), key=lambda half: cost((*half.values(), *rhs)))
    matrix = [Entry(i, j, kept[(i, j) if (i, j) in kept else (j, i)]) for i, j in sorted(whole)]
    return replace(loop, matrix=tuple(matrix), rhs=rhs, residuals=residuals, symmetric=True)


def _in_order(each: Sequence[Expr], order: Sequence[int], signs: Sequence[int]) -> tuple[Expr, ...]:
    return tuple(_signed_part(each[row], sign) for row, sign in zip(order, signs, strict=True))


def _signed_part(e: Expr, sign: int) -> Expr:
    return e if sign > 0 else simplify(make.neg(e))


def _definite(
    n: int,
    entries: Mapping[tuple[int, int], Expr],
    signs: Sequence[int],
    sources: Mapping[str, Expr],
    values: Mapping[str, float],
) -> int:
    """The sign of the matrix's quadratic form wherever it was tried; 0 where it has none."""
    import numpy as np

    found: set[int] = set()
    for k in range(_POINTS):
        numeric = RandomPoint(sources, values, k)
        a = np.zeros((n, n))
        for (i, j), e in entries.items():
            value = numeric(e)
            if value is None:
                return 0
            a[i, j] = signs[i] * value
        size = np.sqrt(np.abs(np.diag(a)))
        if not size.all():
            return 0
        a = a / np.outer(size, size)
        least, most = np.linalg.eigvalsh((a + a.T) / 2)[[0, -1]]
        found.add(1 if least > _CONDITION * most else -1 if -most > -_CONDITION * least else 0)
    return found.pop() if len(found) == 1 else 0

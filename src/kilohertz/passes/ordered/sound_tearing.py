"""Tearing of a linear loop that leaves digits to its unknowns.

  3 x[i] - x[i-1] - x[i+1] = u[i] for 40 unknowns, torn on x[1]:  x[i+1] := 3 x[i] - x[i-1] - u[i] multiplies an error
  of x[1] by 2.6 in each step, and x[40] is rounding alone.

Where chains of computed unknowns are long and all factors are known, the loop is solved once with numbers as it would
be at run time.  Where its equations do not hold then, an equation computes only the unknown with its largest factor;
where they do not hold with that either, all unknowns are kept, and elimination chooses its pivots.  Cost: the equations
times the guesses.  Gives up (keeps the first choice) where a factor is not known or the loop has no solution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kilohertz.passes.ordered.guesses import Torn, untorn

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ease = Callable[[int, int], int]

_LONG = 16  # unknowns computed one from the other: shorter chains do not lose much
_ERROR = 1e-10  # of an equation beside its terms
_LARGEST = 1.0 - 1e-9  # beside the largest factor of an equation: no smaller


def soundly_torn(
    rows: Sequence[Sequence[int]],
    tear_with: Callable[[Ease], Torn],
    ease: Ease,
    factor: Callable[[int, int], float | None],
) -> Torn:
    """The first of the choices with which the equations of a loop hold; `factor(i, c)` of unknown c in row i."""
    torn = tear_with(ease)
    if _longest_chain(rows, torn) < _LONG:
        return torn
    factors: list[dict[int, float]] = []
    for i, row in enumerate(rows):
        known = {c: v for c in row if (v := factor(i, c)) is not None}
        if len(known) < len(set(row)):
            return torn
        factors.append(known)
    if _holds(factors, torn):
        return torn
    largest = [_LARGEST * max(map(abs, row.values()), default=0.0) for row in factors]

    def ease_of_largest(i: int, c: int) -> int:
        return ease(i, c) if abs(factors[i][c]) >= largest[i] else 0

    second = tear_with(ease_of_largest)
    return second if _holds(factors, second) else untorn(len(rows))


def _longest_chain(rows: Sequence[Sequence[int]], torn: Torn) -> int:
    length = [0] * len(rows)
    for i, column in torn.sequence:
        length[column] = 1 + max((length[c] for c in rows[i] if c != column), default=0)
    return max(length, default=0)


def _holds(factors: Sequence[dict[int, float]], torn: Torn) -> bool:
    """Whether the equations hold when they are solved as torn."""
    import numpy as np

    n, n_guessed = len(factors), len(torn.guessed)
    size = [max(map(abs, row.values()), default=0.0) for row in factors]
    right = [s * (-1.0 if i % 3 else 0.5 + (i * 7919 % 997) / 997) for i, s in enumerate(size)]
    parts = np.zeros((n, n_guessed + 1))  # of each unknown: those of the guesses, and what is left without them
    for k, column in enumerate(torn.guessed):
        parts[column, k] = 1.0

    def left(i: int, column: int | None) -> NDArray[np.float64]:
        total = np.zeros(n_guessed + 1)
        total[-1] = right[i]
        for c, f in factors[i].items():
            if c != column:
                total -= f * parts[c]
        return total

    with np.errstate(all="ignore"):
        for i, column in torn.sequence:
            parts[column] = left(i, column) / factors[i][column]
        residuals = np.array([left(i, None) for i in torn.residuals]).reshape(-1, n_guessed + 1)
        try:
            guesses = np.linalg.solve(-residuals[:, :-1], residuals[:, -1])
        except np.linalg.LinAlgError:
            return True
        found = parts[:, :-1] @ guesses
        found[torn.guessed] = guesses
        for i, column in torn.sequence:
            others = sum(f * found[c] for c, f in factors[i].items() if c != column)
            found[column] = (right[i] - others) / factors[i][column]
        for i, row in enumerate(factors):
            terms = [right[i], *(-f * found[c] for c, f in row.items())]
            if not abs(sum(terms)) <= _ERROR * sum(map(abs, terms)):
                return False
    return True

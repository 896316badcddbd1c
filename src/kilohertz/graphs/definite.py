"""Elimination of a symmetric matrix along its diagonal: one triangle of it, without exchanges.

At each turn the unknown with the fewest neighbours left is eliminated; ties go to the lowest (minimum degree, Tinney
and Walker 1967).  A definite matrix needs no pivots, whatever the order.  Cost: entries of the factors for each pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DefinitePlan:
    """Unknowns in the order in which they are eliminated, and for each those to the right of it, in that order."""

    order: tuple[int, ...]
    right: tuple[tuple[int, ...], ...]

    @property
    def n_entries(self) -> int:
        """Of one triangle of the factors, with its diagonal."""
        return len(self.order) + sum(map(len, self.right))

    @property
    def n_products(self) -> int:
        """Multiplications of one factorisation."""
        return sum(len(row) * (len(row) + 3) // 2 for row in self.right)


def plan_definite(pattern: Sequence[Sequence[int]], most_products: int) -> DefinitePlan | None:
    """A plan for a symmetric pattern; None where it takes more than so many multiplications."""
    around = [set(row) - {i} for i, row in enumerate(pattern)]
    left = set(range(len(around)))
    order: list[int] = []
    products = 0
    while left:
        i = min(left, key=lambda k: (len(around[k]), k))
        order.append(i)
        left.discard(i)
        products += len(around[i]) * (len(around[i]) + 3) // 2
        if products > most_products:
            return None
        for j in around[i]:
            around[j] = (around[j] | around[i]) - {i, j}
    place = {i: k for k, i in enumerate(order)}
    return DefinitePlan(tuple(order), tuple(tuple(sorted(around[i], key=place.__getitem__)) for i in order))

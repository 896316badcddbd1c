"""tear: guess a few unknowns of a loop, compute the others one after the other, and check the rest as residuals.

  x + y = 3;  x - y = u;      ->   guess y:  x := 3 - y;  residual x - y - u

An equation may compute a variable only where it is linear in it with a coefficient that cannot vanish: a literal, or
parameters whose value is not zero.  Greedy after Cellier and Kofman (Continuous System Simulation, 7.8): compute
whatever has one unknown left; when nothing has, guess the variable that occurs in most open equations, those that
cannot be computed anywhere first.  Near-linear: counters and buckets are kept per equation and variable.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

from kilohertz.graphs import FREE


@dataclass(slots=True)
class Torn:
    """Column numbers guessed, (row, column) pairs in order of computation, rows left as residuals."""

    guessed: list[int] = field(default_factory=list)
    sequence: list[tuple[int, int]] = field(default_factory=list)
    residuals: list[int] = field(default_factory=list)


def tear(
    rows: list[list[int]],
    n_columns: int,
    solvable: Callable[[int, int], bool],
    forced: dict[int, int],
    weight: Callable[[int], int],
) -> Torn:
    """Tear a loop.

    `rows[i]` lists the unknowns of equation i; `forced` maps rows that can compute one unknown only to it (calls:
    once all their other unknowns are known); `weight(c)` is added to the score of guessing column c.
    """
    return _Tearing(rows, n_columns, solvable, forced, weight).run()


class _Tearing:
    def __init__(
        self,
        rows: list[list[int]],
        n_columns: int,
        solvable: Callable[[int, int], bool],
        forced: dict[int, int],
        weight: Callable[[int], int],
    ) -> None:
        self._rows = rows
        self._solvable = solvable
        self._forced = forced
        self._weight = weight
        self._columns: list[list[int]] = [[] for _ in range(n_columns)]
        for i, row in enumerate(rows):
            for c in row:
                self._columns[c].append(i)
        self._open = [len(r) for r in rows]
        self._known = [False] * n_columns
        self._done = [False] * len(rows)
        self._left = n_columns
        self._ready: list[int] = [i for i, n in enumerate(self._open) if n == 1]
        heapq.heapify(self._ready)
        self._score = [len(rows_) + weight(c) for c, rows_ in enumerate(self._columns)]
        self._heap = [(-s, c) for c, s in enumerate(self._score)]
        heapq.heapify(self._heap)
        self._torn = Torn()

    def run(self) -> Torn:
        while self._left:
            self._compute()
            if self._left:
                self._guess()
        self._torn.residuals = [i for i, done in enumerate(self._done) if not done]
        return self._torn

    def _compute(self) -> None:
        while self._ready:
            i = heapq.heappop(self._ready)
            if self._done[i] or self._open[i] != 1:
                continue
            column = next(c for c in self._rows[i] if not self._known[c])
            if i in self._forced:
                if self._forced[i] != column:
                    continue
            elif not self._solvable(i, column):
                continue
            self._done[i] = True
            self._torn.sequence.append((i, column))
            self._learn(column)

    def _guess(self) -> None:
        while self._heap:
            score, column = heapq.heappop(self._heap)
            if self._known[column]:
                continue
            if -score != self._score[column]:
                heapq.heappush(self._heap, (-self._score[column], column))
                continue
            self._torn.guessed.append(column)
            self._learn(column)
            return

    def _learn(self, column: int) -> None:
        self._known[column] = True
        self._left -= 1
        for i in self._columns[column]:
            self._open[i] -= 1
            if self._done[i]:
                continue
            if self._open[i] == 1:
                heapq.heappush(self._ready, i)
            if self._open[i] == 0:
                for c in self._rows[i]:
                    if not self._known[c]:
                        self._score[c] -= 1


__all__ = ["FREE", "Torn", "tear"]

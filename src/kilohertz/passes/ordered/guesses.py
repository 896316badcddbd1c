"""Tearing: guess a few unknowns of a loop, compute the others one after the other, and check the rest as residuals.

  x + y = 3;  x - y = u;      ->   guess y:  x := 3 - y;  residual x - y - u

An equation may compute a variable only where it is linear in it with a coefficient that cannot vanish: a literal, or
parameters whose value is not zero.  Greedy after Cellier and Kofman (Continuous System Simulation, 7.8): compute
whatever has one unknown left, without a division first; when nothing has, guess the variable that most open equations
could not compute without a division, then the one that occurs most.  So `J1*a1 = u - t1; a1 = n*a2; t2 = n*t1;
J2*a2 = t2` is torn on a2 and gives `(J2 + n*n*J1)*a2 = n*u`.  Near-linear: counters and heaps.  Two more ways to guess
are tried, by occurrence alone and by what could be computed next, and where many are guessed a fourth: by all that
follows from the guess, among all unknowns and among those preferred.  The one that guesses least is taken.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

LOOK_AHEAD = 600  # unknowns up to which the costlier choice is tried too
FAR = -1  # of `hard`: guess what leads furthest
FAR_FROM = 6  # guesses from which that is tried in any loop
FAR_CANDIDATES = 250  # tried for one guess, those first that let most equations go on at once

STARTED = 100_000  # weight of a start value


@dataclass(slots=True)
class Torn:
    """Column numbers guessed, (row, column) pairs in order of computation, rows left as residuals."""

    guessed: list[int] = field(default_factory=list)
    sequence: list[tuple[int, int]] = field(default_factory=list)
    residuals: list[int] = field(default_factory=list)


def tear(
    rows: list[list[int]],
    n_columns: int,
    ease: Callable[[int, int], int],
    forced: dict[int, int],
    weight: Callable[[int], int],
    far: bool = False,
    preferred: Callable[[int], int] | None = None,
    started: Callable[[int], bool] | None = None,
) -> Torn:
    """Tear a loop; `far` tries the costliest way to guess in small loops too.  `preferred` are other weights to try:
    they win where they lead to as few guesses and no more divisions.  `started` tells which unknowns have a start
    value: of equally few guesses those with more of them are taken.

    `rows[i]` lists the unknowns of equation i; `ease(i, c)` says whether equation i can compute c: 0 no, 1 without a
    division, 2 with one; `forced` maps rows that can compute one unknown only to it (calls:
    once all their other unknowns are known); `weight(c)` is added to the score of guessing column c.
    """
    best = _Tearing(rows, n_columns, ease, forced, weight, 10).run()
    others: list[_Tearing] = [_Tearing(rows, n_columns, ease, forced, weight, 1)]
    if n_columns <= LOOK_AHEAD:
        others.append(_Tearing(rows, n_columns, ease, forced, weight, 0))
    for other in others:
        best = _fewer(best, other)
    if far or len(best.guessed) >= FAR_FROM:
        best = _fewer(best, _Tearing(rows, n_columns, ease, forced, weight, FAR))
    if preferred is not None and len(best.guessed) >= FAR_FROM:
        best = _fewer(best, _Tearing(rows, n_columns, ease, forced, preferred, FAR))
    if preferred is not None and len(best.guessed) > 1:
        torn = _Tearing(rows, n_columns, ease, forced, preferred, 10).run()
        best = min((torn, best), key=lambda t: (len(t.guessed), sum(ease(i, c) == 2 for i, c in t.sequence)))
    if started is not None and not all(started(c) for c in best.guessed):
        known = started
        torn = _Tearing(rows, n_columns, ease, forced, lambda c: weight(c) + (STARTED if known(c) else 0), 10).run()
        best = min((best, torn), key=lambda t: (len(t.guessed), -sum(known(c) for c in t.guessed)))
        _swap(best, rows, ease, forced, started)
    return best


def untorn(n: int) -> Torn:
    """Everything is guessed: what a loop is before it is torn."""
    return Torn(list(range(n)), [], list(range(n)))


def _swap(
    torn: Torn,
    rows: list[list[int]],
    ease: Callable[[int, int], int],
    forced: dict[int, int],
    started: Callable[[int], bool],
) -> None:
    """Guess what has a start value instead of what is computed from it by the same equation as well as the other way.

    A density without start value gives the temperature, which has one: guess the temperature.
    """
    sure = {c for c in torn.guessed if started(c)}
    for k, guess in enumerate(torn.guessed):
        if guess in sure:
            continue
        for i, column in torn.sequence:
            others = set(rows[i]) - {guess, column}
            if guess in rows[i] and i not in forced and started(column) and others <= sure and ease(i, guess):
                torn.guessed[k] = column
                torn.sequence.remove((i, column))
                torn.sequence.insert(0, (i, guess))
                sure.add(column)
                break


def _fewer(best: Torn, other: _Tearing) -> Torn:
    """The one that guesses less."""
    second = other.run() if len(best.guessed) > 1 else best
    return second if len(second.guessed) < len(best.guessed) else best


_Rank = tuple[int, int, int, int]  # weight, equations that could go on, those it occurs in, all negative; the unknown


class _Tearing:
    def __init__(
        self,
        rows: list[list[int]],
        n_columns: int,
        ease: Callable[[int, int], int],
        forced: dict[int, int],
        weight: Callable[[int], int],
        hard: int,
    ) -> None:
        """`hard`: what an equation counts that cannot compute a variable without a division; 0: look ahead."""
        self._rows = rows
        self._hard = hard
        self._ease = ease
        self._forced = forced
        self._columns: list[list[int]] = [[] for _ in range(n_columns)]
        for i, row in enumerate(rows):
            for c in row:
                self._columns[c].append(i)
        self._open = [len(r) for r in rows]
        self._known = [False] * n_columns
        self._done = [False] * len(rows)
        self._left = n_columns
        self._torn = Torn()
        self._weights = [weight(c) for c in range(n_columns)]
        self._aheads: dict[int, int] = {}  # as far as they are still right
        self._stale = dict.fromkeys(range(n_columns))  # whose rank is to be found again
        self._ranks: dict[int, _Rank] = {}
        self._ranked: list[_Rank] = []  # a heap, with ranks of before among them
        self._reaches: dict[int, int] = {}  # the same
        # of a row, heaps: with how many unknowns (negative) it changes whose reach
        self._looked_at: dict[int, list[tuple[int, int]]] = {}
        self._ready: list[tuple[int, int, int]] = []
        for i, n in enumerate(self._open):
            if n == 1:
                self._offer(i)
        self._score = [
            weight + sum(self._value(i, c) for i in touching)
            for c, (weight, touching) in enumerate(zip(self._weights, self._columns, strict=True))
        ]
        self._heap = [(-s, c) for c, s in enumerate(self._score)]
        heapq.heapify(self._heap)

    def _value(self, i: int, c: int) -> int:
        """What knowing c is worth to row i."""
        return 1 if self._ease(i, c) == 1 else self._hard

    def _offer(self, i: int) -> None:
        """A row with one unknown left: can it compute that?"""
        column = next(c for c in self._rows[i] if not self._known[c])
        if i in self._forced:
            if self._forced[i] == column:
                heapq.heappush(self._ready, (0, i, column))
            return
        ease = self._ease(i, column)
        if ease:
            heapq.heappush(self._ready, (ease, i, column))

    def run(self) -> Torn:
        while self._left:
            self._compute()
            if self._left:
                self._guess()
        self._torn.residuals = [i for i, done in enumerate(self._done) if not done]
        return self._torn

    def _compute(self) -> None:
        while self._ready:
            _, i, column = heapq.heappop(self._ready)
            if self._done[i] or self._known[column]:
                continue
            self._done[i] = True
            self._forget(i)
            self._torn.sequence.append((i, column))
            self._learn(column)

    def _forget(self, i: int) -> None:
        """What is known of the unknowns of a row that is another now."""
        if self._hard in (0, FAR) and self._open[i] <= 2:  # with more it lets nothing go on, now as before
            for c in self._rows[i]:
                if self._aheads.pop(c, None) is not None:
                    self._stale[c] = None
        watching = self._looked_at.get(i, ())
        while watching and -watching[0][0] >= self._open[i]:
            self._reaches.pop(heapq.heappop(watching)[1], None)

    def _ahead(self, column: int) -> int:
        """How many equations could go on at once if the column were known."""
        n_ready = self._aheads.get(column)
        if n_ready is None:
            n_ready = self._aheads[column] = self._count_ahead(column)
        return n_ready

    def _count_ahead(self, column: int) -> int:
        n_ready = 0
        for i in self._columns[column]:
            if self._done[i] or self._open[i] != 2:
                continue
            other = next(c for c in self._rows[i] if c != column and not self._known[c])
            if self._forced.get(i, other) == other and (i in self._forced or self._ease(i, other)):
                n_ready += 1
        return n_ready

    def _furthest(self) -> int:
        """The unknown from which most others can be computed one by one."""
        first = self._first()
        return max(first, key=lambda c: (self._reach(c), len(self._columns[c]), -c))

    def _first(self) -> list[int]:
        """Of the heaviest unknowns those that let most equations go on at once."""
        for c in self._stale:
            if not self._known[c]:
                self._ranks[c] = -self._weights[c], -self._ahead(c), -len(self._columns[c]), c
                heapq.heappush(self._ranked, self._ranks[c])
        self._stale.clear()
        first: list[_Rank] = []
        while self._ranked and len(first) < FAR_CANDIDATES:
            rank = self._ranked[0]
            c = rank[3]
            if first and rank[0] != first[0][0]:
                break
            heapq.heappop(self._ranked)
            if not self._known[c] and self._ranks[c] == rank and (not first or first[-1] != rank):
                first.append(rank)
        for rank in first:
            heapq.heappush(self._ranked, rank)
        return [c for _, _, _, c in first]

    def _reach(self, first: int) -> int:
        """How many unknowns follow from one more that is known."""
        found = self._reaches.get(first)
        if found is None:
            found = self._reaches[first] = self._count_reach(first)
        return found

    def _count_reach(self, first: int) -> int:
        known = {first}
        left: dict[int, int] = {}
        waiting = [first]
        while waiting:
            column = waiting.pop()
            for i in self._columns[column]:
                if self._done[i]:
                    continue
                left[i] = left.get(i, self._open[i]) - 1
                if left[i] != 1:
                    continue
                last = next((c for c in self._rows[i] if not self._known[c] and c not in known), None)
                if last is None:  # another equation gives it already
                    continue
                if self._forced[i] == last if i in self._forced else self._ease(i, last):
                    known.add(last)
                    waiting.append(last)
        for i, n in left.items():  # with n > 1 unknowns left it gives none, nor does it with one less but for the last
            heapq.heappush(self._looked_at.setdefault(i, []), (max(n, 1) - 1 - self._open[i], first))
        return len(known)

    def _guess(self) -> None:
        if self._hard == FAR:
            column = self._furthest()
            self._torn.guessed.append(column)
            self._learn(column)
            return
        if self._hard == 0:
            free = [c for c, known in enumerate(self._known) if not known]
            column = max(free, key=lambda c: (self._weights[c], self._ahead(c), len(self._columns[c]), -c))
            self._torn.guessed.append(column)
            self._learn(column)
            return
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
            self._forget(i)
            if self._open[i] == 1:
                self._offer(i)
                last = next(c for c in self._rows[i] if not self._known[c])
                self._score[last] -= 1

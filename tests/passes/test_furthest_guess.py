"""Tearing of loops in which much is guessed: candidates are found without a walk through all unknowns."""

from __future__ import annotations

import heapq
import random
from collections import Counter

import pytest

from kilohertz.passes.ordered import guesses
from kilohertz.passes.ordered.guesses import FAR, _Tearing


def loop(n: int, seed: int = 0) -> _Tearing:
    """Equations of three unknowns that none of them computes: all but few are guessed."""
    rng = random.Random(seed)
    rows = [sorted({i, *(rng.randrange(n) for _ in range(rng.choice((1, 2, 3))))}) for i in range(n)]
    ease = {(i, c): rng.choice((0, 0, 1, 2)) for i, row in enumerate(rows) for c in row}
    weights = [rng.choice((0, 0, 5)) for _ in range(n)]
    return _Tearing(rows, n, lambda i, c: ease[i, c], {}, lambda c: weights[c], FAR)


def plainly(tearing: _Tearing) -> list[int]:
    """All unknowns, ranked anew."""
    free = [c for c, known in enumerate(tearing._known) if not known]
    heaviest = max(tearing._weights[c] for c in free)
    free = [c for c in free if tearing._weights[c] == heaviest]
    ranks = [(-tearing._count_ahead(c), -len(tearing._columns[c]), c) for c in free]
    return [c for _, _, c in heapq.nsmallest(guesses.FAR_CANDIDATES, ranks)]


@pytest.mark.parametrize("seed", range(6))
def test_candidates_are_those_of_a_ranking_of_all(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _Tearing._first

    def first(self: _Tearing) -> list[int]:
        candidates = found(self)
        assert candidates == plainly(self)
        return candidates

    monkeypatch.setattr(_Tearing, "_first", first)
    monkeypatch.setattr(guesses, "FAR_CANDIDATES", 7)
    assert len(loop(80, seed).run().guessed) > 10


def test_work_grows_with_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[int] = Counter()
    ahead = _Tearing._ahead

    def counted(self: _Tearing, column: int) -> int:
        calls[len(self._known)] += 1
        return ahead(self, column)

    monkeypatch.setattr(_Tearing, "_ahead", counted)
    for n in (400, 1600):
        loop(n).run()
    assert calls[1600] < 5 * calls[400]

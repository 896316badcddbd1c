"""Which linear loops keep unknowns so that they stay sparse."""

from __future__ import annotations

import pytest

from kilohertz.passes.ordered.guesses import Torn
from kilohertz.passes.ordered.kept_sparse import loosened


def test_a_torn_loop_that_is_sparse_as_it_is_keeps_its_few_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four groups of seven guesses, and a sum of each: a quarter of the matrix is filled."""
    n = 28
    rows = [[i, n + i // 7] for i in range(n)] + [[n + g, *range(7 * g, 7 * g + 7)] for g in range(4)]
    torn = Torn(list(range(n)), [(n + g, n + g) for g in range(4)], list(range(n)))
    assert loosened(rows, torn) is None
    monkeypatch.setattr("kilohertz.passes.ordered.kept_sparse._SPARSE", 0.2)
    loose = loosened(rows, torn)
    assert loose is not None and len(loose.guessed) == n + 4

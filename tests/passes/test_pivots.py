"""Elimination of safe pivots from sparse rows."""

from __future__ import annotations

from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.make import ONE
from kilohertz.ir.types import REAL
from kilohertz.passes.dae.index_reduction.pivots import Pivot, reduced


def test_an_entry_that_cancelled_is_not_eliminated_again() -> None:
    a = Ref("a", REAL)
    rows: list[dict[int, Expr | None]] = [{0: ONE, 1: ONE}, {1: ONE, 2: a}, {0: ONE, 1: ONE, 3: a}]
    left = reduced(rows, [Pivot(0, 0, True), Pivot(1, 1, True)])
    assert left == {2: {3: a}}

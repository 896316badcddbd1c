"""Residuals of a torn loop in an order in which each depends on the unknown of its own number.

A sparse factorisation that is planned from the pattern takes its pivots there.  Literal and parametric entries are
taken first: they do not vanish at run time.  Where no such order exists the residuals stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kilohertz.graphs import maximum_matching
from kilohertz.ir.expr import Expr
from kilohertz.ir.step import Entry, NonlinearLoop

LEAST = 4  # unknowns from which it is worth while


def with_diagonal(loop: NonlinearLoop, is_steady: Callable[[Expr], bool]) -> NonlinearLoop:
    """The same loop with its residuals in such an order."""
    if loop.jacobian is None or len(loop.unknowns) < LEAST:
        return loop
    order = _order(len(loop.unknowns), loop.jacobian, is_steady)
    if order is None:
        return loop
    place = {row: i for i, row in enumerate(order)}
    entries = [Entry(place[e.row], e.column, e.value) for e in loop.jacobian]
    return replace(
        loop,
        residuals=tuple(loop.residuals[row] for row in order),
        jacobian=tuple(sorted(entries, key=lambda e: (e.row, e.column))),
        sparsity=tuple(sorted((place[i], j) for i, j in loop.sparsity)),
    )


def _order(n: int, entries: Sequence[Entry], is_steady: Callable[[Expr], bool]) -> list[int] | None:
    """For each place the residual that goes there; None: no order has a full diagonal."""
    steady: list[list[int]] = [[] for _ in range(n)]
    rest: list[list[int]] = [[] for _ in range(n)]
    for e in entries:
        (steady if is_steady(e.value) else rest)[e.row].append(e.column)
    matching = maximum_matching([a + b for a, b in zip(steady, rest, strict=True)], n)
    return list(matching.row_of) if matching.is_perfect else None

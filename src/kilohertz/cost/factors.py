"""Which factorisation pays: sparse by a plan, dense, or anew where it is used."""

from __future__ import annotations

from kilohertz.graphs import Elimination, plan_elimination
from kilohertz.ir.step import NonlinearLoop

DENSE = 0.6  # of n*n: with more entries a dense factorisation is as good
LEAST = 8  # unknowns from which a sparse factorisation of a loop pays
IN_PLACE = 3  # unknowns of a linear system that is factorised at every use


def state_elimination(rows: list[list[int]]) -> Elimination | None:
    """How I - h*gamma*J is factorised; None where the factors would be nearly dense."""
    n = len(rows)
    return plan_elimination(rows, int(DENSE * n * n)) if n > 1 else None


def loop_pattern(block: NonlinearLoop) -> list[list[int]] | None:
    """Entries of a loop's Jacobian by rows; None where it has no symbolic one or lacks a diagonal to pivot on."""
    n = len(block.unknowns)
    if block.jacobian is None or n < LEAST:
        return None
    rows: list[list[int]] = [[] for _ in range(n)]
    for e in block.jacobian:
        rows[e.row].append(e.column)
    return [sorted(row) for row in rows] if all(i in row for i, row in enumerate(rows)) else None


def loop_elimination(block: NonlinearLoop) -> Elimination | None:
    """How the Jacobian of a loop is factorised; None: as a dense matrix."""
    rows = loop_pattern(block)
    return None if rows is None else plan_elimination(rows, int(DENSE * len(rows) ** 2))

"""Which factorisation pays: sparse by a plan, dense, or anew where it is used."""

from __future__ import annotations

from typing import NamedTuple

from kilohertz.graphs import (
    DefinitePlan,
    Elimination,
    Pattern,
    PivotPlan,
    plan_along,
    plan_definite,
    plan_elimination,
    plan_pivots,
)
from kilohertz.ir.step import LinearLoop, NonlinearLoop, Partition

DENSE = 0.6  # of n*n: with more entries a dense factorisation is as good
LEAST = 8  # unknowns from which a sparse factorisation of a loop pays
IN_PLACE = 3  # unknowns of a linear system that is factorised at every use
MOST_PRODUCTS = 1500  # of an elimination that is written out: more are too much code
MOST_CHOSEN = 10_000  # the same in real time where numbers chose the pivots: there is no choice in the code
WRITTEN_OUT = 3000  # products and entries of sparse factors at most that are written out, not run through by tables


class PlannedLoop(NamedTuple):
    """The entries of a linear loop by rows, columns ascending, and how they are eliminated; of a symmetric one those on
    and right of the diagonal."""

    pattern: Pattern
    plan: PivotPlan | DefinitePlan


def state_elimination(rows: list[list[int]]) -> Elimination | None:
    """How I - h*gamma*J is factorised; None where the factors would be nearly dense."""
    n = len(rows)
    return plan_elimination(rows, int(DENSE * n * n)) if n > 1 else None


def is_written_out(elimination: Elimination) -> bool:
    """Whether sparse factors are code of their own."""
    return elimination.n_products + elimination.n_entries <= WRITTEN_OUT


def is_by_tables(plan: PivotPlan | DefinitePlan, often: bool = True) -> bool:
    """Whether the elimination of a linear loop is run through by tables, not written out; `often`: in real time."""
    return plan.n_products > (MOST_CHOSEN if often else MOST_PRODUCTS)


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


def linear_plan(block: LinearLoop) -> PlannedLoop | None:
    """How a linear loop of a step is eliminated in code of its own; None: as a dense matrix, or where it stands."""
    n = len(block.unknowns)
    if n <= IN_PLACE or block.partition is not Partition.STEP:
        return None
    rows: list[list[int]] = [[] for _ in range(n)]
    for e in block.matrix:
        rows[e.row].append(e.column)
    pattern = tuple(tuple(sorted(row)) for row in rows)
    if block.symmetric:
        definite = plan_definite(pattern, MOST_PRODUCTS)
        half = tuple(tuple(j for j in row if j >= i) for i, row in enumerate(pattern))
        return None if definite is None else PlannedLoop(half, definite)
    plan = plan_along(pattern, block.pivots) if block.pivots else plan_pivots(pattern, MOST_PRODUCTS)
    return None if plan is None else PlannedLoop(pattern, plan)

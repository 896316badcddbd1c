"""Which factorisation pays: sparse by a plan, dense, or anew where it is used."""

from __future__ import annotations

from typing import NamedTuple

from kilohertz.graphs import (
    ColumnOrder,
    DefinitePlan,
    Elimination,
    Pattern,
    PivotPlan,
    order_columns,
    plan_along,
    plan_definite,
    plan_elimination,
    plan_pivots,
)
from kilohertz.ir.step import LinearLoop, NonlinearLoop, Partition
from kilohertz.runtime import constant, formula

DENSE = 0.6  # of n*n: with more entries a dense factorisation is as good
LEAST = 8  # unknowns from which a sparse factorisation of a loop pays
IN_PLACE = 3  # unknowns of a linear system that is factorised at every use
MOST_PRODUCTS = 1500  # of an elimination that is written out: more are too much code
MOST_CHOSEN = 10_000  # the same in real time where numbers chose the pivots: there is no choice in the code
WRITTEN_OUT = 3000  # products and entries of sparse factors at most that are written out, not run through by tables


SCATTERED = 256  # unknowns from which a linear loop without room for a full matrix pays
MOST_SCATTERED = 0.125  # of n*n: entries of its factors at most, whatever the pivots


class PlannedLoop(NamedTuple):
    """The entries of a linear loop by rows, columns ascending, and how they are eliminated; of a symmetric one those on
    and right of the diagonal."""

    pattern: Pattern
    plan: PivotPlan | DefinitePlan


class ScatteredLoop(NamedTuple):
    """The entries of a linear loop that is kept without zeros, by rows, columns ascending; how it is eliminated."""

    pattern: Pattern
    order: ColumnOrder

    @property
    def n_entries(self) -> int:
        """Of both factors at most; a column without a pivot leaves a row more to those after it."""
        return self.order.n_entries + constant("KHZ_MOST_LOST") * len(self.pattern)

    @property
    def room(self) -> int:
        """Doubles of memory in front of the entries of the matrix."""
        return formula("KHZ_SCATTERED_ROOM", len(self.pattern), sum(map(len, self.pattern)), self.n_entries) + 1


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
    if len(block.unknowns) <= IN_PLACE or block.partition is not Partition.STEP:
        return None
    pattern = _pattern(block)
    if block.symmetric:
        definite = plan_definite(pattern, MOST_PRODUCTS)
        half = tuple(tuple(j for j in row if j >= i) for i, row in enumerate(pattern))
        return None if definite is None else PlannedLoop(half, definite)
    plan = plan_along(pattern, block.pivots) if block.pivots else plan_pivots(pattern, MOST_PRODUCTS)
    return None if plan is None else PlannedLoop(pattern, plan)


def scattered(block: LinearLoop) -> ScatteredLoop | None:
    """How a large linear loop is kept without zeros, where no plan suits it; None: as a full matrix."""
    n = len(block.unknowns)
    if n < SCATTERED or block.symmetric or len(block.matrix) > MOST_SCATTERED * n * n:
        return None
    pattern = _pattern(block)
    order = order_columns(pattern, int(MOST_SCATTERED * n * n))
    return None if order is None else ScatteredLoop(pattern, order)


def _pattern(block: LinearLoop) -> Pattern:
    """The columns of each row, ascending."""
    rows: list[list[int]] = [[] for _ in block.unknowns]
    for e in block.matrix:
        rows[e.row].append(e.column)
    return tuple(tuple(sorted(row)) for row in rows)

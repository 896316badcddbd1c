"""Where the matrix of a linear loop and its factorisation stand in an instance: for the next call, for other blocks."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.codegen.layout import Layout
from kilohertz.cost import linear_plan
from kilohertz.ir import step as s
from kilohertz.runtime import formula


@dataclass(frozen=True, slots=True)
class Kept:
    """Places from 0 in each area; `stored`: STEP leaves matrix and factors there.  `plan`: the C name of the plan by
    which it is factorised, or nothing; then the entries of the matrix stand behind what a dense one needs."""

    n: int
    memory: int
    order: int
    factored: int
    stored: bool = False
    plan: str = ""

    @property
    def is_stale(self) -> str:
        """True in C where the matrix has to be computed."""
        return f"!z->factored[{self.factored}]"

    @property
    def stage(self) -> str:
        """Behind what khz_linear needs: gamma_h of the stage that a kept matrix belongs to."""
        return f"z->memory[{self.memory + formula('KHZ_LINEAR_ROOM', self.n)}]"

    @property
    def matrix(self) -> int:
        """Where its entries are put."""
        return self.memory + (formula("KHZ_PLANNED_ROOM", self.n) if self.plan else 0)

    def places(self, block: s.LinearLoop) -> list[tuple[s.Entry, int]]:
        """The entries of the matrix of a loop that are stored, each with its number there."""
        if not self.plan:
            return [(e, e.row * self.n + e.column) for e in block.matrix]
        stored = [e for e in block.matrix if e.row <= e.column or not block.symmetric]
        number = {at: k for k, at in enumerate(sorted((e.row, e.column) for e in stored))}
        return [(e, number[e.row, e.column]) for e in stored]


def room(layout: Layout, n: int, plan: str = "", of: s.LinearLoop | None = None) -> Kept:
    """Room in the areas of an instance for a matrix of n unknowns; with a plan, for that of a loop by it."""
    kept = Kept(n, layout.memory, layout.order, layout.factored, plan=plan)
    layout.memory += formula("KHZ_PLANNED_ROOM", n)
    layout.order += n
    layout.factored += 1
    planned = linear_plan(of) if of is not None and plan else None
    if planned is not None:
        layout.memory += sum(map(len, planned.pattern)) + formula("KHZ_FACTORS_ROOM", planned.plan.n_entries, n)
    return kept

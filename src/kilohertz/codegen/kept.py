"""Where the matrix of a linear loop and its factorisation stand in an instance: for the next call, for other blocks."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.codegen.layout import Layout
from kilohertz.codegen.scattered_tables import Tables
from kilohertz.cost import PlannedLoop
from kilohertz.ir import step as s
from kilohertz.runtime import formula


@dataclass(frozen=True, slots=True)
class Kept:
    """Places from 0 in each area; `stored`: STEP leaves matrix and factors there.  `plan`: the C name of the plan by
    which it is factorised, or nothing; `scattered`: that of the tables of one that is kept without zeros.  With either
    the entries of the matrix stand behind the `room` of the way out."""

    n: int
    memory: int
    order: int
    factored: int
    room: int
    stored: bool = False
    plan: str = ""
    scattered: str = ""

    @property
    def is_stale(self) -> str:
        """True in C where the matrix has to be computed."""
        return f"!z->factored[{self.factored}]"

    @property
    def stage(self) -> str:
        """The last of the room: gamma_h of the stage that a kept matrix belongs to."""
        return f"z->memory[{self.memory + self.room - 1}]"

    @property
    def is_dense(self) -> bool:
        return not self.plan and not self.scattered

    @property
    def matrix(self) -> int:
        """Where its entries are put."""
        return self.memory + (0 if self.is_dense else self.room)

    def fresh(self, phase: str, block: s.LinearLoop) -> str:
        """When the matrix of a loop is computed anew; "1": always."""
        if block.matrix_partition is s.Partition.ONCE:
            return self.is_stale
        if block.matrix_partition is not s.Partition.EVENT:
            return "1"
        if phase != "inlined":
            return f"{self.is_stale} || z->c.phase != KHZ_PHASE_CONTINUOUS"
        return f"{self.is_stale} || {self.stage} != z->gamma_h[0]"

    def places(self, block: s.LinearLoop) -> list[tuple[s.Entry, int]]:
        """The entries of the matrix of a loop that are stored, each with its number there."""
        if self.is_dense:
            return [(e, e.row * self.n + e.column) for e in block.matrix]
        stored = [e for e in block.matrix if e.row <= e.column or not block.symmetric]
        number = {at: k for k, at in enumerate(sorted((e.row, e.column) for e in stored))}
        return [(e, number[e.row, e.column]) for e in stored]

    def call(self, lanes: str, at: str, b: str, small: str) -> str:
        """The C that solves it; `small`: a matrix that is not kept, of two or three unknowns."""
        memory, factored = f"z->memory + {self.memory}", f"&z->factored[{self.factored}]"
        if self.scattered and not self.plan:
            return f"khz_linear_scattered{lanes}(&z->c, {at}, &{self.scattered}, {memory}, {factored}, {b})"
        function, what = ("khz_linear_planned", f"&{self.plan}") if self.plan else ("khz_linear", str(self.n))
        if small:
            function, what = f"khz_linear_{self.n}", small
        return f"{function}{lanes}(&z->c, {at}, {what}, {memory}, z->order + {self.order}, {factored}, {b})"


def room(
    layout: Layout,
    n: int,
    plan: str = "",
    planned: PlannedLoop | None = None,
    tables: Tables | None = None,
) -> Kept:
    """Room in the areas of an instance for a matrix of n unknowns; by a plan of this name, without zeros by tables."""
    size = formula("KHZ_PLANNED_ROOM", n) if tables is None else tables.system.room
    scattered = "" if tables is None else tables.name
    kept = Kept(n, layout.memory, layout.order, layout.factored, size, plan=plan, scattered=scattered)
    layout.memory += size
    layout.order += n
    layout.factored += 1
    if planned is not None:
        layout.memory += sum(map(len, planned.pattern)) + formula("KHZ_FACTORS_ROOM", planned.plan.n_entries, n)
    elif tables is not None:
        layout.memory += sum(map(len, tables.system.pattern))
    return kept

"""The Jacobian of the states, before anything is computed: its entries and the columns that are found together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kilohertz.graphs import colour_columns
from kilohertz.ir.step import Kind, Step


@dataclass(frozen=True)
class StateJacobian:
    """dF/dy of a step (`ir/step.py`): the y that each of F depends on, ascending."""

    rows: list[list[int]]

    @property
    def n_entries(self) -> int:
        return sum(map(len, self.rows))

    @cached_property
    def colours(self) -> list[int]:
        """Of each column: those of one colour take one directional derivative."""
        return colour_columns(self.rows, len(self.rows))

    @property
    def n_colours(self) -> int:
        return max(self.colours, default=-1) + 1


def state_jacobian(step: Step) -> StateJacobian:
    """As the step says; every entry where it says nothing."""
    n = len(step.of_kind(Kind.STATE)) + len(step.algebraic)
    if len(step.state_sparsity) != n:
        return StateJacobian([list(range(n)) for _ in range(n)])
    return StateJacobian([sorted(row) for row in step.state_sparsity])

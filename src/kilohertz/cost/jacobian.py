"""The Jacobian of the states, before anything is computed: its entries and the columns that are found together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kilohertz.graphs import colour_columns
from kilohertz.ir import step as s
from kilohertz.ir.builtins import is_past
from kilohertz.ir.expr import Builtin, Call, Expr, Ref
from kilohertz.ir.step import Kind, Step
from kilohertz.ir.traverse import walk_all

_RESTING = {*s.DIRECTIONS, *s.DISCRETE_KINDS, *s.TWINS.values(), Kind.PARAMETER, Kind.INT_PARAMETER}
_RESTING -= {Kind.DERIVATIVE}


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


def jacobian_rests(step: Step) -> bool:
    """Whether nothing that moves between events stands in the rates of the derivatives: the Jacobian is the same then,
    to the last bit."""
    if step.directional is None or any(not f.pure for f in step.functions.values()):
        return False
    at_events = {t.name for b in step.in_partition(s.Partition.EVENT) for t in s.targets(b)}
    resting = {n for n, v in step.variables.items() if v.slot.kind in _RESTING or n in at_events}
    nodes = walk_all(e for b in step.directional for e in s.expressions(b))
    return all(e.name in resting if isinstance(e, Ref) else not _has_time(e) for e in nodes)


def _has_time(e: Expr) -> bool:
    """An operator whose value is that of an instant, or a call that may fail there."""
    return isinstance(e, Call) or (isinstance(e, Builtin) and (is_past(e) or e.name in ("sample", "terminal")))

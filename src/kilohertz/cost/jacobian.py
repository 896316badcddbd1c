"""The Jacobian of the states, before anything is computed: its entries and the columns that are found together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kilohertz.graphs import colour_columns
from kilohertz.ir import step as s
from kilohertz.ir.builtins import is_past
from kilohertz.ir.expr import Builtin, Call, Expr, Ref
from kilohertz.ir.step import Kind, Step
from kilohertz.ir.traverse import names_in, walk_all

_BY_CODE = 1000  # entries that are taken by code of their own, not by tables
_RESTING = {*s.DIRECTIONS, *s.DISCRETE_KINDS, *s.TWINS.values(), Kind.PARAMETER, Kind.INT_PARAMETER}
_RESTING -= {Kind.DERIVATIVE}


@dataclass(frozen=True)
class Sums:
    """Long sums apart (`passes/step/gather_sums.py`): y and, after them, sums that each row depends on beside what
    comes through sums; rows are F, then terms, sum by sum."""

    rows: list[list[int]]
    n_y: int
    of_terms: list[int]  # the sum that each term belongs to

    @property
    def n(self) -> int:
        return max(self.of_terms) + 1

    @cached_property
    def of_y(self) -> list[int]:
        """Colours of columns in y."""
        return colour_columns([[j for j in row if j < self.n_y] for row in self.rows], self.n_y)

    @property
    def n_of_y(self) -> int:
        return max(self.of_y) + 1

    @cached_property
    def n_taken(self) -> int:
        """Rates of terms and along sums, and products of both."""
        slopes: list[set[int]] = [set() for _ in range(self.n)]
        for k, row in zip(self.of_terms, self.rows[self.n_y :], strict=True):
            slopes[k].update(row)
        weights = [j - self.n_y for row in self.rows[: self.n_y] for j in row if j >= self.n_y]
        return sum(map(len, self.rows[self.n_y :])) + len(weights) + sum(len(slopes[k]) for k in weights)

    @cached_property
    def colours(self) -> list[int]:
        """Of all columns: those of sums come after the others."""
        alone = colour_columns([[j - self.n_y for j in row if j >= self.n_y] for row in self.rows], self.n)
        return [*self.of_y, *(self.n_of_y + colour for colour in alone)]


@dataclass(frozen=True)
class StateJacobian:
    """dF/dy of a step (`ir/step.py`): the y that each of F depends on, ascending."""

    rows: list[list[int]]
    sums: Sums | None = None
    rests: bool = False  # it is evaluated seldom (jacobian_rests)

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

    @property
    def is_taken_by_code(self) -> bool:
        """Each call of `directional` has code that sets its seeds and takes its entries."""
        return self.sums is None and not self.rests and 0 < self.n_entries <= _BY_CODE

    @property
    def directions(self) -> list[int]:
        """Colours of what `directional` takes as columns."""
        return self.colours if self.sums is None else self.sums.colours

    @property
    def n_directions(self) -> int:
        return max(self.directions, default=-1) + 1

    def n_shared(self, lanes: int) -> int:
        """Calls of `directional` that every part of a Jacobian has: those along sums."""
        return 0 if self.sums is None else -(-self.n_directions // lanes) - self.sums.n_of_y // lanes

    @property
    def rates(self) -> list[list[int]]:
        """The rows that `directional` leaves, by its columns."""
        return self.rows if self.sums is None else self.sums.rows


def state_jacobian(step: Step) -> StateJacobian:
    """As the step says; every entry where it says nothing."""
    n = len(step.of_kind(Kind.STATE)) + len(step.algebraic)
    if len(step.state_sparsity) != n:
        return StateJacobian([list(range(n)) for _ in range(n)])
    rows = [sorted(row) for row in step.state_sparsity]
    return StateJacobian(rows, _sums(step, rows) if step.sums else None, jacobian_rests(step))


def _sums(step: Step, rows: list[list[int]]) -> Sums:
    patterns, n, terms = rate_patterns(step), len(rows), [t.name for one in step.sums for t in one.terms]
    names = {v.slot.index: v.name for v in step.of_kind(Kind.DERIVATIVE_DIRECTION)}
    masks = [patterns.get(names[i], 0) for i in range(n)]
    apart = [_ones(mask) if mask >> n else row for mask, row in zip(masks, rows, strict=True)]
    of_terms = [k for k, one in enumerate(step.sums) for _ in one.terms]
    return Sums([*apart, *(_ones(patterns.get(name, 0)) for name in terms)], n, of_terms)


def rate_patterns(step: Step) -> dict[str, int]:
    """The seeds that each rate of `directional` depends on, as bits; all targets of a loop or call on all it reads."""
    masks = {v.name: 1 << v.slot.index for v in step.of_kind(Kind.SEED)}
    for b in step.directional or ():
        mask = 0
        for name in names_in(b.rhs if isinstance(b, s.LinearLoop) else s.expressions(b)):
            mask |= masks.get(name, 0)
        masks |= dict.fromkeys((t.name for t in s.targets(b)), mask)
    return masks


def _ones(mask: int) -> list[int]:
    """Positions of the ones, ascending."""
    return [k for k, digit in enumerate(reversed(f"{mask:b}")) if digit == "1"]


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

"""The Jacobian of many states that meet in a large linear loop: the unknowns of the loop as columns of their own.

  A dir(z) = rhs(seed(x))        ->   dir(z) := seed(z);  dir(res(z)) := rhs(seed(x)) - A seed(z)
  dir(der(x)) := f(dir(z), ..)        as it is

Every derivative of a state behind such a loop depends on all states, so that the Jacobian is full, however few unknowns
each equation has: 3136 loads on a network have 9.8 million entries, a direction each, and factors that take the cube.
With z beside x rows have as many entries as their equations, columns share colours, and M - h*gamma*J, M = diag(1, 0),
has factors with few entries more.  Eliminating z shows that it gives the same corrections of x.
For solvers with steps of their own alone (CVODE and IDA); it gives up where entries or their factors are not far fewer,
as along chains, whose states depend on one another without a loop, and where rates are more than sums, products and
quotients: differences, which stand in for a rate that is infinite at a root of zero, tell nothing of loops.
Cost: linear in blocks times their patterns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kilohertz.base import Origin
from kilohertz.cost.factors import ScatteredLoop
from kilohertz.cost.jacobian import StateJacobian
from kilohertz.graphs import order_columns
from kilohertz.ir import make
from kilohertz.ir import step as s
from kilohertz.ir.expr import Binary, Bool, Expr, IfExp, Int, Real, Ref, Unary
from kilohertz.ir.flat import Purpose
from kilohertz.ir.make import ZERO
from kilohertz.ir.traverse import names_in, walk_all
from kilohertz.ir.types import REAL

LEAST_STATES = 512  # below it a full matrix takes milliseconds, and more than a solver is made of it (`khz_leap.c`)
LEAST_UNKNOWNS = 16  # of a loop
GAIN = 4  # entries are so many times fewer
MOST_SEEDS = 64  # of a rate, on average


@dataclass(frozen=True)
class Unfolded:
    """A step whose `directional` has unknowns of loops as seeds after the states, and leaves residuals after their
    derivatives; the Jacobian of both, with its diagonal in the rows of states; how M - h*gamma*J is eliminated."""

    step: s.Step
    jacobian: StateJacobian
    system: ScatteredLoop

    @property
    def n(self) -> int:
        """Unknowns beside the states."""
        return len(self.jacobian.rows) - len(self.step.of_kind(s.Kind.STATE))


def unfolded(step: s.Step) -> Unfolded | None:
    """None where it does not pay."""
    n_full = sum(map(len, step.state_sparsity))
    if len(step.state_sparsity) < LEAST_STATES or step.directional is None or step.sums or step.algebraic:
        return None
    if not any(map(_is_large, step.directional)) or not all(map(_is_plain, step.directional)):
        return None
    work = _Unfolding(step)
    rows = work.rows(int(n_full / GAIN))
    if rows is None:
        return None
    pattern = tuple(map(tuple, rows))
    order = order_columns(pattern, int(n_full / GAIN))
    if order is None:
        return None
    return Unfolded(work.step, StateJacobian(rows), ScatteredLoop(pattern, order))


def _is_large(b: s.Block) -> bool:
    return isinstance(b, s.LinearLoop) and len(b.unknowns) >= LEAST_UNKNOWNS


def _is_plain(b: s.Block) -> bool:
    """Whether its rates have a value wherever what they are rates of has one."""
    return all(
        isinstance(e, (Ref, Real, Int, Bool, Unary, IfExp)) or (isinstance(e, Binary) and e.op != "^")
        for e in walk_all(s.expressions(b))
    )


class _Unfolding:
    """Blocks and variables of one step without its large loops of rates."""

    def __init__(self, step: s.Step) -> None:
        self._n = len(step.of_kind(s.Kind.STATE))
        self._made: list[s.StepVariable] = []
        self._residuals: list[Ref] = []
        blocks = [one for b in step.directional or () for one in self._unfolded(b)]
        variables = {**step.variables, **{v.name: v for v in self._made}}
        self.step = replace(step, variables=variables, directional=tuple(blocks))

    def _unfolded(self, b: s.Block) -> list[s.Block]:
        if not isinstance(b, s.LinearLoop) or not _is_large(b):
            return [b]
        first = self._n + len(self._residuals)
        seeds = [self._variable(f"seed({u.name})", s.Kind.SEED, first + k) for k, u in enumerate(b.unknowns)]
        left = list(b.rhs)
        for e in b.matrix:
            left[e.row] = make.sub(left[e.row], make.mul(e.value, seeds[e.column]))
        given = [_assigned(u, seed, b.origin) for u, seed in zip(b.unknowns, seeds, strict=True)]
        kind = s.Kind.DERIVATIVE_DIRECTION
        rows = [self._variable(f"res({u.name})", kind, first + k) for k, u in enumerate(b.unknowns)]
        self._residuals += rows
        return [*given, *(_assigned(row, value, b.origin) for row, value in zip(rows, left, strict=True))]

    def _variable(self, name: str, kind: s.Kind, index: int) -> Ref:
        self._made.append(s.StepVariable(name, REAL, s.Slot(kind, index), ZERO, protected=True, purpose=Purpose.MADE))
        return Ref(name, REAL)

    def rows(self, most: int) -> list[list[int]] | None:
        """The columns of each row, ascending; None where there are more entries."""
        patterns = self._patterns()
        if patterns is None:
            return None
        of_rates = {v.slot.index: v.name for v in self.step.of_kind(s.Kind.DERIVATIVE_DIRECTION)}
        found = [patterns.get(of_rates[i], frozenset()) for i in range(self._n + len(self._residuals))]
        rows = [sorted(row | {i}) if i < self._n else sorted(row) for i, row in enumerate(found)]
        return rows if sum(map(len, rows)) <= most else None

    def _patterns(self) -> dict[str, frozenset[int]] | None:
        """The seeds that each rate depends on; None where they are many."""
        known = {v.name: frozenset((v.slot.index,)) for v in self.step.of_kind(s.Kind.SEED)}
        blocks = self.step.directional or ()
        left = MOST_SEEDS * len(blocks)
        for b in blocks:
            found = _joined(known, b.rhs if isinstance(b, s.LinearLoop) else s.expressions(b))
            left -= len(found)
            if left < 0:
                return None
            known |= dict.fromkeys((t.name for t in s.targets(b)), found)
        return known


def _joined(known: dict[str, frozenset[int]], roots: Iterable[Expr]) -> frozenset[int]:
    return frozenset[int]().union(*(known[name] for name in names_in(roots) if name in known))


def _assigned(target: Ref, value: Expr, origin: Origin) -> s.Assignment:
    return s.Assignment(target, value, s.Partition.STEP, 1, origin)

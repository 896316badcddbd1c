"""What the kernels of the stepper take around the calls of the model: vectors, Jacobian, factors, stages."""

from __future__ import annotations

import numpy as np

from kilohertz.cost.jacobian import StateJacobian
from kilohertz.cost.prices import (
    Count,
    both,
    calls,
    copy,
    dense_factor,
    dense_solve,
    moves,
    sparse_factor,
    sparse_solve,
    total,
)
from kilohertz.graphs import Elimination
from kilohertz.solvers import Method, Pair, Rosenbrock, RungeKutta


class Kernels:
    """A method on the states of a model."""

    def __init__(
        self, jacobian: StateJacobian, plan: Elimination | None, method: Method | Pair, newton: int, inlined: bool
    ) -> None:
        self.method, self.newton, self.inlined, self.n = method, newton, inlined, len(jacobian.rows)
        self.entries, self.colours, self.directions = jacobian.n_entries, jacobian.n_colours, jacobian.n_directions
        self.is_taken_by_code = jacobian.is_taken_by_code
        self.taken = jacobian.sums.n_taken if jacobian.sums is not None else 0
        self.plan = plan

    @property
    def is_implicit(self) -> bool:
        """With a Jacobian and factors of its own."""
        m = self.method
        return not (self.inlined or isinstance(m, Pair) or (isinstance(m, RungeKutta) and m.is_explicit))

    def stage_rhs(self, substeps: int) -> int:
        """Evaluations in the stages beyond the one at the beginning of the step."""
        m = self.method
        if isinstance(m, Pair):
            return m.n_implicit * substeps
        if isinstance(m, Rosenbrock) or m.is_explicit:
            return m.n_rhs - 1
        return m.n_implicit * (1 if self.inlined else self.newton)

    @property
    def solves(self) -> int:
        m = self.method
        if not self.is_implicit or isinstance(m, Pair):
            return 0
        return m.n_stages if isinstance(m, Rosenbrock) else m.n_implicit * self.newton

    # --------------------------------------------------------------------------------------------------------- linear

    def jacobian(self, directions: int, slopes: int, n_parts: int = 1) -> Count:
        """Around the calls for the directional derivatives of one Jacobian, or of a part: seeds, entries, checks."""
        slope = copy(self.n).times(2) + calls(40)
        colours = -(-self.directions // n_parts)
        symbolic = moves(10 * self.entries + 14 * self.taken + 98 * colours + 18 * self.n, 300)
        if self.is_taken_by_code:
            symbolic = moves(3 * self.entries + 40 * colours + 2 * self.n, 200)
        checked = self.differences + moves(8 * self.entries, 160)
        return ((symbolic if directions else checked) + slope.times(slopes)).of_stepper(self.n)

    @property
    def differences(self) -> Count:
        """Around the right-hand sides of a Jacobian by differences."""
        colour = both(6 * self.entries, 16 * self.entries + 24 * self.n, 80) + copy(self.n)
        return (colour.times(self.colours) + copy(self.n).times(4) + calls(80)).of_stepper(self.n)

    @property
    def factor(self) -> Count:
        """Factors of I - h*gamma*J: planned, and at worst dense as well."""
        n, moved = self.n, self.entries + self.n
        dense = copy(n * n) + both(moved, 10 * moved, 120) + Count(dense_factor(n).regular, dense_factor(n).regular)
        if self.plan is None:
            return dense.of_stepper(self.n)
        return (both(moved, 8 * moved, 110) + sparse_factor(self.plan, n) + dense.times(0, 1)).of_stepper(self.n)

    @property
    def solve(self) -> Count:
        dense = dense_solve(self.n) + calls(15)
        if self.plan is None:
            return dense.of_stepper(self.n)
        planned = sparse_solve(self.plan, self.n) + calls(15)
        return Count(planned.regular, max(planned.worst, dense.worst, key=lambda c: c.instructions)).of_stepper(self.n)

    # --------------------------------------------------------------------------------------------------------- stages

    def stages(self, substeps: int) -> Count:
        """Vectors of one step between the calls."""
        m = self.method
        if isinstance(m, Pair):
            return self._pair(m, substeps).of_stepper(self.n)
        if isinstance(m, Rosenbrock):
            return self._rosenbrock(m).of_stepper(self.n)
        return (self._explicit(m) if m.is_explicit else self._implicit(m)).of_stepper(self.n)

    def _combined(self, weights: np.ndarray, every: bool = False) -> Count:
        """x0 + sum of weights*k for each row of weights: zeros are left out, but for their loop."""
        rows = np.atleast_2d(weights)
        terms = rows.size if every else int(np.count_nonzero(rows))
        return copy(self.n).times(len(rows)) + both(2 * self.n * terms, 4.3 * self.n * terms, 16 * rows.size)

    def _explicit(self, m: RungeKutta) -> Count:
        return self._combined(m.a[1:]) + self._combined(np.array(m.b), every=True) + calls(80) + copy(self.n)

    def _rosenbrock(self, m: Rosenbrock) -> Count:
        n, s = self.n, m.n_stages
        coupled = both(2 * n, 6 * n, 10).times(s * (s - 1) // 2)
        return total(
            (self._combined(m.a[1:]), self._combined(np.array(m.m)), coupled, both(4 * n, 11 * n, 70).times(s))
        ) + calls(120)

    def _implicit(self, m: RungeKutta) -> Count:
        n = self.n
        turn = both(4 * n, 19 * n, 70) if not self.inlined else Count()
        stage = both(2 * n, 20 * n, 80) + copy(n).times(2) + turn.times(self.newton)
        return stage.times(m.n_stages) + self._combined(m.a) + self._combined(np.array(m.b)) + calls(120)

    def _pair(self, m: Pair, substeps: int) -> Count:
        n, pairs = self.n, m.n_stages * (m.n_stages - 1) // 2
        vectors = both(2 * n, 12 * n).times(pairs) + both(2 * n, 18 * n, 60).times(m.n_implicit)
        copies = copy(n).times(m.n_implicit + 2)
        return (vectors + copies).times(substeps) + both(3 * n, 24 * n, 60) + copy(n).times(4)

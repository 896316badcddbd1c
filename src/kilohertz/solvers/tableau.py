"""Integration methods as data that checks itself: a table with a wrong coefficient cannot be made.

Row sums and order conditions are evaluated on construction; what follows from the coefficients (re-used right-hand
sides, stiff accuracy, order with an arbitrary Jacobian) is computed, never declared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import InternalError
from kilohertz.runtime import constant

Floats = NDArray[np.float64]
Row = tuple[float, ...]
_EXACT = 1e-12  # residual of an order condition: coefficients have 16 digits
_FADES = 1e-3  # R(inf) of a method that forgets an algebraic error within a step
MOST_STAGES = constant("KHZ_STAGES_MOST")


def _matrix(rows: Sequence[Sequence[float]], n: int) -> Floats:
    """A square matrix from its rows, each given as far as it is not zero."""
    out = np.zeros((n, n))
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


def _reached(conditions: Sequence[Sequence[float]]) -> int:
    """How many groups of conditions hold one after the other."""
    order = 0
    for group in conditions:
        if max(abs(residual) for residual in group) > _EXACT:
            break
        order += 1
    return order


@dataclass(frozen=True)
class RungeKutta:
    """Explicit or diagonally implicit Runge-Kutta: rows of A, weights b, abscissae c."""

    name: str
    title: str
    source: str
    order: int
    a_rows: tuple[Row, ...]
    b: Row
    c: Row

    def __post_init__(self) -> None:
        if not len(self.a_rows) == len(self.b) == len(self.c) <= MOST_STAGES:
            raise InternalError(f"{self.name}: the table is not square")
        if np.abs(self.a.sum(axis=1) - np.array(self.c)).max() > _EXACT:
            raise InternalError(f"{self.name}: a row does not sum up to its abscissa")
        diagonal = np.diag(self.a)[1 if self.explicit_first else 0 :]
        if not self.is_explicit and len(set(diagonal.tolist())) != 1:
            raise InternalError(f"{self.name}: the implicit stages have different diagonal entries")
        if self.reached_order != self.order:
            raise InternalError(f"{self.name}: order {self.reached_order}, stated {self.order}")

    @cached_property
    def a(self) -> Floats:
        return _matrix(self.a_rows, len(self.b))

    @property
    def n_stages(self) -> int:
        """Stages of a step."""
        return len(self.b)

    @property
    def is_explicit(self) -> bool:
        """Whether no stage needs a solution."""
        return not np.triu(self.a).any()

    @property
    def explicit_first(self) -> bool:
        """Whether the first stage is the beginning of the step."""
        return not self.is_explicit and self.a[0, 0] == 0.0

    @property
    def gamma(self) -> float:
        """Diagonal entry of the implicit stages; 0 for an explicit method."""
        return float(self.a[-1, -1])

    @property
    def n_implicit(self) -> int:
        """Stages that need a solution."""
        return 0 if self.is_explicit else self.n_stages - int(self.explicit_first)

    @property
    def n_rhs(self) -> int:
        """Evaluations per step of the explicit stages."""
        return self.n_stages - self.n_implicit

    @property
    def stiffly_accurate(self) -> bool:
        """Whether the last stage is the end of the step."""
        return not self.is_explicit and bool(np.abs(self.a[-1] - np.array(self.b)).max() < _EXACT)

    @property
    def stage_order(self) -> int:
        """The order of the stages themselves: what is left of the order on very stiff modes."""
        c = np.array(self.c)
        return 1 + int(np.abs(self.a @ c - c**2 / 2).max() < _EXACT)

    @property
    def index1_order(self) -> int:
        """The order on M*y' = f with algebraic components; 0: not made for it.

        Where the last stage is the end of the step the algebraic components are functions of the others there.
        """
        return self.order if self.stiffly_accurate else 0

    @property
    def index1_newton(self) -> int:
        """Simplified Newton iterations per stage that this order needs: each gains one power of h where equations are
        algebraic (two elsewhere), and the first guess has one.  The second says whether they converge."""
        return max(2, self.order - 1)

    @property
    def reached_order(self) -> int:
        """The order the coefficients have (conditions up to 4)."""
        a, b, c = self.a, np.array(self.b), np.array(self.c)
        return _reached(
            (
                (b.sum() - 1,),
                (b @ c - 1 / 2,),
                (b @ c**2 - 1 / 3, b @ a @ c - 1 / 6),
                (b @ c**3 - 1 / 4, b @ (c * (a @ c)) - 1 / 8, b @ a @ c**2 - 1 / 12, b @ a @ a @ c - 1 / 24),
            )
        )

    def amplification(self, z: complex) -> complex:
        """R(z): what a step does to y' = lambda*y, z = h*lambda."""
        e = np.ones(self.n_stages)
        return complex(1 + z * (np.array(self.b) @ np.linalg.solve(np.eye(self.n_stages) - z * self.a, e)))

    @property
    def amplification_at_infinity(self) -> float:
        """R at infinity: 0 where infinitely fast modes are damped out at once."""
        if self.is_explicit:
            return float("inf")
        if self.explicit_first:  # stiffly accurate: the last stage alone counts
            return float(-np.linalg.solve(self.a[1:, 1:], self.a[1:, 0])[-1])
        return float(1 - np.array(self.b) @ np.linalg.solve(self.a, np.ones(self.n_stages)))


@dataclass(frozen=True)
class Rosenbrock:
    """Linearly implicit method in the u-form (one gamma): no product with the Jacobian is needed.

    E = I/(h*gamma) - J;  E*u_i = f(t + alpha_i*h, y + sum a_ij*u_j) + sum c_ij*u_j/h + h*gamma_i*f_t;  y + sum m_i*u_i.
    """

    name: str
    title: str
    source: str
    order: int
    gamma: float
    a_rows: tuple[Row, ...]  # from stage 2 on
    c_rows: tuple[Row, ...]
    m: Row
    alpha: Row
    gammas: Row

    def __post_init__(self) -> None:
        n = self.n_stages
        if not len(self.alpha) == len(self.gammas) == n <= MOST_STAGES or len(self.a_rows) != n - 1:
            raise InternalError(f"{self.name}: the table is not square")
        wrong = np.abs(self.k_alpha.sum(axis=1) - np.array(self.alpha)).max()
        wrong = max(wrong, np.abs(self.k_gamma.sum(axis=1) - np.array(self.gammas)).max())
        if wrong > _EXACT or self.alpha[0] != 0.0:
            raise InternalError(f"{self.name}: alpha_i or gamma_i is not the sum of its row")
        if self.reached_order != self.order:
            raise InternalError(f"{self.name}: order {self.reached_order}, stated {self.order}")

    @property
    def n_stages(self) -> int:
        """Stages, each with one solution of a linear system."""
        return len(self.m)

    @cached_property
    def a(self) -> Floats:
        return _matrix(((), *self.a_rows), self.n_stages)

    @cached_property
    def c(self) -> Floats:
        return _matrix(((), *self.c_rows), self.n_stages)

    @cached_property
    def k_gamma(self) -> Floats:
        """Gamma of the k-form, back from (c_ij) = diag(1/gamma) - Gamma^-1."""
        return np.asarray(np.linalg.inv(np.eye(self.n_stages) / self.gamma - self.c), np.float64)

    @cached_property
    def k_alpha(self) -> Floats:
        return np.asarray(self.a @ self.k_gamma)

    @cached_property
    def k_b(self) -> Floats:
        return np.asarray(np.array(self.m) @ self.k_gamma)

    @property
    def reuses(self) -> tuple[bool, ...]:
        """Stages with the argument of the stage before: its right-hand side is used again."""
        same = [np.array_equal(self.a[i], self.a[i - 1]) and self.alpha[i] == self.alpha[i - 1] for i in self._later]
        return (False, *same)

    @property
    def _later(self) -> range:
        return range(1, self.n_stages)

    @property
    def n_rhs(self) -> int:
        """Evaluations of the right-hand side in a step: stages that share a point share one."""
        return self.n_stages - sum(self.reuses)

    @property
    def reached_order(self) -> int:
        """The order that the conditions confirm."""
        alpha, beta, b = self.k_alpha, self.k_alpha + self.k_gamma, self.k_b
        ai, bi = alpha.sum(axis=1), beta.sum(axis=1)
        return _reached(
            (
                (b.sum() - 1,),
                (b @ bi - 1 / 2,),
                (b @ ai**2 - 1 / 3, b @ beta @ bi - 1 / 6),
                (
                    b @ ai**3 - 1 / 4,
                    b @ (ai * (alpha @ bi)) - 1 / 8,
                    b @ beta @ ai**2 - 1 / 12,
                    b @ beta @ beta @ bi - 1 / 24,
                ),
            )
        )

    @property
    def any_jacobian_order(self) -> int:
        """The order that is left with an arbitrary Jacobian and without f_t (W-method), up to 3."""
        alpha, gamma, b = self.k_alpha, self.k_gamma, self.k_b
        ai, gi = alpha.sum(axis=1), gamma.sum(axis=1)
        groups = ((b.sum() - 1,), (b @ gi,), (b @ alpha @ ai - 1 / 6, b @ alpha @ gi, b @ gamma @ ai, b @ gamma @ gi))
        return min(self.order, _reached(groups))

    @property
    def stiffly_accurate(self) -> bool:
        """Whether the last stage is the end of the step."""
        beta = self.k_alpha + self.k_gamma
        return bool(np.abs(beta[-1] - self.k_b).max() < _EXACT and abs(self.alpha[-1] - 1) < _EXACT)

    @property
    def index1_order(self) -> int:
        """The order on M*y' = f with algebraic components; 0: what an error of theirs leaves does not fade at once.

        Hairer, Wanner, Solving ODEs II (1996), VI.4: with |R(inf)| < 1 order p needs the conditions of the differential
        components up to p and those of the algebraic ones up to p - 1.  Asked for here: R(inf) = 0.
        """
        alpha, beta, b = self.k_alpha, self.k_alpha + self.k_gamma, self.k_b
        ai, bi, omega = alpha.sum(axis=1), beta.sum(axis=1), np.linalg.inv(beta)
        first = b @ omega
        through = alpha @ omega @ ai**2
        if abs(self.amplification_at_infinity) > _FADES:
            return 0
        groups = (
            (0.0,),
            (0.0,),
            (first @ ai**2 - 1,),
            (
                b @ (ai * through) - 1 / 4,
                first @ ai**3 - 1,
                first @ (ai * (alpha @ bi)) - 1 / 2,
                first @ (ai * through) - 1,
            ),
        )
        return min(self.order, _reached(groups))

    def amplification(self, z: complex) -> complex:
        """R(z): what a step makes of y' = lambda*y, z = h*lambda."""
        beta, n = self.k_alpha + self.k_gamma, self.n_stages
        return complex(1 + z * (self.k_b @ np.linalg.solve(np.eye(n) - z * beta, np.ones(n))))

    @property
    def amplification_at_infinity(self) -> float:
        """R at infinity: 0 where infinitely fast modes are damped out at once."""
        return float(1 - self.k_b @ np.linalg.solve(self.k_alpha + self.k_gamma, np.ones(self.n_stages)))


@dataclass(frozen=True)
class Pair:
    """Two Runge-Kutta tables on the same stages, for mixed mode: fast states implicit, slow ones explicit.

    Stage 1 is the beginning of the step, and both tables end in their weights: the last stage is the new state, and
    its derivatives are those of the beginning of the next step.
    """

    name: str
    title: str
    source: str
    order: int
    implicit: RungeKutta
    explicit: RungeKutta

    def __post_init__(self) -> None:
        one, other = self.implicit, self.explicit
        if one.c != other.c or not one.explicit_first or not other.is_explicit:
            raise InternalError(f"{self.name}: the halves do not share their stages")
        if any(np.abs(half.a[-1] - np.array(half.b)).max() > _EXACT for half in (one, other)):
            raise InternalError(f"{self.name}: the last stage is not the end of the step")
        if self.reached_order != self.order:
            raise InternalError(f"{self.name}: order {self.reached_order}, stated {self.order}")

    @property
    def n_stages(self) -> int:
        """Stages of either method."""
        return self.implicit.n_stages

    @property
    def n_implicit(self) -> int:
        """Stages that are solved; the first one is known."""
        return self.n_stages - 1

    @property
    def reached_order(self) -> int:
        """The order of both halves and of their coupling, up to 3."""
        c = np.array(self.implicit.c)
        weights = [np.array(half.b) for half in (self.implicit, self.explicit)]
        third = [b @ c**2 - 1 / 3 for b in weights]
        third += [b @ half.a @ c - 1 / 6 for b in weights for half in (self.implicit, self.explicit)]
        return _reached(([b.sum() - 1 for b in weights], [b @ c - 1 / 2 for b in weights], third))


Method = RungeKutta | Rosenbrock

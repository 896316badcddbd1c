"""What a singular system leaves open where only differences of some unknowns are determined: their common level.

  u = a - b,  v = b - c,  u = R*i, ...  ->  a, b, c: adding the same to all of them changes no equation

So it is where a circuit has no ground, or a chain of springs no fixed end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kilohertz.ir import make
from kilohertz.ir.dae import AnyEquation, Equation
from kilohertz.ir.expr import Real
from kilohertz.passes.algebra import linear_coefficient

_MOST = 300  # unknowns that are looked at
_TINY = 1e-9


def open_levels(equations: Sequence[AnyEquation], names: Sequence[str]) -> list[str]:
    """The unknowns whose common level nothing determines; none where that is not what is wrong."""
    names = list(names)
    if not 1 < len(names) <= _MOST:
        return []
    rows = [_coefficients(e, names) for e in equations]
    matrix = np.array(rows, dtype=float).reshape(len(rows), len(names))
    free = np.isfinite(matrix).all(axis=0)  # where an unknown is multiplied by another, its level counts
    columns = np.flatnonzero(free)
    if len(columns) < 2:
        return []
    _, sizes, vectors = np.linalg.svd(matrix[:, columns])
    rank = int((sizes > _TINY).sum())
    if rank != len(columns) - 1:
        return []
    kernel = vectors[-1] / np.abs(vectors[-1]).max()
    moved = np.abs(kernel) > _TINY
    level = kernel[moved]
    if moved.sum() < 2 or np.abs(level - level[0]).max() > _TINY:
        return []
    return [names[columns[i]] for i in np.flatnonzero(moved)]


def _coefficients(e: AnyEquation, names: Sequence[str]) -> list[float]:
    """The factor of each unknown where it is a number; NaN where it is anything else."""
    if not isinstance(e, Equation):
        return [float("nan")] * len(names)
    residual = make.sub(e.left, e.right)
    factors = []
    for name in names:
        factor = linear_coefficient(residual, name)
        factors.append(factor.value if isinstance(factor, Real) else float("nan"))
    return factors

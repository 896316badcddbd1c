"""Numbers to try a choice with: the model where it starts, as far as that is known at compile time.

A loop inside a loop may be regular by structure and singular at the very first step: at an angle of zero the products
of a rotation matrix that join its equations are zero.  Where a number follows from parameters and start values it is
taken; every other unknown gets one of its own between 1/2 and 3/2 that no coincidence makes zero.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence

from kilohertz.ir import make
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.step import Assignment, Block, Entry, Kind, LinearLoop, NonlinearLoop, Partition, Step
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence, linear_coefficient
from kilohertz.passes.numeric import Numeric

MOST_ITERATIONS = 20
SINGULAR = 1e-6  # smallest singular value of a scaled matrix beside the largest: Newton's method goes astray below


def values_at_start(step: Step, parameters: Mapping[str, float]) -> dict[str, float]:
    """Values of the variables of a step at the start values of the states."""
    values = {**parameters, "time": 0.0}
    numeric = Numeric(dict(values))
    starts: dict[str, float] = {}
    for v in step.variables.values():
        start = 0.0 if v.start is None else numeric(v.start)
        if start is not None:
            starts[v.name] = start
            if v.slot.kind in (Kind.STATE, Kind.DISCRETE):
                values.setdefault(v.name, start)
    for partition in (Partition.ONCE, Partition.EVENT, Partition.STEP):
        _run([b for b in step.blocks if b.partition is partition], values, starts)
    return values


def _run(blocks: Iterable[Block], values: dict[str, float], starts: Mapping[str, float]) -> None:
    """Add what the blocks compute, where all it takes is known."""
    for b in blocks:
        match b:
            case Assignment(target, value):
                number = Numeric(values)(value)
                if number is not None:
                    values[target.name] = number
            case LinearLoop(unknowns, matrix, rhs, inner):
                numbers = _solved(matrix, rhs, values)
                if numbers is not None:
                    values.update({u.name: x for u, x in zip(unknowns, numbers, strict=True)})
                    _run(inner, values, starts)
            case NonlinearLoop():
                values.update(_iterated(b, values, starts) or {})
            case _:
                pass  # what it computes stays unknown


def _iterated(loop: NonlinearLoop, values: Mapping[str, float], starts: Mapping[str, float]) -> dict[str, float] | None:
    """Values with the solution of a loop, by Newton's method from the start values; None where it gets nowhere."""
    guess = {u.name: starts.get(u.name, 0.0) for u in loop.unknowns}
    for _ in range(MOST_ITERATIONS if loop.jacobian is not None else 0):
        tried = {**values, **guess}
        _run(loop.inner, tried, starts)
        change = _solved(loop.jacobian or (), [make.neg(e) for e in loop.residuals], tried)
        if change is None:
            return None
        guess = {name: x + dx for (name, x), dx in zip(guess.items(), change, strict=True)}
        if all(abs(dx) <= 1e-8 * (1.0 + abs(x)) for x, dx in zip(guess.values(), change, strict=True)):
            return tried
    return None


def _solved(matrix: Sequence[Entry], rhs: Sequence[Expr], values: Mapping[str, float]) -> list[float] | None:
    import numpy as np

    numeric = Numeric(values)
    a, right = np.zeros((len(rhs), len(rhs))), np.zeros(len(rhs))
    for e in matrix:
        value = numeric(e.value)
        if value is None:
            return None
        a[e.row, e.column] = value
    for i, side in enumerate(rhs):
        value = numeric(side)
        if value is None:
            return None
        right[i] = value
    try:
        solution = np.linalg.solve(a, right)
    except np.linalg.LinAlgError:
        return None
    return [float(x) for x in solution] if np.isfinite(solution).all() else None


def number_of(ref: Ref) -> float | None:
    """A number of its own for a name that has none: the same in every process."""
    return 0.5 + zlib.crc32(ref.name.encode()) / 2**32 if ref.ty == REAL else None


def is_regular(size: int, entries: Iterable[tuple[int, int, float]]) -> bool:
    """Whether a matrix has an inverse, rows and columns scaled."""
    import numpy as np

    a = np.zeros((size, size))
    for row, column, value in entries:
        a[row, column] = value
    for axis in (1, 0, 1, 0):
        largest = np.abs(a).max(axis=axis, keepdims=True)
        if not largest.all():
            return False
        a = a / largest
    singular = np.linalg.svd(a, compute_uv=False)
    return bool(singular[-1] > SINGULAR * singular[0])


def are_regular(residuals: Sequence[Expr], names: Sequence[str], point: Numeric, occurrence: Occurrence) -> bool:
    """Whether residuals, linear in as many unknowns, give these; also where too little is known to tell."""
    place = {name: k for k, name in enumerate(names)}
    entries: list[tuple[int, int, float]] = []
    for row, e in enumerate(residuals):
        for name in occurrence.names(e):
            if name not in place:
                continue
            factor = linear_coefficient(e, name)
            value = None if factor is None else point(factor)
            if value is None:
                return True
            entries.append((row, place[name], value))
    return is_regular(len(names), entries)

"""Runs blocks of a Step with `interp`: what passes and generated C are compared with."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kilohertz.interp import ArrayValue, Evaluator, Value
from kilohertz.ir.expr import Expr
from kilohertz.ir.step import Assignment, Block, CallBlock, Kind, LinearLoop, MixedLoop, NonlinearLoop, Partition, Step

Values = dict[str, Value]


class Interpreted:
    """A step, and values of its variables by name."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.evaluator = Evaluator(step.functions)
        self.values: Values = {"time": 0.0}
        for v in step.variables.values():
            if v.start is not None and not v.ty.dims and v.slot.kind is not Kind.OBJECT:
                self.values[v.name] = self.evaluator.evaluate(v.start, self.values)
        self.run(step.once)

    def number(self, e: Expr) -> float:
        value = self.evaluator.evaluate(e, self.values)
        assert isinstance(value, (int, float))
        return float(value)

    def derivatives(self, x: np.ndarray, time: float) -> np.ndarray:
        """The derivatives at a point, by the blocks of STEP."""
        self.values["time"] = time
        for v, value in zip(self.step.of_kind(Kind.STATE), x, strict=True):
            self.values[v.name] = float(value)
        self.run(self.step.in_partition(Partition.STEP))
        return self._row(Kind.DERIVATIVE)

    def direction(self, seed: np.ndarray, seed_time: float) -> np.ndarray:
        """How they move from there, by the blocks of `directional` and `time_slope`."""
        assert self.step.directional is not None and self.step.time_slope is not None, self.step.no_directional
        for v, value in zip(self.step.of_kind(Kind.STATE), seed, strict=True):
            self.values[f"seed({v.name})"] = float(value)
        self.run(self.step.directional)
        self.run(self.step.time_slope)
        return self._row(Kind.DERIVATIVE_DIRECTION) + seed_time * self._row(Kind.DERIVATIVE_SLOPE)

    def _row(self, kind: Kind) -> np.ndarray:
        return np.array([self.values[v.name] for v in self.step.of_kind(kind)])

    def run(self, blocks: Iterable[Block]) -> None:
        for b in blocks:
            match b:
                case Assignment():
                    self.values[b.target.name] = self.evaluator.evaluate(b.value, self.values)
                case LinearLoop():
                    self._linear(b)
                case NonlinearLoop():
                    self._nonlinear(b)
                case MixedLoop():
                    self.run(b.continuous)
                case CallBlock():
                    self._call(b)
                case _:
                    raise AssertionError(type(b).__name__)

    def _linear(self, b: LinearLoop) -> None:
        n = len(b.unknowns)
        matrix = np.zeros((n, n))
        for entry in b.matrix:
            matrix[entry.row, entry.column] = self.number(entry.value)
        solution = np.linalg.solve(matrix, [self.number(e) for e in b.rhs])
        self.values.update({u.name: float(v) for u, v in zip(b.unknowns, solution, strict=True)})
        self.run(b.inner)

    def _nonlinear(self, b: NonlinearLoop) -> None:
        """Newton with a Jacobian by differences, so that the block's own stays out of it."""

        def residual(x: np.ndarray) -> np.ndarray:
            self.values.update({u.name: float(v) for u, v in zip(b.unknowns, x, strict=True)})
            self.run(b.inner)
            return np.array([self.number(e) for e in b.residuals])

        x = np.array([self.values[u.name] for u in b.unknowns])
        for _ in range(50):
            f = residual(x)
            h = 1e-7 * np.maximum(1.0, np.abs(x))
            matrix = np.column_stack([(residual(x + d) - f) / d.max() for d in np.diag(h)])
            step = np.linalg.solve(matrix, f)
            x = x - step
            if np.abs(step).max() < 1e-14 * max(1.0, np.abs(x).max()):
                break
        assert np.abs(residual(x)).max() < 1e-9

    def _call(self, b: CallBlock) -> None:
        value = self.evaluator.evaluate(b.call, self.values)
        outputs = value if isinstance(value, tuple) else (value,)
        for targets, output in zip(b.targets, outputs, strict=False):
            for target, scalar in zip(targets, _scalars(output), strict=True):
                if target is not None:
                    self.values[target.name] = scalar


def _scalars(value: Value) -> list[Value]:
    if isinstance(value, ArrayValue):
        return [s for item in value.data for s in _scalars(item)]
    fields = getattr(value, "values", None) if isinstance(value, dict) else None
    return [s for item in fields() for s in _scalars(item)] if fields is not None else [value]

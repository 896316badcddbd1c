"""Modes of a running model: its Jacobian and eigenvalues at instants, and what a method makes of them.

Each point is taken on a copy of the running instance, with the discrete values it has there, so that a locked clutch
and a slipping one both count.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kilohertz.cost import state_jacobian
from kilohertz.ir.step import Kind
from kilohertz.simulate.program import Instance, Program
from kilohertz.solvers import Method

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


@dataclass(frozen=True)
class Point:
    """The Jacobian d xd/d x at an instant of the run."""

    time: float
    jacobian: Floats

    @cached_property
    def _modes(self) -> tuple[Complexes, Complexes]:
        values, vectors = np.linalg.eig(self.jacobian)
        return np.asarray(values, np.complex128), np.asarray(vectors, np.complex128)

    @property
    def eigenvalues(self) -> Complexes:
        return self._modes[0]

    @cached_property
    def participation(self) -> Floats:
        """[state, mode]: the part each state has in each mode, in the order of the eigenvalues; 1 for all states."""
        right = self._modes[1]
        try:
            left = np.linalg.inv(right)
        except np.linalg.LinAlgError:  # a defective matrix has no full set of vectors
            left = np.linalg.pinv(right)
        share = np.abs(right * left.T)
        return np.asarray(share / np.maximum(share.sum(axis=0), 1e-300), np.float64)


def growth(method: Method, values: Complexes, step: float, steps: float) -> float:
    """By how many e-foldings the worst mode grows too much over the run."""
    worst = 0.0
    for value in distinct(values):
        z = complex(value) * step
        size = abs(method.amplification(z))
        if size > 0.0:
            worst = max(worst, steps * (math.log(size) - max(0.0, z.real)))
    return worst


def distinct(values: Complexes) -> Complexes:
    """Eigenvalues of many points repeat: three digits tell them apart well enough."""
    sizes = 10.0 ** (2 - np.floor(np.log10(np.maximum(np.abs(values), 1e-300))))
    return np.asarray(np.unique(np.round(values * sizes) / sizes), np.complex128)


class Watcher:
    """Keeps the Jacobian at few instants it is shown: every k-th, k doubled whenever there are too many."""

    def __init__(self, program: Program, most: int = 64) -> None:
        self._most = most
        self._program = program
        self._n = program.code.counts[Kind.STATE]
        rows = state_jacobian(program.step).rows
        self._row = np.array([i for i, row in enumerate(rows) for _ in row], np.intp)
        self._column = np.array([j for row in rows for j in row], np.intp)
        self._values = np.zeros(max(1, len(self._row)))
        library = program.library
        library.khz_jacobian_work.restype, library.khz_jacobian_work.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
        library.khz_jacobian.argtypes = [ctypes.c_void_p] * 4
        self._work = np.zeros(int(library.khz_jacobian_work(program.model)) + 1)
        self._copy = Instance(program)
        self._every, self._seen = 1, 0
        self._points: list[Point] = []

    def look(self, instance: Instance) -> None:
        if self._n and self._seen % self._every == 0:
            point = self._linearised(instance)
            if point is not None:
                self._points.append(point)
            if len(self._points) >= self._most:
                self._points = self._points[::2]
                self._every *= 2
        self._seen += 1

    def points(self, most: int) -> tuple[Point, ...]:
        if len(self._points) <= most:
            return tuple(self._points)
        at = np.linspace(0, len(self._points) - 1, most).round().astype(int)
        return tuple(self._points[k] for k in at)

    def _linearised(self, instance: Instance) -> Point | None:
        """None where the derivatives have no value."""
        program, copy = self._program, self._copy
        ctypes.memmove(copy.address, instance.address, program.size)
        library, time = program.library, float(copy.context.time)
        at = copy.address + program.offsets[Kind.STATE]
        x = np.array((ctypes.c_double * self._n).from_address(at))
        xd = np.empty(self._n)
        if library.khz_derivatives(program.model, copy.address, time, x.ctypes.data, xd.ctypes.data) != 0:
            return None
        if library.khz_jacobian(program.model, copy.address, self._values.ctypes.data, self._work.ctypes.data) != 0:
            return None
        jacobian = np.zeros((self._n, self._n))
        jacobian[self._row, self._column] = self._values[: len(self._row)]
        return Point(time, jacobian) if np.isfinite(jacobian).all() else None

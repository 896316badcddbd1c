"""The Jacobian of a compiled model at a point."""

from __future__ import annotations

import ctypes

import numpy as np

from kilohertz.ir.step import Kind
from kilohertz.simulate import Instance, Program


class Point:
    """An instance at a point."""

    def __init__(self, program: Program, x: np.ndarray, time: float) -> None:
        self.program, self.instance, self.n = program, Instance(program), len(x)
        assert self.instance.initialize(0.0) == 0
        self.work = np.zeros(3 * self.n)
        library = program.library
        library.khz_jacobian.argtypes = [ctypes.c_void_p] * 4
        library.khz_jacobian_part.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_int32] * 2 + [ctypes.c_void_p] * 2
        library.khz_time_slope.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_double, *[ctypes.c_void_p] * 2]
        self.xd = np.zeros(self.n)
        status = library.khz_derivatives(*self._head, time, x.ctypes.data, self.xd.ctypes.data)
        assert status == 0

    @property
    def _head(self) -> tuple[int, int]:
        return self.program.model, self.instance.address

    def jacobian(self) -> np.ndarray:
        rows = [sorted(r) for r in self.program.step.state_sparsity]
        entries = np.full(sum(map(len, rows)), np.nan)
        status = self.program.library.khz_jacobian(*self._head, entries.ctypes.data, self.work.ctypes.data)
        assert status == 0
        out, values = np.zeros((self.n, self.n)), iter(entries)
        for i, row in enumerate(rows):
            for j in row:
                out[i, j] = next(values)
        return out

    def parts(self, n_parts: int) -> np.ndarray:
        """All entries, made part after part."""
        entries = np.zeros(sum(map(len, self.program.step.state_sparsity)))
        for part in range(n_parts):
            of = ctypes.c_int32(part), ctypes.c_int32(n_parts)
            library = self.program.library
            assert library.khz_jacobian_part(*self._head, *of, entries.ctypes.data, self.work.ctypes.data) == 0
        return entries

    def slope(self) -> np.ndarray:
        out = np.zeros(self.n)
        status = self.program.library.khz_time_slope(*self._head, 1.0, out.ctypes.data, self.work.ctypes.data)
        assert status == 0
        return out

    def states(self) -> list[float]:
        return [float(self.instance.read(v)) for v in self.program.step.of_kind(Kind.STATE)]

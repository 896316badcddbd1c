"""The rows of a run as one matrix that C writes: large results are in memory once, and no row is copied."""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError, Note

Floats = NDArray[np.float64]
_SPARE = 64  # rows for events


class Rows:
    """Time and columns; more room is made where more rows come than were expected."""

    def __init__(self, width: int, expected: int) -> None:
        """`width`: numbers of a row, with those that are filled in at the end."""
        self._matrix = _matrix(expected + expected // 4 + _SPARE, width)
        self.n = 0

    @property
    def width(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def written(self) -> Floats:
        return self._matrix[: self.n]

    def room(self, most: int) -> Floats:
        """Where the next rows belong, one to `most` of them; what was written may have moved."""
        if self.n == len(self._matrix):
            wider = np.empty((2 * self.n, self.width))
            wider[: self.n] = self._matrix
            self._matrix = wider
        return self._matrix[self.n : self.n + most]

    def take(self, n: int) -> None:
        """So many rows more are written."""
        self.n += n

    def with_width(self, width: int) -> Floats:
        """What was written, in rows of so many numbers: of another width a copy."""
        if width == self.width:
            return self.written
        out = np.empty((self.n, width))
        shared = min(width, self.width)
        out[:, :shared] = self.written[:, :shared]
        return out


def refuse_more_than_memory(n: int, width: int) -> None:
    """R723 where so many rows cannot all be kept: told before the first, not by the system after hours."""
    needed, memory = 8.0 * n * width, _memory()
    if needed > memory:
        sizes = f"take {needed / 1e9:.3g} GB, and this machine has {memory / 1e9:.3g} GB"
        note = "record fewer signals (`record`), or take fewer output intervals (`intervals`)"
        raise ModelError(Diagnostic("R723", f"{n:g} rows of {width} numbers {sizes}", notes=(Note(note),)))


def _memory() -> float:
    """Bytes; without a bound where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def _matrix(n: int, width: int) -> Floats:
    """Room for so many rows, or for as many as the system grants: what is not written takes no memory."""
    try:
        return np.empty((n, width))
    except (MemoryError, ValueError):  # ValueError: more than there are addresses
        if n <= _SPARE:
            raise
        return _matrix(n // 2, width)

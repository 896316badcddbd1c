"""The rows of a run as one matrix that C writes: large results are in memory once, and no row is copied."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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


def _matrix(n: int, width: int) -> Floats:
    """Room for so many rows, or for as many as the system grants: what is not written takes no memory."""
    try:
        return np.empty((n, width))
    except (MemoryError, ValueError):  # ValueError: more than there are addresses
        if n <= _SPARE:
            raise
        return _matrix(n // 2, width)

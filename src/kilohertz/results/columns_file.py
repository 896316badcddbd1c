"""Columns of numbers in a file that nobody else sees: written in pieces, read as an array that is not in memory.

Rows come in pieces; in the file each column lies together, so that one signal is read without the others.  How many
rows there will be is not known: columns lie apart in a sparse file, and are moved further apart where that is not
enough.
"""

from __future__ import annotations

import os
import tempfile
from types import TracebackType

import numpy as np

from kilohertz.results.result import Floats


class ColumnsFile:
    """Append rows, then take the whole; use as a context manager.  The file is gone when the array is."""

    def __init__(self, n_columns: int, room: int) -> None:
        """`room`: for so many rows at first."""
        self.n_columns, self.n_rows, self._room = n_columns, 0, max(1, room)
        self._file = tempfile.TemporaryFile(prefix="kilohertz-")  # noqa: SIM115 (this class is the manager)

    def append(self, rows: Floats) -> None:
        """Some rows; OSError where the disk is full."""
        while self.n_rows + len(rows) > self._room:
            self._widen()
        for i in range(self.n_columns):
            self._write(np.ascontiguousarray(rows[:, i]), i, self.n_rows)
        self.n_rows += len(rows)

    def whole(self) -> Floats:
        """All rows, on the disk until they are looked at."""
        if not self.n_rows:
            return np.empty((0, self.n_columns))
        self._file.truncate(8 * self._room * self.n_columns)
        shape = (self._room, self.n_columns)
        whole: Floats = np.memmap(self._file, np.float64, "r", 0, shape, "F")
        return whole[: self.n_rows]

    def _write(self, values: Floats, column: int, row: int) -> None:
        left, at = memoryview(values.data).cast("B"), 8 * (column * self._room + row)
        try:
            while len(left):
                done = os.pwrite(self._file.fileno(), left, at)
                left, at = left[done:], at + done
        except OSError as error:
            raise OSError(error.errno, error.strerror, tempfile.gettempdir()) from error

    def _widen(self) -> None:
        """Twice the room for each column; the last one moves first, so that none is written over."""
        before, self._room = self._room, 2 * self._room
        for column in range(self.n_columns - 1, 0, -1):
            self._write(self._read(column, before), column, 0)

    def _read(self, column: int, room: int) -> Floats:
        data = os.pread(self._file.fileno(), 8 * self.n_rows, 8 * column * room)
        return np.frombuffer(data, np.float64)

    def __enter__(self) -> ColumnsFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self._file.close()

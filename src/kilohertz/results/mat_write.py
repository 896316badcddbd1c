"""Results as MAT v4 in the layout of Dymola and OpenModelica.

The matrices are `Aclass`, `name`, `description`, `dataInfo`, `data_1` and `data_2`, written "binTrans": one column of
`data_2` per time, so that rows are appended as they come and only the number of columns in the header is put right at
the end.  `dataInfo` says for each name: the table (0 time, 1 parameters, 2 trajectories), the row in it with the
alias's sign, interpolation (0: linear), and what holds outside (-1: nothing).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kilohertz.results.result import Floats, Result, Signal

_DOUBLE, _INT32, _TEXT = 0, 20, 51  # type codes: element format and text flag, little endian


class MatWriter:
    """Writes names and parameters at once, rows as they come; use as a context manager.

    Where the disk is full, the rows that fit are in the file, which is a whole one.
    """

    def __init__(self, path: str | Path, signals: dict[str, Signal], n_columns: int, start: float, stop: float) -> None:
        self._file: FileIO = open(path, "wb", buffering=0)  # noqa: SIM115 (this class is the manager)
        self._height = n_columns + 1
        self._width = 0
        try:
            self._write_names(signals)
            self._write_parameters(signals, start, stop)
            self._header_at = self._file.tell()
            _put(self._file, _header("data_2", _DOUBLE, self._height, 0))
            self._rows_at = self._file.tell()
        except OSError:
            self._file.close()
            raise

    def rows(self, time: Floats, data: Floats) -> None:
        """Append rows: `data` has one row per time and all stored columns."""
        block = np.ascontiguousarray(np.column_stack([time, data]), "<f8")
        try:
            _put(self._file, block.tobytes())
        except OSError:
            self._drop_half_a_row()
            raise
        self._width += len(block)

    def _drop_half_a_row(self) -> None:
        each = 8 * self._height
        self._width = (self._file.tell() - self._rows_at) // each
        self._file.truncate(self._rows_at + self._width * each)

    def close(self) -> None:
        """Put the number of rows into the header and close."""
        if self._file.closed:
            return
        try:
            self._file.seek(self._header_at)
            _put(self._file, _header("data_2", _DOUBLE, self._height, self._width))
        finally:
            self._file.close()

    def __enter__(self) -> MatWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _write_names(self, signals: dict[str, Signal]) -> None:
        _write_text(self._file, "Aclass", ("Atrajectory", "1.1", "", "binTrans"), transposed=False)
        _write_text(self._file, "name", ("time", *signals), transposed=True)
        descriptions = [_described(s) for s in signals.values()]
        _write_text(self._file, "description", ("Time in s [s]", *descriptions), transposed=True)
        info, n_parameters = [(0, 1, 0, -1)], 0
        for signal in signals.values():
            if signal.column is None:
                n_parameters += 1
                info.append((1, n_parameters + 1, 0, 0))
            else:
                info.append((2, signal.sign * (signal.column + 2), 0, -1))
        _write_matrix(self._file, "dataInfo", _INT32, np.array(info, "<i4").T)

    def _write_parameters(self, signals: dict[str, Signal], start: float, stop: float) -> None:
        values = [s.value for s in signals.values() if s.column is None]
        table = np.array([[start, *values], [stop, *values]], "<f8").T
        _write_matrix(self._file, "data_1", _DOUBLE, table)


def write_mat(path: str | Path, result: Result) -> None:
    """Write a whole result."""
    start, stop = (result.time[0], result.time[-1]) if len(result.time) else (0.0, 0.0)
    with MatWriter(path, result.signals, result.data.shape[1], float(start), float(stop)) as writer:
        writer.rows(result.time, result.data)


def _described(signal: Signal) -> str:
    unit = f"[{signal.unit}]" if signal.unit else ""
    return f"{signal.description} {unit}".strip()


def _header(name: str, code: int, rows: int, columns: int) -> bytes:
    label = name.encode("ascii") + b"\0"
    return struct.pack("<5i", code, rows, columns, 0, len(label)) + label


def _put(file: FileIO, data: bytes) -> None:
    """All of it, past no buffer: what was written is known where the disk is full."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _write_matrix(file: FileIO, name: str, code: int, matrix: NDArray[Any]) -> None:
    _put(file, _header(name, code, *matrix.shape) + matrix.tobytes(order="F"))


def _write_text(file: FileIO, name: str, texts: Sequence[str], *, transposed: bool) -> None:
    encoded = [t.encode("utf-8") for t in texts]
    width = max(1, *(len(t) for t in encoded))
    characters = np.frombuffer(b"".join(t.ljust(width) for t in encoded), "u1").reshape(len(texts), width)
    _write_matrix(file, name, _TEXT, characters.T if transposed else characters)

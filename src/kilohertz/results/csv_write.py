"""Results as CSV: a quoted header with `time` first, one row per time, numbers that read back to the same bits.

The digits are polars': shortest that read back, some ten times as fast as Python's own.  Most names of a large model
are other names of the same values: digits are worked out once for each column, and copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from io import SEEK_END, BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from kilohertz.results.rows_text import ShownNumbers

if TYPE_CHECKING:
    from kilohertz.results.result import Floats, Result


_LONGEST_ROW = 1 << 24  # bytes
_NUMBERS = 500_000  # written at a time


class CsvWriter:
    """Writes rows as they come; use as a context manager.

    Where the disk is full, the rows that fit are in the file.
    """

    def __init__(self, path: str | Path, names: Sequence[str], shown: Sequence[int] = ()) -> None:
        """`shown`: for each name the column of `data` that it shows, where that is not the one at its own place."""
        self._path = Path(path)
        self._shown = [0, *(1 + column for column in shown)] if shown else []
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 (this class is the manager)
        self._file.write((",".join(_quoted(n) for n in ("time", *names)) + "\n").encode())

    def rows(self, time: Floats, data: Floats) -> None:
        """Append rows: `data` has one row per time."""
        import polars

        table = np.column_stack([time, data])
        try:
            if not self._shown:
                polars.from_numpy(table).write_csv(self._file, include_header=False)
                return
            digits = BytesIO()  # all numbers one below the other: polars is slow to make columns
            polars.DataFrame([polars.Series(table.reshape(-1))]).write_csv(digits, include_header=False)
            for text in ShownNumbers(table.shape[1], self._shown).texts(digits, len(table)):
                self._file.write(text)
        except OSError:
            with suppress(OSError):
                self._file.close()
            self._drop_half_a_row()
            raise

    def close(self) -> None:
        """Write out what is left and close the file."""
        try:
            self._file.close()
        except OSError:
            self._drop_half_a_row()
            raise

    def _drop_half_a_row(self) -> None:
        """A number that is cut short is another number."""
        if not self._path.is_file():
            return
        with open(self._path, "r+b") as file:
            start = max(0, file.seek(0, SEEK_END) - _LONGEST_ROW)
            file.seek(start)
            file.truncate(start + file.read().rfind(b"\n") + 1)

    def __enter__(self) -> CsvWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def write_csv(path: str | Path, result: Result) -> None:
    """Write every varying signal of a result, in chunks that keep memory small."""
    names = result.names
    signals = [(s.column, float(s.sign)) for s in (result.signals[n] for n in names) if s.column is not None]
    place = {signal: i for i, signal in enumerate(dict.fromkeys(signals))}
    columns, signs = [column for column, _ in place], np.array([sign for _, sign in place])
    chunk = max(1, _NUMBERS // (len(place) + 1))
    shown = [place[signal] for signal in signals] if len(place) < len(signals) else ()
    with CsvWriter(path, names, shown) as writer:
        for at in range(0, len(result.time), chunk):
            block = result.data[at : at + chunk]
            writer.rows(result.time[at : at + chunk], block[:, columns] * signs if columns else block[:, :0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

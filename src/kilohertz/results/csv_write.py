"""Results as CSV: a quoted header with `time` first, one row per time, numbers that read back to the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

import numpy as np

if TYPE_CHECKING:
    from kilohertz.results.result import Floats, Result


class CsvWriter:
    """Writes rows as they come; use as a context manager."""

    def __init__(self, path: str | Path, names: Sequence[str]) -> None:
        self._file: TextIO = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 (this class is the manager)
        self._file.write(",".join(_quoted(n) for n in ("time", *names)) + "\n")

    def rows(self, time: Floats, data: Floats) -> None:
        """Append rows: `data` has one row per time."""
        lines = [",".join(map(_number, row)) for row in np.column_stack([time, data]).tolist()]
        if lines:
            self._file.write("\n".join(lines) + "\n")

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> CsvWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def write_csv(path: str | Path, result: Result) -> None:
    """Write every varying signal of a result, in chunks that keep memory small."""
    names = result.names
    signals = [result.signals[n] for n in names]
    columns = [s.column for s in signals if s.column is not None]
    signs = np.array([float(s.sign) for s in signals])
    chunk = max(1, 1_000_000 // (len(names) + 1))
    with CsvWriter(path, names) as writer:
        for at in range(0, len(result.time), chunk):
            block = result.data[at : at + chunk]
            writer.rows(result.time[at : at + chunk], block[:, columns] * signs if columns else block[:, :0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 and (x or str(x) == "0.0") else repr(x)

"""Results as CSV: a quoted header with `time` first, one row per time, numbers that read back to the same bits.

Reading also takes what other tools write: semicolons or tabs, quoted numbers, `true`/`false`, comment lines, a byte
order mark, a time column that is not the first.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TextIO

import numpy as np

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


def read_csv(path: str | Path) -> Result:
    """Read a CSV result of ours or of another tool."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header = _first_line(file, path)
        delimiter = _delimiter(header)
        names = [n.strip() for n in next(csv.reader([header], delimiter=delimiter))]
        while names and not names[-1]:
            names.pop()
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    data = _numbers(lines, delimiter, len(names))
    at = next((i for i, n in enumerate(names) if n.lower() in ("time", "t")), 0)
    columns = {n: data[:, i] for i, n in enumerate(names) if i != at}
    return Result.of_columns(Path(path).stem, data[:, at], columns)


def _first_line(file: TextIO, path: str | Path) -> str:
    for line in file:
        if line.strip() and not line.startswith("#"):
            return line.rstrip("\r\n")
    raise ValueError(f"{path}: no header line")


def _delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])  # every second piece lies outside quotes
    return max(",;\t", key=outside.count)


def _numbers(lines: list[str], delimiter: str, width: int) -> Floats:
    if not lines:
        return np.empty((0, width))
    try:
        return np.loadtxt(lines, delimiter=delimiter, usecols=range(width), ndmin=2)
    except ValueError:
        rows = csv.reader(lines, delimiter=delimiter)
        return np.array([_row(cells, width) for cells in rows], float)


def _row(cells: Sequence[str], width: int) -> list[float]:
    row = [_value(c) for c in cells[:width]]
    return row + [float("nan")] * (width - len(row))


def _value(cell: str) -> float:
    text = cell.strip().lower()
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 and (x or str(x) == "0.0") else repr(x)

"""Reading CSV results, ours and those of other tools.

Taken as well: semicolons or tabs, quoted numbers, `true`/`false`, comment lines, a byte order mark, a time column that
is not the first.  A file is read in pieces; the numbers of a large one go to another file (`columns_file.py`), so that
memory stays small however large it is.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from kilohertz.results.columns_file import ColumnsFile
from kilohertz.results.result import Floats, Result, Signal

_PIECE = 1 << 24  # bytes that are read at a time
_LARGE = 1 << 26  # bytes of a file whose numbers are not kept in memory


def read_csv(path: str | Path) -> Result:
    """Read a CSV result of ours or of another tool."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header, n_above = _first_line(file, path)
    delimiter = _delimiter(header)
    names = [n.strip() for n in next(csv.reader([header], delimiter=delimiter))]
    while names and not names[-1]:
        names.pop()
    data = _numbers(Path(path), n_above + 1, delimiter, len(names))
    at = next((i for i, n in enumerate(names) if n.lower() in ("time", "t")), 0)
    time, rest = np.ascontiguousarray(data[:, at]), data[:, 1:] if at == 0 else data
    signals = {n: Signal(i - (at == 0)) for i, n in enumerate(names) if i != at}
    return Result(Path(path).stem, time, rest, signals)


def _first_line(file: TextIO, path: str | Path) -> tuple[str, int]:
    """The header, and how many lines stand above it."""
    for above, line in enumerate(file):
        if line.strip() and not line.startswith("#"):
            return line.rstrip("\r\n"), above
    raise ValueError(f"{path}: no header line")


def _delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])  # every second piece lies outside quotes
    return max(",;\t", key=outside.count)


def _numbers(path: Path, skipped: int, delimiter: str, width: int) -> Floats:
    """All numbers, a row for each line; columns lie together."""
    tables = (_table(piece, delimiter, width) for piece in _pieces(path, skipped))
    if path.stat().st_size < _LARGE:
        parts = list(tables)
        return np.asfortranarray(np.concatenate(parts)) if parts else np.empty((0, width))
    with ColumnsFile(width, path.stat().st_size // (2 * width)) as columns:  # a digit and a comma at least
        for table in tables:
            columns.append(table)
        return columns.whole()


def _pieces(path: Path, skipped: int) -> Iterator[bytes]:
    """Whole lines, some at a time, without the first ones."""
    with open(path, "rb") as file:
        for _ in range(skipped):
            file.readline()
        while piece := file.read(_PIECE):
            yield piece + file.readline()


def _table(piece: bytes, delimiter: str, width: int) -> Floats:
    """The numbers of some lines: fast where all are, one by one where a cell is something else."""
    import polars

    try:
        table = polars.read_csv(
            piece,
            separator=delimiter,
            has_header=False,
            comment_prefix="#",
            schema={f"column_{i}": polars.Float64 for i in range(width)},
            glob=False,
        )
    except polars.exceptions.PolarsError:
        return _odd_table(piece, delimiter, width)
    if any(c.null_count() for c in table.iter_columns()):
        return _odd_table(piece, delimiter, width)
    return table.to_numpy()


def _odd_table(piece: bytes, delimiter: str, width: int) -> Floats:
    text = piece.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
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

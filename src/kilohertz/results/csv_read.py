"""Reading CSV results, ours and those of other tools.

Taken as well: semicolons or tabs, quoted numbers, `true`/`false`, comment lines, a byte order mark, a time column that
is not the first.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from kilohertz.results.result import Floats, Result


def read_csv(path: str | Path) -> Result:
    """Read a CSV result of ours or of another tool."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header, n_above = _first_line(file, path)
        delimiter = _delimiter(header)
        names = [n.strip() for n in next(csv.reader([header], delimiter=delimiter))]
        while names and not names[-1]:
            names.pop()
        data = _table(path, n_above + 1, delimiter, len(names))
        if data is None:
            lines = [line for line in file if line.strip() and not line.startswith("#")]
            data = _numbers(lines, delimiter, len(names))
    at = next((i for i, n in enumerate(names) if n.lower() in ("time", "t")), 0)
    columns = {n: data[:, i] for i, n in enumerate(names) if i != at}
    return Result.of_columns(Path(path).stem, data[:, at], columns)


def _first_line(file: TextIO, path: str | Path) -> tuple[str, int]:
    """The header, and how many lines stand above it."""
    for above, line in enumerate(file):
        if line.strip() and not line.startswith("#"):
            return line.rstrip("\r\n"), above
    raise ValueError(f"{path}: no header line")


def _delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])  # every second piece lies outside quotes
    return max(",;\t", key=outside.count)


def _table(path: str | Path, skipped: int, delimiter: str, width: int) -> Floats | None:
    """The numbers of a plain table, fast; None where a cell is something else, or a row has another width."""
    import polars

    try:
        table = polars.read_csv(
            path,
            separator=delimiter,
            has_header=False,
            skip_lines=skipped,
            comment_prefix="#",
            schema={f"column_{i}": polars.Float64 for i in range(width)},
            glob=False,
        )
    except polars.exceptions.PolarsError:
        return None
    return None if any(c.null_count() for c in table.iter_columns()) else np.ascontiguousarray(table.to_numpy())


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

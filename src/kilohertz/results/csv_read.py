"""Reading CSV results, ours and those of other tools.

Taken as well: semicolons or tabs, then with decimal commas too, quoted numbers, `true`/`false`, comment lines, a byte
order mark, a time column that is not the first or has another unit (`time [ms]`).  An empty cell is not a number; any
other text is refused.  A file is read in pieces; the numbers of a large one go to another file (`columns_file.py`), so
that memory stays small however large it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np

from kilohertz.base.units import UnitError, conversion
from kilohertz.results.columns_file import ColumnsFile
from kilohertz.results.result import Floats, Result, Signal

_PIECE = 1 << 24  # bytes that are read at a time
_LOOKED_AT = 1000  # lines, for decimal commas
_LARGE = 1 << 26  # bytes of a file whose numbers are not kept in memory
_TIME = re.compile(r"(time|t)\s*(?:[\[(]\s*([^\])]+?)\s*[\])]|/\s*(\S+))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Layout:
    """How cells are told apart and what they are called."""

    path: Path
    names: Sequence[str]
    delimiter: str
    has_decimal_commas: bool


def read_csv(path: str | Path) -> Result:
    """Read a CSV result of ours or of another tool."""
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        header, n_above = _first_line(file, path)
        delimiter = _delimiter(header)
        has_commas = delimiter != "," and any("," in line for line in islice(file, _LOOKED_AT) if line[0] != "#")
    names = _names(header, delimiter, path)
    data = _numbers(_Layout(Path(path), names, delimiter, has_commas), n_above + 1)
    at = next((i for i, n in enumerate(names) if _TIME.fullmatch(n)), 0)
    time, rest = _seconds(names[at], data[:, at], path), data[:, 1:] if at == 0 else data
    signals = {n: Signal(i - (at == 0)) for i, n in enumerate(names) if i != at}
    return Result(Path(path).stem, time, rest, signals)


def _names(header: str, delimiter: str, path: str | Path) -> list[str]:
    names = [n.strip() for n in next(csv.reader([header], delimiter=delimiter))]
    while names and not names[-1]:
        names.pop()
    doubled = next((n for i, n in enumerate(names) if n in names[:i]), None) if len(set(names)) < len(names) else None
    if doubled is not None:
        raise ValueError(f"{path}: two columns are called `{doubled}`")
    return names


def _seconds(name: str, column: Floats, path: str | Path) -> Floats:
    """The time column in seconds, by the unit in its name."""
    known = _TIME.fullmatch(name)
    unit = (known[2] or known[3] or "s") if known is not None else "s"
    try:
        factor, _ = conversion(unit, "s")
    except UnitError as error:
        raise ValueError(f"{path}: the time column `{name}` has no unit of time: {error}") from error
    return np.ascontiguousarray(column) if factor == 1 else factor * column


def _first_line(file: TextIO, path: str | Path) -> tuple[str, int]:
    """The header, and how many lines stand above it."""
    for above, line in enumerate(file):
        if line.strip() and not line.startswith("#"):
            return line.rstrip("\r\n"), above
    raise ValueError(f"{path}: no header line")


def _delimiter(header: str) -> str:
    outside = "".join(header.split('"')[::2])  # every second piece lies outside quotes
    return max(",;\t", key=outside.count)


def _numbers(layout: _Layout, skipped: int) -> Floats:
    """All numbers, a row for each line; columns lie together."""
    path, width = layout.path, len(layout.names)
    tables = (_table(piece, layout, line) for line, piece in _pieces(path, skipped))
    if path.stat().st_size < _LARGE:
        parts = list(tables)
        return np.asfortranarray(np.concatenate(parts)) if parts else np.empty((0, width))
    with ColumnsFile(width, path.stat().st_size // (2 * width)) as columns:  # a digit and a comma at least
        for table in tables:
            columns.append(table)
        return columns.whole()


def _pieces(path: Path, skipped: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines, some at a time, without the first ones; with the number of the first line."""
    line = skipped + 1
    with open(path, "rb") as file:
        for _ in range(skipped):
            file.readline()
        while piece := file.read(_PIECE):
            piece += file.readline()
            yield line, piece
            line += piece.count(b"\n")


def _table(piece: bytes, layout: _Layout, line: int) -> Floats:
    """The numbers of some lines: fast where all are, one by one where a cell is something else."""
    import polars

    try:
        table = polars.read_csv(
            piece,
            separator=layout.delimiter,
            has_header=False,
            comment_prefix="#",
            schema={f"column_{i}": polars.Float64 for i in range(len(layout.names))},
            decimal_comma=layout.has_decimal_commas,
            glob=False,
        )
    except polars.exceptions.PolarsError:
        return _odd_table(piece, layout, line)
    if any(c.null_count() for c in table.iter_columns()):
        return _odd_table(piece, layout, line)
    return table.to_numpy()


def _odd_table(piece: bytes, layout: _Layout, first: int) -> Floats:
    text = piece.decode("utf-8", "replace")
    lines = [(n, x) for n, x in enumerate(text.splitlines(), first) if x.strip() and not x.startswith("#")]
    if not lines:
        return np.empty((0, len(layout.names)))
    cells = csv.reader((x for _, x in lines), delimiter=layout.delimiter)
    return np.array([_row(row, layout, n) for (n, _), row in zip(lines, cells, strict=True)], float)


def _row(cells: Sequence[str], layout: _Layout, line: int) -> list[float]:
    n = len(layout.names)
    if any(c.strip() for c in cells[n:]):
        raise ValueError(f"{layout.path}: line {line} has {len(cells)} values for {n} columns")
    row = [_value(c, layout, line, name) for c, name in zip(cells, layout.names, strict=False)]
    return row + [float("nan")] * (n - len(row))


def _value(cell: str, layout: _Layout, line: int, name: str) -> float:
    text = cell.strip().lower()
    if text in ("true", "false"):
        return float(text == "true")
    if not text:
        return float("nan")
    is_mixed = layout.has_decimal_commas and "." in text
    try:
        return float("no number" if is_mixed else text.replace(",", ".") if layout.has_decimal_commas else text)
    except ValueError:
        where = f"{layout.path}: line {line}, column `{name}`"
        raise ValueError(f"{where}: `{cell.strip()[:40]}` is not a number") from None

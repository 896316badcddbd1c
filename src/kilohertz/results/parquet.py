"""Results as Parquet: a column `time` and one for each varying signal; the rest of a `Result` in the file's metadata.

pandas, polars and DuckDB open it as a table.  Names that share a column (aliases) are written once each, so that every
name can be selected; the metadata key `kilohertz` holds units, descriptions, parameters and the aliases' signs as JSON.
"""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import numpy as np

from kilohertz.results.result import Result, Signal

_KEY = "kilohertz"


def write_parquet(path: Path, result: Result) -> None:
    """Write a whole result."""
    import polars

    names = result.names
    columns = {"time": result.time, **{n: np.ascontiguousarray(result[n]) for n in names}}
    about = {
        "name": result.name,
        "signals": {n: [s.unit, s.description] for n, s in result.signals.items() if s.column is not None},
        "parameters": {n: [s.value, s.unit, s.description] for n, s in result.signals.items() if s.column is None},
    }
    with open(path, "wb") as file:  # so that a path that fails is an OSError, whatever the library raises
        try:
            polars.DataFrame(columns).write_parquet(file, metadata={_KEY: json.dumps(about)})
        except polars.exceptions.PolarsError as error:
            code = re.search(r"\(os error (\d+)\)", str(error))
            raise OSError(int(code[1]) if code else errno.EIO, str(error).splitlines()[0]) from error


def read_parquet(path: Path) -> Result:
    """Read what we wrote, or any table with a column `time` (else its first column is the time)."""
    import polars

    with open(path, "rb") as file:
        try:
            about = json.loads(polars.read_parquet_metadata(file).get(_KEY, "{}"))
            file.seek(0)
            table = polars.read_parquet(file)
        except (polars.exceptions.PolarsError, json.JSONDecodeError) as error:
            raise ValueError(f"{path}: not a Parquet file: {str(error).splitlines()[0]}") from error
    names = [n for n, kind in table.schema.items() if kind.is_numeric() or kind == polars.Boolean]
    if not names:
        raise ValueError(f"{path}: no column of numbers in it")
    at = next((n for n in names if n.lower() in ("time", "t")), names[0])
    numbers = table.select(polars.col(names).cast(polars.Float64))
    units = about.get("signals", {})
    signals = {n: Signal(i, 1, *units.get(n, ("", ""))) for i, n in enumerate(n for n in names if n != at)}
    for n, (value, unit, description) in about.get("parameters", {}).items():
        signals[n] = Signal(None, 1, unit, description, float(value))
    data = numbers.drop(at).to_numpy().reshape(len(numbers), len(names) - 1)
    return Result(about.get("name", path.stem), numbers[at].to_numpy(), np.ascontiguousarray(data), signals)

"""Which format a file has, by the end of its name."""

from __future__ import annotations

from pathlib import Path

from kilohertz.results.csv_read import read_csv
from kilohertz.results.csv_write import write_csv
from kilohertz.results.mat_read import read_mat
from kilohertz.results.mat_write import write_mat
from kilohertz.results.result import Result


def write(path: str | Path, result: Result) -> None:
    """Write `.mat` as MAT v4, `.csv` as CSV; another ending is a ValueError."""
    match Path(path).suffix.lower():
        case ".mat":
            write_mat(path, result)
        case ".csv":
            write_csv(path, result)
        case other:
            raise ValueError(f"no result format is called `{other}`; use .csv or .mat")


def read(path: str | Path) -> Result:
    """Read `.mat` or `.csv`."""
    return read_mat(path) if Path(path).suffix.lower() == ".mat" else read_csv(path)

"""Trajectories: one `Result` in memory, files in the formats of `formats.py`."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.results.formats import FORMATS, check_output, check_place, endings, format_of, is_result, read, write

if TYPE_CHECKING:
    from kilohertz.results.csv_read import read_csv
    from kilohertz.results.csv_write import CsvWriter, write_csv
    from kilohertz.results.mat_read import read_mat
    from kilohertz.results.mat_write import MatWriter, write_mat
    from kilohertz.results.recording import read_recording
    from kilohertz.results.result import Result, Signal
    from kilohertz.results.selection import Selection

__all__ = [
    "FORMATS",
    "CsvWriter",
    "MatWriter",
    "Result",
    "Selection",
    "Signal",
    "check_output",
    "check_place",
    "endings",
    "format_of",
    "is_result",
    "read",
    "read_csv",
    "read_mat",
    "read_recording",
    "write",
    "write_csv",
    "write_mat",
]

__getattr__ = on_demand(
    __name__,
    {
        "CsvWriter": "csv_write",
        "MatWriter": "mat_write",
        "Result": "result",
        "Selection": "selection",
        "Signal": "result",
        "read_csv": "csv_read",
        "read_mat": "mat_read",
        "read_recording": "recording",
        "write_csv": "csv_write",
        "write_mat": "mat_write",
    },
)

"""Trajectories: one `Result` in memory, read and written as CSV and MAT v4 (Dymola/OpenModelica layout)."""

from kilohertz.results.csv_read import read_csv
from kilohertz.results.csv_write import CsvWriter, write_csv
from kilohertz.results.files import read, write
from kilohertz.results.mat_read import read_mat
from kilohertz.results.mat_write import MatWriter, write_mat
from kilohertz.results.result import Result, Signal

__all__ = [
    "CsvWriter",
    "MatWriter",
    "Result",
    "Signal",
    "read",
    "read_csv",
    "read_mat",
    "write",
    "write_csv",
    "write_mat",
]

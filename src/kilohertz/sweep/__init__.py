"""Series of runs: cases from parameters, a model and its variant for each, thresholds, results that are kept."""

from kilohertz.sweep.batches import Job
from kilohertz.sweep.cases import Table, make_cases
from kilohertz.sweep.kit import Kit, Wanted, make_kit
from kilohertz.sweep.read import read_series
from kilohertz.sweep.series_definition import Axis, Cases, Measure, Range, Series, Side
from kilohertz.sweep.series_report import Report
from kilohertz.sweep.series_run import Means, Outcome, run_series

__all__ = [
    "Axis",
    "Cases",
    "Job",
    "Kit",
    "Means",
    "Measure",
    "Outcome",
    "Range",
    "Report",
    "Series",
    "Side",
    "Table",
    "Wanted",
    "make_cases",
    "make_kit",
    "read_series",
    "run_series",
]

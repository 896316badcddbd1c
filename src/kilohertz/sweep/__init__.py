"""Series of runs: cases from parameters, a model and its variant for each, thresholds, results that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kilohertz.sweep.batches import Job
    from kilohertz.sweep.cases import Table, make_cases
    from kilohertz.sweep.kit import Kit, Wanted, make_kit
    from kilohertz.sweep.read import read_series
    from kilohertz.sweep.series_definition import Axis, Cases, Measure, Range, Series, Side, axis_of
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
    "axis_of",
    "make_cases",
    "make_kit",
    "read_series",
    "run_series",
]
_FILES = {  # who has what is not here yet: a process that runs cases starts with the few files it needs
    "batches": ("Job",),
    "cases": ("Table", "make_cases"),
    "kit": ("Kit", "Wanted", "make_kit"),
    "read": ("read_series",),
    "series_run": ("Means", "Outcome", "run_series"),
    "series_definition": ("Axis", "Cases", "Measure", "Range", "Series", "Side", "axis_of"),
    "series_report": ("Report",),
}


def __getattr__(name: str) -> Any:
    """The public names come from their files when they are first asked for."""
    import importlib

    for file, names in _FILES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{file}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

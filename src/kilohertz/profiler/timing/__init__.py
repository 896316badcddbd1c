"""From rows of the C runtime to own times of places: measured, or put together from windows."""

from kilohertz.profiler.timing.record_rows import (
    BURST,
    MODES,
    Rows,
    border_type,
    read_rows,
    record_type,
    row_size,
    structure,
)
from kilohertz.profiler.timing.times import Costs, Floats, Times

__all__ = [
    "BURST",
    "MODES",
    "Costs",
    "Floats",
    "Rows",
    "Times",
    "border_type",
    "read_rows",
    "record_type",
    "row_size",
    "structure",
]

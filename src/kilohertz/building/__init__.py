"""One built model: the C units of a Step, whatever they are linked into (a library, an executable, an FMU)."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.building.c_units import (
    MARCH,
    PROBES,
    ModelUnits,
    linked_units,
    main_unit,
    model_units,
    number_of,
    runtime_headers,
    runtime_units,
    units_of,
)

if TYPE_CHECKING:
    from kilohertz.building.source_tree import write_tree

__all__ = [
    "MARCH",
    "PROBES",
    "ModelUnits",
    "linked_units",
    "main_unit",
    "model_units",
    "number_of",
    "runtime_headers",
    "runtime_units",
    "units_of",
    "write_tree",
]

__getattr__ = on_demand(
    __name__,
    {
        "write_tree": "source_tree",
    },
)

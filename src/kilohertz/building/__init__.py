"""One built model: the C units of a Step, whatever they are linked into (a library, an executable, an FMU)."""

from kilohertz.building.c_units import PROBES, ModelUnits, linked_units, main_unit, model_units, runtime_headers
from kilohertz.building.source_tree import write_tree

__all__ = ["PROBES", "ModelUnits", "linked_units", "main_unit", "model_units", "runtime_headers", "write_tree"]

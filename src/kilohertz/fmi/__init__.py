"""FMI: our models in any tool."""

from kilohertz.fmi.exporting.contents import KINDS
from kilohertz.fmi.exporting.package import VERSIONS, Exported, Wanted, export_fmu

__all__ = ["KINDS", "VERSIONS", "Exported", "Wanted", "export_fmu"]

"""FMI: our models in any tool, and any tool's models here."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand

if TYPE_CHECKING:
    from kilohertz.fmi.exporting.contents import KINDS
    from kilohertz.fmi.exporting.package import VERSIONS, Exported, Wanted, export_fmu
    from kilohertz.fmi.importing.archive import Fmu, opened
    from kilohertz.fmi.importing.checking import FmuReport, check_fmu
    from kilohertz.fmi.importing.offline import Run, simulate_fmu
    from kilohertz.fmi.systems.opening import OpenedSystem, open_system
    from kilohertz.fmi.systems.writing import WrittenSystem, write_system
    from kilohertz.fmi.wrapping.place import Wrapped, wrap_fmu, wrapped_in_cache
    from kilohertz.fmi.wrapping.wrapper import package_name

__all__ = [
    "KINDS",
    "VERSIONS",
    "Exported",
    "Fmu",
    "FmuReport",
    "OpenedSystem",
    "Run",
    "Wanted",
    "Wrapped",
    "WrittenSystem",
    "check_fmu",
    "export_fmu",
    "open_system",
    "opened",
    "package_name",
    "simulate_fmu",
    "wrap_fmu",
    "wrapped_in_cache",
    "write_system",
]

__getattr__ = on_demand(
    __name__,
    {
        "KINDS": "exporting.contents",
        "OpenedSystem": "systems.opening",
        "VERSIONS": "exporting.package",
        "Exported": "exporting.package",
        "Fmu": "importing.archive",
        "FmuReport": "importing.checking",
        "Run": "importing.offline",
        "Wanted": "exporting.package",
        "Wrapped": "wrapping.place",
        "WrittenSystem": "systems.writing",
        "check_fmu": "importing.checking",
        "export_fmu": "exporting.package",
        "open_system": "systems.opening",
        "opened": "importing.archive",
        "package_name": "wrapping.wrapper",
        "simulate_fmu": "importing.offline",
        "wrap_fmu": "wrapping.place",
        "wrapped_in_cache": "wrapping.place",
        "write_system": "systems.writing",
    },
)

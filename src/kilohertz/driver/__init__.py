"""The pass list and the public API; alone in knowing the order."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.driver.api import Model, Session, load

if TYPE_CHECKING:
    from kilohertz.driver.analysing.check_report import Report
    from kilohertz.driver.exchange import (
        check_fmu,
        check_system,
        export,
        export_step,
        export_system,
        import_fmu,
        is_fmu,
        is_system,
        open_system,
        simulate_fmu,
        simulate_system,
    )
    from kilohertz.driver.job import Job
    from kilohertz.driver.parameters import compiled_with
    from kilohertz.driver.tasks import build, open_job, run

__all__ = [
    "Job",
    "Model",
    "Report",
    "Session",
    "build",
    "check_fmu",
    "check_system",
    "compiled_with",
    "export",
    "export_step",
    "export_system",
    "import_fmu",
    "is_fmu",
    "is_system",
    "load",
    "open_job",
    "open_system",
    "run",
    "simulate_fmu",
    "simulate_system",
]

__getattr__ = on_demand(
    __name__,
    {
        "Job": "job",
        "Report": "analysing.check_report",
        "build": "tasks",
        "check_fmu": "exchange",
        "check_system": "exchange",
        "compiled_with": "parameters",
        "export": "exchange",
        "export_step": "exchange",
        "export_system": "exchange",
        "import_fmu": "exchange",
        "is_fmu": "exchange",
        "is_system": "exchange",
        "open_job": "tasks",
        "open_system": "exchange",
        "run": "tasks",
        "simulate_fmu": "exchange",
        "simulate_system": "exchange",
    },
)

"""The pass list and the public API; alone in knowing the order."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.driver.api import Model, Session, load

if TYPE_CHECKING:
    from kilohertz.driver.analysing.check_report import Report
    from kilohertz.driver.exchange import check_fmu, export, import_fmu, is_fmu, simulate_fmu
    from kilohertz.driver.job import Job
    from kilohertz.driver.tasks import build, open_job, run

__all__ = [
    "Job",
    "Model",
    "Report",
    "Session",
    "build",
    "check_fmu",
    "export",
    "import_fmu",
    "is_fmu",
    "load",
    "open_job",
    "run",
    "simulate_fmu",
]

__getattr__ = on_demand(
    __name__,
    {
        "Job": "job",
        "Report": "analysing.check_report",
        "build": "tasks",
        "check_fmu": "exchange",
        "export": "exchange",
        "import_fmu": "exchange",
        "is_fmu": "exchange",
        "open_job": "tasks",
        "run": "tasks",
        "simulate_fmu": "exchange",
    },
)

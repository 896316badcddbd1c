"""The pass list and the public API; alone in knowing the order."""

from kilohertz.driver.analysing.check_report import Report
from kilohertz.driver.api import Model, Session, load
from kilohertz.driver.job import Job
from kilohertz.driver.tasks import build, open_job, run

__all__ = ["Job", "Model", "Report", "Session", "build", "load", "open_job", "run"]

"""The pass list and the public API; alone in knowing the order."""

from kilohertz.driver.api import Model, Session, load
from kilohertz.driver.report import Report
from kilohertz.driver.tasks import build, run

__all__ = ["Model", "Report", "Session", "build", "load", "run"]

"""Bundled examples that build, run in real time, are held against CVODE and drawn: `khz demo`."""

from kilohertz.driver.demos.catalogue import DEFAULT, EXAMPLES, Example, find
from kilohertz.driver.demos.running import Demo, Deviation, demo, demo_scenario

__all__ = ["DEFAULT", "EXAMPLES", "Demo", "Deviation", "Example", "demo", "demo_scenario", "find"]

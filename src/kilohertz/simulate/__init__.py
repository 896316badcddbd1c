"""Off-line runs: a compiled model, a solver, a result."""

from kilohertz.simulate.draft import load_soon
from kilohertz.simulate.failure import RunFailed, RunInterrupted
from kilohertz.simulate.inputs import Inputs
from kilohertz.simulate.offline_run import Statistics, offline, simulate
from kilohertz.simulate.program import Instance, Program, build_program, load_program
from kilohertz.simulate.stepper import Flags, Stepper

__all__ = [
    "Flags",
    "Inputs",
    "Instance",
    "Program",
    "RunFailed",
    "RunInterrupted",
    "Statistics",
    "Stepper",
    "build_program",
    "load_program",
    "load_soon",
    "offline",
    "simulate",
]

"""Off-line runs: a compiled model, a solver, a result."""

from kilohertz.simulate.program import Instance, Program, build_program, load_program
from kilohertz.simulate.run import Statistics, simulate
from kilohertz.simulate.stepper import EVENTS, INPUT_MODES, Flags, Stepper, Stepping

__all__ = [
    "EVENTS",
    "INPUT_MODES",
    "Flags",
    "Instance",
    "Program",
    "Statistics",
    "Stepper",
    "Stepping",
    "build_program",
    "load_program",
    "simulate",
]

"""Off-line runs: a compiled model, a solver, a result."""

from kilohertz.simulate.program import Instance, Program, build_program
from kilohertz.simulate.run import Statistics, simulate

__all__ = ["Instance", "Program", "Statistics", "build_program", "simulate"]

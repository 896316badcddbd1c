"""Methods by the names that a clock may give (`solverMethod`, MLS 16.8.2): the standard ones, and our own."""

from __future__ import annotations

from kilohertz.solvers.dirk import IEULER, TRAPEZOIDAL, TRBDF2
from kilohertz.solvers.explicit import EULER, RK4
from kilohertz.solvers.methods import METHODS
from kilohertz.solvers.rosenbrock import LIE
from kilohertz.solvers.tableau import Method, RungeKutta

MIDPOINT = RungeKutta("midpoint", "explicit midpoint rule", "Runge", 2, ((), (1 / 2,)), (0.0, 1.0), (0.0, 1 / 2))
CLOCKED: dict[str, Method] = {
    "ExplicitEuler": EULER,
    "ExplicitMidPoint2": MIDPOINT,
    "ExplicitRungeKutta4": RK4,
    "ImplicitEuler": IEULER,
    "ImplicitTrapezoid": TRAPEZOIDAL,
    "Rosenbrock1": LIE,
    "External": TRBDF2,  # left to the tool: L-stable, of order two, and bounded in what it costs
    **METHODS,
}

"""Integration methods as checked tables: the one source of every coefficient in Python and in C."""

from __future__ import annotations

from kilohertz.solvers.dirk import DIRK
from kilohertz.solvers.explicit import EXPLICIT
from kilohertz.solvers.rosenbrock import ROSENBROCK
from kilohertz.solvers.table import Method, Rosenbrock, RungeKutta

METHODS: dict[str, Method] = {m.name: m for m in (*EXPLICIT, *ROSENBROCK, *DIRK)}

__all__ = ["DIRK", "EXPLICIT", "METHODS", "ROSENBROCK", "Method", "Rosenbrock", "RungeKutta"]

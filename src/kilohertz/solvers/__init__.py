"""Integration methods as checked tables, the one source of every coefficient; and the settings of a step."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from kilohertz.solvers.settings import AUTO, EVENTS, INPUT_MODES, SETTINGS, VARIABLE_STEP, Setting, StepSettings

if TYPE_CHECKING:
    from kilohertz.solvers.dirk import DIRK
    from kilohertz.solvers.explicit import EXPLICIT
    from kilohertz.solvers.methods import INDEX_1, METHODS, SOLVERS
    from kilohertz.solvers.mixed_pairs import PAIRS
    from kilohertz.solvers.rosenbrock import ROSENBROCK
    from kilohertz.solvers.tableau import Method, Pair, Rosenbrock, RungeKutta

__all__ = [
    "AUTO",
    "DIRK",
    "EVENTS",
    "EXPLICIT",
    "INDEX_1",
    "INPUT_MODES",
    "METHODS",
    "PAIRS",
    "ROSENBROCK",
    "SETTINGS",
    "SOLVERS",
    "VARIABLE_STEP",
    "Method",
    "Pair",
    "Rosenbrock",
    "RungeKutta",
    "Setting",
    "StepSettings",
]


def __getattr__(name: str) -> Any:
    """The tables check themselves with numpy when they are first asked for; the settings need none of it."""
    for module in ("methods", "tableau", "dirk", "explicit", "mixed_pairs", "rosenbrock") if name in __all__ else ():
        table = importlib.import_module(f"kilohertz.solvers.{module}")
        if hasattr(table, name):
            return getattr(table, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Kilohertz: Modelica models to hard real time.

import kilohertz
model = kilohertz.load("Kilohertz.Examples.RCCircuit")
result = model.simulate()
result.plot("capacitor.v")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kilohertz.base import ModelError, ModelWarning
    from kilohertz.driver import Model, build, load, run
    from kilohertz.realtime import attach
    from kilohertz.results import Result, read
    from kilohertz.simulate import Stepper

__version__ = "0.1.0"
__all__ = [
    "Model",
    "ModelError",
    "ModelWarning",
    "Result",
    "Stepper",
    "__version__",
    "attach",
    "build",
    "load",
    "read",
    "run",
]
_ROOMS = {  # who has what is not here yet: `khz --version` needs none of it
    "base": ("ModelError", "ModelWarning"),
    "driver": ("Model", "build", "load", "run"),
    "realtime": ("attach",),
    "results": ("Result", "read"),
    "simulate": ("Stepper",),
}


def __getattr__(name: str) -> Any:
    """The public names come from their rooms when they are first asked for."""
    import importlib

    for room, names in _ROOMS.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{room}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What a completion offers."""
    return sorted(__all__)

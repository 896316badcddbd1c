"""Kilohertz: Modelica models to hard real time.

import kilohertz
model = kilohertz.load("Kilohertz.Examples.RCCircuit")
result = model.simulate()
result.plot("capacitor.v")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kilohertz.driver import Model, build, load, run

__version__ = "0.1.0"
__all__ = ["Model", "__version__", "build", "load", "run"]


def __getattr__(name: str) -> Any:
    """These come from the driver when they are first asked for: `khz --version` needs none of them."""
    if name in ("Model", "build", "load", "run"):
        from kilohertz import driver

        return getattr(driver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

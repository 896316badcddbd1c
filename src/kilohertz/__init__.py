"""Kilohertz: Modelica models to hard real time.

import kilohertz
model = kilohertz.load("Kilohertz.Examples.RCCircuit")
result = model.simulate()
result.plot("capacitor.v")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kilohertz.driver import Model, load

__version__ = "0.1.0"
__all__ = ["Model", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """`load` and `Model` come from the driver when they are first asked for: `khz --version` needs neither."""
    if name in ("Model", "load"):
        from kilohertz import driver

        return getattr(driver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

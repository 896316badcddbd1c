"""Tree → Flat: lookup, modification, instances, connections."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.semantics.flatten import flatten

if TYPE_CHECKING:
    from kilohertz.semantics.balancing.balance import Balance, check

__all__ = ["Balance", "check", "flatten"]

__getattr__ = on_demand(__name__, {"Balance": "balancing.balance", "check": "balancing.balance"})

"""Tree → Flat: lookup, modification, instances, connections."""

from kilohertz.semantics.balancing.balance import Balance, check
from kilohertz.semantics.flatten import flatten

__all__ = ["Balance", "check", "flatten"]

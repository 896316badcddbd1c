"""Tree → Flat: lookup, modification, instances, connections."""

from kilohertz.semantics.balance import Balance, check
from kilohertz.semantics.flatten import flatten

__all__ = ["Balance", "check", "flatten"]

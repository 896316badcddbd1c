"""What a step costs before it runs, and the choices between ways of computing the same that follow from it."""

from kilohertz.cost.bound import cost_bound
from kilohertz.cost.factors import IN_PLACE, loop_elimination, loop_pattern, state_elimination
from kilohertz.cost.jacobian import state_jacobian
from kilohertz.cost.targets import Target, reference, target_for

__all__ = [
    "IN_PLACE",
    "Target",
    "cost_bound",
    "loop_elimination",
    "loop_pattern",
    "reference",
    "state_elimination",
    "state_jacobian",
    "target_for",
]

"""What a step costs before it runs, and the choices between ways of computing the same that follow from it."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.cost.columns import columns
from kilohertz.cost.costly import costly
from kilohertz.cost.ends import ends
from kilohertz.cost.factors import (
    IN_PLACE,
    PlannedLoop,
    ScatteredLoop,
    is_by_tables,
    is_written_out,
    linear_plan,
    loop_elimination,
    loop_pattern,
    scattered,
    state_elimination,
)
from kilohertz.cost.jacobian import StateJacobian, jacobian_rests, rate_patterns, state_jacobian
from kilohertz.cost.lanes import Moving, n_lanes
from kilohertz.cost.rolled import Cell, Listed, Roll, Shapes, rolls, steady
from kilohertz.cost.rolled_blocks import LaneShapes, Rolled, stretches
from kilohertz.cost.together import is_large, reads, runs
from kilohertz.cost.unfolded import Unfolded, unfolded

if TYPE_CHECKING:
    from kilohertz.cost.bound import Bounds, cost_bound
    from kilohertz.cost.targets import Target, reference, target_for

__all__ = [
    "IN_PLACE",
    "Bounds",
    "Cell",
    "LaneShapes",
    "Listed",
    "Moving",
    "PlannedLoop",
    "Roll",
    "Rolled",
    "ScatteredLoop",
    "Shapes",
    "StateJacobian",
    "Target",
    "Unfolded",
    "columns",
    "cost_bound",
    "costly",
    "ends",
    "is_by_tables",
    "is_large",
    "is_written_out",
    "jacobian_rests",
    "linear_plan",
    "loop_elimination",
    "loop_pattern",
    "n_lanes",
    "rate_patterns",
    "reads",
    "reference",
    "rolls",
    "runs",
    "scattered",
    "state_elimination",
    "state_jacobian",
    "steady",
    "stretches",
    "target_for",
    "unfolded",
]

__getattr__ = on_demand(
    __name__,
    {
        "Bounds": "bound",
        "Target": "targets",
        "cost_bound": "bound",
        "reference": "targets",
        "target_for": "targets",
    },
)

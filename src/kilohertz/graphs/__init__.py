"""Graph algorithms on plain integers: matching, components, disjoint sets, colouring, elimination; no equations."""

from kilohertz.graphs.any_rows import ColumnOrder, order_columns
from kilohertz.graphs.colouring import colour_columns, colour_distance_2, groups_of
from kilohertz.graphs.definite import DefinitePlan, plan_definite
from kilohertz.graphs.elimination import Elimination, plan_elimination
from kilohertz.graphs.matching import FREE, Matching, Parts, Rows, dulmage_mendelsohn, maximum_matching, transposed
from kilohertz.graphs.pivots import Pattern, Pivot, PivotPlan, plan_along, plan_pivots
from kilohertz.graphs.strong_components import strong_components, topological_order, weak_components
from kilohertz.graphs.threshold import Numbers, choose_pivots
from kilohertz.graphs.unionfind import UnionFind

__all__ = [
    "FREE",
    "ColumnOrder",
    "DefinitePlan",
    "Elimination",
    "Matching",
    "Numbers",
    "Parts",
    "Pattern",
    "Pivot",
    "PivotPlan",
    "Rows",
    "UnionFind",
    "choose_pivots",
    "colour_columns",
    "colour_distance_2",
    "dulmage_mendelsohn",
    "groups_of",
    "maximum_matching",
    "order_columns",
    "plan_along",
    "plan_definite",
    "plan_elimination",
    "plan_pivots",
    "strong_components",
    "topological_order",
    "transposed",
    "weak_components",
]

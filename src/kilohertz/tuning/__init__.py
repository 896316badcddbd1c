"""The cheapest settings of the step that are accurate enough: which points there are, and the search among them."""

from kilohertz.tuning.search import Bench, Goal, Point, Prices, Search
from kilohertz.tuning.search_outcome import Tuned
from kilohertz.tuning.space import Space, has_nonlinear_loops, is_small, key, named

__all__ = [
    "Bench",
    "Goal",
    "Point",
    "Prices",
    "Search",
    "Space",
    "Tuned",
    "has_nonlinear_loops",
    "is_small",
    "key",
    "named",
]

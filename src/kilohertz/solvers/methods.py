"""All methods by their names."""

from __future__ import annotations

from kilohertz.solvers.dirk import DIRK
from kilohertz.solvers.explicit import EXPLICIT
from kilohertz.solvers.mixed_pairs import PAIRS
from kilohertz.solvers.rosenbrock import ROSENBROCK
from kilohertz.solvers.tableau import Method, Pair

METHODS: dict[str, Method] = {m.name: m for m in (*EXPLICIT, *ROSENBROCK, *DIRK)}
# With the pairs, which need a program built for mixed mode.
SOLVERS: dict[str, Method | Pair] = {**METHODS, **{m.name: m for m in PAIRS}}
INDEX_1 = tuple(name for name, m in METHODS.items() if m.index1_order == m.order)  # M*y' = f at their own order

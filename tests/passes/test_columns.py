"""Derivatives of loops through the loops inside them."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.dae import show
from kilohertz.ir.expr import Real, Ref
from kilohertz.ir.step import Entry, LinearLoop, Partition
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.ordered.columns import Columns

Z, V, A, RATE = (Ref(name, REAL) for name in ("z", "v", "a", "rate"))


def test_a_system_that_was_written_as_a_matrix_is_differentiated_by_it() -> None:
    """a*v = 3*z*z inside, v + z outside: a*rate = 6*z, and the derivative is rate + 1."""
    rhs = make.mul(Real(3.0), make.mul(Z, Z))
    p = Partition.STEP
    inside = LinearLoop((V,), (Entry(0, 0, A),), (rhs,), (), p, p)
    found = Columns(Occurrence(), None, fresh=lambda: RATE).entries((Z,), (inside,), (make.add(V, Z),))
    assert found is not None
    (entry,), (system,) = found
    assert (system.unknowns, system.matrix) == ((RATE,), inside.matrix)
    assert show(system.rhs[0]) == "3 * (z + z)"
    assert show(entry.value) == "rate + 1"

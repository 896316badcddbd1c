"""The choice of states where units differ by many decades (fluxes beside magnetic tensions)."""

from __future__ import annotations

from kilohertz.ir import make
from kilohertz.ir.dae import Dae, Equation
from kilohertz.ir.expr import Real, Ref
from kilohertz.ir.types import REAL
from kilohertz.passes.dae.index_reduction.select_states import Candidate, Points, choose


def test_small_and_large_coefficients_in_one_set() -> None:
    a, b, c = (Ref(name, REAL) for name in ("der(a)", "der(b)", "der(c)"))
    large = Equation(make.mul(Real(1.6e8), a), b)
    small = Equation(make.mul(Real(1e-8), b), make.mul(Real(1e-9), c))
    options = [Candidate(r.name, None) for r in (a, b, c)]
    assert len(choose([large, small], options, Points(Dae("test")), None).dummies) == 2

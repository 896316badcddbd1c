"""hoist: what depends on parameters alone leaves the step, and the step keeps its values."""

from __future__ import annotations

import numpy as np
import pytest
from flat_models import ALL
from interpreted import Interpreted

from kilohertz.driver.pipeline import compile_flat, selected
from kilohertz.ir import read_flat, traverse
from kilohertz.ir.expr import Binary, Ref
from kilohertz.ir.step import Assignment, Kind, Partition, Step, expressions
from kilohertz.passes.contract import Log, run_passes
from kilohertz.passes.step.hoist import Hoist

PRODUCTS = """
model Products
  parameter Real m = 2.0;
  parameter Real L = 0.5;
  parameter Real none = 0.0;
  Real x(start = 0.3, fixed = true);
  Real y(start = 0.6, fixed = true);
equation
  der(x) = m*(L*sin(x)) + (m + L)*y/(1.0 + m*L^2.0);
  der(y) = if y > 0.5 then x*(m*L) else x*(1.0/(none*m));
end Products;
"""


def hoisted(step: Step) -> dict[str, str]:
    found = {}
    for b in step.blocks:
        if isinstance(b, Assignment) and b.target.name.startswith("$h"):
            assert b.partition is Partition.EVENT
            found[b.target.name] = str(b.value)
    return found


def test_parameters_are_put_together_and_moved() -> None:
    step = compile_flat(read_flat(PRODUCTS))
    assert len(hoisted(step)) == 4  # m*L, m + L, 1 + m*L^2, none*m; not the quotient in a branch
    kinds = {v.name: v.slot.kind for v in step.variables.values()}
    for b in step.in_partition(Partition.STEP):
        for node in (n for e in expressions(b) for n in traverse.walk(e) if isinstance(n, Binary) and n.op in "+-*"):
            leaves = [n for n in traverse.walk(node) if isinstance(n, Ref)]
            assert any(kinds.get(n.name) is not Kind.PARAMETER for n in leaves)


@pytest.mark.parametrize("text", [*ALL, PRODUCTS], ids=[t.split()[1] for t in [*ALL, PRODUCTS]])
def test_the_derivatives_stay(text: str) -> None:
    after = Interpreted(compile_flat(read_flat(text)))
    without = [p for p in selected() if not isinstance(p, Hoist)]
    before = Interpreted(run_passes(without, read_flat(text), Log()))
    rng = np.random.default_rng(5)
    start = np.array([float(before.values[v.name]) for v in before.step.of_kind(Kind.STATE)])
    for _ in range(4):
        x, t = start + 0.03 * rng.standard_normal(len(start)), float(rng.uniform(0, 1))
        for model in (before, after):
            model.run(b for b in model.step.in_partition(Partition.EVENT) if isinstance(b, Assignment))
        assert np.allclose(after.derivatives(x, t), before.derivatives(x, t), rtol=1e-13, atol=1e-13)

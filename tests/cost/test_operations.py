"""What blocks are counted with."""

from __future__ import annotations

from kilohertz.cost.operations import Operations
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.step import Partition

PENDULUM = """
model Pendulum
  Real phi(start = 1.0, fixed = true);
  Real w(start = 0.0, fixed = true);
  Real c;
equation
  c = cos(phi);
  der(phi) = w - 0.1*cos(phi);
  der(w) = -c*w + cos(phi);
end Pendulum;
"""


def test_a_function_that_stands_in_a_variable_counts_once() -> None:
    step = compile_flat(read_flat(PENDULUM))
    operations = Operations(step, 1)
    each, once = operations.blocks(step.in_partition(Partition.STEP)), operations.step_blocks()
    cosine = BUILTINS["cos"].instructions
    assert (each.regular.functions, once.regular.functions) == (3 * cosine, cosine)

"""Linear loops are torn on rates, and on what an equation says is one, where that costs nothing."""

from __future__ import annotations

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import LinearLoop, Partition

CHAIN = """
    model Chain
      Real p1(start = 0.4, fixed = true);
      Real w1(start = 0.1, fixed = true);
      Real p2(start = 0.4, fixed = true);
      Real w2(start = 0.1, fixed = true);
      Real p3(start = 0.4, fixed = true);
      Real w3(start = 0.1, fixed = true);
      Real a1;
      Real a2;
      Real a3;
      Real z1;
      Real z2;
      Real z3;
      Real t2;
      Real t3;
    equation
      der(p1) = w1;
      der(w1) = a1;
      der(p2) = w2;
      der(w2) = a2;
      der(p3) = w3;
      der(w3) = a3;
      z1 = a1 + 0.1*w2;
      z2 = a2 + cos(p2)*z1;
      z3 = a3 + cos(p3)*z2;
      2.0*z3 + sin(p3)*z2 + sin(p2)*a1 = -w3;
      3.0*z2 + cos(p3)*t3 + 0.2*a3 + a1 = -w2;
      4.0*z1 + cos(p2)*t2 + 0.1*a2 + a3 = -w1;
      t3 = 2.0*z3 + cos(p3)*a2;
      t2 = 3.0*z2 + t3;
    end Chain;
    """


def test_accelerations_are_guessed() -> None:
    loops = [b for b in compile_flat(read_flat(CHAIN)).in_partition(Partition.STEP) if isinstance(b, LinearLoop)]
    assert [sorted(u.name for u in b.unknowns) for b in loops] == [["a1", "a2"]]

"""Linear loops are torn on rates, and on what an equation says is one, where that costs nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import make, read_flat
from kilohertz.ir.dae import Equation
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Component, Row
from kilohertz.ir.step import LinearLoop, Partition
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import Occurrence
from kilohertz.passes.ordered.context import Context
from kilohertz.passes.ordered.followers import joined_by_rates

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


def test_a_rate_that_follows_from_a_loop_joins_it() -> None:
    """Where all that is guessed is a rate then; `a6 = z6 - z5` is such a rate, `a7 = b - z5` comes too late."""
    z, b, (a6, a7) = [Ref(f"z{i}", REAL) for i in range(7)], Ref("b", REAL), (Ref(f"a{i}", REAL) for i in (6, 7))
    loop = Component(tuple(Row(Equation(u, make.ZERO)) for u in z), tuple(z))
    given = Component((Row(Equation(b, make.ONE)),), (b,))
    late = [Component((Row(Equation(a, make.sub(c, z[5]))),), (a,)) for a, c in ((a6, z[6]), (a7, b))]
    context = SimpleNamespace(is_rate=lambda name: name[0] == "a", occurrence=Occurrence())

    def joined(guessed: list[str]) -> list[list[str]]:
        made = joined_by_rates([loop, given, *late], cast(Context, context), lambda _: guessed)
        return [[u.name for u in c.unknowns] for c in made]

    names = [u.name for u in z]
    assert joined(["a1", "a2", "a3", "a6"]) == [[*names, "a6"], ["b"], ["a7"]]
    assert joined(["a1", "a2", "a3", "z6"]) == joined(["a1", "a6"]) == [names, ["b"], ["a6"], ["a7"]]

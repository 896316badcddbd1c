"""A linear loop is factorised as often as its matrix changes, and no more."""

from __future__ import annotations

import pytest

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import LinearLoop, MixedLoop, Partition, Step
from kilohertz.simulate import Instance, Statistics, build_program
from kilohertz.simulate import offline_run as simulation
from kilohertz.toolchain import STRICT

# Four currents that need each other; `k` scales the coupling of the first two.
BRIDGE = """
model Bridge
  parameter Real p = 0.5;
  parameter Real q = 3.0;
  {declaration}
  Real x(start = 1.0, fixed = true);
  Real a;
  Real b;
  Real c;
  Real d;
equation
  {equation}
  q*a + {k}*b + p*c*q - d = x;
  {k}*a + q*b - c + p*d*q = sin(time);
  p*a*q - b + 2.0*q*c + d = 1.0;
  a + p*b*q + c + 3.0*q*d = x;
  der(x) = a*b - c*d - x;
end Bridge;
"""


def bridge(k: str, declaration: str = "", equation: str = "") -> Step:
    return compile_flat(read_flat(BRIDGE.format(k=k, declaration=declaration, equation=equation)))


def the_loop(step: Step) -> LinearLoop:
    blocks = [c for b in step.blocks for c in (b.continuous if isinstance(b, MixedLoop) else (b,))]
    (loop,) = [b for b in blocks if isinstance(b, LinearLoop)]
    return loop


def counted(step: Step, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Statistics]:
    """Factorisations of a run, and what else it did."""
    seen: list[int] = []
    close = Instance.close

    def closing(instance: Instance) -> None:
        seen.append(instance.context.n_factored)
        close(instance)

    monkeypatch.setattr(Instance, "close", closing)
    statistics = Statistics()
    simulation.simulate(build_program(step, flags=STRICT), stop=2.0, statistics=statistics)
    return seen[0], statistics


def test_parameters_alone_factorise_once(monkeypatch: pytest.MonkeyPatch) -> None:
    step = bridge("p")
    loop = the_loop(step)
    assert loop.matrix_partition is Partition.ONCE and len(loop.unknowns) > 1
    found, statistics = counted(step, monkeypatch)
    assert statistics.rhs > 50
    assert found == 1  # that of the initial system is solved in place


def test_discrete_values_factorise_at_events(monkeypatch: pytest.MonkeyPatch) -> None:
    step = bridge(
        "m",
        "discrete Real m(start = 0.25, fixed = true);",
        "when sample(0.5, 0.5) then\n m = pre(m) + 0.25;\n end when;",
    )
    loop = the_loop(step)
    assert loop.matrix_partition is Partition.EVENT and len(loop.unknowns) > 1
    found, statistics = counted(step, monkeypatch)
    assert statistics.rhs > 50 and statistics.time_events == 4
    passes = 2 * (statistics.time_events + 2) + 2  # two passes of each event; start and end are events too
    assert statistics.time_events <= found <= passes


def test_up_to_three_unknowns_are_solved_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    step = bridge("x")
    loop = the_loop(step)
    assert loop.matrix_partition is Partition.STEP and 1 < len(loop.unknowns) <= 3
    assert counted(step, monkeypatch)[0] == 0

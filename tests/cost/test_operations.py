"""What blocks are counted with."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from kilohertz import load
from kilohertz.cost import IN_PLACE, cost_bound
from kilohertz.cost.branches import idle
from kilohertz.cost.operations import Operations
from kilohertz.cost.prices import Count, both, dense_factor, else_if, in_place, node, second_of_angle, total
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import make, read_flat
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Builtin, Call, Expr, Real, Ref
from kilohertz.ir.step import LinearLoop, Partition, Step, expressions
from kilohertz.ir.traverse import walk_all
from kilohertz.ir.types import BOOLEAN, REAL
from kilohertz.solvers import StepSettings

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
    each = total(operations.blocks((b,)) for b in step.in_partition(Partition.STEP))
    cosine = BUILTINS["cos"].instructions
    assert (each.regular.functions, operations.step_blocks().regular.functions) == (3 * cosine, cosine)


CRANK = """
model Crank
  Real s(start = 0.3);
  Real c;
  Real x;
  Real y;
equation
  c = cos(time)*sin(s) + 2.0;
  x = cos(time)*sin(s) - cos(s);
  y = if noEvent(x > 0.5) then cos(x) else sin(x);
  der(s) = cos(time)*sin(s) + c + y;
end Crank;
"""


def test_what_blocks_of_one_function_share_counts_once() -> None:
    """As the writer has it: sin(s) and cos(s) are one call besides; of those in branches one is made."""
    step = compile_flat(read_flat(CRANK))
    prices = [BUILTINS["cos"].instructions, BUILTINS["sin"].instructions + second_of_angle().regular.functions]
    assert Operations(step, 1).step_blocks().regular.functions == sum(prices) + BUILTINS["sin"].instructions


BRANCHES = """
model Branches
  Real s(start = 0.3);
  Real x;
  Real y;
equation
  x = if noEvent(s > 0.5) then exp(s)*exp(2.0*s) else exp(0.5*s) + exp(-s);
  y = if noEvent(s > 0.7) then exp(-s) else 1.0;
  der(s) = x + y + (if noEvent(s > 0.9) then 2.0*s else 3.0*s);
end Branches;
"""


def test_the_dearer_of_two_branches_counts() -> None:
    """exp(-s) is needed in branches of two: it is computed before both.  Cheap branches may both be computed."""
    step = compile_flat(read_flat(BRANCHES))
    assert Operations(step, 1).step_blocks().regular.functions == 3 * BUILTINS["exp"].instructions
    together = (e for b in step.in_partition(Partition.STEP) for e in expressions(b))
    assert [e.name for e in idle(together, node) if isinstance(e, Builtin)] == ["exp"]


def test_a_call_is_made_in_each_branch_that_needs_it() -> None:
    """Of calls that several branches make one is made; where one is made in any case it counts."""
    s, conditions = Ref("s", REAL), [Ref(name, BOOLEAN) for name in ("a", "b", "c")]
    forward, backward = (Call("f", (e,), REAL) for e in (s, make.neg(s)))
    tried = [forward, make.neg(backward), forward]
    friction: Expr = make.neg(backward)
    for condition, branch in zip(reversed(conditions), reversed(tried), strict=True):
        friction = make.if_(condition, branch, friction)

    def price(e: Expr) -> Count:
        return both(1, 100 if isinstance(e, Call) else 1)

    assert [e for e in idle([friction], price) if isinstance(e, Call)] == [forward]
    assert not any(isinstance(e, Call) for e in idle([friction, forward], price))


def test_of_a_chain_of_branches_one_has_the_value() -> None:
    """Each further test is a comparison and a jump."""
    x, conditions = Ref("x", REAL), [Ref(f"c{k}", BOOLEAN) for k in range(5)]
    chain: Expr = x
    priced = []
    for condition in conditions:
        chain = make.if_(condition, Real(2.0), chain)
        priced.append(Operations(compile_flat(read_flat(PENDULUM)), 1).expressions([chain]).regular.expressions)
    assert [b - a for a, b in pairwise(priced)] == [else_if().regular.expressions] * 4
    assert priced[0] == node(chain).regular.expressions > else_if().regular.expressions > 0


LOOP = """
model Loop "three forces that hang on one another by a matrix that moves"
  Real s(start = 0.3, fixed = true);
  Real a;
  Real b;
  Real c;
  Real d;
equation
  a*cos(s) + b*s + c = 1.0;
  a + b*cos(s) + d = 2.0;
  a*s + c*cos(s) + d*s = 3.0;
  b + c*s + d*cos(s) = 4.0;
  der(s) = a + b + c + d;
end Loop;
"""


def test_few_equations_are_solved_in_place() -> None:
    """By determinants, unless these are lost in rounding."""
    step = compile_flat(read_flat(LOOP))
    (loop,) = (b for b in step.in_partition(Partition.STEP) if isinstance(b, LinearLoop))
    n = len(loop.unknowns)
    assert 1 < n <= IN_PLACE
    count = Operations(step, 1).block(loop)
    assert count.regular.kernels == in_place(n).regular.kernels < dense_factor(n).regular.kernels
    assert count.worst.kernels > in_place(n).regular.kernels + dense_factor(n).regular.kernels


SUMS = """
model Sums
  function sum_of "by a loop as long as its input is, and one over its elements"
    input Real x[:];
    output Real y = 0;
  algorithm
    for i in 2:size(x, 1) - 1 loop
      y := y + x[i];
    end for;
    for e in x loop
      y := y + e*e;
    end for;
    annotation(Inline = false);
  end sum_of;
  Real a(start = 1, fixed = true), b[N](each start = 1, each fixed = true);
  parameter Integer N = 3;
equation
  der(a) = -sum_of({a, 2*a, 3*a});
  der(b) = -b*sum_of(b);
end Sums;
"""


def test_a_loop_over_an_input_is_as_long_as_the_argument(tmp_path: Path) -> None:
    """Each call counts with the sizes of its own arguments."""
    file = tmp_path / "sums.mo"
    instructions = []
    for n in (3, 6, 9):
        file.write_text(SUMS.replace("N = 3", f"N = {n}"))
        step = load(str(file)).process()
        bound = cost_bound(step, StepSettings("euler"))
        assert bound["unbounded"] == []
        operations = Operations(step, 1)
        called = {size: operations.function(call) for call, size in calls(step)}
        instructions.append(called[n].regular.instructions)
    assert instructions[1] - instructions[0] == instructions[2] - instructions[1] > 3 * 4


def calls(step: Step) -> list[tuple[Call, int | None]]:
    roots = [e for b in step.blocks for e in expressions(b)]
    return [(e, e.args[0].ty.dims[0]) for e in walk_all(roots) if isinstance(e, Call)]

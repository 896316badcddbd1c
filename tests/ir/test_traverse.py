"""The walk from the leaves up: every node once, left before right, along chains of any length."""

from __future__ import annotations

from kilohertz.ir import REAL
from kilohertz.ir.expr import Expr, Ref
from kilohertz.ir.make import add, mul
from kilohertz.ir.traverse import bottom_up

x, y, z = (Ref(name, REAL) for name in "xyz")


def test_every_node_once_and_left_before_right() -> None:
    shared = mul(x, y)
    seen: list[Expr] = []

    def visit(e: Expr, below: list[int]) -> int:
        seen.append(e)
        return 1 + sum(below)

    memo: dict[Expr, int] = {}
    whole = add(add(shared, z), shared)
    assert bottom_up(whole, visit, memo) == 9
    assert seen == [x, y, shared, z, add(shared, z), whole]
    assert bottom_up(add(shared, z), visit, memo) == 5
    assert len(seen) == 6  # known from before


def test_operands_that_are_not_needed_are_not_visited() -> None:
    memo: dict[Expr, int] = {}
    bottom_up(add(mul(x, y), z), lambda e, below: len(below), memo, lambda e: e.children()[:1])
    assert y not in memo and z not in memo


def test_a_chain_of_a_hundred_thousand() -> None:
    chain: Expr = x
    for k in range(100_000):
        chain = add(chain, Ref(f"x{k}", REAL))
    assert bottom_up(chain, lambda e, below: 1 + max(below, default=0), {}) == 100_001

"""Lists of blocks for some directions of a Jacobian: without what rests along them."""

from __future__ import annotations

import sys

import pytest

from kilohertz.cost import columns, state_jacobian
from kilohertz.cost.jacobian import StateJacobian
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Assignment, Block, Step
from kilohertz.ir.text.expr_printer import print_expr

CHAIN = """
model Chain
  Real x(start = 1.0, fixed = true);
  Real y(start = 2.0, fixed = true);
  Real z(start = 3.0, fixed = true);
  Real a;
equation
  a = x*y;
  der(x) = -x;
  der(y) = a*z + sin(a);
  der(z) = -a*z*z;
end Chain;
"""


def texts(blocks: tuple[Block, ...]) -> list[str]:
    assert all(isinstance(b, Assignment) for b in blocks)
    return [f"{b.target.name} := {print_expr(b.value)}" for b in blocks if isinstance(b, Assignment)]


@pytest.fixture(scope="module")
def chain() -> Step:
    return compile_flat(read_flat(CHAIN))


def test_each_column_has_a_list_without_what_rests(chain: Step) -> None:
    lists = [texts(blocks) for blocks in columns(chain, state_jacobian(chain), 1)]
    whole = texts(chain.directional or ())
    assert [len(one) for one in lists] == [len(whole), len(whole) - 1, 2]  # along z the product a rests
    assert lists[2] == ["dir(der(y)) := a*seed(z)", "dir(der(z)) := -(a*seed(z)*z + a*z*seed(z))"]
    assert not any("seed(y)" in text or "seed(z)" in text for text in lists[0])


def test_an_entry_that_is_zero_is_written(chain: Step) -> None:
    lists = columns(chain, StateJacobian([[0, 1, 2]] * 3), 1)
    assert "dir(der(x)) := 0.0" in texts(lists[1])


def test_one_list_serves_all_where_lists_would_be_too_long(chain: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["kilohertz.cost.columns"], "MOST", 12)
    assert columns(chain, state_jacobian(chain), 1) == (chain.directional,) * 3


def test_one_list_serves_all_where_that_is_asked_for(chain: Step) -> None:
    assert columns(chain, state_jacobian(chain), 1, narrow=False) == (chain.directional,) * 3

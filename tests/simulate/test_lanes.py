"""Jacobians of many directions take several at once, off-line too, and have the same bits."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from linearised import Point

from kilohertz import load
from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.cost import n_lanes, state_jacobian
from kilohertz.ir.step import Step
from kilohertz.simulate import load_program

CHAIN = """
model Chain "what moves the last moves with all before"
  parameter Integer n = {n};
  Real x[n](each start = 0.1, each fixed = true), y[n];
equation
  y[1] = sin(x[1]);
  for i in 2:n loop y[i] = 0.9*y[i - 1]*cos(x[i]) + sin(x[i]); end for;
  for i in 1:n loop der(x[i]) = y[n]*x[i]^2 - i*x[i]; end for;
end Chain;
"""


def chain(n: int, folder: Path) -> Step:
    (file := folder / "Chain.mo").write_text(CHAIN.format(n=n))
    return load(str(file)).process()


@pytest.mark.parametrize(("n", "expected"), [(31, 1), (32, 2)])
def test_many_directions_go_together(n: int, expected: int, tmp_path: Path) -> None:
    step = chain(n, tmp_path)
    jacobian = state_jacobian(step)
    assert jacobian.n_directions == n
    assert n_lanes(step, jacobian, often=False) == expected
    assert n_lanes(step, jacobian) == 2


def test_bits_are_those_of_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step, found = chain(33, tmp_path), []
    for many in (32, 1000):
        monkeypatch.setattr(sys.modules["kilohertz.cost.lanes"], "MANY", many)
        program = load_program(model_units(step, jacobians=Jacobians.SELDOM))
        found.append(Point(program, np.linspace(-1.0, 1.0, 33), 0.3).jacobian())
    assert np.array_equal(found[0], found[1]) and np.count_nonzero(found[0]) > 1000

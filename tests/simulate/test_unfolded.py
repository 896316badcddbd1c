"""Many states that meet in a large linear loop: its unknowns are columns of the Jacobian, and solutions stay."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from linearised import Point

from kilohertz import load
from kilohertz.building import model_units
from kilohertz.codegen import Jacobians
from kilohertz.cost import unfolded
from kilohertz.ir.step import Kind, Step
from kilohertz.results import Result
from kilohertz.simulate import Program, Statistics, load_program, simulate

# a square net of conductors; every node has a load that follows its voltage, and a source at a corner
NET = """
model Net
  parameter Integer n = {n};
  Real x[n, n](each start = 0.1, each fixed = true), v[n, n], i[n, n + 1], j[n + 1, n];
equation
  for a in 1:n loop
    i[a, 1] = 0; i[a, n + 1] = 0; j[1, a] = 0; j[n + 1, a] = 0;
    for b in 2:n loop
      i[a, b] = {conductance}*(v[a, b - 1] - v[a, b]);
      j[b, a] = {conductance}*(v[b - 1, a] - v[b, a]);
    end for;
  end for;
  for a in 1:n loop
    for b in 1:n loop
      i[a, b] - i[a, b + 1] + j[a, b] - j[a + 1, b] = {load} - (if a + b == 2 then {source} else 0);
      der(x[a, b]) = (1 + 0.1*a)*({rate});
    end for;
  end for;
end Net;
"""
PLAIN = {
    "conductance": "(1 + 0.1*a + 0.05*b)",
    "load": "x[a, b] + 0.1*v[a, b]",
    "source": "cos(3*time)",
    "rate": "v[a, b] - x[a, b]",
}
KINDS = {
    "linear": PLAIN,
    "a matrix that moves": PLAIN | {"conductance": "(1 + 0.1*a + x[b, a]*x[b, a])"},
    "not linear": PLAIN | {"load": "x[a, b] + v[a, b] + 0.05*v[a, b]*v[a, b]*v[a, b]"},
    "with events": PLAIN | {"source": "(if sin(4*time) > 0 then 1 else -0.5)"},
}

Compile = Callable[..., Step]


@pytest.fixture
def compiled(tmp_path: Path) -> Compile:
    def compile_net(kind: dict[str, str], n: int = 6) -> Step:
        (file := tmp_path / "Net.mo").write_text(NET.format(n=n, **kind))
        return load(str(file)).process()

    return compile_net


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """It pays from few states on."""
    for name, value in {"LEAST_STATES": 8, "LEAST_UNKNOWNS": 4, "GAIN": 0.05}.items():
        monkeypatch.setattr(sys.modules["kilohertz.cost.unfolded"], name, value)


def _programs(step: Step) -> tuple[Program, Program]:
    """With a full Jacobian, and with the unknowns of loops beside it."""
    is_larger = unfolded(step) is not None
    assert is_larger
    full = load_program(model_units(step, jacobians=Jacobians.OFTEN))
    return full, load_program(model_units(step, jacobians=Jacobians.SELDOM))


def _without_unknowns(step: Step, program: Program, x: np.ndarray) -> np.ndarray:
    """The Jacobian of the states that follows from that of states and unknowns together."""
    large = unfolded(step)
    assert large is not None
    rows, n = large.jacobian.rows, len(step.of_kind(Kind.STATE))
    entries = np.full(sum(map(len, rows)), np.nan)
    point = Point(program, x, 0.3)
    work = np.zeros(3 * len(rows))
    status = program.library.khz_jacobian(
        ctypes.c_void_p(program.model), ctypes.c_void_p(point.instance.address), entries.ctypes.data, work.ctypes.data
    )
    assert status == 0
    whole, values = np.zeros((len(rows), len(rows))), iter(entries)
    for i, row in enumerate(rows):
        for j in row:
            whole[i, j] = next(values)
    left = whole[:n, :n] - whole[:n, n:] @ np.linalg.solve(whole[n:, n:], whole[n:, :n])
    return np.asarray(left)


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize(("kind", "part"), [("linear", 1e-12), ("a matrix that moves", 1e-12), ("not linear", 1e-10)])
def test_unknowns_eliminated_give_the_jacobian_of_the_states(kind: str, part: float, compiled: Compile) -> None:
    """To a part of its largest entry; the solution of a nonlinear loop leaves more than rounding."""
    step = compiled(KINDS[kind])
    full, large = _programs(step)
    x = np.linspace(0.1, 0.7, len(step.of_kind(Kind.STATE)))
    expected = Point(full, x, 0.3).jacobian()
    assert np.count_nonzero(expected) == expected.size
    assert np.abs(_without_unknowns(step, large, x) - expected).max() < part * np.abs(expected).max()


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("solver", ["cvode", "ida"])
@pytest.mark.parametrize("kind", KINDS)
def test_solutions_stay(kind: str, solver: str, compiled: Compile) -> None:
    full, large = _programs(compiled(KINDS[kind]))
    results: list[Result] = []
    for program in (full, large):
        statistics = Statistics()
        results.append(simulate(program, stop=2.0, solver=solver, tolerance=1e-9, intervals=20, statistics=statistics))
    assert statistics.sparse_factorisations > 0  # of the larger matrix
    for name in ("x[1,1]", "x[6,6]", "v[3,4]"):
        assert np.abs(results[0][name] - results[1][name]).max() < 1e-6


@pytest.mark.usefixtures("early")
def test_what_time_alone_moves_is_not_passed_over(compiled: Compile) -> None:
    kind = PLAIN | {"source": "exp(-((time - 50)/0.05)^2)"}
    full, large = _programs(compiled(kind))
    found = []
    for program in (full, large):
        result = simulate(program, stop=100.0, tolerance=1e-6, intervals=2000)
        found.append(result["x[1,1]"].max())
    assert found[1] == pytest.approx(found[0], rel=1e-3) and found[1] > 1e-3


@pytest.mark.usefixtures("early")
def test_rates_that_may_have_no_value_stay_as_they_are(compiled: Compile) -> None:
    root = PLAIN | {"rate": "v[a, b] - x[a, b] + 1e-3*sqrt(max(x[a, b] - 0.1, 0))"}
    found = unfolded(compiled(root))
    assert found is None


def test_few_states_stay_as_they_are(compiled: Compile) -> None:
    found = unfolded(compiled(PLAIN, 6))
    assert found is None

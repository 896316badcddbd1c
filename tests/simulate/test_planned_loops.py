"""Linear loops with a planned elimination: the solution, exchanged rows, the dense way out, what has no solution."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from kilohertz.cost import linear_plan
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Kind, LinearLoop
from kilohertz.simulate import Instance, Program, build_program
from kilohertz.toolchain import STRICT

# Rows 0 and 1 are alike, as are 2 and 3; the last ones are a chain that closes on the first.
SPARSE = ((0, 1, 4), (0, 1, 4), (1, 2, 3), (1, 2, 3), (3, 4, 5), (5, 6), (6, 7), (0, 7))
# Three pairs of unknowns that the last one holds together.
BORDERED = (*(row for k in (0, 2, 4) for row in ((k, k + 1, 6),) * 2), tuple(range(7)))
FULL = ((0, 1, 2, 3, 4),) * 5

Pattern = tuple[tuple[int, ...], ...]


def _text(pattern: Pattern) -> str:
    """Every entry and every right-hand side is a state, every unknown the derivative of one."""
    n = len(pattern)
    entries = [f"m{i}_{j}" for i, row in enumerate(pattern) for j in row]
    rows = [f"{' + '.join(f'm{i}_{j}*y{j}' for j in row)} = r{i};" for i, row in enumerate(pattern)]
    steady = [*entries, *(f"r{i}" for i in range(n))]
    return "\n".join(
        [
            "model Loop",
            *(f"  Real {name}(start = 1.0, fixed = true);" for name in (*steady, *(f"x{j}" for j in range(n)))),
            *(f"  Real y{j};" for j in range(n)),
            "equation",
            *(f"  {row}" for row in rows),
            *(f"  der({name}) = 0.0;" for name in steady),
            *(f"  der(x{j}) = y{j};" for j in range(n)),
            "end Loop;",
        ]
    )


@dataclass(frozen=True)
class Loop:
    pattern: Pattern
    program: Program
    names: tuple[str, ...]

    def solved(self, matrix: np.ndarray, right: np.ndarray) -> tuple[int, np.ndarray, int, int]:
        """Status, solution, detours and factorisations of one right-hand side."""
        values = {f"m{i}_{j}": matrix[i, j] for i, row in enumerate(self.pattern) for j in row}
        values |= {f"r{i}": v for i, v in enumerate(right)} | {f"x{j}": 0.0 for j in range(len(right))}
        x = np.array([values[name] for name in self.names])
        rates = np.empty(len(x))
        instance = Instance(self.program)
        instance.initialize(0.0)
        before = instance.context.n_detours, instance.context.n_factored
        status = self.program.library.khz_derivatives(
            self.program.model, instance.address, 0.0, x.ctypes.data, rates.ctypes.data
        )
        spent = instance.context.n_detours - before[0], instance.context.n_factored - before[1]
        instance.close()
        found = dict(zip(self.names, rates, strict=True))
        return status, np.array([found[f"x{j}"] for j in range(len(right))]), *spent


@cache
def loop(pattern: Pattern) -> Loop:
    step = compile_flat(read_flat(_text(pattern)))
    (block,) = [b for b in step.blocks if isinstance(b, LinearLoop)]
    assert linear_plan(block) is not None
    program = build_program(step, flags=STRICT)
    return Loop(pattern, program, tuple(v.name for v in step.of_kind(Kind.STATE)))


def _numbers(pattern: Pattern, seed: int) -> np.ndarray:
    rng = random.Random(seed)
    matrix = np.zeros((len(pattern), len(pattern)))
    for i, row in enumerate(pattern):
        matrix[i, list(row)] = [rng.uniform(-1.0, 1.0) * 10.0 ** rng.randrange(-2, 3) for _ in row]
    return matrix


@pytest.mark.parametrize("pattern", [SPARSE, FULL], ids=["sparse", "full"])
@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_solution_whatever_the_pivots(pattern: Pattern, seed: int) -> None:
    matrix, x = _numbers(pattern, seed), np.arange(1.0, len(pattern) + 1)
    status, found, _, factored = loop(pattern).solved(matrix, matrix @ x)
    assert status == 0 and factored == 1
    assert found == pytest.approx(x, rel=1e-15 * np.linalg.cond(matrix) * 100)


@pytest.mark.parametrize("angle", [0.0, 0.5 * np.pi, 1.0, np.pi])
def test_rows_alike_change_places_where_an_entry_vanishes(angle: float) -> None:
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.zeros((7, 7))
    for k in (0, 2, 4):
        matrix[k : k + 2, k : k + 2] = [[c, s], [-s, c]]
    matrix[:6, 6] = matrix[6, :6] = 0.5
    matrix[6, 6] = 4.0
    x = np.arange(1.0, 8.0)
    status, found, detours, _ = loop(BORDERED).solved(matrix, matrix @ x)
    assert (status, detours) == (0, 0)
    assert found == pytest.approx(x, rel=1e-9)


def test_a_lost_pivot_takes_the_dense_way() -> None:
    matrix = np.zeros((8, 8))
    for i, row in enumerate(SPARSE):
        matrix[i, list(row)] = 1.0
    matrix[0, 1], matrix[2, 3] = 2.0, 3.0
    x = np.arange(1.0, 9.0)
    taken = 0
    for i, row in enumerate(SPARSE):
        for j in row:
            changed = matrix.copy()
            changed[i, j] = 0.0
            if np.linalg.cond(changed) < 1e6:
                status, found, detours, factored = loop(SPARSE).solved(changed, changed @ x)
                assert (status, factored) == (0, 1)
                assert found == pytest.approx(x, rel=1e-9)
                taken += detours
    assert taken > 0


def test_no_solution_and_no_number_are_failures_as_ever() -> None:
    matrix, right = _numbers(SPARSE, 2), np.ones(8)
    matrix[1] = 2.0 * matrix[0]
    assert loop(SPARSE).solved(matrix, right)[0] != 0
    matrix[1, 0] = np.nan
    assert loop(SPARSE).solved(matrix, right)[0] != 0
    matrix[1] = 0.0
    assert loop(SPARSE).solved(matrix, right)[0] != 0


def _symmetric_text(n: int) -> str:
    """As `_text`, of a full symmetric matrix that is definite where states are about one."""

    def entry(i: int, j: int) -> str:
        return f"({4 * n}.0 + m{i}_{i})" if i == j else f"m{min(i, j)}_{max(i, j)}"

    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    text = _text(tuple(tuple(range(n)) for _ in range(n)))
    for i in range(n):
        for j in range(n):
            text = text.replace(f"m{i}_{j}*y{j}", f"{entry(i, j)}*y{j}")
    gone = [mark for i, j in pairs if i != j for mark in (f"m{j}_{i}(", f"(m{j}_{i})")]
    return "\n".join(line for line in text.splitlines() if not any(mark in line for mark in gone))


@cache
def symmetric_loop(n: int) -> Loop:
    step = compile_flat(read_flat(_symmetric_text(n)))
    (block,) = [b for b in step.blocks if isinstance(b, LinearLoop)]
    assert block.symmetric
    pattern = tuple(tuple(range(i, n)) for i in range(n))
    return Loop(pattern, build_program(step, flags=STRICT), tuple(v.name for v in step.of_kind(Kind.STATE)))


@pytest.mark.parametrize("seed", range(20))
def test_a_symmetric_matrix_needs_no_pivots_where_it_is_definite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.uniform(-1.0, 1.0, (6, 6)) * 10.0 ** rng.integers(-2, 2, 6)
    x = np.arange(1.0, 7.0)
    definite = root.T @ root
    indefinite = definite - 2.0 * np.diag(np.diag(definite) * (np.arange(6) == seed % 6))
    for matrix, detours in ((definite, 0), (indefinite, 1)):
        given = matrix - 24.0 * np.eye(6)
        status, found, taken, factored = symmetric_loop(6).solved(given, matrix @ x)
        assert (status, taken, factored) == (0, detours, 1)
        assert found == pytest.approx(x, rel=1e-14 * np.linalg.cond(matrix) * 100)


def test_a_symmetric_matrix_without_a_solution_or_numbers_fails() -> None:
    good = np.diag(np.arange(1.0, 7.0))
    for i, j, number in ((2, 2, 0.0), (2, 2, np.nan), (1, 3, np.nan), (2, 2, np.inf), (1, 3, np.inf)):
        matrix = good.copy()
        matrix[i, j] = number
        assert symmetric_loop(6).solved(matrix - 24.0 * np.eye(6), np.ones(6))[0] != 0, (i, j, number)

"""Large linear loops of chains keep their zeros: unknowns, entries and products in proportion to the links; the same
solution as that of a full matrix; the dense way out."""

from __future__ import annotations

import math
import random
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from flat_models import chain_in_a_plane

from kilohertz.cost import factors, is_by_tables, linear_plan
from kilohertz.driver.pipeline import compile_flat, selected
from kilohertz.ir.step import Kind, LinearLoop, Step
from kilohertz.ir.text.step_printer import print_step
from kilohertz.ir.text.step_reader import read_step
from kilohertz.passes.contract import Log, run_passes
from kilohertz.passes.ordered.kept_sparse import LEAST
from kilohertz.passes.ordered.tear import Tear
from kilohertz.simulate import Instance, Program, build_program
from kilohertz.toolchain import STRICT

N = 48


@cache
def _step(n: int) -> Step:
    return compile_flat(chain_in_a_plane(n))


def _loop(step: Step) -> LinearLoop:
    (loop,) = (b for b in step.blocks if isinstance(b, LinearLoop))
    return loop


@cache
def _program(whole: bool) -> Program:
    flat = chain_in_a_plane(N)
    step = run_passes(selected(Tear(whole=True)), flat, Log()) if whole else _step(N)
    return build_program(step, flags=STRICT)


@cache
def _by_tables() -> Program:
    with patch.object(factors, "MOST_CHOSEN", 100):
        planned = linear_plan(_loop(_step(N)))
        assert planned is not None and is_by_tables(planned.plan)
        return build_program(_step(N), flags=STRICT)


def _values(seed: int) -> dict[str, float]:
    rng = random.Random(seed)
    return {f"{name}{i}": rng.uniform(-3.0, 3.0) for name in ("phi", "w") for i in range(1, N + 1)}


def test_a_chain_has_entries_and_products_in_proportion_to_its_links() -> None:
    sizes = []
    for n in (N, 2 * N):
        loop = _loop(_step(n))
        planned = linear_plan(loop)
        assert planned is not None
        sizes.append((len(loop.unknowns), len(loop.matrix), planned.plan.n_products))
    assert all(large < 2.3 * small for small, large in zip(*sizes, strict=True))
    assert sizes[0][1] < N * N


@pytest.mark.parametrize("seed", range(2))
def test_tables_have_the_bits_of_code_that_is_written_out(seed: int) -> None:
    values = _values(seed)
    assert _rates(_by_tables(), values) == _rates(_program(whole=False), values)


def test_a_short_chain_has_a_full_matrix() -> None:
    assert len(_loop(_step(LEAST // 2)).unknowns) == LEAST // 2


def test_a_mode_keeps_the_matrix_full() -> None:
    loop = _loop(compile_flat(chain_in_a_plane(N, " - (if phi1 > 0.0 then z1 else 0.0)")))
    assert not loop.pivots


def _rates(program: Program, values: dict[str, float]) -> tuple[dict[str, float], int]:
    """Derivatives of states at these values, and detours on the way."""
    names = [v.name for v in program.step.of_kind(Kind.STATE)]
    x, rates = np.array([values[name] for name in names]), np.empty(len(names))
    instance = Instance(program)
    instance.initialize(0.0)
    before = instance.context.n_detours
    address = instance.address
    status = program.library.khz_derivatives(program.model, address, 0.0, x.ctypes.data, rates.ctypes.data)
    detours = instance.context.n_detours - before
    instance.close()
    assert status == 0
    return dict(zip(names, rates, strict=True)), detours


@pytest.mark.parametrize("seed", range(4))
def test_the_solution_is_that_of_all_equations(seed: int) -> None:
    values = _values(seed)
    sparse, detours = _rates(_program(whole=False), values)
    assert detours == 0
    assert sparse == pytest.approx(_rates(_program(whole=True), values)[0], rel=1e-9, abs=1e-7)


def test_a_chain_that_lies_flat_is_solved_too() -> None:
    values = {f"w{i}": 0.0 for i in range(1, N + 1)} | {f"phi{i}": 0.5 * math.pi for i in range(1, N + 1)}
    sparse, _ = _rates(_program(whole=False), values)
    assert sparse == pytest.approx(_rates(_program(whole=True), values)[0], rel=1e-9, abs=1e-7)


def test_the_order_of_elimination_is_part_of_the_text_of_a_step() -> None:
    step = _step(N)
    assert _loop(read_step(print_step(step))).pivots == _loop(step).pivots

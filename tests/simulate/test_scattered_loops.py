"""Large linear loops without room for a full matrix: the same solutions, as the way out of a plan and without one."""

from __future__ import annotations

import random
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from kilohertz.codegen import block_functions
from kilohertz.cost import factors, linear_plan, scattered
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.flat import Flat
from kilohertz.ir.step import Kind, LinearLoop, Step
from kilohertz.simulate import Instance, Program, build_program
from kilohertz.toolchain import STRICT

KINDS = ("scattered", "planned")


def _beam(n: int, mass: str = "0.2") -> Flat:
    """Links one on the other with a mass at the end of each; accelerations go up, forces come down."""
    lines = ["model Beam"]
    for i in range(1, n + 1):
        lines += [f"  Real {name}{i}(start = 0.1, fixed = true);" for name in ("phi", "w", "m")]
        lines += [f"  Real {name}{i};" for name in ("z", "ax", "ay", "fx", "fy")]
    lines.append("equation")
    for i in range(1, n + 1):
        before = (f"ax{i - 1}", f"ay{i - 1}") if i > 1 else ("0.0", "0.0")
        after = (f"fx{i + 1}", f"fy{i + 1}") if i < n else ("0.0", "0.0")
        lines += [
            f"  der(phi{i}) = w{i};",
            f"  der(w{i}) = z{i};",
            f"  der(m{i}) = 0.0;",
            f"  ax{i} = {before[0]} + 0.1*cos(phi{i})*z{i};",
            f"  ay{i} = {before[1]} + 0.1*sin(phi{i})*z{i};",
            f"  fx{i} = {after[0]} + {mass.format(i)}*ax{i};",
            f"  fy{i} = {after[1]} + {mass.format(i)}*(ay{i} + 9.81);",
            f"  0.001*w{i} = -0.1*(cos(phi{i})*fx{i} + sin(phi{i})*fy{i});",
        ]
    return read_flat("\n".join([*lines, "end Beam;"]))


def _net(n: int) -> Flat:
    """A square net of conductors; every node has a current, a state, and a leak, a state, that holds its voltage."""
    nodes = [(i, j) for i in range(n) for j in range(n)]
    states = [f"  Real {name}{i}_{j}(start = 1.0, fixed = true);" for i, j in nodes for name in ("x", "q", "e")]
    lines = ["model Net", *states, *(f"  Real v{i}_{j};" for i, j in nodes), "equation"]
    for i, j in nodes:
        beside = [(i + di, j + dj) for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)) if (i + di, j + dj) in nodes]
        flows = " + ".join(f"{1.0 + 0.1 * (i + k + j + m)}*(v{i}_{j} - v{k}_{m})" for k, m in beside)
        lines += [f"  {flows} + e{i}_{j}*v{i}_{j} = q{i}_{j};", f"  der(x{i}_{j}) = v{i}_{j};"]
        lines += [f"  der(q{i}_{j}) = 0.0;", f"  der(e{i}_{j}) = 0.0;"]
    return read_flat("\n".join([*lines, "end Net;"]))


@cache
def _step(name: str, n: int) -> Step:
    """`masses`: a beam whose masses are exponentials of states, which plans of pivots do not suit."""
    if name == "net":
        return compile_flat(_net(n))
    return compile_flat(_beam(n, "exp(m{})") if name == "masses" else _beam(n))


def _loop(step: Step) -> LinearLoop:
    (loop,) = (b for b in step.blocks if isinstance(b, LinearLoop))
    return loop


@cache
def _program(name: str, n: int, kind: str) -> Program:
    """`dense`: with a full matrix; `scattered`: without one or a plan; `planned`: as the way out of a plan."""
    step = _step(name, n)
    if kind == "dense":
        return build_program(step, flags=STRICT)
    with patch.object(factors, "SCATTERED", 2), patch.object(factors, "MOST_SCATTERED", 1.0):
        assert scattered(_loop(step)) is not None and linear_plan(_loop(step)) is not None
        if kind == "planned":
            return build_program(step, flags=STRICT)
        with patch.object(block_functions, "linear_plan", lambda block: None):
            return build_program(step, flags=STRICT)


def _rates(program: Program, values: dict[str, float]) -> tuple[int, dict[str, float], int]:
    """Status, derivatives of states at these values, detours on the way."""
    names = [v.name for v in program.step.of_kind(Kind.STATE)]
    x, rates = np.array([values[name] for name in names]), np.empty(len(names))
    instance = Instance(program)
    instance.initialize(0.0)
    before = instance.context.n_detours
    status = program.library.khz_derivatives(program.model, instance.address, 0.0, x.ctypes.data, rates.ctypes.data)
    detours = instance.context.n_detours - before
    instance.close()
    return status, dict(zip(names, rates, strict=True)), detours


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "detours"), [("beam", 0), ("masses", 1)])
def test_the_solution_is_that_of_the_dense_way(kind: str, name: str, detours: int) -> None:
    rng = random.Random(2)
    values = {f"{name}{i}": rng.uniform(-3.0, 3.0) for name in ("phi", "w") for i in range(1, 49)}
    values |= {f"m{i}": -18.0 if i % 3 == 0 else rng.uniform(-0.5, 0.5) for i in range(1, 49)}
    status, rates, taken = _rates(_program(name, 48, kind), values)
    dense = _rates(_program(name, 48, "dense"), values)
    assert (status, dense[0], dense[2]) == (0, 0, detours)
    assert taken == (0 if kind == "scattered" else detours)
    size = max(map(abs, dense[1].values()))
    assert rates == pytest.approx(dense[1], rel=1e-6, abs=1e-9 * size)


def _currents(seed: int, total: float) -> dict[str, float]:
    """Of a net that nothing holds."""
    rng = random.Random(seed)
    values = {f"{name}{i}_{j}": 0.0 for i in range(5) for j in range(5) for name in "xqe"}
    values |= {name: rng.uniform(-1.0, 1.0) for name in values if name[0] == "q"}
    values["q0_0"] += total - sum(v for name, v in values.items() if name[0] == "q")
    return values


@pytest.mark.parametrize("kind", KINDS)
def test_where_solutions_are_free_the_smallest_is_taken(kind: str) -> None:
    status, rates, detours = _rates(_program("net", 5, kind), _currents(1, 0.0))
    assert status == 0 and detours > 0
    assert rates == pytest.approx(_rates(_program("net", 5, "dense"), _currents(1, 0.0))[1], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_equations_that_contradict_each_other_fail(kind: str) -> None:
    assert _rates(_program("net", 5, kind), _currents(1, 1.0))[0] != 0


def test_room_is_in_proportion_from_a_size_on() -> None:
    sizes = []
    for n in (200, 400):
        loop = _loop(_step("beam", n))
        system = scattered(loop)
        assert len(loop.unknowns) >= factors.SCATTERED and system is not None
        sizes.append(system.room)
    assert sizes[1] < 2.2 * sizes[0]
    assert scattered(_loop(_step("beam", 48))) is None

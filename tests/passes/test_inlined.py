"""inline: stages run by `interp` satisfy the equations, and Jacobians through loops inside match differences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from interpreted import Interpreted

from kilohertz import load
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.step import Kind, NonlinearLoop, Partition, Step
from kilohertz.passes.step.inline_stage import InlineStage

SOURCE = Path(__file__).parent.parent / "simulate" / "inlined.mo"


def inlined(name: str) -> Step:
    return compile_flat(load(f"{SOURCE}:Inlined.{name}").flatten(), InlineStage())


def at_a_stage(name: str, gamma_h: float, shift: float) -> Interpreted:
    model = Interpreted(inlined(name))
    model.values["time"], model.values["$gamma_h"] = 0.3, gamma_h
    model.run([b for b in model.step.blocks if b.partition is Partition.EVENT])
    for v in model.step.of_kind(Kind.STATE):
        start = model.values[v.name]
        assert isinstance(start, float)
        model.values[f"base({v.name})"], model.values[f"der({v.name})"] = start + shift, 0.0
    return model


@pytest.mark.parametrize("name", ["Pendulum", "Circuit", "Loop", "Star", "Drive", "Cranks"])
def test_a_stage_satisfies_the_equations(name: str) -> None:
    """x = base + gamma_h*der(x), and the blocks of the step give the same derivatives there."""
    for gamma_h, shift in ((1e-3, 0.0), (1e-2, 0.02)):
        model = at_a_stage(name, gamma_h, shift)
        model.run(model.step.inlined or ())
        states = [v.name for v in model.step.of_kind(Kind.STATE)]
        x = np.array([model.values[n] for n in states], float)
        rates = np.array([model.values[f"der({n})"] for n in states], float)
        base = np.array([model.values[f"base({n})"] for n in states], float)
        assert np.allclose(x, base + gamma_h * rates, rtol=1e-9, atol=1e-9)
        assert np.allclose(model.derivatives(x, 0.3), rates, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["Star", "Drive", "Cranks"])
def test_jacobians_go_through_loops_inside(name: str) -> None:
    model = at_a_stage(name, 1e-2, 0.02)
    (loop,) = (b for b in model.step.inlined or () if isinstance(b, NonlinearLoop))
    assert loop.jacobian is not None

    def residual(z: np.ndarray) -> np.ndarray:
        model.values.update({u.name: float(v) for u, v in zip(loop.unknowns, z, strict=True)})
        model.run(loop.inner)
        return np.array([model.number(e) for e in loop.residuals])

    z = np.array([model.values[u.name] for u in loop.unknowns], float) + 0.1
    expected = np.column_stack([(residual(z + d) - residual(z - d)) / 2e-5 for d in 1e-5 * np.eye(len(z))])
    residual(z)
    model.run(loop.rates)
    found = np.zeros_like(expected)
    for e in loop.jacobian:
        found[e.row, e.column] = model.number(e.value)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())

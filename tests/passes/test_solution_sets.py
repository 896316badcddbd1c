"""Each pass keeps the solutions: at random states, by `interp`, with and without it; and the first equations hold."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flat_models import ALL, random_model
from interpreted import Interpreted

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import Flat, build, read_flat
from kilohertz.ir.dae import Dae, Equation
from kilohertz.ir.step import Assignment, Kind, Partition, Step
from kilohertz.passes import assemble, eliminate, make_dae, prune, reduce_index, vanish

# Aliases, a term with a parameter that is zero, a call with an unused result, a gear that ties two inertias together.
TIED = """
model Tied
  function both
    input Real x;
    output Real y;
    output Real z;
  algorithm
    y := x;
    while y > 1.0 loop
      y := y - 1.0;
    end while;
    y := sin(y);
    z := 3.0*x;
  end both;
  parameter Real n = 2.5;
  parameter Real J1 = 0.3;
  parameter Real J2 = 1.7;
  parameter Real k = 1.0;
  final parameter Real none = k - 1.0;
  Real phi1(start = 0.2, fixed = true);
  Real w1(start = 0.4, fixed = true);
  Real phi2;
  Real w2;
  Real t1;
  Real t2;
  Real t;
  Real u;
  Real v;
  Real unused;
equation
  phi1 = n*phi2;
  w1 = der(phi1);
  w2 = der(phi2);
  J1*der(w1) = u - t1 + none*v;
  J2*der(w2) = t2 - 0.1*w2;
  t2 = n*t1;
  t = -t1;
  (u, unused) = both(phi1 + time);
  v + none*t = w1*w2;
end Tied;
"""


def flats() -> list[Flat]:
    texts = [read_flat(text) for text in (*ALL, TIED)]
    return texts + [random_model(random.Random(seed), 4 + seed % 9) for seed in range(8)]


def derivatives(step: Step, x: dict[str, float], time: float) -> dict[str, float]:
    """What the blocks of a step give at states by name, aliases included."""
    model = Interpreted(step)
    model.run(b for b in step.in_partition(Partition.EVENT) if isinstance(b, Assignment))
    model.derivatives(np.array([x[v.name] for v in step.of_kind(Kind.STATE)]), time)
    model.run(step.in_partition(Partition.CROSSING, Partition.OUTPUT))
    values = {n: float(v) for n, v in model.values.items() if isinstance(v, (int, float))}
    for name, alias in step.aliases.items():
        if alias.target in values:
            values[name] = alias.sign * values[alias.target]
        elif alias.value is not None:
            values[name] = model.number(alias.value)
    return values


def point(step: Step, seed: int) -> dict[str, float]:
    model, rng = Interpreted(step), np.random.default_rng(seed)
    return {v.name: float(model.values[v.name]) + 0.03 * rng.standard_normal() for v in step.of_kind(Kind.STATE)}  # type: ignore[arg-type]


def finished(dae: Dae) -> Step:
    return assemble(eliminate(reduce_index(dae)[0], states_chosen=True))


WITHOUT = {
    "drop-zero-terms": lambda dae: finished(prune(eliminate(dae))),
    "prune": lambda dae: finished(eliminate(vanish(dae))),
    "the second elimination": lambda dae: assemble(reduce_index(prune(eliminate(vanish(dae))))[0]),
}


@pytest.mark.parametrize("which", list(WITHOUT))
@pytest.mark.parametrize("number", range(len(flats())))
def test_a_pass_changes_no_derivative(which: str, number: int) -> None:
    flat = flats()[number]
    whole = compile_flat(flat)
    other = WITHOUT[which](make_dae(flats()[number]))
    states = [v.name for v in whole.of_kind(Kind.STATE)]
    assert sorted(states) == sorted(v.name for v in other.of_kind(Kind.STATE))
    at = point(whole, number)
    mine, theirs = derivatives(whole, at, 0.3), derivatives(other, at, 0.3)
    for x in states:
        assert math.isclose(mine[f"der({x})"], theirs[f"der({x})"], rel_tol=1e-9, abs_tol=1e-10)


@pytest.mark.parametrize("number", range(len(flats())))
def test_the_step_solves_the_first_equations(number: int) -> None:
    """Every equation of the Dae before any reduction holds for what the blocks compute."""
    step = compile_flat(flats()[number])
    values = derivatives(step, point(step, number), 0.3)
    evaluator = Interpreted(step).evaluator
    checked = 0
    for e in make_dae(flats()[number]).equations:
        if isinstance(e, Equation) and all(r.name in values for s in (e.left, e.right) for r in build.refs(s)):
            left, right = evaluator.evaluate(e.left, values), evaluator.evaluate(e.right, values)
            assert isinstance(left, (int, float)) and isinstance(right, (int, float))
            assert math.isclose(left, right, rel_tol=1e-8, abs_tol=1e-8), e
            checked += 1
    assert checked >= len(make_dae(flats()[number]).equations) - 2  # all but calls and derivatives that are gone

"""Each pass keeps the solutions: at random states, by `interp`, with and without it; and the first equations hold."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flat_models import ALL, random_model
from interpreted import Interpreted

from kilohertz.driver.pipeline import compile_flat, selected, up_to
from kilohertz.ir import Flat, read_flat, traverse
from kilohertz.ir.dae import Dae, Equation
from kilohertz.ir.step import Assignment, Kind, Partition, Step
from kilohertz.passes.contract import Fact, Log, Pass, label, run_passes

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
    model.run(step.in_partition(Partition.CROSSING, Partition.OUTPUT, Partition.VIEW))
    values = {n: float(v) for n, v in model.values.items() if isinstance(v, (int, float))}
    for name, alias in step.aliases.items():
        if alias.target in values:
            values[name] = alias.sign * values[alias.target]
        elif alias.value is not None:
            values[name] = model.number(alias.value)
    return values


def point(step: Step, seed: int) -> dict[str, float]:
    model, rng = Interpreted(step), np.random.default_rng(seed)
    return {v.name: float(model.values[v.name]) + 0.03 * rng.standard_normal() for v in step.of_kind(Kind.STATE)}


def first_dae(flat: Flat) -> Dae:
    dae = run_passes(up_to("lower-events"), flat, Log())
    assert isinstance(dae, Dae)
    return dae


def without(left_out: Pass) -> list[Pass] | None:
    """The list without one pass; None where others need what it gives: then it cannot be left out."""
    rest = [p for p in selected() if p is not left_out]
    needed = set[Fact]().union(*(p.needs for p in rest))
    only = left_out.gives - set[Fact]().union(*(p.gives for p in rest))
    return rest if not (only & needed) or left_out.name in FREE else None


# What these give is for those that follow to do better, not to be right: the facts keep the order, not the result.
FREE = (
    "drop-zero-terms",
    "prune",
    "reveal-constraints",
    "prefer-states",
    "hoist",
    "gather-sums",
    "drop-unused-functions",
)
LEFT_OUT = [p for p in selected() if without(p) is not None]


@pytest.mark.parametrize("left_out", LEFT_OUT, ids=label)
@pytest.mark.parametrize("number", range(len(flats())))
def test_a_pass_changes_no_derivative(left_out: Pass, number: int) -> None:
    """The whole list, and the list without a pass, give the same derivatives."""
    whole = compile_flat(flats()[number])
    rest = without(left_out)
    assert rest is not None
    other = run_passes(rest, flats()[number], Log(), verify=True)
    states = [v.name for v in whole.of_kind(Kind.STATE)]
    assert sorted(states) == sorted(v.name for v in other.of_kind(Kind.STATE))
    at = point(whole, number)
    mine, theirs = derivatives(whole, at, 0.3), derivatives(other, at, 0.3)
    for x in states:
        assert math.isclose(mine[f"der({x})"], theirs[f"der({x})"], rel_tol=1e-9, abs_tol=1e-10)


def test_every_pass_is_left_out_or_cannot_be() -> None:
    """What cannot be left out makes the next form, or puts it in order: the equations below hold all the same."""
    kept = {p.name for p in selected()} - {p.name for p in LEFT_OUT}
    assert kept == {
        *("guard-values", "expand-partials", "scalarise", "lower-events", "reduce-index", "order-parameters"),
        *("initialise", "causalise", "tear", "place", "partition-blocks", "find-sparsity", "differentiate"),
    }


@pytest.mark.parametrize("stop", [p for p in selected() if Fact.DAE in p.needs or Fact.DAE in p.gives], ids=label)
@pytest.mark.parametrize("number", range(len(flats())))
def test_solutions_satisfy_the_equations_after_each_pass(stop: Pass, number: int) -> None:
    """What the blocks compute solves the equations of every Dae on the way."""
    step = compile_flat(flats()[number])
    values = derivatives(step, point(step, number), 0.3)
    evaluator = Interpreted(step).evaluator
    dae = run_passes(up_to(label(stop)), flats()[number], Log())
    for e in dae.equations if isinstance(dae, Dae) else ():
        if isinstance(e, Equation) and all(r.name in values for s in (e.left, e.right) for r in traverse.refs(s)):
            left, right = evaluator.evaluate(e.left, values), evaluator.evaluate(e.right, values)
            assert isinstance(left, (int, float)) and isinstance(right, (int, float))
            assert math.isclose(left, right, rel_tol=1e-8, abs_tol=1e-8), e


@pytest.mark.parametrize("number", range(len(flats())))
def test_the_step_solves_the_first_equations(number: int) -> None:
    """Every equation of the Dae before any reduction holds for what the blocks compute."""
    step = compile_flat(flats()[number])
    values = derivatives(step, point(step, number), 0.3)
    evaluator = Interpreted(step).evaluator
    checked = 0
    for e in first_dae(flats()[number]).equations:
        if isinstance(e, Equation) and all(r.name in values for s in (e.left, e.right) for r in traverse.refs(s)):
            left, right = evaluator.evaluate(e.left, values), evaluator.evaluate(e.right, values)
            assert isinstance(left, (int, float)) and isinstance(right, (int, float))
            assert math.isclose(left, right, rel_tol=1e-8, abs_tol=1e-8), e
            checked += 1
    assert checked >= len(first_dae(flats()[number]).equations) - 2  # all but calls and derivatives that are gone

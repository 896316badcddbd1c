"""directional: the blocks give the derivative of what the blocks of STEP give, against differences, by `interp`."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flat_models import ALL, CALLS, LINEAR, NONLINEAR, random_model
from interpreted import Interpreted

from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import make, read_flat
from kilohertz.ir.expr import Call, Expr
from kilohertz.ir.step import Kind, LinearLoop, NonlinearLoop, Step, expressions, without_directional
from kilohertz.ir.text.step_printer import print_step
from kilohertz.ir.traverse import walk_all
from kilohertz.passes.derivative import NoDerivative
from kilohertz.passes.function_derivative import FunctionDerivatives


def check_direction(step: Step, rng: np.random.Generator) -> None:
    model = Interpreted(step)
    start = np.array([float(model.values[v.name]) for v in step.of_kind(Kind.STATE)])
    x, t = start + 0.05 * rng.standard_normal(len(start)), float(rng.uniform(0.1, 0.9))
    seed, seed_time = rng.standard_normal(len(x)), float(rng.standard_normal())
    h = 1e-4
    slopes = []
    for width in (h, h / 2):
        up = model.derivatives(x + width * seed, t + width * seed_time)
        down = model.derivatives(x - width * seed, t - width * seed_time)
        slopes.append((up - down) / (2 * width))
    expected = (4 * slopes[1] - slopes[0]) / 3  # Richardson: error of order h^4
    model.derivatives(x, t)
    found = model.direction(seed, seed_time)
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("text", ALL, ids=[t.split()[1] for t in ALL])
def test_directions_match_differences(text: str) -> None:
    step = compile_flat(read_flat(text))
    rng = np.random.default_rng(1)
    for _ in range(5):
        check_direction(step, rng)


@pytest.mark.parametrize("seed", range(30))
def test_random_models(seed: int) -> None:
    rng = random.Random(seed)
    step = compile_flat(random_model(rng, rng.randrange(3, 14)))
    check_direction(step, np.random.default_rng(seed))


def test_loops_are_solved_with_their_own_matrices() -> None:
    step = compile_flat(read_flat(LINEAR))
    (loop,) = [b for b in step.blocks if isinstance(b, LinearLoop)]
    (rate,) = [b for b in step.directional or () if isinstance(b, LinearLoop)]
    assert rate.again == loop.unknowns and rate.matrix is loop.matrix
    step = compile_flat(read_flat(NONLINEAR))
    (torn,) = [b for b in step.blocks if isinstance(b, NonlinearLoop)]
    (rate,) = [b for b in step.directional or () if isinstance(b, LinearLoop)]
    assert rate.again == torn.unknowns and rate.matrix is torn.jacobian


def test_the_equations_of_a_loop_move_not_its_matrix() -> None:
    apart = LINEAR.replace("  Real c;", "  Real c;\n  Real w;").replace("+ q*c = sin", "+ w = sin")
    step = compile_flat(read_flat(apart.replace("equation\n", "equation\n  w = q*c;\n")))
    (loop,) = [b for b in step.blocks if isinstance(b, LinearLoop)]
    assert [b.target.name for b in loop.through] == ["w"] and not loop.inner and len(loop.residuals) == 3
    check_direction(step, np.random.default_rng(2))  # w is computed for outputs alone
    assert "dir(w)" not in print_step(step)
    resting = LINEAR.replace("cos(p)", "1.0").replace("q^2.0", "1.0").replace("r^2.0", "1.0")
    for old, new in (("p*b", "b"), ("p*a", "a"), ("q*a", "a"), ("q*c", "c"), ("r*b", "b"), ("r*c", "c")):
        resting = resting.replace(old, new)
    (loop,) = [b for b in compile_flat(read_flat(resting)).blocks if isinstance(b, LinearLoop)]
    assert not loop.residuals  # its matrix does not move: nobody asks


def external(text: str, arguments: str) -> str:
    """The model of calls with its function h outside Modelica."""
    body = "    v := u;\n    while v > 1.0 loop\n      v := v/2.0;\n    end while;\n    v := v^2.0;\n"
    assert body in text
    text = text.replace(f"  algorithm\n{body}  end h;", '  external "C" v = h(u);\n  end h;')
    return text.replace("h(3.0 + y)", f"h({arguments})")


def test_what_has_no_derivative_is_named() -> None:
    text = external(CALLS, "{y, time}").replace("function h\n    input Real u;", "function h\n    input Real[2] u;")
    step = compile_flat(read_flat(text))
    assert step.directional is None
    assert step.no_directional == "h"
    assert not step.of_kind(Kind.SEED)


def test_a_function_without_derivative_is_called_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_flat(read_flat(external(CALLS, "3.0 + y"))).directional is not None
    exact = Interpreted(compile_flat(read_flat(CALLS)))
    rule = FunctionDerivatives.rule

    def without_h(self: FunctionDerivatives, call: Call, rates: list[Expr], index: int | None) -> Expr:
        if call.function == "h":
            raise NoDerivative("h")
        return rule(self, call, rates, index)

    monkeypatch.setattr(FunctionDerivatives, "rule", without_h)
    near = Interpreted(compile_flat(read_flat(CALLS)))
    assert print_step(near.step).count("h(") > print_step(exact.step).count("h(")
    for seed, seed_time in (([1.0, 0.0], 0.0), ([0.3, -2.0], 1.0), ([0.0, 1e6], 0.0), ([0.0, 0.0], 0.0)):
        rates = []
        for model in (exact, near):
            model.derivatives(np.array([0.5, 0.9]), 0.2)
            rates.append(model.direction(np.array(seed), seed_time))
        assert np.allclose(rates[0], rates[1], rtol=1e-6, atol=1e-9)


def test_helpers_are_shown_when_asked_for_and_can_be_left_out() -> None:
    step = compile_flat(read_flat(LINEAR))
    assert "dir(" not in print_step(step, helpers=False)
    assert "dir(der(p))" in print_step(step)
    bare = without_directional(step)
    assert bare.directional is None and print_step(bare) == print_step(step, helpers=False)


def test_a_function_of_one_number_that_moves_is_called_with_a_rate_of_one() -> None:
    text = """
        model Called
          function both
            input Real u;
            input Real k;
            output Real y;
            output Integer n;
            output Real z;
          algorithm
            y := u;
            while y > 1.0 loop
              y := y/2.0;
            end while;
            y := k*sin(y);
            n := 2;
            z := y*y;
          end both;
          Real p(start = 0.3, fixed = true);
          Real a;
          Integer n;
          Real b;
        equation
          (a, n, b) = both(2.0*p, 0.5);
          der(p) = a - b*p;
        end Called;
        """
    step = compile_flat(read_flat(text))
    check_direction(step, np.random.default_rng(3))
    calls = [e for b in step.directional or () for e in walk_all(expressions(b)) if isinstance(e, Call)]
    assert calls and all(c.args[-2:] == (make.ONE, make.ZERO) for c in calls)

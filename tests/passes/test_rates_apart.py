"""Derivative functions in loops of rates: written out where short, else linear by their rates; results as by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.step import LinearLoop, NonlinearLoop, Step

SOURCE = """
package Rates
  function h "Enthalpy of two numbers: long enough not to be inlined"
    input Real p;
    input Real T;
    output Real h;
  protected
    Real s = 0;
  algorithm
    for i in 1:3 loop
      s := s + sin(T)^i/i;
    end for;
    h := 2*p + T + 0.1*p*s;
    annotation (Inline = false, derivative = h_der);
  end h;
  function h_der
    input Real p;
    input Real T;
    input Real p_der;
    input Real T_der;
    output Real h_der;
  protected
    Real s = 0;
    Real d = 0;
  algorithm
    for i in 1:3 loop
      s := s + sin(T)^i/i;
      d := d + sin(T)^(i - 1)*cos(T);
    end for;
    h_der := (2 + 0.1*s)*p_der + (1 + 0.1*p*d)*T_der;
    annotation (Inline = false);
  end h_der;
  function plain "Its derivative is generated"
    input Real p;
    input Real T;
    output Real y;
  protected
    Real s = 0;
  algorithm
    for i in 1:3 loop
      s := s + cos(T)^i/i;
    end for;
    y := p + 3*T + 0.1*p*s;
    annotation (Inline = false);
  end plain;
  function larger
    input Real a;
    input Real b;
    output Real y;
  algorithm
    y := if a > b then a else b;
    annotation (Inline = false, derivative = larger_der);
  end larger;
  function larger_der
    input Real a;
    input Real b;
    input Real a_der;
    input Real b_der;
    output Real y_der;
  algorithm
    y_der := if a > b then a_der else b_der;
    annotation (Inline = true);
  end larger_der;
  function square
    input Real x;
    output Real y;
  algorithm
    y := x^2;
    annotation (Inline = false, derivative(order = 2) = square_dd);
  end square;
  function square_dd "Not linear in the first of its rates"
    input Real x;
    input Real x_d;
    input Real x_dd;
    output Real y_dd;
  protected
    Real s = 0;
  algorithm
    for i in 1:2 loop
      s := s + x_d^2;
    end for;
    y_dd := s + 2*x*x_dd;
    annotation (Inline = false);
  end square_dd;
  model Second "Its speed follows from the second derivative of its square"
    Real x(start = 1, fixed = true), v(start = 0.5), y = square(x);
  equation
    der(x) = v;
    square_dd(x, v, v - 1) = 1 + 0*y;
  end Second;
  model Volume "Two balances of two numbers"
    Real p(start = 1, fixed = true, stateSelect = StateSelect.always);
    Real T(start = 0.5, fixed = true, stateSelect = StateSelect.always);
    Real U = h(p, T);
    Real M = plain(p, T);
  equation
    der(U) = -U + sin(time);
    der(M) = -M + cos(time);
  end Volume;
  model Larger
    Real x(start = 1, fixed = true, stateSelect = StateSelect.always), y;
  equation
    y = larger(x, 0.2*x);
    der(y) = -3*y + 0.1*der(x);
  end Larger;
end Rates;
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rates") / "Rates.mo"
    path.write_text(SOURCE)
    return path


def loops(source: Path, name: str) -> tuple[Step, list[type]]:
    step = compile_flat(load(f"{source}:Rates.{name}").flatten())
    return step, [type(b) for b in step.blocks if isinstance(b, LinearLoop | NonlinearLoop)]


def test_a_loop_of_rates_is_linear(source: Path) -> None:
    _, kinds = loops(source, "Volume")
    assert kinds and set(kinds) == {LinearLoop}


def test_a_short_derivative_is_written_out(source: Path) -> None:
    step, kinds = loops(source, "Larger")
    assert NonlinearLoop not in kinds
    assert "Rates.larger_der" not in step.functions


def test_the_balances_hold(source: Path) -> None:
    """U and M obey linear equations whose solutions are known."""
    result = load(f"{source}:Rates.Volume").simulate(stop=2, tolerance=1e-9)
    t = result["time"]
    for name, particular in (("U", (np.sin(t) - np.cos(t)) / 2), ("M", (np.sin(t) + np.cos(t)) / 2)):
        start = result[name][0] - particular[0]
        assert np.allclose(result[name], particular + start * np.exp(-t), atol=1e-6)


def test_the_larger_one_decays(source: Path) -> None:
    result = load(f"{source}:Rates.Larger").simulate(stop=1, tolerance=1e-9)
    assert np.allclose(result["y"], np.exp(-3 / 0.9 * result["time"]), atol=1e-6)


def test_a_second_derivative_is_linear_in_the_newest_rates_alone(source: Path) -> None:
    """2 v^2 + 2 x (v - 1) = 1: at x = 1 the speed is the positive root of 2 v^2 + 2 v = 3."""
    result = load(f"{source}:Rates.Second").simulate(stop=0.01, tolerance=1e-9)
    assert result["v"][0] == pytest.approx((np.sqrt(7) - 1) / 2, abs=1e-9)

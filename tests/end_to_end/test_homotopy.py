"""Starts along homotopies (MLS 3.7.4.4): from simplified expressions alone to actual ones alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kilohertz

WITHOUT_A_VALUE = """
model WithoutValue "Actual expressions have no value where the way begins; simplified ones lead to where they have"
  Real x, y;
equation
  x + y = homotopy(sqrt(x - 20) + sqrt(y - 20) + 46, 60);
  x - y = homotopy(sqrt(x - 20) - sqrt(y - 20), 0);
end WithoutValue;
"""

VALLEYS = """
model Valleys "Each z has one root, far behind a valley: found one by one, hardly all at once"
  parameter Integer n = 20;
  Real z[n](start = {-10.0 - i for i in 1:n});
  Real s[n];
equation
  for i in 1:n loop
    (z[i] - 10*i)*((z[i] + 10 + i)^2 + 1e-4) = homotopy(s[i]*z[if i == n then 1 else i + 1], 0.1);
    s[i] = homotopy(1e-3*sqrt(1 + z[i]^2) + 1e-3*z[if i == 1 then n else i - 1], 0);
  end for;
end Valleys;
"""


def test_the_actual_expression_has_no_say_where_the_way_begins(tmp_path: Path) -> None:
    path = tmp_path / "WithoutValue.mo"
    path.write_text(WITHOUT_A_VALUE)
    found = kilohertz.load(path).simulate()
    root = 20 + ((1 + np.sqrt(13)) / 2) ** 2  # of x = sqrt(x - 20) + 23
    assert found["x"][0] == pytest.approx(root, rel=1e-9)
    assert found["y"][0] == pytest.approx(root, rel=1e-9)


def test_simplified_equations_are_solved_one_by_one(tmp_path: Path) -> None:
    """Their loops fall apart where homotopies cut them; together with what the actual ones join they are not solved."""
    path = tmp_path / "Valleys.mo"
    path.write_text(VALLEYS)
    found = kilohertz.load(path).simulate()
    z = np.array([found[f"z[{i}]"][0] for i in range(1, 21)])
    i = np.arange(1, 21)
    s = 1e-3 * np.sqrt(1 + z**2) + 1e-3 * np.roll(z, 1)
    assert (z - 10 * i) * ((z + 10 + i) ** 2 + 1e-4) == pytest.approx(s * np.roll(z, -1), rel=1e-6)
    assert z == pytest.approx(10 * i, abs=0.1)  # and no point of a valley

"""Linear loops in long chains: which unknowns are guessed so that rounding stays small."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.passes.ordered.guesses import Torn, tear
from kilohertz.passes.ordered.sound_tearing import soundly_torn

N = 40
CHAIN = [[c for c in (i - 1, i, i + 1) if 0 <= c < N] for i in range(N)]


def torn(middle: float, ahead: float = -1.0, behind: float = -1.0, is_known: bool = True) -> Torn:
    """The chain behind*x[i-1] + middle*x[i] + ahead*x[i+1]."""

    def factor(i: int, c: int) -> float | None:
        return {-1: behind, 0: middle, 1: ahead}[c - i] if is_known else None

    return soundly_torn(CHAIN, partial(tear, CHAIN, N, forced={}, weight=lambda c: 0), lambda i, c: 1, factor)


def test_a_chain_in_which_errors_grow_is_not_followed() -> None:
    assert len(torn(2.0).guessed) == 1  # they grow as the chain does
    dominant = torn(3.0)
    assert N // 2 <= len(dominant.guessed) < N
    assert all(i == c for i, c in dominant.sequence)


def test_where_the_largest_factor_does_not_help_all_unknowns_are_kept() -> None:
    fibonacci = torn(1.0, ahead=-1.0, behind=1.0)  # x[i+1] := x[i] + x[i-1]: each factor is the largest
    assert len(fibonacci.guessed) == N and fibonacci.sequence == []


def test_without_numbers_the_first_choice_is_kept() -> None:
    assert len(torn(3.0, is_known=False).guessed) == 1


@pytest.mark.parametrize("n", [10, 40, 200])
def test_unknowns_of_a_chain_have_all_their_digits(tmp_path: Path, n: int) -> None:
    file = tmp_path / "Chain.mo"
    file.write_text(
        f"""model Chain
          parameter Integer n = {n};
          parameter Real k = 10;
          Real x[n], u(start = 1, fixed = true);
        equation
          der(u) = 0;
          k*(3*x[1] - x[2]) = u;
          for i in 2:n - 1 loop
            k*(x[i] - u) + k*(x[i] - x[i - 1]) + k*(x[i] - x[i + 1]) = 0;
          end for;
          k*(3*x[n] - x[n - 1]) = 0;
        end Chain;"""
    )
    matrix = 3.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    exact = np.linalg.solve(matrix, [0.1, *[1.0] * (n - 2), 0.0])
    result = kilohertz.load(str(file)).simulate(stop=0.1)
    assert [result[f"x[{i + 1}]"][-1] for i in range(n)] == pytest.approx(exact, rel=1e-13)

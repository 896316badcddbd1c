"""Numbers to try a choice with: values at the start, singular matrices, and loops that are not closed for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir.expr import Ref
from kilohertz.ir.types import INTEGER, REAL
from kilohertz.passes.ordered.guesses import Torn
from kilohertz.passes.ordered.inner_loops import split
from kilohertz.passes.ordered.trial_point import is_regular, number_of, values_at_start

STARTS = """
model Starts
  parameter Real k = 2;
  Real x(start = k, fixed = true), y, z, u(start = 1), v;
  input Real outside;
equation
  der(x) = u - y;
  y + z = x;
  k*y - z = 4;
  u^3 + u = 10*x/k + 0*v;
  v = u*outside;
end Starts;
"""


def test_values_follow_from_start_values_through_loops(tmp_path: Path) -> None:
    path = tmp_path / "Starts.mo"
    path.write_text(STARTS)
    values = values_at_start(compile_flat(load(f"{path}:Starts").flatten()), {"k": 2.0})
    assert values["x"] == 2.0
    assert values["y"] == pytest.approx(2.0)
    assert values["u"] == pytest.approx(2.0)
    assert "v" not in values  # an input has no number of its own


def test_a_name_without_a_value_gets_a_number_of_its_own() -> None:
    a, b = number_of(Ref("a", REAL)), number_of(Ref("b", REAL))
    assert a is not None and b is not None and a != b
    assert 0.5 <= a < 1.5 and number_of(Ref("a", REAL)) == a
    assert number_of(Ref("n", INTEGER)) is None


def test_singular_matrices_are_seen_whatever_their_scale() -> None:
    cross = [(0, 1, -3e6), (0, 2, 2e6), (1, 0, 3e6), (1, 2, -1e6), (2, 0, -2e6), (2, 1, 1e6)]  # of a cross product
    assert not is_regular(3, cross)
    assert not is_regular(2, [(0, 0, 1.0), (1, 0, 1.0)])
    assert is_regular(2, [(0, 0, 1e9), (1, 1, 1e-9)])
    assert is_regular(2, [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)])


class Rows:
    """Two states, x = base + h*dx and y = base + h*dy, with dx = f(x), dy = g(x, y), linear but for x."""

    def __init__(self, regular: bool) -> None:
        self._regular = regular
        self.asked: list[int] = []

    def is_sound(self, row: int, column: int) -> bool:
        return True

    def is_solvable(self, row: int, column: int) -> bool:
        return column != 0

    def is_linear(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        return 0 not in set(columns)

    def is_regular(self, rows: Sequence[int], columns: Sequence[int]) -> bool:
        self.asked.append(len(rows))
        return self._regular

    def is_steady(self, rows: Sequence[int], columns: Iterable[int]) -> bool:
        return True

    def torn(self, rows: list[list[int]], forced: dict[int, int]) -> Torn:
        return Torn([0, 1], [(0, 2), (1, 3)], [2, 3])


@pytest.mark.parametrize(("regular", "guessed"), [(True, 1), (False, 2)])
def test_a_loop_without_a_solution_at_the_start_is_not_closed(regular: bool, guessed: int) -> None:
    x, y, dx, dy = range(4)
    rows = [[dx, x], [dy, x, y], [x, dx], [y, dy]]
    loop = Rows(regular)
    found = split(loop, rows, {}, {}, {x: 2, y: 3})
    assert found is not None and len(found.guessed) == guessed
    assert loop.asked and set(loop.asked) <= {2, 3}

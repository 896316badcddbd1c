"""Events matched one to one, shifts found again, expressions over signals."""

from __future__ import annotations

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.compare.curve import Curve
from kilohertz.compare.event_matching import jumps, match
from kilohertz.compare.shift import time_shift
from kilohertz.compare.signal_expressions import names_in, values_of
from kilohertz.results import Result


def staircase(times: np.ndarray, heights: np.ndarray) -> Curve:
    """Jumps by the heights at the times, as two rows with one time each."""
    t = np.concatenate([[0.0], np.repeat(times, 2), [10.0]])
    y = np.repeat(np.concatenate([[0.0], np.cumsum(heights)]), 2)
    return Curve(t, y)


@pytest.mark.parametrize("seed", range(50))
def test_events_with_known_shifts_are_matched(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 30))
    times = np.sort(random.uniform(0.5, 9.5, n)) + np.arange(n) * 1e-3
    heights = random.choice([-1.0, 1.0], n) * random.uniform(0.5, 2.0, n)
    late = random.uniform(-2e-4, 2e-4, n)
    lost = random.random(n) < 0.2
    found = match(
        jumps(staircase((times + late)[~lost], heights[~lost]), 0.1), jumps(staircase(times, heights), 0.1), 4e-4
    )
    assert len(found.pairs) == int((~lost).sum())
    assert len(found.only_reference) == int(lost.sum())
    assert found.only_result == ()
    assert [a.time - b.time for a, b in found.pairs] == pytest.approx(late[~lost].tolist(), abs=1e-12)


def test_a_jump_on_a_grid_is_an_event_and_a_slope_is_none() -> None:
    t = np.linspace(0, 1, 1001)
    assert [j.time for j in jumps(Curve(t, (t >= 0.5).astype(float)), 0.1)] == [0.5]
    assert jumps(Curve(t, np.sin(20 * t)), 0.001) == ()


def test_directions_do_not_match_one_another() -> None:
    up, down = (
        jumps(staircase(np.array([1.0]), np.array([1.0])), 0.1),
        jumps(staircase(np.array([1.0]), np.array([-1.0])), 0.1),
    )
    found = match(up, down, 1.0)
    assert found.pairs == ()
    assert len(found.only_result) == len(found.only_reference) == 1


@pytest.mark.parametrize("late", [-0.037, -1e-3, 0.0, 2.5e-4, 0.0191])
def test_a_shift_is_found_again(late: float) -> None:
    t = np.linspace(0, 3, 3001)
    reference = Curve(t, np.sin(5 * t) + np.exp(-3 * (t - 1) ** 2))
    result = Curve(t, np.sin(5 * (t - late)) + np.exp(-3 * (t - late - 1) ** 2))
    found = time_shift(result, reference, 0.1)
    assert found == pytest.approx(late, abs=2e-4)
    assert time_shift(Curve(t, 0 * t), reference, 0.1) is None


def test_expressions_over_signals() -> None:
    t = np.linspace(0, 1, 5)
    result = Result.of_columns("M", t, {"a.p": t, "b.p": 2 * t, "x[2]": t + 1, "der(v)": 3 * t})
    assert values_of("a.p - b.p", result).tolist() == (-t).tolist()
    assert values_of("max(abs(a.p - b.p), 0.5)*2", result).tolist() == (2 * np.maximum(t, 0.5)).tolist()
    assert values_of("der(v) + x[2]", result).tolist() == (4 * t + 1).tolist()
    assert values_of("if a.p > 0.5 then 1 else -1", result).tolist() == [-1.0, -1.0, -1.0, 1.0, 1.0]
    assert values_of("1.5", result).tolist() == [1.5] * 5
    assert names_in("a.p - b.p*abs(der(v)) + x[2]") == ("a.p", "b.p", "der(v)", "x[2]")
    with pytest.raises(ModelError, match=r"`a.q \+ 1`: the result has no `a.q`; did you mean a.p"):
        values_of("a.q + 1", result)
    with pytest.raises(ModelError, match="cannot be computed from a result"):
        values_of('"text"', result)

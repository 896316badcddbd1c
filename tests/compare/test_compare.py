"""The verdict is right on curves whose answer is known, and the tube equals its definition point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.compare import Bars, compare
from kilohertz.compare.curve import Curve
from kilohertz.compare.measures import error_curve
from kilohertz.results import Result


def result(time: np.ndarray, **columns: np.ndarray) -> Result:
    return Result.of_columns("R", time, columns)


GRID = np.linspace(0, 10, 501)
SINE = result(GRID, x=np.sin(GRID))


def test_a_result_matches_itself() -> None:
    verdict = compare(SINE, SINE, bars=Bars(rms=1e-12, symmetric=True))
    assert verdict.ok
    assert verdict.signals[0].rms == 0.0


def test_an_offset_just_inside_and_just_outside() -> None:
    height = 2 * 0.002  # range is about 2
    assert compare(result(GRID, x=np.sin(GRID) + 0.9 * height), SINE).ok
    verdict = compare(result(GRID, x=np.sin(GRID) + 10 * height), SINE)
    assert verdict.failed[0].reason == "outside the tube"
    assert verdict.failed[0].first_outside == pytest.approx(0.0)


def test_a_late_jump_within_dx_passes_and_later_fails() -> None:
    def step(at: float) -> Result:
        return result(np.array([0, at, at, 10]), x=np.array([0.0, 0.0, 1.0, 1.0]))

    bars = Bars(max_gap=1.0)
    assert compare(step(5.0 + 0.019), step(5.0), bars=bars).ok
    assert not compare(step(5.0 + 0.021), step(5.0), bars=bars).ok
    assert compare(step(5.0 + 0.019), step(5.0), bars=bars).signals[0].largest_away_from_jumps == 0.0


def test_symmetric_sees_a_pulse_that_is_not_there() -> None:
    pulse = result(np.array([0, 5, 5, 5.1, 5.1, 10]), x=np.array([0.0, 0, 1, 1, 0, 0]))
    flat = result(np.linspace(0, 10, 201), x=np.zeros(201))
    bars = Bars(max_gap=1.0)
    assert not compare(flat, pulse, bars=Bars(max_gap=1.0, symmetric=True)).ok
    assert compare(flat, result(pulse.time, x=np.zeros(6)), bars=bars).ok


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        (GRID[5:], "starts at"),
        (GRID[:-5], "ends at"),
        (GRID[::-1], "time runs backwards"),
        (np.append(GRID[:-1], np.nan), "time has a NaN"),
        (np.array([0.0, 10.0]), "too sparse"),
        (np.array([]), "no rows"),
    ],
)
def test_a_result_that_does_not_cover_the_reference_fails(time: np.ndarray, reason: str) -> None:
    verdict = compare(result(time, x=np.sin(time)), SINE)
    assert not verdict.ok
    assert reason in verdict.coverage


def test_missing_signals_and_nan_fail() -> None:
    broken = np.where(GRID > 5, np.nan, np.sin(GRID))
    assert compare(result(GRID, y=broken), SINE, ["x"]).failed[0].reason == "missing in the result"
    assert compare(SINE, result(GRID, y=np.sin(GRID)), ["x"]).failed[0].reason == "missing in the reference"
    apart = compare(result(GRID, y=broken), SINE)
    assert not apart.ok
    assert (apart.pairing.only_result, apart.pairing.only_reference) == (("y",), ("x",))
    assert "not a finite number at t = 5.02" in compare(result(GRID, x=broken), SINE).failed[0].reason


def test_rms_is_the_integral() -> None:
    other = result(np.array([0.0, 10.0]), x=np.array([0.0, 1.0]))
    zero = result(np.array([0.0, 10.0]), x=np.array([0.0, 0.0]))
    verdict = compare(other, zero, bars=Bars(nominal=1.0, max_gap=1.0)).signals[0]
    assert verdict.rms == pytest.approx(1 / np.sqrt(3))
    assert verdict.largest == pytest.approx(1.0)


points = st.lists(st.tuples(st.integers(0, 20), st.integers(-5, 5)), min_size=1, max_size=12)


@settings(deadline=None)
@given(points, st.lists(st.floats(-2, 22), min_size=1, max_size=8), st.floats(0.1, 6))
def test_extremes_over_windows_equal_brute_force(data: list[tuple[int, int]], at: list[float], dx: float) -> None:
    data.sort(key=lambda p: p[0])
    curve = Curve(np.array([p[0] for p in data], float), np.array([p[1] for p in data], float))
    t = np.array(at)
    start, stop = t - dx, t + dx
    for i in range(len(t)):
        inside = curve.value[(curve.time >= start[i]) & (curve.time <= stop[i])]
        samples = np.concatenate([inside, curve.after(start[i : i + 1]), curve.before(stop[i : i + 1])])
        assert curve.highest(start, stop)[i] == samples.max()
        assert curve.lowest(start, stop)[i] == samples.min()


def test_windows_and_limits_are_those_of_trying_every_point() -> None:
    random = np.random.default_rng(5)
    for n in (1, 2, 3, 17, 200):
        t = np.sort(np.round(random.uniform(0, 10, n), 1))  # some times twice: jumps
        curve = Curve(t, random.normal(size=n))
        start = np.sort(np.round(random.uniform(-1, 11, 40), 1))
        stop = start + random.choice([0.0, 0.05, 0.3, 4.0], 40)
        for higher, better in ((curve.highest(start, stop), max), (curve.lowest(start, stop), min)):
            for a, b, found in zip(start, stop, higher, strict=True):
                inside = [float(y) for x, y in zip(t, curve.value, strict=True) if a <= x <= b]
                edges = [float(curve.after(np.array([a]))[0]), float(curve.before(np.array([b]))[0])]
                assert found == better(inside + edges)
        for x in (*t, *start):
            left = [float(y) for s, y in zip(t, curve.value, strict=True) if s < x]
            right = [float(y) for s, y in zip(t, curve.value, strict=True) if s > x]
            at = [float(y) for s, y in zip(t, curve.value, strict=True) if s == x]
            if at:
                assert curve.before(np.array([x]))[0] == pytest.approx(at[0])
                assert curve.after(np.array([x]))[0] == pytest.approx(at[-1])
            elif not left or not right:
                assert curve.after(np.array([x]))[0] == (right[0] if right else left[-1])


def saw() -> Result:
    """A ramp that falls back at 1, 2, ..., 9 s."""
    t = np.concatenate([[0.0], np.repeat(np.arange(1.0, 10.0), 2), [10.0]])
    return result(t, x=np.concatenate([np.tile([0.0, 1.0], 10)]))


def test_rows_that_cannot_show_an_edge_are_no_error() -> None:
    """A recording has one row a step, after its events."""
    t = np.linspace(0.0, 10.0, 101)
    recorded = result(t + 1e-10, x=np.round(t - np.floor(np.round(t, 6)), 6))
    signal = compare(recorded, saw(), bars=Bars(tolerance=1e-6, end_slack=0.01)).signals[0]
    assert signal.largest == pytest.approx(0.0, abs=1e-6) and signal.rms == pytest.approx(0.0, abs=1e-6)
    assert (signal.n_events_only_result, signal.n_events_only_reference) == (0, 0)


def test_an_event_of_a_recording_is_as_late_as_its_row() -> None:
    t = np.linspace(0.0, 10.0, 101)
    step = result(np.array([0, 4.03, 4.03, 10]), x=np.array([0.0, 0.0, 1.0, 1.0]))
    signal = compare(result(t, x=(t > 4.05).astype(float)), step, bars=Bars(tolerance=0.02)).signals[0]
    assert signal.n_events == 1 and signal.event_error == pytest.approx(0.07)
    missed = compare(result(t, x=np.zeros(101)), step).signals[0]
    assert (missed.n_events, missed.n_events_only_reference) == (0, 1) and missed.largest == 1.0


@pytest.mark.parametrize("off", [0.0, 1e-3, 0.1])
def test_the_same_rows_are_judged_as_rows_in_between_would_be(off: float) -> None:
    """On the same times nothing is interpolated; one row more changes no measure."""
    y = np.sin(GRID) + off * np.cos(3 * GRID)
    more, extra = np.insert(GRID, 7, (GRID[6] + GRID[7]) / 2), np.insert(y, 7, (y[6] + y[7]) / 2)
    same, other = (compare(r, SINE).signals[0] for r in (result(GRID, x=y), result(more, x=extra)))
    assert same.ok == other.ok == (off < 0.1)
    for measure in ("rms", "largest", "largest_away_from_jumps", "mean", "final"):
        assert getattr(same, measure) == pytest.approx(getattr(other, measure), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("grid", [GRID, np.linspace(0, 10, 101), np.linspace(0, 10, 1713)])
def test_the_curve_of_the_error_has_the_numbers_of_the_table(grid: np.ndarray) -> None:
    """A reference with a kink and a jump at its events, rows of a recording that see neither: what is drawn is what is
    measured."""
    t = np.sort(np.concatenate([GRID, [3.337, 3.337, 7.771, 7.771]]))
    kinked = np.where(t < 3.337, t, 3.337 + 9 * (t - 3.337))
    jumps = np.where(np.arange(len(t)) > np.searchsorted(t, 7.771), kinked - 20.0, kinked)
    reference = result(t, x=jumps)
    recorded = result(grid, x=np.interp(grid, t, jumps) + 1e-3 * np.sin(grid))
    signal = compare(recorded, reference, bars=Bars(tolerance=0.05)).signals[0]
    drawn = error_curve(Curve(grid, recorded["x"]), Curve(t, jumps))
    assert np.abs(drawn.value).max() / signal.scale == pytest.approx(signal.largest, rel=1e-12)
    assert abs(drawn.value[-1]) / signal.scale == pytest.approx(signal.final, rel=1e-12)
    assert np.trapezoid(np.abs(drawn.value), drawn.time) / 10 / signal.scale == pytest.approx(signal.mean, rel=1e-3)
    assert signal.scale == pytest.approx(np.ptp(jumps))

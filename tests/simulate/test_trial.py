"""`auto` by trial: what is taken on an event-dense, a stiff and a harmless model, and how far off it is."""

from __future__ import annotations

import re
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kilohertz import load
from kilohertz.driver import Model
from kilohertz.driver import plan as driver_plan
from kilohertz.driver.plan import Experiment, Plan, make_plan
from kilohertz.results import Result, Signal
from kilohertz.simulate import Statistics, distance, trial
from kilohertz.simulate.distance import Ahead, Judge
from kilohertz.simulate.trial import INTERNAL_STEPS, TOLERANCE
from kilohertz.solvers import METHODS, StepSettings

SOURCE = Path(__file__).with_name("internal.mo")


@cache
def model(name: str) -> Model:
    return load(f"{SOURCE}:Internal.{name}")


@cache
def plan(name: str, stop: float, most: int | None = None) -> Plan:
    asked = StepSettings.of(solver="auto", step=1e-3, internal_steps=most)
    return make_plan(model(name), asked, Experiment(stop=stop))


def away(name: str, stop: float, taken: Plan, signal: str) -> float:
    """Largest distance from a tight reference at full periods, as a share of the range: measured here anew."""
    n = round(stop / 1e-3)
    exact = model(name).simulate(stop=stop, tolerance=1e-9, intervals=n)
    decided = {name: getattr(taken.stepping, name) for name in taken.stepping.given}
    ours = model(name).simulate(stop=stop, intervals=n, **decided)
    at = np.arange(n + 1) * 1e-3
    values = [r[signal][np.searchsorted(r.time, at + 1e-9, "right") - 1] for r in (exact, ours)]
    return float(np.abs(values[1] - values[0]).max() / np.ptp(exact[signal]))


def test_a_harmless_model_keeps_the_cheap_method_with_its_measured_error() -> None:
    taken = plan("Oscillator", 1.0)
    assert taken.stepping.solver == "rk3" and taken.stepping.internal_steps == 1
    assert re.search(r"auto takes rk3: the fastest mode.*off by at most .* % of the range$", taken.notes[0])
    assert away("Oscillator", 1.0, taken, "x") < TOLERANCE


def test_a_reference_with_fewer_rows_than_steps_finds_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked, ends, found = StepSettings.of(solver="auto", step=1e-4), Experiment(stop=1.3), []
    for k, numbers in enumerate((driver_plan._NUMBERS, 1)):
        monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path / str(k)))
        monkeypatch.setattr(driver_plan, "_NUMBERS", numbers)
        found.append(make_plan(load(f"{SOURCE}:Internal.Knocked"), asked, ends))
    assert found[0].stepping == found[1].stepping
    for taken in found:
        assert "in a trial it is off by at most" in taken.notes[0]


def test_trials_side_by_side_find_what_they_find_one_by_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of many that are tried, with the same numbers in the reason."""
    found = [plan("Chopper", 0.02)]
    monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path))
    monkeypatch.setattr(trial, "_AT_ONCE", 3 - trial._AT_ONCE)
    found.append(make_plan(model("Chopper"), StepSettings.of(solver="auto", step=1e-3), Experiment(stop=0.02)))
    assert found[0] == found[1] and "tried" in found[0].notes[0]


@pytest.mark.parametrize(("name", "stop"), [("Chopper", 0.02), ("Fast", 0.1)])
def test_trials_that_wait_once_they_are_off_lead_to_the_same(
    name: str, stop: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where none is near and where one is; none is left behind."""
    found, looks, waits = [plan(name, stop)], Ahead.is_beyond, list[bool]()

    def is_beyond(ahead: Ahead, rows: distance.Floats) -> bool:
        waits.append(looks(ahead, rows))
        return waits[-1] and is_patient

    monkeypatch.setattr(Ahead, "is_beyond", is_beyond)
    for is_patient in (True, False):
        monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path / str(is_patient)))
        found.append(make_plan(model(name), StepSettings.of(solver="auto", step=1e-3), Experiment(stop=stop)))
    assert found[0] == found[1] == found[2] and any(waits)
    for thread in threading.enumerate():
        if thread.name.endswith("(_work)"):
            thread.join(10.0)
            assert not thread.is_alive()


def test_a_stiff_model_keeps_an_l_stable_method() -> None:
    taken = plan("Stiff", 1.0)
    assert abs(METHODS[taken.stepping.solver].amplification_at_infinity) < 1e-4
    assert taken.stepping.internal_steps == 1
    assert away("Stiff", 1.0, taken, "x") < TOLERANCE


def test_a_converter_gets_internal_steps_and_the_reason_says_so() -> None:
    taken = plan("Chopper", 0.02)
    n = taken.stepping.internal_steps
    assert n > 1
    assert f"{n} internal steps of {1e-3 / n:g} s" in taken.notes[0]
    one = plan("Chopper", 0.02, 1)
    assert one.stepping.internal_steps == 1
    assert away("Chopper", 0.02, taken, "u") < 0.3 * away("Chopper", 0.02, one, "u")


def test_no_more_internal_steps_than_needed_nor_than_allowed() -> None:
    taken, few = plan("Fast", 0.1), plan("Fast", 0.1, 2)
    assert taken.stepping.internal_steps in (2, 5)
    assert "within 0.5 %" in taken.notes[0] and away("Fast", 0.1, taken, "x") < TOLERANCE
    assert few.stepping.internal_steps <= 2


def test_a_model_that_fails_in_every_stage_gets_the_method_without_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    how = StepSettings.of(solver="auto", step=1e-3)
    for name in ("ros3prl", "rodas4"):
        statistics = Statistics()
        model("Steep").simulate(stop=1.0, solver=name, step=1e-3, statistics=statistics)
        assert statistics.counts["held"] > 0
    monkeypatch.setattr(trial, "INLINED", ())
    taken = make_plan(model("Steep"), how, Experiment(stop=1.0))
    assert taken.stepping.solver == "lie"
    assert away("Steep", 1.0, taken, "y") < TOLERANCE


def test_many_internal_steps_are_taken_where_fewer_do_not_do() -> None:
    """And told, with their cost, where the user allows fewer."""
    fast = "Fast(w = 12e3)"
    taken, few = plan(fast, 0.1), plan(fast, 0.1, 10)
    assert taken.stepping.internal_steps > INTERNAL_STEPS[-1]
    assert few.stepping.internal_steps <= 10
    said = re.search(r"; (\d+) internal steps would be off by at most (.*) % \(`--internal-steps \1`\)", few.notes[0])
    assert said is not None and float(said[2]) <= 0.5
    assert re.search(r"a period takes at most .* instructions then$", few.notes[0])
    assert away(fast, 0.1, taken, "x") < TOLERANCE


def test_more_internal_steps_than_fit_the_period_are_told_with_their_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "INSTRUCTIONS_PER_SECOND", 2e7)
    taken = make_plan(
        load(f"{SOURCE}:Internal.Fast(w = 12e3)"), StepSettings.of(solver="auto", step=1e-3), Experiment(stop=0.1)
    )
    assert taken.stepping.internal_steps <= INTERNAL_STEPS[-1]
    assert re.search(r"would be off by at most .* %, but a period takes at most .* times what", taken.notes[0])


def test_shorter_steps_that_bring_nothing_twice_are_not_made_shorter() -> None:
    one = trial._Trial.__new__(trial._Trial)  # after trials that went as said
    one._measured, one._in_vain, answers = {}, 0, []
    for n, off in ((1, 0.9), (2, 0.95), (5, 0.92), (10, 0.9)):  # one variable in a thousand
        late = np.zeros(1000)
        late[-1] = off
        found = distance.Distances(tuple(map(str, range(1000))), np.arange(10), late, late)
        c = trial.Candidate("rk4", internal_steps=n)
        one._measured[c] = trial.Measured(c, 1.0, found)
        answers.append(one._gains(n) if n > 1 else True)
    assert answers == [True, True, False, False]


def test_what_the_user_fixes_stays() -> None:
    fixed = StepSettings.of(solver="auto", step=1e-3, internal_steps=5, events="mid")
    taken = make_plan(model("Chopper"), fixed, Experiment(stop=0.02))
    assert taken.stepping.events == "mid" and taken.stepping.internal_steps <= 5


def test_the_same_answer_every_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked, answers = StepSettings.of(solver="auto", step=1e-3), []
    for k in range(2):
        monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path / str(k)))  # nothing is known from before
        answers.append(make_plan(load(f"{SOURCE}:Internal.Chopper"), asked, Experiment(stop=0.02)))
    assert answers[0] == answers[1] and "known from before" not in answers[0].notes[0]


def test_long_work_is_told_of() -> None:
    said: list[str] = []
    make_plan(model("Fast"), StepSettings.of(solver="auto", step=1e-3), Experiment(stop=0.1), said.append)
    assert said[0].startswith("auto tries ") and len(said) > 1


def result(time: list[float], **columns: list[float]) -> Result:
    signals = {n: Signal(k) for k, n in enumerate(columns)} | {"alias": Signal(0, -1)}
    return Result("m", np.array(time), np.column_stack([np.array(c) for c in columns.values()]), signals)


def test_the_judge_allows_an_event_at_the_end_of_its_step_and_nothing_more() -> None:
    grid = [float(t) for t in np.round(np.arange(21) * 0.1, 9)]
    time = sorted([*grid, 0.5])
    step = [0.0] * 6 + [1.0] * 16
    judge = Judge(result(time, s=step, r=[10 * t for t in time]), (), 0.1, 2.0)
    assert judge.names == ("s", "r")
    late = result(grid, s=[float(t > 0.65) for t in grid], r=[10 * t for t in grid])
    assert judge.distances(late).largest < 1e-9
    wrong = result(grid, s=[float(t > 0.9) for t in grid], r=[10 * t + 3 * (t > 1.4) for t in grid])
    found = judge.distances(wrong)
    assert found.worst == "s" and found.share[0] == 1.0
    assert found.share[1] == pytest.approx(0.15)  # no slack far from an event


def test_a_run_shorter_than_a_step_is_looked_at_too() -> None:
    judge = Judge(result([0.0, 0.02, 0.04], s=[0, 1, 2]), (), 0.1, 0.04)
    assert judge.distances(result([0.0, 0.04], s=[0, 2])).largest == 0.0
    assert judge.distances(result([0.0, 0.04], s=[0, 3])).largest == pytest.approx(0.5)


def test_a_peak_between_two_steps_shows_where_all_rows_count() -> None:
    grid = [float(t) for t in np.round(np.arange(41) * 0.1, 9)]
    judge = Judge(result(grid, r=[t + 0.5 for t in grid]), (), 0.1, 4.0)
    time = sorted([*grid, 0.55, 0.55])
    peak = result(time, r=[8.5 if t == 0.55 else t + 0.5 for t in time])
    assert judge.distances(peak).largest < 1e-9
    found = judge.distances(peak, everywhere=True)
    assert found.farthest == "r" and found.largest == pytest.approx((8.5 - 1.25) / 4)
    far = [*grid[:4], *grid[12:]]  # no row of the reference near the peak: nobody knows
    sparse = Judge(result(far, r=[t + 0.5 for t in far]), (), 0.1, 4.0)
    assert sparse.distances(peak, everywhere=True).largest < 1e-9


def test_what_dies_away_between_rows_of_the_reference_is_not_compared() -> None:
    rows = [0.0, 1.0, 2.0, 2.15, 2.15, 3.0, 4.0]
    known = [0.0, 0.0, 0.0, 0.0, 8.0, 0.1, 0.0]
    judge = Judge(result(rows, r=known), (), 0.1, 4.0)
    assert [round(t, 9) for t in judge.instants] == [0.0, 1.0, 2.0, 3.0, 4.0]
    finer = result([*rows[:5], 2.2, 2.3, *rows[5:]], r=[*known[:5], 3.0, 0.5, *known[5:]])
    assert judge.distances(finer).largest < 1e-9
    finer.data[-2] = 4.1
    assert judge.distances(finer).largest == pytest.approx(0.5)


def test_a_mode_that_the_reference_never_takes_shows_however_short() -> None:
    grid = [float(t) for t in np.round(np.arange(41) * 0.1, 9)]
    judge = Judge(result(grid, m=[1.0] * 41, r=grid), (), 0.1, 4.0)
    blink = result(
        [*grid[:20], 1.95, 1.95, *grid[20:]], m=[1.0] * 20 + [1.0, 2.0] + [1.0] * 21, r=sorted([*grid, 1.95, 1.95])
    )
    assert judge.distances(blink).worst == "m"


def test_a_peak_of_a_state_at_an_event_shows() -> None:
    grid = [float(t) for t in np.round(np.arange(41) * 0.1, 9)]
    x = [t + 0.01 for t in grid]
    peak = result([*grid[:20], 1.95, *grid[20:]], x=[*x[:20], 5.96, *x[20:]])
    for states, expected in (((), 0.0), (("x",), 3.8 / 4)):
        found = Judge(result(grid, x=x), states, 0.1, 4.0).distances(peak)
        assert found.largest == pytest.approx(expected, abs=1e-6)


def test_a_run_without_numbers_is_infinitely_far() -> None:
    judge = Judge(result([0.0, 1.0], s=[0, 1]), (), 0.1, 1.0)
    assert judge.distances(result([0.0, 1.0], s=[0, float("nan")])).largest == float("inf")


def test_of_very_many_variables_some_are_left_out_but_no_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "MOST_COMPARED", 2)
    few = Judge(result([0.0, 1.0], a=[0, 1], b=[0, 1], c=[0, 1], d=[0, 1], e=[0, 1]), ("e",), 0.1, 1.0)
    assert few.names == ("a", "d", "e")


def test_the_band_around_an_instant_holds_every_row_of_its_window() -> None:
    random = np.random.default_rng(4)
    time = np.sort(np.concatenate([random.uniform(0.0, 4.0, 200), np.full(30, 1.5)]))  # many rows at one event
    table, slack = random.normal(size=(len(time), 3)), random.choice([1e-9, 0.01, 0.3], 50)
    instants = np.linspace(0.0, 4.0, 50)
    high, low = distance._around(time, table, instants, slack)
    for k, (t, wide) in enumerate(zip(instants, slack, strict=True)):
        ends = [[np.interp(e, time, table[:, j]) for j in range(3)] for e in (t - wide, t + wide)]
        rows = np.vstack([table[(time >= t - wide) & (time <= t + wide)], *ends])
        assert np.allclose(high[k], rows.max(axis=0)) and np.allclose(low[k], rows.min(axis=0))


def test_a_run_that_leaves_the_limit_is_found_while_it_comes() -> None:
    grid = [float(t) for t in np.round(np.arange(41) * 0.1, 9)]
    judge = Judge(result(grid, x=grid, y=[2 * t for t in grid]), ("x",), 0.1, 4.0)
    for off, is_found in ((0.004, False), (0.006, True)):  # of a range of 4
        run = result(grid, x=grid, y=[2 * t + (8 * off if t > 1.95 else 0.0) for t in grid])
        rows = np.column_stack([run.time, run.data])
        ahead, found = judge.ahead(run.signals, 2, TOLERANCE), []
        for at in range(0, len(rows), 7):
            found.append(ahead.is_beyond(rows[at : at + 7]))
        assert any(found) is is_found is (judge.distances(run).largest > TOLERANCE)
        assert not is_found or found.index(True) == 3  # the chunk with the row after the instant, not the last one


def test_noise_beside_large_values_of_its_unit_is_no_range() -> None:
    time = [0.1 * k for k in range(41)]
    columns = {"f": [1e5 * t for t in time], "rest": [1e-9 * (k % 3) for k in range(41)]}
    other = columns | {"rest": [-1e-9 * (k % 2) for k in range(41)]}
    for units, is_noise in ((("N", "N"), True), (("N", "m"), False), (("", ""), False)):

        def run(of: dict[str, list[float]], units: tuple[str, ...] = units) -> Result:
            data = np.column_stack([np.array(c) for c in of.values()])
            return Result("m", np.array(time), data, {n: Signal(k, 1, units[k]) for k, n in enumerate(of)})

        assert (Judge(run(columns), (), 0.1, 4.0).distances(run(other)).largest < TOLERANCE) is is_noise

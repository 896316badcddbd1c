"""Rows of a run are in memory once, however many come; limits are looked at in all of them."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kilohertz import Model, ModelError, load
from kilohertz.simulate import Statistics
from kilohertz.simulate.rows import Rows

LINES = """model Lines
  parameter Real k = 0.5;
  Real x[200](each start = 1, each fixed = true, each min = 0.7);
  Real y[200] = fill(k, 200);
  Boolean high = x[1] > 0.9;
  Boolean low = not high;
equation
  der(x) = -x;
end Lines;"""
EVENTS = """model Events
  Integer n(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when sample(0, 0.001) then
    n = pre(n) + 1;
  end when;
end Events;"""


@pytest.fixture
def lines(tmp_path: Path) -> Model:
    (tmp_path / "Lines.mo").write_text(LINES)
    return load(str(tmp_path / "Lines.mo"))


def test_more_rows_than_expected_and_another_width() -> None:
    rows, value = Rows(3, 10), 0.0
    for n in (1, 50, 200, 7, 1000):
        while n:
            room = rows.room(n)
            room[:, 0], room[:, 1:] = value, [1.0, 2.0]
            rows.take(len(room))
            n, value = n - len(room), value + len(room)
    assert rows.n == value == 1258
    assert (np.diff(rows.written[:, 0]) >= 0.0).all() and rows.written[-1, 0] < 1258
    assert (rows.written[:, 1:] == [1.0, 2.0]).all()
    assert (rows.with_width(4)[:, :3] == rows.written).all()
    assert (rows.with_width(2) == rows.written[:, :2]).all()


def test_more_rows_expected_than_there_is_memory_for() -> None:
    rows = Rows(1000, 1 << 60)
    rows.room(3)[:] = 1.0
    rows.take(3)
    assert (rows.written == np.ones((3, 1000))).all()


def test_a_result_is_in_memory_once(lines: Model) -> None:
    lines.simulate(stop=1.0, intervals=10)
    tracemalloc.start()
    try:
        result = lines.simulate(stop=1.0, intervals=4000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.data.nbytes > 1 << 22
    assert most < 2.0 * result.data.nbytes  # three times, where rows were kept as they came and then put together


def test_values_at_rest_and_negated_ones_follow_what_is_shown(lines: Model) -> None:
    result = lines.simulate(stop=1.0, settings={"k": 0.25})
    assert (result["y[7]"] == 0.25).all()
    assert (result["low"] == 1.0 - result["high"]).all() and {0.0, 1.0} == set(result["low"])
    assert result["x[200]"][-1] == pytest.approx(np.exp(-1.0), rel=1e-4)


def test_limits_are_looked_at_in_what_is_not_shown_too(lines: Model) -> None:
    every, few = Statistics(), Statistics()
    result = lines.simulate(stop=1.0, intervals=9000, statistics=every)
    shown = lines.simulate(stop=1.0, intervals=9000, record=["x[3]"], statistics=few)
    assert (shown["x[3]"] == result["x[3]"]).all() and shown.data.shape[1] == 1
    said = [d.message for d in every.warnings]
    assert said == [d.message for d in few.warnings]
    n_outside = int((result["x[1]"] < 0.7 - 1e-6).sum())
    assert said[0].endswith(f" although its min is 0.7, in {n_outside} of {len(result.time)} rows")


def test_events_make_room(tmp_path: Path) -> None:
    (tmp_path / "Events.mo").write_text(EVENTS)
    model = load(str(tmp_path / "Events.mo"))
    fixed = model.simulate(stop=1.0, intervals=5, solver="euler", step=0.001)
    for result in (model.simulate(stop=1.0, intervals=5), fixed):
        assert result.final("n") == 1001.0 and len(result.time) > 2000
        assert (np.diff(result.time) >= 0.0).all() and np.abs(result["x"] - result.time).max() < 1e-9


def test_rows_that_memory_cannot_hold_are_refused_before_the_first(lines: Model) -> None:
    with pytest.raises(ModelError) as caught:
        lines.simulate(stop=1, intervals=10**11, record="x[1]")
    (told,) = caught.value.diagnostics
    assert told.code == "R723" and told.message.startswith(
        "1e+11 rows of 2 numbers take 1.6e+03 GB, and this machine has "
    )
    assert "fewer output intervals" in told.notes[0].text

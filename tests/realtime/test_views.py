"""What nobody reads is not computed in a task; who reads gets the values of the step."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from live_tasks import attached

from kilohertz.realtime import Built, Connection, Recording, Scenario, Task, start
from kilohertz.solvers import StepSettings

Build = Callable[[Scenario], Built]


def task(name: str, model: str) -> Task:
    return Task(name, model, StepSettings("rk4", 1e-3), 1, {})


def swinging(s: Scenario, *signals: str, every: int = 1) -> Scenario:
    """The pendulum as fast as possible, of which some signals are recorded."""
    return replace(
        s, tasks=(task("", "Swing"),), scale=None, recording=Recording(signals=signals, every=every), live=False
    )


def test_rows_of_views_are_those_of_a_run_that_computes_all(make: Build, lag: Scenario) -> None:
    runs = [
        start(make(swinging(lag, *signals, every=every)), words).wait().result
        for signals, every, words in (
            (("all",), 1, {"views": 1}),
            (("phi", "energy", "twice"), 7, {}),
            (("phi",), 1, {}),
        )
    ]
    whole, some, one = runs
    assert set(one.names) >= {"phi"} and "energy" not in one.names
    assert np.array_equal(one["phi"], whole["phi"])
    rows = np.isin(whole.time, some.time)
    assert rows.sum() == len(some.time) > 20
    for name in ("phi", "energy", "twice"):
        assert np.array_equal(some[name], whole[name][rows])


def test_a_view_that_a_connection_takes_is_computed_in_every_step(make: Build, lag: Scenario) -> None:
    pair = replace(
        lag,
        tasks=(task("swing", "Swing"), task("gain", "Gain")),
        connections=(Connection("swing.energy", "gain.u"),),
        scale=None,
        recording=Recording(signals=("gain.y",)),
        live=False,
    )
    left, whole = (start(make(pair), words).wait().result for words in ({}, {"views": 1}))
    assert np.array_equal(left["gain.y"], whole["gain.y"]) and np.ptp(left["gain.y"]) > 0.0


def test_live_values_are_those_of_the_step_they_are_read_in(make: Build, lag: Scenario) -> None:
    """Nothing is recorded: views are computed for the reader alone, and again after a pause in reading."""
    swing = replace(lag, tasks=(task("", "Swing"),), cycles=0, recording=Recording(signals=("phi",)))
    running = start(make(swing))
    try:
        with attached(running) as live:
            for wait in (0.0, 0.0, 2.2, 0.0):
                time.sleep(wait)
                frame = live.frame()
                assert frame["twice"] == 2.0 * frame["phi"] != 0.0
                assert live["age"] > live.time - 0.5
            time.sleep(2.2)
            live.pause()
            frame = live.frame()
            assert frame["twice"] == 2.0 * frame["phi"] and abs(frame["age"] - live.time) < 1e-9
            live.step(3)
            assert abs(live["age"] - live.time) < 1e-9
            live.resume()
            time.sleep(2.2)
            live.stop()
            running.process.wait(20)
            frame = live.frame()
            assert frame["twice"] == 2.0 * frame["phi"] and abs(frame["age"] - live.time) < 1e-9
    finally:
        running.stop()
        running.process.wait(20)


def test_a_snapshot_goes_back_with_its_views(make: Build, lag: Scenario) -> None:
    swing = replace(lag, tasks=(task("", "Swing"),), cycles=0, recording=Recording(signals=("phi",)))
    running = start(make(swing))
    try:
        with attached(running) as live:
            live.snapshot()
            live.pause()
            live.restore()
            frame = live.frame()
            assert frame["twice"] == 2.0 * frame["phi"] and abs(frame["age"] - live.time) < 1e-9
    finally:
        running.stop()
        running.process.wait(20)

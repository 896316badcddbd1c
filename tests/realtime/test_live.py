"""A running rig from outside: values, commands, attaching and detaching."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live_tasks import attached

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.realtime import Built, Device, Live, Running, Scenario, Stimulus, attach, start
from kilohertz.realtime.live import FOLDER
from kilohertz.results import read

Build = Callable[[Scenario], Built]


@pytest.fixture
def running(make: Build, lag: Scenario) -> Iterator[Running]:
    """The lag, until stopped."""
    built = make(replace(lag, cycles=0))
    found = start(built)
    try:
        yield found
    finally:
        found.stop()
        found.process.wait(20)


def test_values_commands_and_the_end(running: Running) -> None:
    with attached(running) as live:
        assert live.pid == running.process.pid
        live.set("u", 5.0)
        live.pause()
        assert live.state == "paused"
        frame = live.frame()
        assert frame["u"] == 5.0
        at = live.time
        live.step(7)
        assert live.time == pytest.approx(at + 7e-3, abs=1e-12)
        assert live.state == "paused"
        live.stop()
    report = running.wait()
    assert report.data["ended"] == "command"
    assert report.counts["commands"] == 4


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_steps_is_one_or_more(running: Running, n: int) -> None:
    with attached(running) as live:
        live.pause()
        at = live.time
        with pytest.raises(ModelError, match="must be 1 or more"):
            live.step(n)
        assert main(["set", "--rig", live.name, f"--step={n}"]) == 2
        assert live.time == at


def test_words_that_a_running_rig_cannot_follow(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    with attached(running) as live:
        assert main(["set", "--rig", live.name, "--pause", "--resume"]) == 2
        assert main(["set", live.name, "u=3"]) == 2
        assert f"a rig is named by --rig {live.name}" in capsys.readouterr().err
        assert main(["fault", live.name]) == 1
        assert f"a rig is named by `--rig {live.name}`" in capsys.readouterr().err
        assert main(["watch", live.name, "--once", "-s", "u", "-s", "uu"]) == 1
        assert "the rig has no signal `uu`" in capsys.readouterr().err


def test_settings_are_quantities_and_words_as_off_line(make: Build, lag: Scenario) -> None:
    task = replace(lag.tasks[0], model="Gears", settings={"s": "20 mm", "gear": "high"})
    running = start(make(replace(lag, tasks=(task,), cycles=0)))
    try:
        with attached(running) as live:
            live.pause()
            assert live["y"] == pytest.approx(0.2)
            live.set("s", "3 cm")
            live.set("gear", "Gear.low")
            live.step(1)
            assert live["s"] == pytest.approx(0.03) and live["gear"] == 1.0
            assert main(["set", "--rig", lag.name, "gear=high", "s=2 km", "on=false", "--step", "1"]) == 0
            assert (live["gear"], live["s"], live["on"]) == (2.0, 2000.0, 0.0)
            for name, value, why in (
                ("s", "3 kg", "`kg` .* does not convert to `m`"),
                ("s", "nan", "it is not a number"),
                ("gear", "middle", "it is one of low, high, or their numbers from 1 to 2"),
                ("gear", "7", "it is one of low, high"),
                ("gear", "1.5", "it is one of low, high"),
                ("on", "1 m", "it is true or false"),
                ("on", "maybe", "it is true or false"),
                ("on", "2", "it is true or false"),
            ):
                with pytest.raises(ModelError, match=f"`{name}` cannot be set to {value}: .*{why}"):
                    live.set(name, value)
    finally:
        running.stop()
        running.process.wait(20)


def test_arrays_are_set_by_elements_and_as_a_whole(make: Build, lag: Scenario) -> None:
    task = replace(lag.tasks[0], model="Gains", settings={})
    running = start(make(replace(lag, tasks=(task,), cycles=0)))
    try:
        with attached(running) as live:
            live.pause()
            assert main(["set", "--rig", lag.name, "k[2]=5", "m={{1, 2}, {7, 4}}", "--step", "1"]) == 0
            assert (live["k[1]"], live["k[2]"], live["y"]) == (1.0, 5.0, 751.0)
            live.set("k", [3, 4])
            live.step(1)
            assert live["y"] == 743.0
            for name, value, why in (
                ("k", "{1, 2, 3}", "3 values for 2 elements"),
                ("k", "{1, two}", r"`k\[2\]` cannot be set to two"),
                ("k", 1.0, "has no signal `k`"),
                ("z", "{1, 2}", r"has no signal `z\[1\]`"),
            ):
                with pytest.raises(ModelError, match=why):
                    live.set(name, value)
            live.step(1)
            assert live["y"] == 743.0
    finally:
        running.stop()
        running.process.wait(20)


def test_a_parameter_takes_those_that_depend_on_it_along(running: Running) -> None:
    with attached(running) as live:
        live.pause()
        live.set("T", 0.1)
        live.step(1)
        assert live["rate"] == 10.0
        y, u = live["y"], live["u"]
        live.step(1)
        h = 1e-3 * 10.0  # classical Runge-Kutta for a linear equation: Taylor to the fourth power
        grown = u + (y - u) * (1 - h + h**2 / 2 - h**3 / 6 + h**4 / 24)
        assert live["y"] == pytest.approx(grown, rel=1e-13)


def test_a_snapshot_brings_back_the_same_numbers(running: Running) -> None:
    with attached(running) as live:
        live.pause()
        live.snapshot()
        at = live.time
        live.step(20)
        first = live.frame()
        live.restore()
        assert live.time == at
        live.step(20)
        assert live.frame() == first


@pytest.mark.parametrize("model", ["Reads", "Remembers"])
def test_a_snapshot_is_refused_where_external_functions_remember(make: Build, lag: Scenario, model: str) -> None:
    task = replace(lag.tasks[0], model=model, settings={})
    running = start(make(replace(lag, cycles=0, tasks=(task,))))
    try:
        with attached(running) as live:
            if model == "Remembers":
                with pytest.raises(ModelError, match="what external functions of a model remember"):
                    live.snapshot()
                return
            live.pause()
            live.snapshot()
            at = live.time
            live.step(20)
            after = live["x"]
            live.restore()
            assert live.time == at and live["x"] < after
            live.step(20)
            assert live["x"] == after
    finally:
        running.stop()
        running.process.wait(20)


def test_what_cannot_be_done_is_said(running: Running) -> None:
    with attached(running) as live:
        for name, value, said in (
            ("y", 1.0, "cannot be set"),
            ("TT", 1.0, "did you mean `T`"),
            ("u", float("nan"), "cannot be set"),
        ):
            with pytest.raises(ModelError, match=said):
                live.set(name, value)
        with pytest.raises(ModelError, match="no snapshot") as caught:
            live.restore()
        assert caught.value.diagnostics[0].code == "R746"


def test_a_name_belongs_to_one_rig_at_a_time(running: Running) -> None:
    attached(running).close()
    second = start(running.built, folder=running.built.folder / "src")
    with pytest.raises(ModelError) as caught:
        second.wait()
    assert any("already running" in note.text for note in caught.value.diagnostics[0].notes)
    assert running.process.poll() is None


def test_the_commands(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    attached(running).close()
    name = running.built.name
    assert main(["set", "--rig", name, "u=7", "--pause"]) == 0
    assert "paused" in capsys.readouterr().out
    assert main(["watch", name, "--once", "-s", "u"]) == 0
    assert "u = 7" in capsys.readouterr().out
    assert main(["set", "--rig", name, "u=seven"]) == 1
    assert main(["set", "--rig", name, "--stop"]) == 0
    assert main(["watch", "nothing-of-this-name"]) == 1
    assert running.wait().ok


def test_nobody_there() -> None:
    with pytest.raises(ModelError, match="no rig called"):
        attach("nothing-of-this-name")


def test_histograms_agree_with_the_report(make: Build, scenario: Scenario) -> None:
    running = start(make(replace(scenario, cycles=300)))
    seen = []

    def progress(_: float, live: Live | None) -> None:
        if live is not None:
            seen.append((live.time, live.counts["steps"], live.times("compute").quantile(0.5)))

    report = running.wait(progress)
    assert report.counts["steps"] == 300
    times = np.array([s[0] for s in seen])
    assert np.all(np.diff(times) >= 0)
    assert all(0 <= s[1] <= 300 for s in seen)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_a_pinned_loop_has_its_core_to_itself(make: Build, lag: Scenario) -> None:
    core = max(os.sched_getaffinity(0))
    found = start(make(replace(lag, cycles=0, realtime=replace(lag.realtime, cpu=core))))
    try:
        with attached(found):
            threads = [int(t.name) for t in Path(f"/proc/{found.process.pid}/task").iterdir()]
            masks = [os.sched_getaffinity(t) for t in threads]
    finally:
        found.stop()
        found.process.wait(20)
    assert masks.count({core}) == 1 and len(masks) > 1
    assert sum(core in mask for mask in masks) == 1


@pytest.mark.parametrize("by", ["device", "stimulus"])
def test_setting_an_input_that_something_drives_is_refused(make: Build, lag: Scenario, by: str) -> None:
    driven = replace(lag, cycles=0, tasks=(replace(lag.tasks[0], settings={}),))
    if by == "device":
        driven = replace(driven, devices=(Device("echo", "loopback", {}, ({"signal": "u"},), ({"signal": "y"},)),))
    else:
        driven = replace(driven, stimuli=(Stimulus(formulas={"u": "sine(frequency = 2)"}),))
    running = start(make(driven))
    with attached(running) as live:
        with pytest.raises(ModelError, match="drives it and would set it again at once"):
            live.set("u", 5.0)
        live.set("T", 0.1)
    running.stop()
    assert running.wait().ok


@pytest.mark.parametrize("target", ["kept.csv", ""])
def test_rows_of_a_rig_that_is_killed_are_kept(make: Build, lag: Scenario, tmp_path: Path, target: str) -> None:
    file = str(tmp_path / target) if target else ""
    running = start(make(replace(lag, cycles=0, recording=replace(lag.recording, file=file))))
    until = time.monotonic() + 60
    while running.recording.stat().st_size < 20_000 if running.recording.exists() else True:
        assert time.monotonic() < until
        time.sleep(0.02)
    running.process.kill()
    running.process.wait(20)
    (FOLDER / f"khz-{running.built.name}").unlink()  # who is killed leaves its memory behind
    with pytest.raises(ModelError) as caught:
        running.wait()
    (problem,) = caught.value.diagnostics
    where = file or str(running.recording)
    assert problem.code == "R747"
    assert problem.notes[-1].text.startswith(f"`{where}` holds a part of the run: ")
    rows = read(where)
    assert len(rows.time) > 100 and f"{len(rows.time)} rows, until {rows.time[-1]:g} s" in problem.notes[-1].text

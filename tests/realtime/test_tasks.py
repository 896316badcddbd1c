"""Several models in one executable, connections, playback, recording triggers, devices."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.realtime import Built, Connection, Device, Recording, Scenario, Stimulus, Task, Trigger, start
from kilohertz.realtime.scenario import INTERPOLATIONS
from kilohertz.results import write
from kilohertz.solvers import StepSettings

Build = Callable[[Scenario], Built]


def task(name: str, model: str, solver: str = "rk4", every: int = 1, **settings: float) -> Task:
    return Task(name, model, StepSettings(solver, every * 1e-3), every, settings)


def fast(s: Scenario, *tasks: Task, **changes: object) -> Scenario:
    return replace(s, tasks=tasks, scale=None, cycles=40, **changes)  # type: ignore[arg-type]


def test_parallel_exchange_sees_the_others_at_one_instant(make: Build, lag: Scenario) -> None:
    s = fast(
        lag,
        task("clock", "Clock", "euler"),
        task("gain", "Gain"),
        connections=(Connection("clock.y", "gain.u", gain=10.0, offset=1.0),),
    )
    result = start(make(s)).wait().result
    # at the end of a cycle the gain shows what the clock was at its beginning
    before = np.concatenate([[0.0], result["clock.y"][:-1]])
    assert np.array_equal(result["gain.u"][1:], 10.0 * before[1:] + 1.0)
    assert np.array_equal(result["gain.y"][1:], 2.0 * result["gain.u"][1:])


def test_sequential_exchange_sees_what_was_just_computed(make: Build, lag: Scenario) -> None:
    tasks = (task("clock", "Clock", "euler"), task("gain", "Gain"))
    s = fast(lag, *tasks, exchange="sequential", connections=(Connection("clock.y", "gain.u"),))
    result = start(make(s)).wait().result
    assert np.array_equal(result["gain.u"][1:], result["clock.y"][1:])
    # against the order there is nothing newer to see
    back = replace(s, tasks=s.tasks[::-1])
    result = start(make(back)).wait().result
    assert np.array_equal(result["gain.u"][1:], result["clock.y"][:-1])


def test_sequential_exchange_of_slower_tasks_under_extrapolation(make: Build, lag: Scenario) -> None:
    tasks = (task("clock", "Clock", "euler", every=4), task("gain", "Gain", every=4), task("other", "Clock", "euler"))
    connection = Connection("clock.y", "gain.u", extrapolate="linear")
    result = start(make(fast(lag, *tasks, exchange="sequential", connections=(connection,)))).wait().result
    k = np.arange(41)
    assert np.allclose(result["gain.u"][4:], (k[4:] // 4) * 4e-3, atol=1e-15)
    assert np.array_equal(result["gain.y"][4:], 2.0 * result["gain.u"][4:])


def test_a_slower_task_is_never_ahead_of_time(make: Build, lag: Scenario) -> None:
    s = fast(
        lag,
        task("clock", "Clock", "euler"),
        task("slow", "Clock", "euler", every=4),
        task("gain", "Gain", k=1.0),
        connections=(Connection("slow.y", "gain.u", extrapolate="linear"),),
    )
    report = start(make(s)).wait()
    result, k = report.result, np.arange(41)
    assert np.allclose(result["slow.y"], (k // 4) * 4e-3, atol=1e-15)
    assert [t["counts"]["steps"] for t in report.data["tasks"]] == [40, 10, 40]
    # extrapolation turns the staircase back into the ramp, from the second period of the slow task on
    assert np.allclose(result["gain.u"][9:], (k[9:] - 1) * 1e-3, atol=1e-14)


def test_playback_holds_or_interpolates(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "u.csv"
    file.write_text('"time","u","other"\n0,1,0\n0.01,3,0\n0.02,2,0\n')
    held = replace(lag, scale=None, cycles=30, stimuli=(Stimulus(file),), tasks=(task("model", "Lag"),))
    result = start(make(held)).wait().result
    assert np.array_equal(result["u"][1:], [1.0] * 10 + [3.0] * 10 + [2.0] * 10)
    linear = replace(held, stimuli=(Stimulus(file, "linear", {"u": "u"}),))
    result = start(make(linear)).wait().result
    t = np.arange(30) / 1000
    assert np.allclose(result["u"][1:], np.interp(t, [0, 0.01, 0.02], [1, 3, 2]), atol=1e-12)


def test_initial_equations_see_a_stimulus_at_the_start(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "u.csv"
    file.write_text("time,u\n0,5\n0.01,6\n")
    for way in INTERPOLATIONS:
        s = replace(lag, scale=None, cycles=3, stimuli=(Stimulus(file, way),), tasks=(task("model", "Gain", k=2.0),))
        result = start(make(s)).wait().result
        assert (result["u"][0], result["y"][0]) == (5.0, 10.0)


def test_a_built_folder_can_be_moved_with_its_stimulus(make: Build, lag: Scenario, tmp_path: Path) -> None:
    """From wherever it is started; without the file it says which one is missing."""
    file = tmp_path / "u.csv"
    file.write_text("time,u\n0,5\n")
    s = replace(lag, name="moved", scale=None, cycles=3, stimuli=(Stimulus(file),), tasks=(task("model", "Lag"),))
    built = make(s)
    there = tmp_path / "elsewhere"
    shutil.copytree(built.folder, there)
    shutil.rmtree(built.folder)
    for command in ([there / "moved"], [there / "moved", there / "moved.scenario"]):
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
    (there / "moved.stimulus0.csv").unlink()
    ran = subprocess.run([there / "moved"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode != 0 and f"stimulus {there / 'moved.stimulus0.csv'}" in ran.stderr


def test_playback_of_a_recorded_run_gives_the_same_bits(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file, random = tmp_path / "u.csv", np.random.default_rng(1)
    rows = "".join(f"{k / 1000!r},{u!r}\n" for k, u in enumerate(random.normal(size=50).tolist()))
    file.write_text(f"time,u\n{rows}")
    s = replace(lag, scale=None, cycles=40, stimuli=(Stimulus(file),), tasks=(task("model", "Lag"),))
    first = start(make(s)).wait().result
    write(tmp_path / "recorded.csv", first)
    again = start(make(replace(s, stimuli=(Stimulus(tmp_path / "recorded.csv", "recorded"),)))).wait().result
    assert np.array_equal(again.time, first.time)
    for name in first.names:
        assert np.array_equal(again[name], first[name]), name


def test_a_stimulus_with_a_broken_line_is_refused_with_its_number(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "u.csv"
    file.write_text("time,u\n0,1\n0.01,x\n")
    s = replace(lag, stimuli=(Stimulus(file),), tasks=(task("model", "Lag"),))
    with pytest.raises(ModelError, match=r"line 3, column `u`: `x` is not a number"):
        make(s)


def test_an_input_is_driven_once(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "u.csv"
    file.write_text("time,a.u\n0,1\n")
    tasks = (task("a", "Lag"), task("b", "Lag"))
    s = fast(lag, *tasks, stimuli=(Stimulus(file),), connections=(Connection("b.y", "a.u"),))
    with pytest.raises(ModelError, match="driven twice"):
        make(s)


def test_triggers_and_the_rows_before_them(make: Build, scenario: Scenario) -> None:
    recording = Recording(
        signals=("capacitor.v",), begin=Trigger("time", ">", 0.1), end=Trigger("time", ">", 0.15), before=20
    )
    report = start(make(replace(scenario, recording=recording, scale=None))).wait()
    assert report.result.time[0] == 0.081
    assert report.result.time[-1] == 0.151
    assert len(report.result.time) == 71
    recorder = report.data["recorder"]
    assert recorder["written"] + recorder["not_wanted"] == recorder["rows"] == 201


def test_every_nth_row_and_a_trigger_on_a_signal_that_is_not_recorded(make: Build, lag: Scenario) -> None:
    recording = Recording(signals=("u",), every=5, begin=Trigger("y", ">", 0.5))
    result = start(make(replace(lag, recording=recording, scale=None))).wait().result
    assert result["y"][0] > 0.5
    assert np.allclose(np.diff(result.time), 5e-3)


def test_a_device_gives_back_what_was_sent(make: Build, lag: Scenario) -> None:
    device = Device("echo", "loopback", {}, ({"signal": "b.u", "gain": "3"},), ({"signal": "a.y"},))
    s = fast(lag, task("a", "Clock", "euler"), task("b", "Gain"), devices=(device,))
    report = start(make(s)).wait()
    result = report.result
    assert np.allclose(result["b.u"][2:], 3.0 * result["a.y"][1:-1], rtol=1e-15)
    assert report.data["devices"][0]["sent"] == 40
    assert report.data["times"]["device"]["n"] > 0


def test_a_model_may_end_the_run(make: Build, lag: Scenario) -> None:
    report = start(make(fast(lag, task("model", "Ends", "euler"), recording=Recording()))).wait()
    assert report.ok
    s = fast(lag, task("model", "Ends", "euler"))
    report = start(make(replace(s, cycles=0))).wait()
    assert report.data["ended"] == "terminated"
    assert 0.05 <= report.data["model_seconds"] <= 0.052


def test_what_a_model_says_is_in_the_report(make: Build, lag: Scenario) -> None:
    report = start(make(fast(lag, task("model", "Talks", "euler")))).wait()
    said = {s["kind"]: s for s in report.data["tasks"][0]["said"]}
    assert not report.ok
    assert said["warning"]["text"] == "warm: 0.011" and said["warning"]["n"] == 30
    assert said["warning"]["first_time"] == pytest.approx(0.011) and "models.mo:" in said["warning"]["origin"]
    assert said["error"]["text"] == "hot: 0.031" and said["error"]["n"] == 10
    assert said["message"]["text"] == "half way, at 0.025" and said["message"]["origin"] == ""
    text = report.as_text()
    assert "warned 30 times, first at 0.011 s: warm: 0.011 (" in text
    assert "failed 10 times, first at 0.031 s: hot: 0.031 (" in text
    assert "times, first at 0.025 s: half way, at 0.025" in text


def test_a_model_that_ends_the_run_says_why(make: Build, lag: Scenario) -> None:
    built = make(fast(lag, task("model", "Talks", "euler", ends=1.0)))
    report = start(built).wait()
    assert "terminated by the model: enough at 0.036" in report.as_text().splitlines()[0]
    alone = subprocess.run([str(built.executable)], capture_output=True, text=True, timeout=60, check=False)
    assert "model: ended the run 1 times, first at 0.036 s: enough at 0.036; " in alone.stdout
    assert "model: warned 26 times, first at 0.011 s: warm: 0.011; " in alone.stdout


@pytest.mark.parametrize(
    ("key", "said"),
    [("ends_below", "ended the run at its start: nothing to do"), ("fails_at_once", "too hot to start")],
)
def test_a_model_that_does_not_start_says_why(make: Build, lag: Scenario, key: str, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        start(make(fast(lag, task("model", "Talks", "euler", 1, **{key: 1.0})))).wait()
    notes = " ".join(n.text for n in caught.value.diagnostics[0].notes)
    assert said in notes and " at models.mo:" in notes

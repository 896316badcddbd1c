"""Several real-time threads: the same bits as one thread, deadlines of slow models, policies, commands, processes."""

from __future__ import annotations

import os
import platform
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from live_tasks import attached

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import load
from kilohertz.driver.tasks import open_job
from kilohertz.realtime import (
    Built,
    Connection,
    Device,
    Fault,
    Recording,
    Scenario,
    Stimulus,
    Task,
    Thread,
    Trigger,
    placed,
    predict,
    start,
)
from kilohertz.realtime.live import FOLDER
from kilohertz.results import Result
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import Source, Unit, build_shared

Build = Callable[[Scenario], Built]


def task(name: str, model: str, solver: str = "rk4", every: int = 1, **settings: float) -> Task:
    return Task(name, model, StepSettings(solver, every * 1e-3), every, settings)


def threaded(one: Task, thread: str) -> Task:
    return replace(one, thread=thread)


def ring(s: Scenario, process: str = "", **changes: object) -> Scenario:
    """Three models in a ring at 1, 3 and 2 ms, each in a thread of its own, with extrapolation on the way."""
    tasks = (
        threaded(task("a", "Lag", T=0.02), "x"),
        threaded(task("b", "Lag", every=3), "y"),
        threaded(task("c", "Gain", "euler", every=2, k=-1.5), "z"),
    )
    connections = (
        Connection("a.y", "b.u"),
        Connection("b.y", "c.u", gain=2.0, offset=0.5, extrapolate="linear"),
        Connection("c.y", "a.u", offset=1.0, extrapolate="linear"),
    )
    threads = (Thread("x"), Thread("y", process=process), Thread("z"))
    whole = replace(s, tasks=tasks, connections=connections, threads=threads, exchange="sequential", cycles=120)
    return replace(whole, **changes)  # type: ignore[arg-type]


def result(built: Built, **words: object) -> Result:
    return start(built, words).wait().result


def assert_same(first: Result, second: Result) -> None:
    assert first.names == second.names
    assert np.array_equal(first.time, second.time)
    for name in first.names:
        assert np.array_equal(first[name], second[name]), name


@pytest.mark.parametrize("process", ["", "other"])
def test_threads_and_processes_give_the_bits_of_one_thread(make: Build, lag: Scenario, process: str) -> None:
    built = make(ring(lag, process))
    one = result(built, wall_num=0, one_thread=1)
    report = start(built, {"wall_num": 0}).wait()
    assert_same(one, report.result)
    assert len(one.time) == 121 and len(set(one["a.y"].tolist())) > 100
    assert len({t["process"] for t in report.data["threads"]}) == (2 if process else 1)
    assert [t["counts"]["steps"] for t in report.data["threads"]] == [120, 40, 60]
    assert report.counts["exchange_late"] == 0


def anything(s: Scenario, seed: int) -> Scenario:
    """Models at drawn rates in drawn threads and processes, connected at random."""
    draw = random.Random(seed)
    rates = [1, *(draw.randint(1, 6) for _ in range(draw.randint(1, 3)))]
    tasks: list[Task] = []
    for i, rate in enumerate(rates):
        for j in range(draw.randint(1, 3)):
            every = rate * (draw.randint(1, 3) if j else 1)
            tasks.append(threaded(task(f"m{len(tasks)}", draw.choice(("Lag", "Gain")), every=every), f"t{i}"))
    draw.shuffle(tasks)
    connections = tuple(
        Connection(
            f"{draw.choice(tasks).name}.y",
            f"{t.name}.u",
            draw.uniform(-1, 1),
            draw.uniform(-1, 1),
            draw.choice(("hold", "linear")),
        )
        for t in tasks
    )
    threads = tuple(Thread(f"t{i}", process=draw.choice(("", "p", "q"))) for i in range(len(rates)))
    whole = replace(s, tasks=tuple(tasks), connections=connections, threads=threads, cycles=180)
    return replace(whole, exchange=draw.choice(("parallel", "sequential")), recording=Recording(every=1 + seed % 2))


@pytest.mark.parametrize("seed", range(6))
def test_any_placement_gives_the_same_bits(make: Build, lag: Scenario, seed: int) -> None:
    built = make(anything(lag, seed))
    assert_same(result(built, wall_num=0, one_thread=1), result(built, wall_num=0))


def test_in_real_time_too_as_long_as_no_message_is_late(make: Build, lag: Scenario) -> None:
    """One step of 30 ms in the slow thread: who has patience gets its message, whatever the machine does."""
    s = ring(lag, "other", fault=Fault(10, 1 << 40, 30_000_000, "y"))
    built = make(replace(s, realtime=replace(s.realtime, patience_ns=20_000_000_000)))
    one = result(built, wall_num=0, one_thread=1)
    report = start(built).wait()
    assert report.counts["exchange_late"] + report.counts["exchange_old"] == 0
    assert_same(one, report.result)
    assert report.thread("z")["counts"]["missed"] >= 5  # they waited for it
    report = start(built, {"patience_ns": 0}).wait()
    assert report.thread("z")["counts"]["exchange_late"] >= 5
    assert "messages of other threads" in report.as_text()
    assert not np.array_equal(one["c.u"], report.result["c.u"])


def test_rows_of_threads_are_merged_under_triggers_and_every_nth_step(make: Build, lag: Scenario) -> None:
    recording = Recording(signals=("a.y", "b.*"), every=5, begin=Trigger("c.y", "<", -0.9), before=3, times=True)
    built = make(ring(lag, recording=recording))
    one = result(built, wall_num=0, one_thread=1)
    several = result(built, wall_num=0)
    assert {"x.cycle.slack", "y.cycle.compute", "z.cycle.lateness"} <= set(several.names)
    assert np.array_equal(one.time, several.time) and 3 < len(one.time) < 25
    for name in ("a.y", "b.y", "b.u", "c.y"):
        assert np.array_equal(one[name], several[name]), name


def test_a_stimulus_drives_tasks_of_several_threads(make: Build, lag: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "u.csv"
    file.write_text("time,a.u,b.u\n0,1,2\n0.02,3,-1\n")
    tasks = (threaded(task("a", "Lag"), "x"), threaded(task("b", "Lag", every=2), "y"))
    s = replace(lag, tasks=tasks, threads=(Thread("x"), Thread("y")), stimuli=(Stimulus(file, "linear"),), cycles=40)
    built = make(s)
    assert_same(result(built, wall_num=0, one_thread=1), result(built, wall_num=0))


def test_a_slow_model_needs_not_fit_into_the_shortest_period(make: Build, lag: Scenario) -> None:
    """A step of 12 ms where others are due every 4 ms; on one core the fast thread interrupts it."""
    tasks = (threaded(task("fast", "Lag", every=4), "main"), threaded(task("slow", "Lag", every=40), "slow"))
    shorter = tuple(replace(t, every=t.every // 4) for t in tasks)
    s = replace(lag, tasks=shorter, period_ns=4_000_000, cycles=120, threads=(Thread("slow"),))
    s = replace(s, connections=(Connection("slow.y", "fast.u"),), realtime=replace(s.realtime, priority=50))
    built = make(replace(s, fault=Fault(0, 1, 12_000_000, "slow")))
    words: dict[str, object] = {"one_thread": 1, "fault.slow_step": 9, "fault.slow_every": 10}
    one = start(built, words).wait()
    assert one.counts["overruns"] >= 10  # every step of the slow model
    report = start(built).wait()
    assert report.thread("slow")["times"]["compute"]["min"] >= 12_000_000
    assert report.counts["overruns"] <= one.counts["overruns"] // 2
    assert [p.priority for p in placed(s)] == [50, 49]


def pair(s: Scenario, *threads: Thread, **changes: object) -> Scenario:
    pair = (threaded(task("a", "Lag", every=2), "x"), threaded(task("b", "Lag", every=4), "y"))
    tasks = tuple(replace(t, every=t.every // 2) for t in pair)
    connections = (Connection("a.y", "b.u"), Connection("b.y", "a.u", offset=1.0))
    whole = replace(s, tasks=tasks, period_ns=2_000_000, cycles=100, connections=connections, threads=threads)
    return replace(whole, **changes)  # type: ignore[arg-type]


def test_the_policy_of_one_thread_ends_all(make: Build, lag: Scenario) -> None:
    threads = (Thread("x"), Thread("y", settings={"policy": "stop", "grace": 3}))
    report = start(make(pair(lag, *threads, fault=Fault(20, 1 << 40, 30_000_000, "y")))).wait()
    assert not report.ok
    assert (report.data["ended"], report.data["ended_by"]) == ("miss", "y")
    assert "(thread y)" in report.as_text()
    assert report.thread("x")["policy"] == "catch_up" and report.thread("y")["policy"] == "stop"
    assert report.thread("y")["counts"]["steps"] <= 21
    assert report.thread("x")["counts"]["steps"] < 100


@pytest.mark.parametrize("policy", ["catch_up", "skip"])
def test_a_late_message_is_not_waited_for(make: Build, lag: Scenario, policy: str) -> None:
    s = pair(lag, Thread("x"), Thread("y", settings={"policy": policy}), fault=Fault(20, 1 << 40, 30_000_000, "y"))
    report = start(make(s)).wait()
    assert report.ok
    assert report.thread("x")["counts"]["exchange_late"] >= 5
    assert report.thread("y")["counts"]["overruns"] >= 1
    assert (report.thread("y")["counts"]["skipped"] > 0) == (policy == "skip")
    # the fast thread goes on meanwhile, and every row is there
    assert report.thread("x")["counts"]["steps"] == 100
    assert np.array_equal(report.result.time, np.arange(101) * 2 / 1000)


@pytest.mark.parametrize("process", ["", "other"])
def test_commands_reach_all_threads_at_one_step(
    make: Build, lag: Scenario, process: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As fast as possible: no message is ever late, however busy the machine is."""
    running = start(make(ring(lag, process, cycles=0, scale=None, recording=Recording(enabled=False))))
    try:
        with attached(running) as live:
            live.pause()
            assert live.state == "paused"
            assert len({t.time_ns for t in live.threads}) == 1
            assert main(["watch", live.name, "--once", "-s", "c.k"]) == 0
            shown = capsys.readouterr().out
            assert "3 threads" in shown and "\n  y: " in shown and "c.k = -1.5" in shown
            live.set("b.T", 0.2)
            live.set("c.k", -0.5)
            live.snapshot()
            at = live.time
            live.step(1)  # whole periods of all: the least common multiple of 1, 3 and 2
            assert live.time == pytest.approx(at + 6e-3, abs=1e-9)
            assert live["b.rate"] == 5.0
            live.step(30)
            first = live.frame()
            live.restore()
            assert live.time == at
            live.step(6)
            live.step(30)
            assert live.frame() == first
            with pytest.raises(ModelError, match="cannot be set"):
                live.set("b.y", 1.0)
            live.resume()
            live.stop()
        report = running.wait()
    finally:
        running.stop()
        running.process.wait(20)
    assert report.data["ended"] == "command"
    ends = {round(t["model_seconds"] * 1000) for t in report.data["threads"]}
    assert report.counts["commands_late"] == 0 and len(ends) == 1


@pytest.mark.parametrize("stops", [True, False])
def test_a_process_that_is_killed(make: Build, lag: Scenario, stops: bool) -> None:
    s = ring(lag, "other", cycles=800)
    running = start(make(replace(s, realtime=replace(s.realtime, loss_stops=stops))))
    with attached(running) as live:
        while live.time < 0.05:
            time.sleep(0.005)
        lost = live.threads[1].pid
        assert lost != live.pid
        os.kill(lost, signal.SIGKILL)
    report = running.wait()
    assert report.thread("y")["ended"] == "lost"
    assert report.thread("y")["counts"]["steps"] >= 10  # what it had counted is not gone with it
    if stops:
        assert (report.ok, report.data["ended"], report.data["ended_by"]) == (False, "lost", "y")
        assert report.thread("x")["counts"]["steps"] < 800
    else:
        assert report.thread("x")["counts"]["steps"] == 800
        assert report.thread("z")["counts"]["exchange_late"] > 50
        assert np.array_equal(report.result.time, np.arange(801) / 1000)
        assert len(set(report.result["b.y"][-50:].tolist())) == 1  # its last value stands


def test_another_thread_takes_commands_where_the_first_is_gone(make: Build, lag: Scenario) -> None:
    s = pair(lag, Thread("x", process="other"), Thread("y"), cycles=0)
    running = start(make(replace(s, realtime=replace(s.realtime, loss_stops=False))))
    try:
        with attached(running) as live:
            os.kill(live.threads[0].pid, signal.SIGKILL)
            while not live.threads[0].ended:
                time.sleep(0.01)
            live.set("b.T", 0.5)
            live.pause()
            assert live.state == "paused" and live["b.rate"] == 2.0
            live.stop()
        report = running.wait()
    finally:
        running.stop()
        running.process.wait(20)
    assert [t["ended"] for t in report.data["threads"]] == ["lost", "command"]


def test_a_process_that_is_stopped_for_a_while(make: Build, lag: Scenario) -> None:
    s = ring(lag, "other", cycles=900)
    running = start(make(replace(s, realtime=replace(s.realtime, watchdog_ns=100_000_000))))
    with attached(running) as live:
        other = live.threads[1].pid
        os.kill(other, signal.SIGSTOP)
        before = live.threads[0].time_ns
        while live.threads[0].time_ns < before + 300_000_000:
            time.sleep(0.01)
        os.kill(other, signal.SIGCONT)
    report = running.wait()
    assert report.ok
    assert report.thread("y")["counts"]["stalls"] >= 1
    assert report.thread("z")["counts"]["exchange_late"] > 50
    assert [t["counts"]["steps"] for t in report.data["threads"]] == [900, 300, 450]  # all is caught up
    assert np.array_equal(report.result.time, np.arange(901) / 1000)


def test_the_first_process_takes_the_others_along(make: Build, lag: Scenario) -> None:
    running = start(make(ring(lag, "other", cycles=0)))
    with attached(running) as live:
        other = live.threads[1].pid
    running.process.kill()
    running.process.wait(20)
    (FOLDER / f"khz-{running.built.name}").unlink()  # who is killed leaves its memory behind
    for _ in range(500):
        try:
            os.kill(other, 0)
        except ProcessLookupError:
            break
        time.sleep(0.01)
    else:
        raise AssertionError("the other process goes on")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the trap needs glibc")
@pytest.mark.parametrize("process", ["", "other"])
def test_no_thread_allocates(make: Build, lag: Scenario, process: str) -> None:
    built = make(ring(lag, process))
    source = Source("trap.c", Path(__file__).with_name("trap.c").read_text())
    try:
        trap = build_shared([Unit((source,))])
    except ModelError:
        pytest.skip("the trap cannot be built here")
    words = [str(built.executable), "record.file=rows"]
    environment = {**os.environ, "LD_PRELOAD": str(trap)}
    done = subprocess.run(words, env=environment, cwd=built.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "after 120 steps" in done.stdout


def test_a_device_belongs_to_one_thread(make: Build, lag: Scenario) -> None:
    device = Device("echo", "loopback", {}, ({"signal": "b.u"},), ({"signal": "a.y"},))
    with pytest.raises(ModelError, match="signals of the threads `x` and `y`"):
        make(pair(lag, Thread("x"), Thread("y"), devices=(device,), connections=()))
    own = Device("echo", "loopback", {}, ({"signal": "b.u"},), ({"signal": "b.y"},))
    threads = (Thread("x"), Thread("y", process="other"))
    report = start(make(pair(lag, *threads, devices=(own,), connections=())), {"wall_num": 0}).wait()
    assert report.data["devices"][0]["sent"] == 50  # of the thread's own periods, counted in the other process


def test_a_device_that_cannot_be_opened_in_another_process_is_said(make: Build, lag: Scenario) -> None:
    device = Device("line", "serial", {"path": "/nowhere/tty"}, ({"signal": "b.u"},), ())
    threads = (Thread("x"), Thread("y", process="other"))
    with pytest.raises(ModelError) as caught:
        start(make(pair(lag, *threads, devices=(device,), connections=()))).wait()
    assert any("device line" in note.text for note in caught.value.diagnostics[0].notes)


def test_the_prediction_is_for_each_thread_and_core(make: Build, lag: Scenario) -> None:
    said = predict(make(pair(lag, Thread("x", cpu=0), Thread("y", cpu=0))))
    assert [(t.name, t.period_us) for t in said.threads] == [("x", 2000.0), ("y", 4000.0)]
    assert "thread y: a cycle takes" in said.as_text() and "core 0 (x, y):" in said.as_text()
    hopeless = predict(make(pair(lag, Thread("x"), Thread("y"), period_ns=1)))
    assert hopeless.verdict == "cannot"


def test_the_example_runs_on_two_threads(tmp_path: Path) -> None:
    """Plant and controller in processes of their own: the bits of one thread, close to CVODE's."""
    path = Path(__file__).parents[2] / "examples" / "two_cores" / "scenario.toml"
    job = open_job(path, duration=0.3)
    s = job.scenario
    s = replace(s, name=f"cores{os.getpid()}", realtime=replace(s.realtime, lock_memory=False))
    built = replace(job, scenario=s).build(folder=tmp_path)
    one, several = result(built, wall_num=0, one_thread=1), result(built, wall_num=0)
    assert_same(one, several)
    reference = load("Kilohertz.Examples.HydraulicAxis.Controlled").simulate(stop=0.3, intervals=300, tolerance=1e-9)
    off = np.abs(several["plant.x"] - reference["plant.x"])
    assert np.ptp(several["plant.x"]) > 5e-3
    assert off.max() < np.diff(several["plant.x"]).max()  # the way of one period: there the two are sampled

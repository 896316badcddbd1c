"""Faults: each ends as the policy says, nothing recorded is lost, and the counters tell what happened."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kilohertz.realtime import (
    Built,
    Device,
    Fault,
    RealTime,
    Report,
    Running,
    Scenario,
    Thread,
    start,
)
from kilohertz.realtime import running as tasks
from kilohertz.realtime.live import FOLDER
from kilohertz.results import read_recording

Build = Callable[[Scenario], Built]
SLOW = Fault(step=100, ns=30_000_000)  # one step of 30 ms where there is 1 ms


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def run(make: Build, s: Scenario, **realtime: object) -> Report:
    settings: RealTime = replace(s.realtime, **realtime)  # type: ignore[arg-type]
    return start(make(replace(s, realtime=settings))).wait()


def whole(report: Report, n: int) -> None:
    """Every row is there, once, in order."""
    assert np.array_equal(report.result.time, np.arange(n + 1) / 1000)
    assert report.data["recorder"]["dropped"] == report.data["recorder"]["lost_at_end"] == 0


def test_a_slow_step_is_caught_up(make: Build, scenario: Scenario) -> None:
    report = run(make, replace(scenario, fault=SLOW))
    assert report.ok
    assert report.counts["overruns"] >= 1
    assert report.counts["knock_on"] >= 20  # the backlog of 30 ms at 1 kHz, less what was caught up at once
    assert report.counts["skipped"] == 0
    assert report.counts["ticks"] == report.counts["steps"] == 200
    assert report.data["times"]["compute"]["max"] >= SLOW.ns
    whole(report, 200)


def test_missed_periods_are_skipped(make: Build, scenario: Scenario) -> None:
    report = run(make, replace(scenario, fault=SLOW), policy="skip")
    assert report.counts["skipped"] >= 29
    assert report.counts["steps"] == 200
    # the periods that were skipped are wall time without model time
    assert report.data["wall_ns"] >= (199 + report.counts["skipped"]) * 1_000_000
    whole(report, 200)


def device(n: int = 1) -> tuple[Device, ...]:
    return (Device("echo", "loopback", {}, (), ({"signal": "y", "safe": "-1"},) * n),)


def test_late_outputs_are_held(make: Build, lag: Scenario) -> None:
    report = run(make, replace(lag, fault=SLOW, devices=device()), policy="hold")
    assert report.counts["held"] >= 1
    assert report.data["devices"][0]["sent"] == 200 - report.counts["held"]
    whole(report, 200)


def test_outputs_go_safe_and_come_back(make: Build, lag: Scenario) -> None:
    report = run(make, replace(lag, fault=SLOW, devices=device()), policy="safe")
    assert report.counts["safe"] >= 99  # from the miss to the end
    report = run(make, replace(lag, fault=SLOW, devices=device(), cycles=600), policy="safe", recover=5)
    assert 5 <= report.counts["safe"] < 600
    whole(report, 600)


def test_a_miss_may_stop_the_run(make: Build, scenario: Scenario) -> None:
    report = run(make, replace(scenario, fault=SLOW, cycles=100_000), policy="stop")
    assert not report.ok
    assert report.data["ended"] == "miss"
    assert report.counts["missed"] == 1
    whole(report, report.counts["steps"])


def test_a_cycle_off_its_core_is_no_overrun(make: Build, scenario: Scenario) -> None:
    """The thread sleeps in a step: the clock goes on, the processor's time does not."""
    report = start(make(replace(scenario, tasks=(replace(scenario.tasks[0], model="Naps"),)))).wait()
    assert report.ok
    assert report.data["times"]["compute"]["max"] >= 30_000_000
    assert report.counts["off_core"] >= 1
    assert "off the core, " in report.as_text()


def test_grace_forgives_the_beginning(make: Build, scenario: Scenario) -> None:
    report = run(make, replace(scenario, fault=replace(SLOW, step=5)), grace=150)
    assert report.counts["grace"] == 150
    assert report.data["times"]["compute"]["n"] == 50
    assert report.counts["overruns"] == 0 or report.data["times"]["compute"]["worst_step"] >= 150


def started(running: Running, seconds: float = 0.02) -> None:
    for _ in range(2000):
        live = running.live()
        at = 0.0
        if live is not None:
            at = live.time
            live.close()
        if at >= seconds:
            return
        assert running.process.poll() is None, running.log.read_text()
        time.sleep(0.005)
    raise AssertionError("the task does not get going")


def test_a_stopped_clock_is_a_late_wake_up(make: Build, scenario: Scenario) -> None:
    running = start(make(replace(scenario, cycles=400)))
    started(running)
    os.kill(running.process.pid, signal.SIGSTOP)
    time.sleep(0.1)
    os.kill(running.process.pid, signal.SIGCONT)
    report = running.wait()
    assert report.counts["missed"] >= 50
    # it was stopped asleep, or in the middle of a step
    assert max(report.data["times"][kind]["max"] for kind in ("lateness", "compute", "overhead")) >= 50_000_000
    whole(report, 400)


def test_a_signal_ends_it_with_a_report(make: Build, scenario: Scenario) -> None:
    running = start(make(replace(scenario, cycles=0)))
    started(running)
    running.stop()
    report = running.wait()
    assert report.ok
    assert report.data["ended"] == "signal"
    whole(report, report.counts["steps"])


def test_killing_the_task_loses_no_row_that_had_left_the_ring(make: Build, scenario: Scenario) -> None:
    running = start(make(replace(scenario, cycles=0)))
    started(running, 0.15)
    running.process.kill()
    running.process.wait()
    assert running.built.name not in tasks()  # though its memory is still there
    (FOLDER / f"khz-{running.built.name}").unlink()
    time_ = read_recording(running.recording).time
    assert len(time_) > 50
    assert np.array_equal(time_, np.arange(len(time_)) / 1000)


def test_killing_the_supervisor_does_not_disturb_a_task_that_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    code = f"""
import dataclasses
import kilohertz
from kilohertz.realtime import plain_scenario
s = plain_scenario("Kilohertz.Examples.RCCircuit", solver="rk4", duration=0.6, name="orphan{os.getpid()}")
s = dataclasses.replace(s, keep=True)
kilohertz.run(s, folder={str(folder)!r}, check=False, announce=lambda text: print(text, flush=True))
"""
    supervisor = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert supervisor.stdout is not None
    for line in supervisor.stdout:
        if line.startswith("running"):
            break
    report_file = folder / f"orphan{os.getpid()}.report.json"
    recording = report_file.with_name(f"orphan{os.getpid()}.recording")
    for _ in range(2000):
        if recording.exists():
            break
        time.sleep(0.005)
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    for _ in range(4000):
        if report_file.exists() and report_file.stat().st_size > 0:
            break
        time.sleep(0.005)
    time.sleep(0.05)
    report = json.loads(report_file.read_text())
    assert report["counts"]["steps"] == 600
    assert len(read_recording(recording).time) == 601


def test_a_full_disk_is_counted_and_the_run_goes_on(make: Build, scenario: Scenario, tmp_path: Path) -> None:
    built = make(replace(scenario, cycles=300))
    recording, report = tmp_path / "full.recording", tmp_path / "full.json"
    words = [str(built.executable), f"record.file={recording}", f"report={report}", "quiet=1", "record.ring=64"]
    limit = 6_000

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(words, preexec_fn=shrink, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    data = json.loads(report.read_text())
    assert [s["granted"] for s in data["settings"] if s["name"] == "live values"] == [0]  # no room for it either
    recorder = data["recorder"]
    assert data["counts"]["steps"] == 300
    assert recorder["refused_writes"] > 0
    assert "large" in recorder["last_error"]
    assert recorder["written"] + recorder["dropped"] + recorder["lost_at_end"] == 301
    rows = read_recording(recording).time
    assert len(rows) == recorder["written"] > 0
    assert recording.stat().st_size <= limit
    told = subprocess.run([w for w in words if w != "quiet=1"], preexec_fn=shrink, capture_output=True, text=True)
    assert told.returncode == 1 and re.search(r"^recorded: \d+ rows, \d+ lost \(writing failed", told.stdout, re.M)


def test_the_watchdog_sees_a_step_that_does_not_end(make: Build, scenario: Scenario) -> None:
    slow = replace(scenario, fault=Fault(step=50, ns=400_000_000), cycles=60)
    report = run(make, slow, watchdog_ns=40_000_000)
    assert report.counts["stalls"] >= 1
    report = run(make, replace(slow, cycles=10_000), watchdog_ns=40_000_000, watchdog_stops=True)
    assert report.data["ended"] == "stall"
    assert not report.ok


@pytest.mark.parametrize("priority", [0, 50])
def test_a_step_without_an_end_is_taken_off_its_thread(
    make: Build, lag: Scenario, priority: int, tmp_path: Path
) -> None:
    """Its devices get safe outputs, nothing recorded is lost, and the report says where it was."""
    task = replace(lag.tasks[0], model="Hangs", settings={})
    peer, local = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), free_port()
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(20)
    settings = {"local": f":{local}", "remote": f":{peer.getsockname()[1]}"}
    out = Device("line", "udp", settings, (), ({"signal": "y", "safe": "-7"},))
    report = run(
        make,
        replace(lag, tasks=(task,), devices=(out,), cycles=0),
        watchdog_ns=100_000_000,
        endless_ns=400_000_000,
        priority=priority,
    )
    assert not report.ok and report.exit_code == 1
    assert report.data["ended"] == "stuck" and report.counts["stalls"] == 1
    n = report.counts["steps"]
    assert n in (49, 50, 51)
    whole(report, n)
    stuck = report.data["threads"][0]["stuck"]
    assert stuck["interrupted"] and stuck["stage"] == "step" and stuck["step"] == n
    assert stuck["model"].endswith("Hangs") and stuck["unknowns"] == "load" and "models.mo:" in stuck["origin"]
    line = int(stuck["origin"].split(":")[1].split()[0])
    assert "load = hang" in Path(__file__).with_name("models.mo").read_text().splitlines()[line - 1]
    assert "load" in report.as_text() and "did not end" in report.as_text()
    sent = [struct.unpack_from("<d", peer.recv(100), 32)[0] for _ in range(report.data["devices"][0]["sent"])]
    assert len(sent) == n + 1 and sent[-1] == -7.0 and -7.0 not in sent[:-1]
    peer.close()


def test_a_long_sleep_or_start_is_not_a_step_without_an_end(make: Build, scenario: Scenario) -> None:
    """Two periods of 0.3 s each, with a limit of 0.2 s for a cycle."""
    slow = replace(scenario, scale=Fraction(1, 300), cycles=3)
    report = run(make, slow, watchdog_ns=40_000_000, endless_ns=200_000_000)
    assert report.ok and report.counts["steps"] == 3 and report.data["wall_ns"] > 550_000_000


def test_a_signal_still_ends_what_does_not_end_by_itself(make: Build, lag: Scenario) -> None:
    task = replace(lag.tasks[0], model="Hangs", settings={})
    settings = replace(lag.realtime, watchdog_ns=100_000_000, endless_ns=600_000_000)  # its loop is cut after 1 s
    running = start(make(replace(lag, tasks=(task,), cycles=0, realtime=settings)))
    started(running)
    live = running.live()
    assert live is not None
    last = -1
    while live.counts["stalls"] == 0 or last < 49 or live.counts["steps"] != last:  # a busy machine stalls it, too
        last = live.counts["steps"]
        time.sleep(0.1)
    live.close()
    running.stop()
    report = running.wait()
    assert not report.ok and report.data["ended"] == "stuck"
    whole(report, report.counts["steps"])


def test_the_heartbeat_reaches_its_file(make: Build, scenario: Scenario, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    run(make, scenario, heartbeat=str(beat), watchdog_ns=40_000_000)
    assert len(beat.read_bytes()) >= 3


@pytest.mark.skipif(os.geteuid() != 0, reason="giving up root needs root")
def test_without_privileges_it_runs_and_says_what_was_refused(make: Build, scenario: Scenario) -> None:
    built = make(replace(scenario, realtime=RealTime(grace=10), live=False, cycles=20))
    for path in (built.folder, *built.folder.parents):
        if path.stat().st_uid == 0 and not path.stat().st_mode & 0o005:
            path.chmod(0o755)
    words = [str(built.executable), "record.n=0"]
    limits = (resource.RLIMIT_RTPRIO, resource.RLIMIT_MEMLOCK)

    def drop() -> None:
        for limit in limits:
            resource.setrlimit(limit, (0, 0))
        os.setuid(65534)

    done = subprocess.run(words, preexec_fn=drop, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "priority: refused: " in done.stdout
    assert "locked memory: refused: " in done.stdout
    assert "denormals: flushed to zero" in done.stdout


def cut(on_loss: str) -> Device:
    """A peer that sends back what it gets, and is silent from cycle 50 to 150."""
    settings = {"cut_from": "50", "cut_until": "150", "timeout": "0.01", "on_loss": on_loss}
    return Device("peer", "loopback", settings, ({"signal": "u", "safe": "-1", "default": "3"},), ({"signal": "T"},))


@pytest.mark.parametrize(("on_loss", "value"), [("hold", 0.05), ("safe", -1.0), ("default", 3.0)])
def test_a_cut_link_gives_what_the_device_says(make: Build, lag: Scenario, on_loss: str, value: float) -> None:
    report = run(make, replace(lag, devices=(cut(on_loss),), scale=None, tasks=(replace(lag.tasks[0], settings={}),)))
    u = report.result["u"]
    assert report.counts["link_losses"] == report.data["devices"][0]["timeouts"] == 1
    assert u[40] == u[180] == 0.05
    assert u[100] == value
    whole(report, 200)


def test_a_cut_link_may_stop_the_run(make: Build, lag: Scenario) -> None:
    s = replace(lag, devices=(cut("stop"),), scale=None, tasks=(replace(lag.tasks[0], settings={}),))
    report = run(make, s)
    assert not report.ok
    assert report.data["ended"] == "link"
    assert 55 <= report.counts["steps"] <= 65


@pytest.mark.parametrize("process", ["", "other"])
def test_one_thread_without_an_end_ends_all(make: Build, lag: Scenario, process: str) -> None:
    """Also in a process of its own: the others stop in order with safe outputs, and the report is whole."""
    tasks = (
        replace(lag.tasks[0], name="a", thread="x"),
        replace(lag.tasks[0], name="b", model="Hangs", settings={}, thread="y"),
    )
    devices = tuple(Device(name, "loopback", {}, (), ({"signal": f"{name}.y", "safe": "-1"},)) for name in ("a", "b"))
    report = run(
        make,
        replace(lag, tasks=tasks, threads=(Thread("x"), Thread("y", process=process)), devices=devices, cycles=0),
        watchdog_ns=100_000_000,
        endless_ns=400_000_000,
    )
    assert report.exit_code == 1 and report.data["ended"] == "stuck" and report.data["ended_by"] == "y"
    fine, hangs = report.data["threads"]
    assert fine["ended"] == "stall" and fine["stuck"] is None
    assert hangs["ended"] == "stuck" and hangs["stuck"]["unknowns"] == "load" and hangs["stuck"]["interrupted"]
    assert hangs["counts"]["safe"] == 1
    assert report.data["recorder"]["lost_at_end"] == report.data["recorder"]["dropped"] == 0

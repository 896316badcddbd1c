"""The task and the machine: no allocation in the loop, flat memory, what `khz doctor` says."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.cli.commands.watch import sparkline
from kilohertz.realtime import Built, Device, Live, Scenario, SignalFault, Stimulus, Trigger, start
from kilohertz.stimuli import FAULTS
from kilohertz.toolchain import Source, Unit, build_shared

Build = Callable[[Scenario], Built]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the trap needs glibc")
@pytest.mark.parametrize("driven", ["device", "formula", "faults"])
def test_the_loop_does_not_allocate(make: Build, lag: Scenario, driven: str) -> None:
    device = Device("echo", "loopback", {}, ({"signal": "u"},) if driven == "device" else (), ({"signal": "y"},))
    formula = "prbs(sample = 0.01, order = 31) + noise() + table({0, 1}, {2, 3}, linear = true) + mod(time, 0.1)"
    stimuli = (Stimulus(formulas={"u": formula}),) if driven == "formula" else ()
    planted = [SignalFault("u", kind, 0.005, f"{kind}_in", 0.01) for kind in FAULTS]
    planted += [SignalFault("y", kind, 0.005, f"{kind}_out", when=Trigger("y", ">", 0.01)) for kind in FAULTS]
    faults = tuple(planted) if driven == "faults" else ()
    built = make(replace(lag, devices=(device,), stimuli=stimuli, faults=faults))
    source = Source("trap.c", Path(__file__).with_name("trap.c").read_text())
    try:
        trap = build_shared([Unit((source,))])
    except ModelError:
        pytest.skip("the trap cannot be built here")
    words = [str(built.executable), "record.file=rows", "cycles=100"]
    environment = {**os.environ, "LD_PRELOAD": str(trap)}
    done = subprocess.run(words, env=environment, cwd=built.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "after 100 steps" in done.stdout


def test_memory_stays_flat(make: Build, scenario: Scenario) -> None:
    running = start(
        make(replace(scenario, scale=None, cycles=300_000, recording=replace(scenario.recording, every=100)))
    )
    sizes: list[int] = []

    def progress(time: float, live: Live | None) -> None:
        status = Path(f"/proc/{running.process.pid}/status")
        text = status.read_text() if status.exists() else ""
        found = [int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")]
        if found and time > 30.0:  # a tenth of the run
            sizes.append(found[0])

    report = running.wait(progress)
    assert report.counts["steps"] == 300_000
    assert report.result.time[-1] == 300.0
    assert not sizes or max(sizes) - sizes[0] <= 64  # KiB: the recorder's thread may touch a page of its stack


def test_the_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--seconds", "0.1", "--json"]) == 0
    found = {f["what"]: f for f in json.loads(capsys.readouterr().out)}
    assert {"kernel", "scheduler", "memory lock", "timer", "steal", "frequency scaling", "C compiler"} <= set(found)
    assert all(f["found"] for f in found.values())
    assert main(["doctor", "--seconds", "0.1"]) == 0
    assert "timer: 1 kHz" in capsys.readouterr().out


def test_sparklines() -> None:
    assert sparkline(deque([0.0, 1.0, 7.0, 8.0])) == "▁▂██"
    assert sparkline(deque([3.0, 3.0])) == "▁▁"

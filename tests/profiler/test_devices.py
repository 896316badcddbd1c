"""Profiles of tasks with several models, threads and devices: UDP on the loopback, really sent and received."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from kilohertz.driver import open_job
from kilohertz.profiler import Profile, read_profile

LAG = """model Lag
  parameter Real T = 0.1;
  input Real u;
  output Real y(start = 1, fixed = true);
equation
  T*der(y) = u - y;
end Lag;
"""


@pytest.fixture
def listeners() -> Iterator[list[socket.socket]]:
    """Two that the devices send to; nobody needs to read."""
    with ExitStack() as stack:
        found = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
        for one in found:
            one.bind(("127.0.0.1", 0))
        yield found


def device(name: str, task: str, port: int) -> str:
    return (
        f'[[device]]\nname = "{name}"\ndriver = "udp"\nlocal = "127.0.0.1:0"\nremote = "127.0.0.1:{port}"\n'
        f'[[device.send]]\nsignal = "{task}.y"\n[[device.receive]]\nsignal = "{task}.u"\ndefault = 0.5\n'
    )


def task(name: str, model: Path, thread: str, step: str) -> str:
    return f'[[task]]\nname = "{name}"\nmodel = "{model}"\nsolver = "rk4"\nstep = "{step}"\nthread = "{thread}"\n'


def run(folder: Path, mode: str, ports: list[int]) -> list[Profile]:
    """A thread with two models and two devices, one with a third model at half the rate."""
    (model := folder / "Lag.mo").write_text(LAG)
    (scenario := folder / f"devices-{mode}.toml").write_text(
        f'duration = "1s"\nprofile = "{mode}"\n[realtime]\npriority = 0\nlock_memory = false\n'
        + '[[thread]]\nname = "fast"\n[[thread]]\nname = "slow"\n'
        + task("one", model, "fast", "1ms")
        + task("two", model, "fast", "2ms")
        + task("three", model, "slow", "2ms")
        + device("left", "one", ports[0])
        + device("right", "two", ports[1])
    )
    report = open_job(str(scenario)).run(folder=folder)
    assert report.ok
    return [read_profile(file) for file in report.profiles]


@pytest.mark.parametrize("mode", ["burst", "always"])
def test_devices_models_and_threads_have_their_own_times(
    mode: str, tmp_path: Path, listeners: list[socket.socket]
) -> None:
    fast, slow = run(tmp_path, mode, [s.getsockname()[1] for s in listeners])
    assert (fast.about["thread"], slow.about["thread"]) == ("fast", "slow")
    assert [p.name for p in fast.places if p.kind == "device"] == ["device left", "device right"]
    assert not [p for p in slow.places if p.kind == "device"]
    assert {p.unit for p in fast.places if p.unit} == {"one", "two"}
    for profile, cycles in ((fast, 1000), (slow, 500)):
        n_cycles = len(profile.records) + profile.about["dropped"]
        assert n_cycles == cycles if mode == "burst" else 0 < n_cycles <= cycles
        assert profile.own_ns.sum(axis=1) == pytest.approx(profile.cycle_ns, rel=0.01)
        assert sum(s.share for s in profile.statistics) == pytest.approx(1.0)
    numbers = {(p.unit, p.name): s for p, s in zip(fast.places, fast.statistics, strict=True)}
    if mode == "burst":
        assert numbers["", "device left"].mean > 0
        assert numbers["", "device right"].mean > 0
        assert numbers["one", "stepper itself"].calls == pytest.approx(1.0, abs=0.01)
        assert numbers["two", "stepper itself"].calls <= 1.0  # a half, where no period was skipped
        two = next(i for i, p in enumerate(fast.places) if (p.unit, p.name) == ("two", "stepper itself"))
        assert fast.records["places"]["calls"][:, two].any()  # of all: those that count may be the others, under load


def test_a_cycle_with_a_slow_device_is_opened_with_it_always_on(tmp_path: Path, listeners: list[socket.socket]) -> None:
    fast, _ = run(tmp_path, "always", [s.getsockname()[1] for s in listeners])
    devices = [i for i, p in enumerate(fast.places) if p.kind == "device"]
    ticks = fast.records["places"]["ticks"][:, devices] * fast.costs.ns_per_tick
    assert (ticks > 0).all()  # both in every cycle
    left, right = fast.own_ns[:, devices].T
    assert left * ticks[:, 1] == pytest.approx(right * ticks[:, 0])  # as they were timed, in this cycle

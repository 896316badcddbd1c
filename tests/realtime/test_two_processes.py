"""Two tasks as two processes, over UDP and over shared memory."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz.realtime import Built, Device, Scenario, Task, start
from kilohertz.solvers import StepSettings

Build = Callable[[Scenario], Built]


def ports() -> tuple[int, int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        return int(a.getsockname()[1]), int(b.getsockname()[1])


def links(kind: str) -> tuple[dict[str, str], dict[str, str]]:
    if kind == "udp":
        a, b = ports()
        return {"local": f":{a}", "remote": f":{b}"}, {"local": f":{b}", "remote": f":{a}"}
    name = f"/khz-test-{os.getpid()}"
    return {"segment": name}, {"segment": name, "peer": "true"}


@pytest.mark.parametrize("kind", ["udp", "shm"])
def test_a_loop_is_closed_over_a_link(make: Build, lag: Scenario, kind: str, tmp_path: Path) -> None:
    """The lag under proportional feedback from the other process: u = 2*(0 - y) would decay; here u = -2*y."""
    mine, theirs = links(kind)
    plant = replace(
        lag,
        name=lag.name[:30] + "_plant",
        cycles=1000,
        tasks=(Task("model", "Lag", StepSettings("rk4"), 1, {"T": 0.05}),),
        devices=(Device(kind, kind, mine, ({"signal": "u", "default": "1"},), ({"signal": "y"},)),),
    )
    controller = replace(
        lag,
        name=lag.name[:30] + "_control",
        cycles=1000,
        tasks=(Task("model", "Gain", StepSettings("euler"), 1, {"k": -2.0}),),
        devices=(Device(kind, kind, theirs, ({"signal": "u", "default": "0.5"},), ({"signal": "y"},)),),
    )
    built = [make(s) for s in (plant, controller)]
    running = [start(b) for b in built]
    first, second = (r.wait() for r in running)
    assert first.data["devices"][0]["received"] > 100
    assert second.data["devices"][0]["received"] > 100
    assert first.data["devices"][0]["malformed"] == second.data["devices"][0]["malformed"] == 0
    # the gain answers with -2 times what it got; in the recording of one process at that
    assert np.array_equal(second.result["y"], -2.0 * second.result["u"])
    # every command that the plant saw once the link stood is one that the controller sent
    sent = set(second.result["y"].tolist())
    assert set(first.result["u"][1:].tolist()) - {1.0} <= sent
    assert abs(first.result["y"][-1]) < 0.5

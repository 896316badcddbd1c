"""Shared memory against an independent peer: the segment is read and written by its documented layout alone."""

from __future__ import annotations

import math
import mmap
import struct
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

N_TASK, N_PEER = 3, 2  # values from the task, values to it


def rounded(n: int) -> int:
    return (n + 63) // 64 * 64


class Segment:
    """The layout of docs/reference/devices.md."""

    def __init__(self, name: str) -> None:
        with open(f"/dev/shm{name}", "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.task = 64
        self.peer = 64 + 64 + 4 * rounded(24 + 8 * N_TASK)
        assert len(self.memory) == self.peer + 64 + 4 * rounded(24 + 8 * N_PEER)

    def read(self) -> tuple[int, int, tuple[float, ...]]:
        """Sequence, time stamp and values of the task's newest message."""
        latest, bell = struct.unpack_from("=QI", self.memory, self.task)
        at = self.task + 64 + latest % 4 * rounded(24 + 8 * N_TASK)
        sequence, _session, _echo, stamp, *values = struct.unpack_from(f"=QIIq{N_TASK}d", self.memory, at)
        assert sequence == latest == bell
        return sequence, stamp, tuple(values)

    def write(self, sequence: int, *values: float, session: int = 5, publish: bool = True) -> None:
        at = self.peer + 64 + sequence % 4 * rounded(24 + 8 * N_PEER)
        struct.pack_into(f"=QIIq{N_PEER}d", self.memory, at, sequence if publish else 0, session, 0, 0, *values)
        struct.pack_into("=QI", self.memory, self.peer, sequence, sequence & 0xFFFFFFFF)


@pytest.fixture
def name() -> Iterator[str]:
    name = f"/khz-test-{uuid.uuid4().hex[:12]}"
    yield name
    assert not Path(f"/dev/shm{name}").exists(), "close takes the segment away"


@pytest.fixture
def port(open_port: Callable[..., Any], name: str) -> Iterator[Any]:
    port = open_port("shm", segment=name, n_receive=N_PEER, n_send=N_TASK, restart_after=0.012)
    assert port.status == 0, port.message
    yield port
    port.close()


def test_both_directions(port: Any, name: str) -> None:
    segment = Segment(name)
    assert segment.memory[:20] == b"KHZM" + struct.pack("=IIII", 1, N_TASK, N_PEER, 1)
    assert Path(f"/dev/shm{name}").stat().st_mode & 0o777 == 0o600
    assert port.receive() == (0, [0.0, 0.0])
    for k in range(1, 10):
        assert port.send(k, 2.0 * k, -k) == port.FRESH
        assert segment.read() == (k, port.cycle * 1_000_000, (k, 2.0 * k, -k))
        segment.write(k, k + 0.5, 7.0)
        assert port.receive() == (port.FRESH, [k + 0.5, 7.0])
        assert port.receive() == (0, [k + 0.5, 7.0])
    assert port.counters["received"] == 9 and port.counters["links"] == 1 and port.counters["missing"] == 0


def test_what_the_task_comes_too_late_for_is_overtaken_not_lost(port: Any, name: str) -> None:
    segment = Segment(name)
    port.receive()  # before the first message no cycle counts as quiet
    for k in (1, 2, 3, 4, 5, 6):
        segment.write(k, float(k), 0.0)
        if k in (1, 5, 6):
            assert port.receive() == (port.FRESH, [float(k), 0.0])
    port.receive()
    counts = port.counters
    assert (counts["received"], counts["overtaken"], counts["missing"], counts["quiet"]) == (3, 3, 0, 1)


def test_what_a_peer_writes_wrongly_changes_nothing_but_counters(port: Any, name: str) -> None:
    segment = Segment(name)
    segment.write(5, 1.0, 2.0)
    assert port.receive() == (port.FRESH, [1.0, 2.0])
    for sequence, values, more in (
        (6, (math.nan, 0.0), {}),
        (7, (1.0, math.inf), {}),
        (4, (9.0, 9.0), {}),  # older
        (8, (9.0, 9.0), {"publish": False}),  # never finished
        (2**64 - 1, (9.0, 9.0), {"session": 6}),  # somebody else
    ):
        segment.write(sequence, *values, **more)
        for _ in range(2):  # what is refused is counted once
            assert port.receive() == (0, [1.0, 2.0])
    assert port.counters["malformed"] == 2 and port.counters["replayed"] == 2
    seen = [port.receive() for _ in range(12)]  # after silence he is a peer that was started again
    assert [flags for flags, _ in seen].count(port.FRESH) == 1 and seen[-1][1] == [9.0, 9.0]
    assert port.counters["links"] == 2


def test_garbage_in_the_whole_segment(port: Any, name: str) -> None:
    segment = Segment(name)
    segment.write(5, 1.0, 2.0)
    port.receive()
    for byte in (0xFF, 0x7F, 0x01):
        segment.memory[64:] = bytes([byte]) * (len(segment.memory) - 64)
        _, values = port.receive()
        assert all(map(math.isfinite, values))
        port.send(1.0, 2.0, 3.0)


def test_a_task_that_was_killed_leaves_nothing_stale(open_port: Callable[..., Any], port: Any, name: str) -> None:
    """A second port on the same segment is what a restarted task is."""
    segment = Segment(name)
    segment.write(5, 1.0, 2.0)
    port.receive()
    segment.write(6, 3.0, 4.0)
    again = open_port("shm", segment=name, n_receive=N_PEER, n_send=N_TASK)
    assert again.receive() == (0, [0.0, 0.0])  # written for the task that was there before
    segment.write(7, 5.0, 6.0)
    assert again.receive() == (again.FRESH, [5.0, 6.0])


def test_a_segment_of_another_shape_is_replaced(open_port: Callable[..., Any], name: str) -> None:
    with open(f"/dev/shm{name}", "wb") as file:
        file.write(b"something else")
    port = open_port("shm", segment=name, n_receive=N_PEER, n_send=N_TASK)
    assert port.status == 0 and Segment(name).memory[:4] == b"KHZM"
    port.close()


@pytest.mark.parametrize("first", ["task", "peer"])
def test_two_tasks_share_a_segment(open_port: Callable[..., Any], name: str, first: str) -> None:
    """Whichever comes first makes it; the peer outlives its task and finds the next one."""
    settings = {"task": {"n_receive": 1, "n_send": 2}, "peer": {"n_receive": 2, "n_send": 1}}
    both = {}
    for role in (first, "peer" if first == "task" else "task"):
        both[role] = open_port("shm", settings[role], segment=name, peer=role == "peer", restart_after=0.01)
        assert both[role].status == 0, both[role].message
    task, peer = both["task"], both["peer"]
    for _ in range(2):
        peer.until(lambda flags, _: not flags & peer.DOWN)
        task.receive()
        for k in range(1, 20):
            task.send(k, 2.0 * k)
            assert peer.until(lambda _, values, k=k: values == [k, 2.0 * k], 30)
            peer.send(-k)
            assert task.until(lambda _, values, k=k: values == [-k], 1)
        task.close()
        assert peer.receive()[0] & peer.DOWN and peer.send(1.0) == peer.DOWN
        task = open_port("shm", settings["task"], segment=name, restart_after=0.01)
    task.close()
    peer.close()


def test_a_peer_without_a_task_leaves_nothing(open_port: Callable[..., Any], name: str) -> None:
    peer = open_port("shm", segment=name, peer=True, n_receive=1, n_send=1)
    assert peer.receive()[0] == peer.DOWN and Path(f"/dev/shm{name}").exists()
    peer.close()


@pytest.mark.parametrize("segment", ["khz", "/", "/a/b", "/" + "x" * 300])
def test_names_that_are_none(open_port: Callable[..., Any], segment: str) -> None:
    assert open_port("shm", segment=segment).message.startswith("test: segment")


def test_the_simulated_peer(open_port: Callable[..., Any]) -> None:
    port = open_port("shm", simulated=True, n_receive=2, n_send=3)
    port.receive()
    port.send(1.0, 2.0, 3.0)
    assert port.receive() == (port.FRESH, [1.0, 2.0])
    assert port.receive() == (0, [1.0, 2.0])

"""The serial line over a pseudo-terminal, with pyserial as the peer where it is installed."""

from __future__ import annotations

import os
import pty
import shutil
import struct
import subprocess
import time
import tty
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


def message(sequence: int, *values: float, session: int = 9) -> bytes:
    head = struct.pack("<HIIQq", len(values), session, 0, sequence, 0)
    body = b"KHZP\x01\x02" + head + struct.pack(f"<{len(values)}d", *values)
    return body + struct.pack("<I", zlib.crc32(body))


@pytest.fixture
def line() -> Iterator[tuple[int, str]]:
    """The master end of a pseudo-terminal, and the path of the other."""
    master, slave = pty.openpty()
    tty.setraw(master)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def opened(open_port: Callable[..., Any], path: str, **more: object) -> Any:
    port = open_port("serial", path=path, n_receive=2, n_send=1, **more)
    assert port.status == 0, port.message
    return port


def read_all(fd: int, n: int) -> bytes:
    data = b""
    while len(data) < n:
        data += os.read(fd, n - len(data))
    return data


def test_both_directions_on_one_line(open_port: Callable[..., Any], line: tuple[int, str]) -> None:
    master, path = line
    port = opened(open_port, path)
    for k in range(1, 20):
        os.write(master, message(k, k, -k))
        assert port.until(lambda flags, _: flags & port.FRESH) == [k, -k]
    os.set_blocking(master, False)
    while True:
        try:
            os.read(master, 4096)
        except BlockingIOError:
            break
    os.set_blocking(master, True)
    port.send(2.5)
    data = read_all(master, 32 + 8 + 4)
    assert struct.unpack("<d", data[32:40]) == (2.5,)
    assert struct.unpack("<I", data[40:])[0] == zlib.crc32(data[:40])


def test_noise_on_the_line(open_port: Callable[..., Any], line: tuple[int, str]) -> None:
    """Good messages come through among lost, doubled and turned bytes."""
    master, path = line
    port = opened(open_port, path)
    good = message(1, 1.0, 2.0)
    os.write(master, b"\x00\xffKHZ" + good[:20])
    os.write(master, good[:-1] + b"\x00")
    os.write(master, b"KHZP\x01\x02\xff\xff" + message(2, 3.0, 4.0) + b"KHZPKHZ")
    assert port.until(lambda flags, _: flags & port.FRESH) == [3.0, 4.0]
    os.write(master, message(3, 5.0, 6.0))
    assert port.until(lambda flags, _: flags & port.FRESH) == [5.0, 6.0]
    assert port.counters["received"] == 2 and port.counters["malformed"] >= 2


def test_a_message_byte_by_byte(open_port: Callable[..., Any], line: tuple[int, str]) -> None:
    master, path = line
    port = opened(open_port, path)
    for byte in message(1, 7.0, 8.0):
        os.write(master, bytes([byte]))
        port.receive()
    assert port.until(lambda _, values: values == [7.0, 8.0])
    assert port.counters["malformed"] == 0


def test_a_line_that_nobody_reads(open_port: Callable[..., Any], line: tuple[int, str]) -> None:
    """Full buffers refuse messages; what was begun is finished, so that the reader never gets a half message."""
    master, path = line
    port = opened(open_port, path)
    while port.counters["refused"] < 5:
        port.receive()
        port.send(1.25)
    os.set_blocking(master, False)
    data = b""
    for _ in range(3000):
        port.send(1.25)
        try:
            data += os.read(master, 512)
        except BlockingIOError:
            continue
    parts = data.split(b"KHZP")[1:-1]
    assert len(parts) > 50 and {len(p) for p in parts} == {40}


def test_a_plug_that_is_pulled(open_port: Callable[..., Any], tmp_path: Path) -> None:
    """The line hangs up, comes back under the same name, and the task goes on."""
    name = tmp_path / "line"
    master, slave = pty.openpty()
    tty.setraw(master)
    name.symlink_to(os.ttyname(slave))
    port = opened(open_port, str(name))
    os.write(master, message(1, 1.0, 1.0))
    assert port.until(lambda flags, _: flags & port.FRESH) == [1.0, 1.0]
    os.close(slave)
    os.close(master)
    port.until(lambda flags, values: flags & port.DOWN and values == [1.0, 1.0])
    name.unlink()
    master, slave = pty.openpty()
    tty.setraw(master)
    name.symlink_to(os.ttyname(slave))
    port.until(lambda flags, _: not flags & port.DOWN)
    os.write(master, message(2, 2.0, 2.0))
    assert port.until(lambda flags, _: flags & port.FRESH) == [2.0, 2.0]
    assert port.counters["links"] >= 1
    port.close()
    os.close(slave)
    os.close(master)


def test_pyserial_as_the_peer(open_port: Callable[..., Any], line: tuple[int, str]) -> None:
    """The task has the master's side of the same pair through socat-like linking: pyserial opens the other end."""
    serial = pytest.importorskip("serial", reason="pyserial is not installed (extra `test`)")
    from kilohertz.devices import Message, pack, unpack

    a, a_slave = pty.openpty()
    tty.setraw(a)
    master, path = line
    port = opened(open_port, os.ttyname(a_slave))
    with serial.Serial(path, 115200, timeout=5.0) as peer:
        peer.write(pack(Message((4.0, 5.0), 1, 0, 3), crc=True))
        os.write(a, read_all(master, 52))  # the null-modem cable
        assert port.until(lambda flags, _: flags & port.FRESH) == [4.0, 5.0]
        port.send(6.0)
        os.write(master, read_all(a, 44))
        received = unpack(peer.read(44), 1, need_crc=True)
        assert received is not None
    os.close(a)
    os.close(a_slave)


def test_settings_that_make_no_sense(open_port: Callable[..., Any]) -> None:
    assert "cannot open line" in open_port("serial", path="/dev/nothing-here").message
    assert "cannot open line" in open_port("serial", path="/dev/null").message
    assert "baud" in open_port("serial", path="/dev/null", baud=12345).message


def test_socat_as_the_cable(open_port: Callable[..., Any], tmp_path: Path) -> None:
    """socat joins two pseudo-terminals: one is the task's line, the other its peer's."""
    socat = shutil.which("socat")
    if socat is None:
        pytest.skip("socat is not installed (Debian: socat)")
    ends = [tmp_path / "task", tmp_path / "peer"]
    cable = subprocess.Popen([socat, *(f"pty,raw,echo=0,link={end}" for end in ends)])
    try:
        while not all(end.exists() for end in ends):
            assert cable.poll() is None
            time.sleep(0.01)
        port = opened(open_port, str(ends[0]))
        with open(ends[1], "r+b", buffering=0) as peer:
            for k in range(1, 50):
                peer.write(message(k, k, -k))
                assert port.until(lambda _, values, k=k: values == [k, -k])
            port.send(8.5)
            data = b""
            while struct.pack("<d", 8.5) not in data:
                data += peer.read(4096)
        assert port.counters["malformed"] == 0
    finally:
        cable.kill()
        cable.wait()
    port.until(lambda flags, _: flags & port.DOWN)

"""TCP against Python's own sockets, as server and as client."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

import pytest


def message(sequence: int, *values: float, session: int = 9) -> bytes:
    head = struct.pack("<HIIQq", len(values), session, 0, sequence, 0)
    return b"KHZP\x01\x00" + head + struct.pack(f"<{len(values)}d", *values)


def called(port: Any, number: int) -> socket.socket:
    peer = socket.create_connection(("127.0.0.1", number), 5.0)
    port.until(lambda flags, _: not flags & port.DOWN)
    return peer


def test_as_server(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    number = free_port()
    port = open_port("tcp", listen=f":{number}", n_receive=2, n_send=1)
    assert port.receive() == (port.DOWN, [0.0, 0.0]) and port.send(1.0) == port.DOWN
    with called(port, number) as peer:
        peer.sendall(message(1, 1.0, 2.0)[:30])
        port.receive()
        peer.sendall(message(1, 1.0, 2.0)[30:] + message(2, 3.0, 4.0) + b"noise")
        assert port.until(lambda flags, _: flags & port.FRESH) == [3.0, 4.0]
        peer.sendall(message(3, 5.0, 6.0))
        assert port.until(lambda flags, _: flags & port.FRESH) == [5.0, 6.0]
        assert port.counters["malformed"] == 1
        assert port.send(9.5) == port.FRESH
        data = b""
        while struct.pack("<d", 9.5) not in data:
            data += peer.recv(4096)
        assert len(data) % 40 == 0
    assert port.until(lambda flags, _: flags & port.DOWN) == [5.0, 6.0]
    with called(port, number) as peer:  # sequence numbers may begin anew
        peer.sendall(message(1, 7.0, 8.0))
        assert port.until(lambda flags, _: flags & port.FRESH) == [7.0, 8.0]
    assert port.counters["links"] >= 2


def test_as_client(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    number = free_port()
    port = open_port("tcp", remote=f":{number}", retry=0.005, n_receive=1, n_send=1)
    for _ in range(20):
        assert port.receive()[0] == port.DOWN
    for value in (1.0, 2.0):  # the second time after the first peer has gone
        with socket.create_server(("127.0.0.1", number)) as server:
            server.settimeout(5.0)
            port.until(lambda flags, _: not flags & port.DOWN)
            peer, _ = server.accept()
            with peer:
                peer.sendall(message(1, value))
                assert port.until(lambda flags, _: flags & port.FRESH) == [value]
        port.until(lambda flags, _: flags & port.DOWN)


def test_another_caller_waits_until_the_peer_is_silent(
    open_port: Callable[..., Any], free_port: Callable[[], int]
) -> None:
    number = free_port()
    port = open_port("tcp", listen=f":{number}", n_receive=1, n_send=0, restart_after=0.02)
    with called(port, number) as first, socket.create_connection(("127.0.0.1", number)) as second:
        second.sendall(message(1, 66.0, session=6))
        for k in range(1, 50):
            first.sendall(message(k, k))
            assert port.until(lambda flags, _: flags & port.FRESH, 15) == [k]
        assert port.until(lambda flags, _: flags & port.FRESH) == [66.0]
        assert port.cycle > 0 and port.counters["links"] == 2


def test_a_peer_that_does_not_read(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    number = free_port()
    port = open_port("tcp", listen=f":{number}", n_receive=0, n_send=1000)
    with called(port, number) as peer:
        while port.counters["refused"] < 3:
            port.send(*([1.5] * 1000))
        data = b""
        for _ in range(40):
            data += peer.recv(1 << 20)
            port.send(*([1.5] * 1000))
        sizes = {len(part) for part in data.split(b"KHZP")[1:-1]}
        assert sizes == {32 + 8000 - 4}


@pytest.mark.parametrize(
    "settings", [{}, {"listen": ":1", "remote": ":2"}, {"listen": "x"}, {"remote": "y"}, {"retry": 0}]
)
def test_settings_that_make_no_sense(open_port: Callable[..., Any], settings: dict[str, object]) -> None:
    port = open_port("tcp", settings)
    assert port.status != 0 and port.message.startswith("test: ")

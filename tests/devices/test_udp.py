"""UDP against an independent peer: Python's own socket, struct and zlib write and read the documented layout."""

from __future__ import annotations

import random
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest


class Peer:
    """One end of a UDP link, written from the table in docs/reference/devices.md."""

    def __init__(self, to: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5.0)
        self.to = ("127.0.0.1", to)
        self.number = self.socket.getsockname()[1]

    @staticmethod
    def pack(sequence: int, *values: float, session: int = 77, order: str = "<", crc: bool = False) -> bytes:
        flags = (order == ">") | (2 if crc else 0)
        head = struct.pack(order + "HIIQq", len(values), session, 0, sequence, 123)
        body = b"KHZP" + bytes([1, flags]) + head + struct.pack(f"{order}{len(values)}d", *values)
        return body + (struct.pack(order + "I", zlib.crc32(body)) if crc else b"")

    def send(self, data: bytes) -> None:
        self.socket.sendto(data, self.to)

    def receive(self) -> tuple[int, int, int, tuple[float, ...]]:
        """Sequence, echo, time stamp and values of the next message."""
        data = self.socket.recv(65536)
        assert data[:5] == b"KHZP\x01"
        order = ">" if data[5] & 1 else "<"
        count, _session, echo, sequence, stamp = struct.unpack_from(order + "HIIQq", data, 6)
        if data[5] & 2:
            assert struct.unpack(order + "I", data[-4:])[0] == zlib.crc32(data[:-4])
            data = data[:-4]
        assert len(data) == 32 + 8 * count
        return sequence, echo, stamp, struct.unpack_from(f"{order}{count}d", data, 32)


@pytest.fixture
def link(open_port: Callable[..., Any], free_port: Callable[[], int]) -> Iterator[Callable[..., Any]]:
    """`link(settings)`: a port and its peer."""
    peers: list[Peer] = []

    def linked(**settings: object) -> tuple[Any, ...]:
        number = free_port()
        peers.append(Peer(number))
        settings.setdefault("remote", f":{peers[-1].number}")
        port = open_port("udp", n_receive=2, n_send=1, local=f":{number}", **settings)
        assert port.status == 0, port.message
        return port, peers[-1]

    yield linked
    for peer in peers:
        peer.socket.close()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("crc", [False, True])
def test_both_directions(link: Callable[..., Any], order: str, crc: bool) -> None:
    port, peer = link(endian="big" if order == ">" else "little", crc=crc)
    peer.send(peer.pack(1, 1.5, -2.5, order=order, crc=crc))
    assert port.receive() == (port.FRESH, [1.5, -2.5])
    assert port.send(42.0) == port.FRESH
    assert peer.receive() == (1, 1, 0, (42.0,))
    assert port.receive() == (0, [1.5, -2.5])
    port.send(43.0)
    assert peer.receive() == (2, 1, 1_000_000, (43.0,))


def test_the_newest_of_several_counts(link: Callable[..., Any]) -> None:
    port, peer = link(max_messages=4)
    for k in (1, 2, 5):
        peer.send(peer.pack(k, k, 0.0))
    assert port.receive() == (port.FRESH, [5.0, 0.0])
    assert port.counters["received"] == 3 and port.counters["missing"] == 2 and port.counters["flooded"] == 0
    for k in range(6, 12):
        peer.send(peer.pack(k, k, 0.0))
    assert port.receive() == (port.FRESH, [9.0, 0.0])
    assert port.counters["flooded"] == 1
    assert port.receive() == (port.FRESH, [11.0, 0.0])
    assert port.counters["overtaken"] == 2 + 3 + 1 and port.counters["quiet"] == 0


def bad_messages(good: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "one byte": b"K",
        "truncated": good[:-1],
        "too long": good + b"x",
        "magic": b"khzp" + good[4:],
        "version": good[:4] + b"\x02" + good[5:],
        "flags": good[:5] + b"\x80" + good[6:],
        "count": good[:6] + b"\x01\x00" + good[8:],
        "other count": Peer.pack(9, 1.0, 2.0, 3.0),
        "nan": Peer.pack(9, 1.0, float("nan")),
        "infinity": Peer.pack(9, float("-inf"), 1.0),
        "crc": Peer.pack(9, 1.0, 2.0, crc=True)[:-1] + b"?",
        "huge": b"KHZP\x01\x00\xff\xff" + bytes(60000),
    }


def test_malformed_messages_change_nothing_but_a_counter(link: Callable[..., Any]) -> None:
    port, peer = link()
    peer.send(peer.pack(1, 1.0, 2.0))
    port.receive()
    before = port.counters
    bad = bad_messages(peer.pack(9, 8.0, 8.0))
    for name, data in bad.items():
        peer.send(data)
        assert port.receive() == (0, [1.0, 2.0]), name
    assert port.counters == before | {"malformed": len(bad), "quiet": len(bad)}
    peer.send(peer.pack(2, 3.0, 4.0))  # and the sequence number of a bad one was not taken
    assert port.receive() == (port.FRESH, [3.0, 4.0])


def test_a_message_without_the_crc_that_is_asked_for(link: Callable[..., Any]) -> None:
    port, peer = link(crc=True)
    peer.send(peer.pack(1, 1.0, 2.0))
    assert port.receive()[0] == 0 and port.counters["malformed"] == 1


def test_replayed_messages(link: Callable[..., Any]) -> None:
    port, peer = link(restart_after=0.005)
    packets = [peer.pack(k, float(k), 0.0) for k in (1, 2, 3)]
    for data in (*packets, packets[0], packets[2]):
        peer.send(data)
    assert port.receive() == (port.FRESH, [3.0, 0.0])
    assert port.counters["replayed"] == 2
    peer.send(peer.pack(9, 9.0, 9.0, session=78))  # another sender while the first is there
    assert port.receive()[0] == 0 and port.counters["replayed"] == 3


def test_a_peer_that_starts_again_is_taken_after_silence(link: Callable[..., Any]) -> None:
    port, peer = link(restart_after=0.005, timeout=0.003, on_loss="safe", settings={"receive.0.safe": -7})
    peer.send(peer.pack(1000, 1.0, 2.0))
    assert port.receive()[0] == port.FRESH
    seen = [port.receive() for _ in range(6)]
    assert [flags for flags, _ in seen] == [0, 0, 0, port.LOST, port.LOST, port.LOST]
    assert seen[-1][1] == [-7.0, 0.0]
    peer.send(peer.pack(1, 3.0, 4.0, session=78))
    assert port.receive() == (port.FRESH, [3.0, 4.0])
    assert port.counters["links"] == 2 and port.counters["timeouts"] == 1


def test_strangers_do_not_get_in(link: Callable[..., Any]) -> None:
    port, peer = link()
    stranger = Peer(peer.to[1])
    stranger.send(stranger.pack(1, 6.0, 6.0))
    assert port.receive() == (0, [0.0, 0.0])
    stranger.socket.close()


def test_without_a_remote_whoever_speaks_first_is_answered(link: Callable[..., Any]) -> None:
    port, peer = link(remote="", restart_after=0.005)
    port.receive()
    assert port.send(1.0) == port.DOWN
    peer.send(peer.pack(1, 1.0, 2.0))
    assert port.receive()[0] == port.FRESH
    assert port.send(2.0) == port.FRESH
    assert peer.receive()[3] == (2.0,)
    stranger = Peer(peer.to[1])
    stranger.send(stranger.pack(2, 6.0, 6.0))
    assert port.receive() == (0, [1.0, 2.0]) and port.counters["foreign"] == 1
    for _ in range(6):
        port.receive()
    stranger.send(stranger.pack(3, 6.0, 6.0, session=78))
    assert port.receive() == (port.FRESH, [6.0, 6.0])
    port.send(3.0)
    assert stranger.receive()[3] == (3.0,)
    stranger.socket.close()


def test_a_dead_peer_does_not_disturb(link: Callable[..., Any]) -> None:
    port, peer = link()
    peer.send(peer.pack(1, 1.0, 2.0))
    assert port.receive()[0] == port.FRESH
    number = peer.number
    peer.socket.close()
    for _ in range(20):  # the kernel says "refused" in between
        port.send(1.0)
        assert port.receive() == (0, [1.0, 2.0])
    peer.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.socket.settimeout(5.0)
    peer.socket.bind(("127.0.0.1", number))
    assert port.send(5.0) == port.FRESH
    assert peer.receive()[3] == (5.0,)


def test_a_flood_of_random_packets(link: Callable[..., Any]) -> None:
    port, peer = link()
    rng = random.Random(1)
    peer.send(peer.pack(1, 1.0, 2.0))
    port.receive()
    for cycle in range(500):
        for _ in range(40):
            head = b"KHZP\x01" if rng.random() < 0.5 else b""
            peer.send(head + rng.randbytes(rng.randrange(80)))
        assert port.receive() == (0, [1.0, 2.0]), cycle
    while port.counters["malformed"] < 20000:
        seen = port.counters["malformed"]
        assert port.receive() == (0, [1.0, 2.0])
        if port.counters["malformed"] == seen:
            break  # the rest did not fit into the kernel's buffer
    counters = port.counters
    assert counters["received"] == 1 and counters["flooded"] >= 499 and counters["malformed"] >= 500 * 16
    peer.send(peer.pack(2, 5.0, 6.0))
    assert port.receive() == (port.FRESH, [5.0, 6.0])


def test_it_binds_to_loopback_unless_told_otherwise(
    open_port: Callable[..., Any], free_port: Callable[[], int]
) -> None:
    for text, address in (
        ("", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "127.0.0.1"),
        ("0.0.0.0", "0.0.0.0"),
    ):
        number = free_port()
        port = open_port("udp", local=f"{text}:{number}")
        assert port.status == 0, port.message
        assert bound_address(number) == address
        port.close()


def bound_address(number: int) -> str:
    """Where a UDP port is bound, as the kernel tells."""
    with open("/proc/net/udp") as table:
        for line in table.readlines()[1:]:
            host, port = line.split()[1].split(":")
            if int(port, 16) == number:
                return socket.inet_ntoa(struct.pack("<I", int(host, 16)))
    raise AssertionError("not bound")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("local", "everywhere"),
        ("local", "1.2.3:5"),
        ("local", ":65536"),
        ("local", "192.0.2.1:5000"),
        ("remote", "host:x"),
        ("endian", "middle"),
        ("crc", "maybe"),
        ("max_messages", "0"),
        ("restart_after", "-1"),
        ("any_source", "2"),
    ],
)
def test_settings_that_make_no_sense(open_port: Callable[..., Any], key: str, value: str) -> None:
    port = open_port("udp", {key: value})
    assert port.status != 0 and port.message.startswith("test: ")

"""CAN: bits against cantools, frames against python-can on a virtual bus where the kernel has one."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from typing import Any

import pytest

INTERFACE = "vcan0"
N_SIGNALS = 60


class Signal(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_uint32),
        *((n, ctypes.c_int32) for n in ("extended", "start", "length", "motorola", "kind", "frame")),
    )


class Frame(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_uint32),
        ("extended", ctypes.c_int32),
        ("n", ctypes.c_int32),
        ("bytes", ctypes.c_ubyte * 8),
    )


class Map(ctypes.Structure):
    _fields_ = (
        ("n", ctypes.c_int32),
        ("n_frames", ctypes.c_int32),
        ("signals", ctypes.POINTER(Signal)),
        ("frames", ctypes.POINTER(Frame)),
    )


def layouts() -> list[tuple[int, int, str, str]]:
    """Start, length, byte order and kind of signals that fit into 8 bytes."""
    rng = random.Random(3)
    found = [(0, 64, "1", "f"), (7, 64, "0", "f"), (0, 64, "1", "-"), (7, 64, "0", "+"), (15, 32, "0", "f")]
    while len(found) < N_SIGNALS:
        start, length, order = rng.randrange(64), rng.randint(1, 53), rng.choice("01")
        room = 64 - start if order == "1" else 64 - (8 * (start // 8) + 7 - start % 8)
        if length <= room:
            found.append((start, length, order, rng.choice("+-") if length > 1 else "+"))
    return found


@pytest.mark.parametrize("layout", layouts(), ids=lambda x: f"{x[0]}|{x[1]}@{x[2]}{x[3]}")
def test_bits_are_those_of_cantools(drivers: ctypes.CDLL, layout: tuple[int, int, str, str]) -> None:
    database = pytest.importorskip("cantools.database", reason="cantools is not installed (extra `test`)")
    start, length, order, kind = layout
    types = f"\nSIG_VALTYPE_ 291 S : {2 if length == 64 else 1};" if kind == "f" else ""
    sign = "-" if kind == "f" else kind
    text = f'VERSION ""\nBO_ 291 M: 8 N\n SG_ S : {start}|{length}@{order}{sign} (1,0) [0|0] "" N\n{types}\n'
    message = database.load_string(text, "dbc").messages[0]

    signals, frames = (Signal * 1)(), (Frame * 1)()
    assert drivers.khz_can_address(f"291:{start}|{length}@{order}{kind}".encode(), signals)
    frames[0].id = 291
    table = Map(1, 1, signals, frames)
    rng = random.Random(4)
    low, high = (-(2 ** (length - 1)), 2 ** (length - 1) - 1) if sign == "-" else (0, 2**length - 1)
    values: list[float] = (
        [0.0, 1.5, -0.1] if kind == "f" else [low, high, 0, *(rng.randint(low, high) for _ in range(20))]
    )
    for value in values:
        if kind != "f" and abs(value) > 2**53:
            value = float(rng.randint(0, 2**53))
        expected = message.encode({"S": value if kind == "f" else int(value)})
        drivers.khz_can_encode(ctypes.byref(table), ctypes.byref(ctypes.c_double(value)))
        assert bytes(frames[0].bytes) == expected
        back = ctypes.c_double()
        assert drivers.khz_can_decode(ctypes.byref(table), 291, 0, expected, 8, ctypes.byref(back)) == 1
        assert back.value == message.decode(expected)["S"]


@pytest.fixture
def bus() -> Any:
    can = pytest.importorskip("can", reason="python-can is not installed (extra `test`)")
    try:
        bus = can.Bus(interface="socketcan", channel=INTERFACE)
    except OSError as e:
        pytest.skip(
            f"no {INTERFACE} on this machine ({e}): ip link add dev {INTERFACE} type vcan; ip link set {INTERFACE} up"
        )
    yield bus
    bus.shutdown()


def test_frames_on_a_virtual_bus(bus: Any, open_port: Callable[..., Any]) -> None:
    import can

    settings = {
        "receive.0.address": "0x100:0|16@1-",
        "receive.1.address": "0x18ff0001:7|16@0+",
        "send.0.address": "0x200:0|32@1f",
        "send.1.address": "0x18ff0002:0|8@1+",
    }
    port = open_port("can", settings, interface=INTERFACE, n_receive=2, n_send=2)
    assert port.status == 0, port.message
    bus.send(can.Message(arbitration_id=0x100, data=[0xFE, 0xFF], is_extended_id=False))
    assert port.until(lambda flags, _: flags & port.FRESH) == [-2.0, 0.0]
    bus.send(can.Message(arbitration_id=0x18FF0001, data=[1, 2], is_extended_id=True))
    assert port.until(lambda flags, _: flags & port.FRESH) == [-2.0, 258.0]
    bus.send(can.Message(arbitration_id=0x100, data=[1], is_extended_id=False))  # too short
    bus.send(can.Message(arbitration_id=0x101, data=[1, 1], is_extended_id=False))  # not in the map
    port.until(lambda *_: port.counters["malformed"] == 1)
    while bus.recv(0.05) is not None:
        pass
    port.send(1.5, 7.0)
    frames = {m.arbitration_id: bytes(m.data) for m in (bus.recv(5.0), bus.recv(5.0))}
    assert frames == {0x200: b"\x00\x00\xc0\x3f", 0x18FF0002: b"\x07"}


def test_an_interface_that_is_not_there(open_port: Callable[..., Any]) -> None:
    port = open_port("can", {"send.0.address": "1:0|8@1+"}, interface="nothing7", n_send=1)
    assert port.status != 0 and "cannot open CAN interface nothing7" in port.message

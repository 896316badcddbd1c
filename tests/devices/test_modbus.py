"""Modbus TCP against pymodbus, as server and as client, and against libmodbus where it is installed."""

from __future__ import annotations

import random
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kilohertz.base import ModelError
from kilohertz.toolchain import Source, Unit, build_executable

pymodbus_client = pytest.importorskip("pymodbus.client", reason="pymodbus is not installed (extra `test`)")

MAP = {
    "receive.0.address": "0:f32",
    "receive.1.address": "2:i16",
    "send.0.address": "0:f32",
    "send.1.address": "10:u32",
    "send.2.address": "12:f64",
}


@contextmanager
def running(port: Any, *outputs: float) -> Iterator[list[Any]]:
    """The task turns in a thread: cycles of a millisecond; the list grows by what each received."""
    seen: list[Any] = []
    stop = threading.Event()

    def turn() -> None:
        while not stop.is_set():
            seen.append(port.receive())
            port.send(*outputs)
            time.sleep(0.0005)

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@pytest.fixture
def server(open_port: Callable[..., Any], free_port: Callable[[], int]) -> tuple[Any, ...]:
    number = free_port()
    port = open_port("modbus-server", MAP, listen=f":{number}", n_receive=2, n_send=3)
    assert port.status == 0, port.message
    return port, number


def floats(registers: list[int]) -> tuple[float, ...]:
    return struct.unpack(f">{len(registers) // 2}f", struct.pack(f">{len(registers)}H", *registers))


def test_pymodbus_reads_and_writes(server: tuple[Any, ...]) -> None:
    port, number = server
    with running(port, 1.5, 70000.0, -0.1) as seen, pymodbus_client.ModbusTcpClient("127.0.0.1", port=number) as plc:
        assert plc.connect()
        answer = plc.read_input_registers(0, count=2)
        while answer.registers == [0, 0]:  # before the first cycle
            answer = plc.read_input_registers(0, count=2)
        assert floats(answer.registers) == (1.5,)
        answer = plc.read_input_registers(10, count=6)
        assert answer.registers[:2] == [1, 4464]
        assert struct.unpack(">d", struct.pack(">4H", *answer.registers[2:])) == (-0.1,)
        written = [*struct.unpack(">2H", struct.pack(">f", 2.25)), 0xFFFE]
        assert not plc.write_registers(0, written).isError()
        assert plc.read_holding_registers(0, count=3).registers == written
        assert not plc.write_register(2, 7).isError()
        both = plc.readwrite_registers(read_address=0, read_count=3, write_address=2, values=[8])
        assert both.registers == [*written[:2], 8]
    inputs = [values for flags, values in seen if flags & port.FRESH]
    assert inputs == [[2.25, -2.0], [2.25, 7.0], [2.25, 8.0]]
    assert port.counters["links"] == 1 and port.counters["malformed"] == 0


def test_requests_beyond_the_map_are_answered_with_exceptions(server: tuple[Any, ...]) -> None:
    port, number = server
    with running(port) as seen, pymodbus_client.ModbusTcpClient("127.0.0.1", port=number) as plc:
        assert plc.connect()
        for answer in (
            plc.read_input_registers(16, count=1),
            plc.read_holding_registers(2, count=2),
            plc.write_registers(2, [1, 2]),
            plc.write_register(3, 1),
        ):
            assert answer.isError() and answer.exception_code == 2
        assert plc.read_coils(0, count=1).exception_code == 1
        assert plc.write_registers(0, [0x7FC0, 0]).isError() is False  # NaN as f32: refused as a value
    assert not any(flags & port.FRESH for flags, _ in seen)
    assert port.counters["malformed"] == 6


def test_bytes_that_are_no_modbus(server: tuple[Any, ...]) -> None:
    """Garbage ends a connection; others go on."""
    port, number = server
    rng = random.Random(2)
    with running(port, 1.0) as seen:
        with pymodbus_client.ModbusTcpClient("127.0.0.1", port=number) as plc:
            assert plc.connect()
            for _ in range(40):
                with socket.create_connection(("127.0.0.1", number), 5.0) as stranger:
                    stranger.sendall(struct.pack(">HH", 1, 1) + rng.randbytes(300))
                    assert hung_up(stranger)
                assert not plc.read_input_registers(0, count=1).isError()
        with socket.create_connection(("127.0.0.1", number), 5.0) as slow:
            slow.sendall(struct.pack(">HHHB", 1, 0, 6, 1)[:5])  # half a request, then nothing
    assert not any(flags & port.FRESH for flags, _ in seen) and port.counters["malformed"] == 40


def hung_up(stranger: socket.socket) -> bool:
    try:
        return stranger.recv(1) == b""
    except ConnectionResetError:
        return True


PLC = """
import asyncio, sys, warnings
warnings.simplefilter("ignore")
from pymodbus.server import ModbusTcpServer
from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext

async def main():
    block = ModbusSequentialDataBlock(1, [0] * 50)
    inputs = ModbusSequentialDataBlock(1, [0, 0, 9])
    context = ModbusServerContext(devices=ModbusDeviceContext(hr=block, ir=inputs), single=True)
    server = ModbusTcpServer(context, address=("127.0.0.1", int(sys.argv[1])))
    await server.serve_forever()

asyncio.run(main())
"""


@contextmanager
def pymodbus_plc(number: int) -> Iterator[subprocess.Popen[Any]]:
    process = subprocess.Popen([sys.executable, "-c", PLC, str(number)], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_as_client_of_pymodbus(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    """The PLC keeps what is written; it is killed and started again."""
    number = free_port()
    addresses = {
        "receive.0.address": "0:f32",
        "receive.1.address": "2:i16",
        "send.0.address": "0:f32",
        "send.1.address": "2:i16",
    }
    port = open_port("modbus-client", addresses, remote=f":{number}", poll=0.001, n_receive=2, n_send=2)
    assert port.status == 0, port.message
    assert port.receive()[0] == port.DOWN and port.send(0.5, 3.0) == port.DOWN

    def heard(value: float) -> Callable[[int, list[float]], bool]:
        return lambda flags, values: port.send(value, -5.0) >= 0 and values == [value, -5.0]

    with pymodbus_plc(number):
        port.until(heard(2.5))
    port.until(lambda flags, _: flags & port.DOWN)
    with pymodbus_plc(number):
        port.until(heard(4.5))
    assert port.counters["links"] >= 2


def test_as_client_reading_input_registers(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    number = free_port()
    settings = {"receive.0.address": "2:u16", "read": "input"}
    port = open_port("modbus-client", settings, remote=f":{number}", poll=0.001, n_receive=1, n_send=0)
    with pymodbus_plc(number):
        assert port.until(lambda flags, _: flags & port.FRESH) == [9.0]


def test_a_client_whose_server_answers_nonsense(open_port: Callable[..., Any], free_port: Callable[[], int]) -> None:
    number = free_port()
    port = open_port("modbus-client", remote=f":{number}", poll=0.001, answer_within=0.05, n_receive=1, n_send=0)
    with socket.create_server(("127.0.0.1", number)) as server:
        server.settimeout(5.0)
        for nonsense in (
            b"",
            b"x" * 300,
            struct.pack(">HHHB", 1, 0, 5, 1) + b"\x03\x02ab",
            b"\x00\x01\x00\x00\xff\xff\x01",
        ):
            peer, _ = server.accept()
            with peer:
                peer.recv(100)
                peer.sendall(nonsense)
                hung_up(peer)
    port.until(lambda flags, _: port.counters["malformed"] >= 4)
    assert port.counters["received"] == 0


LIBMODBUS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <modbus/modbus.h>

/* Not libmodbus' own modbus_get_float_abcd and modbus_set_float_abcd: in 3.1.6 the one does not undo the other. */
static float get(const uint16_t *r)
{
    const uint32_t bits = (uint32_t)r[0] << 16 | r[1];
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static void put(float f, uint16_t *r)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    r[0] = (uint16_t)(bits >> 16);
    r[1] = (uint16_t)bits;
}

int main(int argc, char **argv)
{
    modbus_t *m = modbus_new_tcp("127.0.0.1", argc > 1 ? atoi(argv[1]) : 502);
    uint16_t r[8], w[3];
    if (modbus_connect(m) != 0) return 1;
    put(6.5f, w);
    w[2] = 11;
    if (modbus_write_registers(m, 0, 3, w) != 3) return 2;
    for (int i = 0; i < 1000; i++) {
        if (modbus_read_input_registers(m, 0, 2, r) != 2) return 3;
        if (get(r) == 1.5f) break;
    }
    if (get(r) != 1.5f) return 6;
    if (modbus_read_registers(m, 0, 3, r) != 3 || r[2] != 11) return 4;
    if (modbus_read_input_registers(m, 100, 2, r) != -1) return 5;
    printf("%g\\n", (double)get(r));
    modbus_close(m);
    modbus_free(m);
    return 0;
}
"""


def test_libmodbus_reads_and_writes(server: tuple[Any, ...]) -> None:
    try:
        program = build_executable([Unit((Source("libmodbus_peer.c", LIBMODBUS),))], ("-lmodbus",))
    except ModelError:
        pytest.skip("libmodbus is not installed (Debian: libmodbus-dev)")
    port, number = server
    with running(port, 1.5) as seen:
        done = subprocess.run([program, str(number)], capture_output=True, text=True, check=False, timeout=30)
    if done.returncode == 127:
        pytest.skip("libmodbus was there when this was built, and is no more")
    assert (done.returncode, done.stdout) == (0, "6.5\n"), done.stderr
    assert [6.5, 11.0] in [values for _, values in seen]

"""The controller's side: `kilohertz.devices` and `khz_client.h` against the drivers, and both examples."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kilohertz import devices
from kilohertz.devices import Gate, LinkError, Message, SimulatedLink, connect, include_directory, pack, unpack
from kilohertz.toolchain import STRICT, Source, Unit, build_executable

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(params=["udp", "shm", "tcp"])
def ends(
    request: pytest.FixtureRequest, open_port: Callable[..., Any], free_port: Callable[[], int]
) -> Iterator[tuple[Any, ...]]:
    """A port of two inputs and one output, and how to connect to it."""
    task, own = free_port(), free_port()
    segment = f"/khz-test-{uuid.uuid4().hex[:12]}"
    settings = {
        "udp": {"local": f":{task}", "remote": f":{own}"},
        "shm": {"segment": segment},
        "tcp": {"listen": f":{task}"},
    }[request.param]
    address = f"shm://{segment}" if request.param == "shm" else f"{request.param}://127.0.0.1:{task}"

    def opened() -> devices.Link:
        return connect(address, receive=1, send=2, local=f"127.0.0.1:{own}", timeout=5.0)

    def port() -> object:
        port = open_port(request.param, settings, n_receive=2, n_send=1, restart_after=0.01)
        assert port.status == 0, port.message
        return port

    yield port, opened


def test_values_go_both_ways(ends: tuple[Any, ...]) -> None:
    make_port, opened = ends
    port = make_port()
    with opened() as task:
        assert (task.n_receive, task.n_send) == (1, 2)
        port.receive()
        for k in range(1, 50):
            assert port.send(0.5 * k) == port.FRESH
            message = task.receive()
            assert message is not None and message.values == (0.5 * k,)
            assert message.sequence == k and message.time_ns == port.cycle * 1_000_000
            assert task.send([k, -k])
            assert port.until(lambda flags, _: flags & port.FRESH) == [k, -k]
            if port.cycle > k:  # the search above sent zeros meanwhile
                break
        with pytest.raises(LinkError, match="takes 2 values"):
            task.send([1.0])
        while task.receive(0.0) is not None:
            pass
        assert task.receive(timeout=0.01) is None


def test_a_controller_that_is_killed_and_started_again(ends: tuple[Any, ...]) -> None:
    make_port, opened = ends
    port = make_port()
    for value in (1.0, 2.0):
        with opened() as task:
            port.until(lambda _, values, v=value, t=task: t.send([v, 0.0]) and values[0] == v)
    assert port.counters["links"] >= 2


def test_a_task_that_is_started_again(ends: tuple[Any, ...]) -> None:
    make_port, opened = ends
    port = make_port()
    port.receive()
    with opened() as task:
        for _ in range(3):
            port.receive()
            port.send(1.0)
        assert task.receive() is not None
        port.close()
        again = make_port()
        again.receive()
        again.send(7.0)
        message = task.receive()
        if message is None:  # a TCP connection ends with the task: connect again
            with opened() as anew:
                again.receive()
                again.send(7.0)
                message = anew.receive()
        assert message is not None and message.values == (7.0,)


def test_there_is_no_task() -> None:
    with pytest.raises(LinkError, match="is the task running"):
        connect("shm:///khz-nobody-has-this", timeout=0.0)
    with pytest.raises(LinkError, match="cannot connect"):
        connect("tcp://127.0.0.1:9", timeout=0.5)
    with connect("udp://127.0.0.1:9", receive=1, send=1) as task:
        for _ in range(5):
            task.send([1.0])
            assert task.receive(0.001) is None


@pytest.mark.parametrize(
    "address",
    ["http://x", "udp://127.0.0.1", "udp://host:port", "5000", "udp://127.0.0.1:70000", "udp://127.0.0.1:50?local=:51"],
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(LinkError):
        connect(address)


def test_messages_as_bytes() -> None:
    message = Message((1.0, -2.5), 3, -4, 5, 6)
    for big in (False, True):
        for crc in (False, True):
            data = pack(message, big=big, crc=crc)
            assert unpack(data, 2, need_crc=crc) == message
            assert unpack(data, 1) is None and unpack(data[:-1], 2) is None and unpack(data + b"x", 2) is None
            assert unpack(pack(Message((float("nan"),), 1, 0, 0), big=big, crc=crc), 1) is None
    assert unpack(pack(message), 2, need_crc=True) is None


def test_the_gate() -> None:
    gate = Gate()
    taken = [
        gate.admits(Message((), sequence, 0, session)) for session, sequence in ((1, 1), (1, 4), (1, 4), (1, 2), (2, 1))
    ]
    assert taken == [True, True, False, False, True]
    assert gate.n_missing == 2 and gate.n_old == 2


def test_a_simulated_task() -> None:
    """An integrator under proportional control comes to its target; no process, no wire."""
    level = 0.0

    def step(inputs: tuple[float, ...]) -> list[float]:
        nonlocal level
        level += 1e-3 * inputs[0]
        return [level]

    with SimulatedLink(step, send=1, duration=1.0) as task:
        for message in task:
            task.send([10.0 * (0.5 - message.values[0])])
    assert abs(level - 0.5) < 1e-3 and task.n_received == 1000


def test_the_python_example_is_ten_lines() -> None:
    tree = ast.parse((EXAMPLES / "controller_python" / "controller.py").read_text())
    link = next(node for node in tree.body if isinstance(node, ast.With))
    assert link.end_lineno is not None and link.end_lineno - link.lineno < 10


def closed_loop(port: Any, process: subprocess.Popen[Any]) -> tuple[float, int]:
    """A mass under the force that the controller sends; its position at the end, and how many cycles had a force."""
    position = velocity = 0.0
    fresh = 0
    wait = time.monotonic() + 20.0
    port.receive()
    while port.counters["received"] == 0:  # the controller must be up first
        assert process.poll() is None and time.monotonic() < wait
        port.send(position, velocity)
        time.sleep(0.001)
        port.receive()
    for _ in range(2000):
        port.send(position, velocity)
        flags, (force,) = port.receive()
        for _ in range(100):
            if flags & port.FRESH:
                break
            time.sleep(0.0002)
            flags, (force,) = port.receive()
        fresh += flags & port.FRESH
        velocity += 1e-3 * force
        position += 1e-3 * velocity
    return position, fresh


@pytest.fixture(scope="module")
def c_controller() -> Path:
    source = Source("controller.c", (EXAMPLES / "controller_c" / "controller.c").read_text())
    flags = (*STRICT, "-D_GNU_SOURCE")
    return build_executable([Unit((source,), (), (include_directory(),), flags)], ("-lrt",))


@pytest.fixture(scope="module")
def cpp_controller(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """The same source as C++; None where there is no such compiler."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    out = tmp_path_factory.mktemp("cpp") / "controller"
    source = EXAMPLES / "controller_c" / "controller.c"
    flags = ["-std=c++11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{include_directory()}", "-x", "c++"]
    subprocess.run([compiler, *flags, str(source), "-o", str(out), "-lrt"], check=True)
    return out


@pytest.mark.parametrize("language", ["python", "c", "c++"])
@pytest.mark.parametrize("carrier", ["udp", "shm"])
def test_the_examples_close_a_loop(
    language: str,
    carrier: str,
    c_controller: Path,
    cpp_controller: Path | None,
    open_port: Callable[..., Any],
    free_port: Callable[[], int],
) -> None:
    task, own, segment = free_port(), free_port(), f"/khz-test-{uuid.uuid4().hex[:12]}"
    settings = {"udp": {"local": f":{task}", "remote": f":{own}"}, "shm": {"segment": segment}}[carrier]
    address = f"shm://{segment}" if carrier == "shm" else f"udp://127.0.0.1:{task}"
    port = open_port(carrier, settings, n_receive=1, n_send=2)
    local = f"127.0.0.1:{own}"
    script = str(EXAMPLES / "controller_python" / "controller.py")
    command = [sys.executable, script, address, "--local", local]
    if language != "python":
        program = c_controller if language == "c" else cpp_controller
        if program is None:
            pytest.skip("g++ is not installed")
        command = [str(program), address, local]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        position, fresh = closed_loop(port, process)
        out, _ = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert abs(position - 0.5) < 0.01
    assert fresh >= 1900, "cycles with a force of their own"
    assert out.startswith("received ") and process.returncode == 0

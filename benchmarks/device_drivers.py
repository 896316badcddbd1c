"""Do the examples of Modelica_DeviceDrivers exchange real data, off-line and as tasks?

    python benchmarks/device_drivers.py LIBRARY MSLDIR [--duration 3] [--step 0.01] [--only TEXT]

LIBRARY is the folder that holds Modelica_DeviceDrivers.  Each example gets a peer where it needs one: a TCP server that
echoes, TCP clients, a pair of serial ports (socat); ports and names of shared memory are chosen anew for every run, so
that nothing of another run is met.  It is run off-line as it is, off-line in step with the wall clock (one more block
of the library, RealtimeSynchronize: threads that receive have time to), and as a task.  Of each run are told how many
different packages were sent and how many of them arrived (those of zeros alone left out), how many arrived that nobody
sent, how long the run took, and the deadlines that a task missed.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sweeps import absolute
from tables import machine

PACKAGE = "Modelica_DeviceDrivers"
PACE = f"  {PACKAGE}.Blocks.OperatingSystem.RealtimeSynchronize pace(sampled = true, shouldCatchupTime = true);\n"
UDP = "uDPSend(port_send = {place}), uDPReceive(port_recv = {place})"
MEMORY = 'sharedMemoryWrite(memoryID = "{place}"), sharedMemoryRead(memoryID = "{place}")'
SERIAL = 'serialSend(Serial_Port = "{place}.a"), serialReceive(Serial_Port = "{place}.b")'
OFFLINE = """
import sys, time, kilohertz
file, stop, *folders = sys.argv[1:]
model = kilohertz.load(file, libraries=folders)
model.compile()
started = time.perf_counter()
result = model.simulate(stop=float(stop))
print(time.perf_counter() - started, file=open("seconds", "w"))
result.to_csv("rows.csv")
"""
NEAR = 1e-6  # what single precision keeps of values of a few units


@dataclass
class Tally:
    """Packages sent, those of them that arrived, and those that arrived and nobody sent."""

    sent: int = 0
    arrived: int = 0
    foreign: int = 0


@dataclass
class Run:
    """A run and what came of it."""

    way: str
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0
    note: str = ""


Rows = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Peer = Callable[[str, Tally], AbstractContextManager[None]]


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def new_name() -> str:
    return f"khz{secrets.token_hex(4)}"


@contextlib.contextmanager
def nobody(_place: str, _tally: Tally) -> Iterator[None]:
    yield


@contextlib.contextmanager
def echo(place: str, _tally: Tally) -> Iterator[None]:
    """A TCP server that sends back what it gets, to one client after another."""
    with socket.create_server(("127.0.0.1", int(place))) as server:
        thread = threading.Thread(target=_echo_all, args=(server,), daemon=True)
        thread.start()
        yield
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def _echo_all(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = server.accept()
            with client:
                while data := client.recv(4096):
                    client.sendall(data)


def clients(n: int) -> Peer:
    """TCP clients that send three Integers and wait for their doubles, until the server is gone."""

    @contextlib.contextmanager
    def peers(place: str, tally: Tally) -> Iterator[None]:
        over = threading.Event()
        threads = [threading.Thread(target=_ask, args=(int(place), k, tally, over), daemon=True) for k in range(n)]
        for thread in threads:
            thread.start()
        yield
        over.set()
        for thread in threads:
            thread.join()

    return peers


def _ask(port: int, number: int, tally: Tally, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2.0) as client:
            for i in range(1, 10_000):
                asked = (1000 * number + i, 2 * i, 3 * i)
                client.sendall(struct.pack("=3i", *asked))
                tally.sent += 1
                answer = struct.unpack("=3i", _whole(client, 12))
                good = answer == tuple(2 * v for v in asked)
                tally.arrived += good
                tally.foreign += not good
        over.wait(0.05)


def _whole(client: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        more = client.recv(n - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


@contextlib.contextmanager
def serial(place: str, _tally: Tally) -> Iterator[None]:
    """Two serial ports with a line between them, at their own speed."""
    ends = [f"pty,raw,echo=0,link={place}.{end}" for end in "ab"]
    with subprocess.Popen(["socat", *ends]) as line:
        while not Path(f"{place}.b").exists() and line.poll() is None:
            time.sleep(0.01)
        yield
        line.terminate()


@dataclass(frozen=True)
class Example:
    """An example, what it sends and gets, how often, what keeps it apart from other runs, and its peer."""

    name: str
    sent: Sequence[str] = ()
    got: Sequence[str] = ()
    modifiers: str = ""
    place: Callable[[], str] = free_port
    peer: Peer = nobody
    period: float | None = 0.1  # None: it is told in the run when to send


def _elements(name: str, n: int) -> list[str]:
    return [f"{name}[{i}]" for i in range(1, n + 1)]


SENT = [*_elements("addReal.u", 3), *_elements("addInteger.u", 1)]
GOT = [*_elements("getReal.y", 3), *_elements("getInteger.y", 1)]
SENT_FLOATS, GOT_FLOATS = [*SENT, *_elements("addFloat.u", 2)], [*GOT, *_elements("getFloat.y", 2)]
BITS = ["packInt.u", "packInt1.u", *_elements("addReal.u", 3)]
GOT_BITS = ["unpackInt.y", "unpackInt1.y", *_elements("getReal.y", 3)]
SERIAL_SENT, SERIAL_GOT = ["packInt.u", "addInteger.u[1]"], ["unpackInt.y", "getInteger.y[1]"]
B, C = "Blocks.Examples.TestSerialPackager", "ClockedBlocks.Examples.TestSerialPackager"
EXAMPLES = (
    Example(f"{B}_UDP", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{B}_UDPAutoBufferSize", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{B}_UDPExternalTrigger", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{B}_UDPWithoutReceiveThread", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{B}BitPack_UDP", BITS, GOT_BITS, UDP),
    Example(f"{C}_UDP", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{C}_UDPWithoutReceiveThread", SENT_FLOATS, GOT_FLOATS, UDP),
    Example(f"{C}BitPack_UDP", BITS, GOT_BITS, UDP.replace("uDPReceive", "uDPReceive2_1")),
    Example(f"{B}_TCPIP", SENT_FLOATS, GOT_FLOATS, "tcpipClient(port = {place})", peer=echo),
    Example(f"{B}_TCPIPServer", modifiers="tcpipserverconfig(port = {place})", peer=clients(1)),
    Example(f"{B}_TCPIPServerMultipleClients", modifiers="tcpipserverconfig(port = {place})", peer=clients(2)),
    Example(f"{B}_SharedMemory", SENT, GOT, MEMORY, new_name),
    Example(f"{B}_SharedMemoryExternalTrigger", SENT, GOT, MEMORY, new_name, period=None),
    Example(f"{C}_SharedMemory", SENT, GOT, MEMORY, new_name),
    Example(f"{B}_SerialPort", SERIAL_SENT, SERIAL_GOT, SERIAL, lambda: f"/tmp/{new_name()}", serial),
    Example("Blocks.Examples.TestRealtimeSynchronize"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute, metavar="LIBRARY")
    parser.add_argument("msl", type=absolute, metavar="MSLDIR")
    parser.add_argument("--duration", type=float, default=3.0, help="model time of each run (default: 3 s)")
    parser.add_argument("--step", type=float, default=0.01, help="period of tasks (default: 10 ms)")
    parser.add_argument("--only", default="", help="only examples whose name contains this")
    arguments = parser.parse_args()
    print(f"{'example':58} {'run':15} {'sent':>5} {'arrived':>8} {'foreign':>8} {'wall s':>7}")
    for example in (e for e in EXAMPLES if arguments.only in e.name):
        for run in runs(example, arguments):
            counts = f"{run.tally.sent:5} {run.tally.arrived:8} {run.tally.foreign:8}"
            print(f"{example.name:58} {run.way:15} {counts} {run.seconds:7.3f}  {run.note}", flush=True)
    print(f"\n{arguments.duration:g} s of model time each, tasks every {arguments.step:g} s; {machine()}")


def runs(example: Example, arguments: argparse.Namespace) -> Iterator[Run]:
    """Off-line as it is, off-line in step with the wall clock, and as a task."""
    folders = [str(arguments.library), str(arguments.msl)]
    offline = ["-c", OFFLINE, "Exchange.mo", str(arguments.duration), *folders]
    task = ["-m", "kilohertz", "run", "Exchange.mo", *(f"-L{f}" for f in folders), "--no-check", "--solver", "rk4"]
    task += [
        "--step",
        str(arguments.step),
        "--duration",
        f"{arguments.duration}s",
        "-o",
        "rows.csv",
        "--json",
        "report",
    ]
    for way, command, more in (("off-line", offline, ""), ("off-line, paced", offline, PACE), ("task", task, "")):
        with tempfile.TemporaryDirectory(prefix="khz-drivers-") as folder:
            yield _run(example, way, command, more, Path(folder))


def _run(example: Example, way: str, command: list[str], more: str, folder: Path) -> Run:
    """One process on the example with ports of its own, beside its peer."""
    run, place = Run(way), example.place()
    modified = f"({example.modifiers.format(place=place)})" if example.modifiers else ""
    text = f"model Exchange\n  extends {PACKAGE}.{example.name}{modified};\n{more}end Exchange;\n"
    (folder / "Exchange.mo").write_text(text, encoding="utf-8")
    try:
        with example.peer(place, run.tally):
            done = subprocess.run(
                [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False
            )
    except subprocess.TimeoutExpired:
        run.note = "took longer than 300 s"
        return run
    if done.returncode:
        run.note = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-200:])
        return run
    if example.sent:
        _count(folder / "rows.csv", example, run.tally)
    if way == "task":
        report = json.loads((folder / "report").read_text(encoding="utf-8"))
        run.seconds, counts = report["wall_ns"] * 1e-9, report["counts"]
        run.note = f"{counts['steps']} steps, {counts['missed']} deadlines missed"
    else:
        run.seconds = float((folder / "seconds").read_text(encoding="utf-8"))
    return run


def _count(file: Path, example: Example, tally: Tally) -> None:
    """Different packages at the instants of sending, and which of them came out again."""
    with file.open(encoding="utf-8", newline="") as rows:
        names, *lines = csv.reader(rows)
    values = dict(zip(names, np.array(lines, dtype=float).T, strict=True))
    sent, got = (np.column_stack([values[n] for n in signals]) for signals in (example.sent, example.got))
    come = _different(got)
    meant = sum(_is_among(package, sent) for package in come)
    tally.foreign = len(come) - meant
    if example.period is None:
        tally.arrived = meant
        return
    phase = values["time"] / example.period
    packages = _different(sent[np.abs(phase - np.round(phase)) * example.period < NEAR])
    tally.sent, tally.arrived = len(packages), sum(_is_among(package, got) for package in packages)


def _different(rows: Rows) -> Rows:
    """Each once, without zeros alone: a value that never came looks so, too."""
    return np.unique(rows[np.any(rows != 0.0, axis=1)], axis=0)


def _is_among(package: Rows, rows: Rows) -> bool:
    return bool(np.any(np.all(np.abs(rows - package) < NEAR, axis=1)))


if __name__ == "__main__":
    main()

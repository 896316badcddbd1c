"""Ports in this process: the drivers as a shared library, so that a test can be the peer."""

from __future__ import annotations

import ctypes
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from kilohertz import runtime
from kilohertz.toolchain import STRICT, Source, Unit, build_shared, load_library

PERIOD_NS = 1_000_000


class Setting(ctypes.Structure):
    _fields_ = (("key", ctypes.c_char_p), ("value", ctypes.c_char_p))


class Config(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("n", ctypes.c_int32), ("settings", ctypes.POINTER(Setting)))


COUNTERS = tuple(name.removeprefix("n_") for name, _ in runtime.fields("khz_device_counters"))


class Counters(ctypes.Structure):
    _fields_ = tuple((name.removeprefix("n_"), kind) for name, kind in runtime.fields("khz_device_counters"))


class Port:
    """A port with a clock of its own: every receive begins the next cycle."""

    FRESH, DOWN, LOST, STOP = runtime.family("KHZ_PORT_").values()

    def __init__(self, library: ctypes.CDLL, settings: dict[str, object]) -> None:
        texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in settings.items()}
        self._settings = (Setting * len(texts))(*(Setting(k.encode(), v.encode()) for k, v in texts.items()))
        self._config = Config(b"test", len(texts), self._settings)
        self._library = library
        size = library.khz_port_size(ctypes.byref(self._config))
        self._memory = ctypes.create_string_buffer(size + 64)
        self._at = (ctypes.addressof(self._memory) + 63) // 64 * 64
        message = ctypes.create_string_buffer(300)
        self.status = library.khz_port_open(self._at, ctypes.byref(self._config), message, len(message))
        self.message = message.value.decode()
        self.cycle = -1
        self._is_open = self.status == 0
        self.n_receive, self.n_send = int(texts.get("n_receive", "0")), int(texts.get("n_send", "0"))

    def receive(self) -> tuple[int, list[float]]:
        self.cycle += 1
        values = (ctypes.c_double * max(self.n_receive, 1))()
        flags = self._library.khz_port_receive(self._at, self.cycle, self.cycle * PERIOD_NS, values)
        return flags, list(values)[: self.n_receive]

    def send(self, *values: float, safe: bool = False) -> int:
        row = (ctypes.c_double * max(self.n_send, 1))(*values)
        return int(self._library.khz_port_send(self._at, self.cycle, self.cycle * PERIOD_NS, row, int(safe)))

    def until(self, wanted: Callable[[int, list[float]], bool], seconds: float = 60.0) -> list[float]:
        """Receive (and send zeros) until something holds; a peer that starts on a busy machine needs its time."""
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            flags, values = self.receive()
            if wanted(flags, values):
                return values
            self.send()
            time.sleep(0.0002)
        raise AssertionError(f"never came: {self.counters}")

    @property
    def counters(self) -> dict[str, int]:
        row = self._library.khz_port_counters(self._at).contents
        return {name: getattr(row, name) for name in COUNTERS}

    def close(self) -> None:
        if self._is_open:
            self._library.khz_port_close(self._at)
        self._is_open = False


@pytest.fixture(scope="session")
def drivers() -> ctypes.CDLL:
    headers = tuple(Source(n, t) for n, t in (*runtime.headers(), *runtime.device_headers()))
    sources = tuple(Source(n, t) for n, t in runtime.device_sources())
    flags = (*STRICT, "-fvisibility=default")
    library = load_library(build_shared([Unit(sources, headers, (), flags)], ("-pthread", "-ldl", "-lrt")))
    library.khz_port_size.restype = ctypes.c_size_t
    library.khz_port_size.argtypes = [ctypes.c_void_p]
    library.khz_port_open.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    for name in ("khz_port_receive", "khz_port_send"):
        getattr(library, name).restype = ctypes.c_uint32
    library.khz_port_receive.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p]
    library.khz_port_send.argtypes = [*library.khz_port_receive.argtypes, ctypes.c_int]
    library.khz_port_counters.restype = ctypes.POINTER(Counters)
    library.khz_port_counters.argtypes = library.khz_port_close.argtypes = [ctypes.c_void_p]
    return library


Opener = Callable[..., Port]


@pytest.fixture
def open_port(drivers: ctypes.CDLL) -> Iterator[Opener]:
    """`open_port("udp", n_receive=2, ...)`; all are closed after the test."""
    ports: list[Port] = []

    def opened(driver: str, settings: dict[str, object] | None = None, **more: object) -> Port:
        ports.append(Port(drivers, {"driver": driver, **(settings or {}), **more}))
        return ports[-1]

    yield opened
    for port in ports:
        port.close()


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A port number nobody listens on."""

    def free() -> int:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            return int(s.getsockname()[1])

    return free

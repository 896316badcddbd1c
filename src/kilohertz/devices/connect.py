"""From an address to a link."""

from __future__ import annotations

import secrets
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from kilohertz.devices.link import Carrier, Link, LinkError
from kilohertz.devices.shm import ShmCarrier
from kilohertz.devices.tcp import TcpCarrier
from kilohertz.devices.udp import UdpCarrier
from kilohertz.devices.wire import MOST_VALUES


def connect(
    address: str,
    receive: int = 0,
    send: int = 0,
    *,
    local: str = "127.0.0.1:0",
    endian: str = "little",
    crc: bool = False,
    timeout: float = 1.0,
) -> Link:
    """Open a link with a running task.

    address  `udp://127.0.0.1:5000`, `tcp://127.0.0.1:5000` or `shm:///khz`
    receive  number of values the task sends; a segment says it itself
    send     number of values the task takes; a segment says it itself
    local    own address of a UDP link; the device of the task names it as `remote`
    timeout  seconds that `receive` and iteration wait; for a segment also until the task has made it
    """
    if endian not in ("little", "big"):
        raise LinkError(f"endian is little or big, not {endian!r}")
    if not (0 <= receive <= MOST_VALUES and 0 <= send <= MOST_VALUES):
        raise LinkError(f"at most {MOST_VALUES} values go into a message")
    parts = urlsplit(address)
    if parts.query or parts.fragment or (parts.scheme != "shm" and parts.path.strip("/")):
        raise LinkError(f"{address!r}: nothing follows the address; what else there is to say are arguments of connect")
    carrier: Carrier
    match parts.scheme:
        case "shm":
            carrier = ShmCarrier(parts.netloc + parts.path, timeout)
        case "udp":
            to = _host_and_port(address, parts.netloc)
            carrier = UdpCarrier(to, _host_and_port(local, local), receive, send, big=endian == "big", crc=crc)
        case "tcp":
            to = _host_and_port(address, parts.netloc)
            carrier = TcpCarrier(to, receive, send, big=endian == "big", crc=crc, timeout=timeout)
        case _:
            raise LinkError(f"{address!r}: an address begins with udp://, tcp:// or shm:///")
    return Link(carrier, secrets.randbits(32), timeout)


def include_directory() -> Path:
    """The folder of `khz_client.h`, for a C compiler's -I."""
    return Path(str(resources.files("kilohertz.runtime") / "devices"))


def _host_and_port(whole: str, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise LinkError(f"{whole!r}: host:port is needed")
    return host.strip("[]") or "127.0.0.1", int(port)

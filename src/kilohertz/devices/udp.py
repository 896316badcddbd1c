"""Messages in UDP datagrams."""

from __future__ import annotations

import select
import socket
import time

from kilohertz.devices.link import LinkError, Message
from kilohertz.devices.wire import Gate, pack, unpack

_LARGEST = 65536
_MOST = 64  # datagrams read in a turn: a flood must not keep a controller from its work


class UdpCarrier:
    """A socket connected to the task."""

    def __init__(
        self, remote: tuple[str, int], local: tuple[str, int], n_receive: int, n_send: int, *, big: bool, crc: bool
    ) -> None:
        self.n_receive, self.n_send = n_receive, n_send
        self._big, self._crc = big, crc
        self._gate = Gate()
        family = socket.AF_INET6 if ":" in remote[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.bind(local)
            self._socket.connect(remote)
        except OSError as e:
            self._socket.close()
            raise LinkError(f"cannot open a UDP link from {local} to {remote}: {e}") from e
        self._socket.setblocking(False)

    def receive(self, timeout: float) -> Message | None:
        until = time.monotonic() + timeout
        while True:
            newest = self._drain()
            left = until - time.monotonic()
            if newest is not None or left <= 0.0:
                return newest
            select.select([self._socket], [], [], left)

    def _drain(self) -> Message | None:
        newest: Message | None = None
        for _ in range(_MOST):
            try:
                data = self._socket.recv(_LARGEST)
            except BlockingIOError:
                break
            except ConnectionError:  # the kernel reports that the task was not there when something was sent
                continue
            message = unpack(data, self.n_receive, need_crc=self._crc)
            if message is not None and self._gate.admits(message):
                newest = message
        return newest

    def send(self, message: Message) -> bool:
        data = pack(message, big=self._big, crc=self._crc)
        for _ in range(2):  # the first try may only report that an earlier message found nobody
            try:
                return self._socket.send(data) == len(data)
            except ConnectionError:
                continue
            except BlockingIOError:
                return False
        return False

    def close(self) -> None:
        self._socket.close()

"""Messages in a TCP stream."""

from __future__ import annotations

import select
import socket
import time

from kilohertz.devices.link import LinkError, Message
from kilohertz.devices.wire import MAGIC, Gate, pack, size_of, unpack

_READ = 65536


class TcpCarrier:
    """A connection to the task, which listens."""

    def __init__(
        self, remote: tuple[str, int], n_receive: int, n_send: int, *, big: bool, crc: bool, timeout: float
    ) -> None:
        self.n_receive, self.n_send = n_receive, n_send
        self._big, self._crc = big, crc
        self._gate = Gate()
        self._bytes = b""
        try:
            self._socket = socket.create_connection(remote, timeout)
        except OSError as e:
            raise LinkError(f"cannot connect to {remote[0]}:{remote[1]}: {e}") from e
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(timeout)

    def receive(self, timeout: float) -> Message | None:
        until = time.monotonic() + timeout
        while True:
            left = max(until - time.monotonic(), 0.0)
            ready, _, _ = select.select([self._socket], [], [], left)
            if not ready:
                return None
            try:
                data = self._socket.recv(_READ)
            except ConnectionError:
                return None
            if not data:
                return None
            self._bytes += data
            newest = self._parse()
            if newest is not None:
                return newest

    def _parse(self) -> Message | None:
        newest: Message | None = None
        while len(self._bytes) >= 8:
            size = size_of(self._bytes[:8])
            if size is None:  # not in step: look for the next beginning
                at = self._bytes.find(MAGIC, 1)
                self._bytes = self._bytes[at:] if at > 0 else self._bytes[-3:]
                continue
            if len(self._bytes) < size:
                break
            message = unpack(self._bytes[:size], self.n_receive, need_crc=self._crc)
            self._bytes = self._bytes[size:] if message is not None else self._bytes[1:]
            if message is not None and self._gate.admits(message):
                newest = message
        return newest

    def send(self, message: Message) -> bool:
        try:
            self._socket.sendall(pack(message, big=self._big, crc=self._crc))
        except OSError:
            return False
        return True

    def close(self) -> None:
        self._socket.close()

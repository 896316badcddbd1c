"""Messages in a shared-memory segment, as `khz_segment.h` lays it out.

Every word is written and read whole; on x86-64 their order is that of the program.  On machines with a weaker order use
`khz_client.h`, whose fences the language guarantees.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import struct
import time
from pathlib import Path

from kilohertz.devices.link import LinkError, Message
from kilohertz.devices.wire import Gate
from kilohertz.runtime import constant, fields

FOLDER = Path("/dev/shm")
VERSION = constant("KHZ_SEGMENT_VERSION")
_SLOTS, _TRIES = constant("KHZ_SEGMENT_SLOTS"), constant("KHZ_SEGMENT_TRIES")
_NAP = 50e-6  # seconds between two looks: well under a period of 1 ms


class _Segment(ctypes.Structure):
    _fields_ = fields("khz_segment")


class _Channel(ctypes.Structure):
    _fields_ = fields("khz_channel")


class _Slot(ctypes.Structure):
    _fields_ = fields("khz_slot")


_HEAD, _CHANNEL_HEAD, _SLOT_HEAD = (ctypes.sizeof(c) for c in (_Segment, _Channel, _Slot))


def slot_size(n: int) -> int:
    return (_SLOT_HEAD + 8 * n + 63) // 64 * 64


def channel_size(n: int) -> int:
    return _CHANNEL_HEAD + _SLOTS * slot_size(n)


def segment_size(n_task: int, n_peer: int) -> int:
    return _HEAD + channel_size(n_task) + channel_size(n_peer)


class Channel:
    """One direction of a segment."""

    def __init__(self, memory: mmap.mmap, at: int, n: int) -> None:
        self._words = memoryview(memory)[at : at + channel_size(n)].cast("Q")
        self._bytes = memoryview(memory)[at : at + channel_size(n)]
        self._n = n
        self._format = f"={n}d"

    def release(self) -> None:
        self._words.release()
        self._bytes.release()

    @property
    def latest(self) -> int:
        return self._words[0]

    def read(self) -> Message | None:
        """The newest message; None where there is none or it changed all the time."""
        for _ in range(_TRIES):
            sequence = self._words[0]
            at = _CHANNEL_HEAD + sequence % _SLOTS * slot_size(self._n)
            if sequence == 0 or self._words[at // 8] != sequence:
                continue
            session, echo, time_ns = struct.unpack_from("=IIq", self._bytes, at + _Slot.session_echo.offset)
            values = struct.unpack_from(self._format, self._bytes, at + _SLOT_HEAD)
            if self._words[at // 8] == sequence:
                return Message(values, sequence, time_ns, session, echo)
        return None

    def write(self, message: Message) -> None:
        at = _CHANNEL_HEAD + message.sequence % _SLOTS * slot_size(self._n)
        self._words[at // 8] = 0
        struct.pack_into(
            "=IIq", self._bytes, at + _Slot.session_echo.offset, message.session, message.echo, message.time_ns
        )
        struct.pack_into(self._format, self._bytes, at + _SLOT_HEAD, *message.values)
        self._words[at // 8] = message.sequence
        self._words[0] = message.sequence
        struct.pack_into("=I", self._bytes, _Channel.bell.offset, message.sequence & 0xFFFFFFFF)


class ShmCarrier:
    """A segment that a task made; opened anew when another task takes its name."""

    def __init__(self, name: str, timeout: float) -> None:
        self._path = FOLDER / name.lstrip("/")
        self._gate = Gate()
        self._memory: mmap.mmap | None = None
        self.n_receive = self.n_send = 0
        until = time.monotonic() + timeout
        while not self._open():
            if time.monotonic() >= until:
                raise LinkError(f"there is no segment {name}: is the task running, with a device of driver shm?")
            time.sleep(0.01)

    def _open(self) -> bool:
        try:
            with open(self._path, "r+b") as file:
                data = file.read(_HEAD)
                if len(data) < _HEAD or data[:4] != b"KHZM":
                    return False
                head = _Segment.from_buffer_copy(data)
                if head.version != VERSION:
                    raise LinkError(f"{self._path} has layout version {head.version}, not {VERSION}")
                if not head.live:
                    return False
                memory = mmap.mmap(file.fileno(), segment_size(head.n_task, head.n_peer))
        except (FileNotFoundError, ValueError):  # ValueError: not grown to its size yet
            return False
        except PermissionError as e:
            raise LinkError(f"cannot open {self._path}: {e}") from e
        self._memory, self.n_receive, self.n_send = memory, head.n_task, head.n_peer
        self._in = Channel(memory, _HEAD, head.n_task)
        self._out = Channel(memory, _HEAD + channel_size(head.n_task), head.n_peer)
        return True

    def receive(self, timeout: float) -> Message | None:
        until = time.monotonic() + timeout
        while True:
            message = self._newest()
            if message is not None or time.monotonic() >= until:
                return message
            time.sleep(_NAP)

    def _newest(self) -> Message | None:
        if self._memory is None or self._memory[_Segment.live.offset] == 0:
            self.close()
            if not self._open():
                return None
        message = self._in.read()
        if message is None or (message.session, message.sequence) == (self._gate.session, self._gate.sequence):
            return None
        if not all(map(math.isfinite, message.values)) or not self._gate.admits(message):
            return None
        return message

    def send(self, message: Message) -> bool:
        if self._memory is None:
            return False
        self._out.write(message)
        return True

    def close(self) -> None:
        if self._memory is not None:
            self._in.release()
            self._out.release()
            self._memory.close()
        self._memory = None

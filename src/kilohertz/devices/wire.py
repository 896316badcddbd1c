"""Messages as bytes, as `khz_wire.h` lays them out."""

from __future__ import annotations

import math
import struct
import zlib
from dataclasses import dataclass

from kilohertz.devices.link import Message
from kilohertz.runtime import constant

MAGIC = b"KHZP"
VERSION = constant("KHZ_WIRE_VERSION")
BIG, CRC = constant("KHZ_WIRE_BIG"), constant("KHZ_WIRE_CRC")
HEAD_SIZE = constant("KHZ_WIRE_HEAD")
MOST_VALUES = constant("KHZ_WIRE_MOST")
_HEAD = "HIIQq"  # count, session, echo, sequence, time stamp


def pack(message: Message, *, big: bool = False, crc: bool = False) -> bytes:
    """A message as bytes."""
    order = ">" if big else "<"
    n = len(message.values)
    flags = (BIG if big else 0) | (CRC if crc else 0)
    head = struct.pack(order + _HEAD, n, message.session, message.echo, message.sequence, message.time_ns)
    body = MAGIC + bytes((VERSION, flags)) + head + struct.pack(f"{order}{n}d", *message.values)
    return body + struct.pack(order + "I", zlib.crc32(body)) if crc else body


def size_of(head: bytes) -> int | None:
    """Size of the message whose first 8 bytes these are; None where they cannot begin one."""
    if len(head) < 8 or head[:4] != MAGIC or head[4] != VERSION or head[5] & ~(BIG | CRC):
        return None
    count = int.from_bytes(head[6:8], "big" if head[5] & BIG else "little")
    return HEAD_SIZE + 8 * count + (4 if head[5] & CRC else 0) if count <= MOST_VALUES else None


def unpack(data: bytes, count: int, *, need_crc: bool = False) -> Message | None:
    """The message that bytes are; None where they are none with `count` finite values."""
    if len(data) < HEAD_SIZE or size_of(data) != len(data) or (need_crc and not data[5] & CRC):
        return None
    order = ">" if data[5] & BIG else "<"
    n, session, echo, sequence, time_ns = struct.unpack_from(order + _HEAD, data, 6)
    if n != count:
        return None
    if data[5] & CRC and struct.unpack(order + "I", data[-4:])[0] != zlib.crc32(data[:-4]):
        return None
    values = struct.unpack_from(f"{order}{count}d", data, HEAD_SIZE)
    if not all(map(math.isfinite, values)):
        return None
    return Message(values, sequence, time_ns, session, echo)


@dataclass(slots=True)
class Gate:
    """Takes newer messages of one session, and another session at once: a task that was started again is the task."""

    session: int | None = None
    sequence: int = 0
    n_missing: int = 0
    n_old: int = 0

    def admits(self, message: Message) -> bool:
        """Whether a message is newer than all before it, and of the session that counts."""
        if message.session == self.session:
            if message.sequence <= self.sequence:
                self.n_old += 1
                return False
            self.n_missing += message.sequence - self.sequence - 1
        self.session = message.session
        self.sequence = message.sequence
        return True

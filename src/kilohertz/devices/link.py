"""One end of a link with a task, whatever carries it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self


class LinkError(OSError):
    """The link cannot be opened, or was used wrongly."""


@dataclass(frozen=True, slots=True)
class Message:
    """Values that go together, with their place in the sender's sequence and its own time."""

    values: tuple[float, ...]
    sequence: int
    time_ns: int
    session: int
    echo: int = 0  # lowest 32 bits of the sequence number that the sender took last


class Carrier(Protocol):
    """What moves messages: `Link` needs nothing else."""

    n_receive: int
    n_send: int

    def receive(self, timeout: float) -> Message | None:
        """The newest message not seen yet, waiting for it at most so many seconds; None where none came."""

    def send(self, message: Message) -> bool:
        """Hand a message over without waiting; False where the peer cannot be reached now."""

    def close(self) -> None: ...


class Link:
    """A link with a task: receive its outputs, send its inputs.  Closes itself as a context manager."""

    def __init__(self, carrier: Carrier, session: int, timeout: float) -> None:
        self._carrier = carrier
        self._session = session
        self.timeout = timeout
        self.last: Message | None = None  # received last
        self.n_received = 0
        self.n_sent = 0

    @property
    def n_receive(self) -> int:
        """How many values a message from the task has."""
        return self._carrier.n_receive

    @property
    def n_send(self) -> int:
        """How many values a message to the task has."""
        return self._carrier.n_send

    def receive(self, timeout: float | None = None) -> Message | None:
        """The newest message of the task, waiting for it at most so many seconds; None where none came."""
        message = self._carrier.receive(self.timeout if timeout is None else timeout)
        if message is not None:
            self.last = message
            self.n_received += 1
        return message

    def send(self, values: Sequence[float], time_ns: int | None = None) -> bool:
        """Send values to the task; the time stamp is that of the message received last unless given."""
        if len(values) != self._carrier.n_send:
            raise LinkError(f"the task takes {self._carrier.n_send} values, not {len(values)}")
        last = self.last
        stamp = time_ns if time_ns is not None else last.time_ns if last is not None else 0
        self.n_sent += 1
        echo = last.sequence & 0xFFFFFFFF if last is not None else 0
        return self._carrier.send(Message(tuple(map(float, values)), self.n_sent, stamp, self._session, echo))

    def __iter__(self) -> Iterator[Message]:
        """Messages of the task as they come, until none comes for the time-out."""
        while (message := self.receive()) is not None:
            yield message

    def close(self) -> None:
        """Close the link; the task sees it fall silent."""
        self._carrier.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        self.close()

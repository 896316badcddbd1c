"""A task that is not there: a function answers, so that a controller can be tried without a running model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.devices.link import Link, Message


class _SimulatedCarrier:
    def __init__(
        self, step: Callable[[tuple[float, ...]], Sequence[float]], n_send: int, period_ns: int, cycles: int
    ) -> None:
        self._step = step
        self._inputs = (0.0,) * n_send
        self._period_ns = period_ns
        self._cycles = cycles
        self._cycle = 0
        self.n_send = n_send
        self.n_receive = 0

    def receive(self, timeout: float) -> Message | None:
        """One step of the task; None after the last."""
        if self._cycle >= self._cycles:
            return None
        values = tuple(map(float, self._step(self._inputs)))
        self.n_receive = len(values)
        self._cycle += 1
        return Message(values, self._cycle, (self._cycle - 1) * self._period_ns, 1)

    def send(self, message: Message) -> bool:
        self._inputs = message.values
        return True

    def close(self) -> None:
        self._cycles = 0


class SimulatedLink(Link):
    """The link of a task that `step` plays: values sent last in, values of the task out, once for each receive."""

    def __init__(
        self,
        step: Callable[[tuple[float, ...]], Sequence[float]],
        send: int,
        *,
        period: float = 1e-3,
        duration: float = 1.0,
    ) -> None:
        cycles = round(duration / period)
        super().__init__(_SimulatedCarrier(step, send, round(period * 1e9), cycles), session=1, timeout=0.0)

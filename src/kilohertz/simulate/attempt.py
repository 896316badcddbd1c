"""One trial of `auto`, in a thread of its own, which waits once it is off by more than a limit already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from kilohertz.simulate.distance import Ahead, Distances, Floats


class Left(Exception):
    """Nobody wants to know any more how a trial does."""


class Attempt:
    """A trial in a thread of its own, which waits once `ahead` finds it beyond the limit."""

    def __init__(self, ahead: Ahead | None) -> None:
        self._ahead = ahead
        self.is_waiting, self._is_left = False, False
        self._is_known, self._goes_on = threading.Event(), threading.Event()
        self._found: Future[Distances | None] = Future()

    def begin(self, run: Callable[[Callable[[Floats], None]], Distances | None]) -> Attempt:
        """`run` hands its rows on as they come."""
        threading.Thread(target=self._work, args=(run,), daemon=True).start()
        return self

    def known(self) -> Distances | None:
        """How far off it is, once it is over or waits: None for one that waits."""
        self._is_known.wait()
        return None if self.is_waiting else self.result()

    def result(self) -> Distances | None:
        """How far off it is in the end; None where it failed."""
        return self._found.result()

    def go_on(self) -> None:
        self._goes_on.set()

    def leave(self) -> None:
        """It ends as soon as it hands on rows again."""
        self._is_left = True
        self._goes_on.set()

    def _work(self, run: Callable[[Callable[[Floats], None]], Distances | None]) -> None:
        try:
            self._found.set_result(run(self._hear))
        except BaseException as error:  # raised by `result`, in the thread of the caller
            self._found.set_exception(error)
        finally:
            self._is_known.set()

    def _hear(self, rows: Floats) -> None:
        if not self.is_waiting and self._ahead is not None and self._ahead.is_beyond(rows):
            self.is_waiting = True
            self._is_known.set()
            self._goes_on.wait()
        if self._is_left:
            raise Left

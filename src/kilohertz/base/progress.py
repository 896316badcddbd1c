"""How work that takes its time speaks to whoever waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Announce = Callable[[str], None]
"""Hears a line on what is being done."""

FIRST_S, EVERY_S = 3.0, 15.0  # what takes longer is told of, and then from time to time
_listeners: list[Announce] = []


@contextmanager
def listening(announce: Announce) -> Iterator[None]:
    """Somebody waits: hears of all work in here that takes long, whichever room it is done in."""
    _listeners.append(announce)
    try:
        yield
    finally:
        _listeners.remove(announce)


@contextmanager
def taking_time(what: str, how_far: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Work that may take long: once it does, it is told what it is and how far it got.  Nobody listens: nothing."""
    if not _listeners:
        yield
        return
    announce, done = _listeners[-1], threading.Event()

    def tell() -> None:
        wait = FIRST_S
        while not done.wait(wait):
            announce(what + how_far())
            wait = EVERY_S

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()

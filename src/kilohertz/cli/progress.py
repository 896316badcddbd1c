"""What a command says while it works, on stderr: lines, and a bar where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kilohertz.base.progress import listening

if TYPE_CHECKING:
    from rich.progress import Progress


def announce(text: str) -> None:
    """One line on what is being done."""
    print(f"khz: {text}", file=sys.stderr, flush=True)


@contextmanager
def told_of_long_work(*, quiet: bool) -> Iterator[None]:
    """Who watches hears what takes long and how far it got; a log stays the same however busy the machine is."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with listening(announce):
        yield


@contextmanager
def watched_bar() -> Iterator[Progress | None]:
    """A bar that goes when it is done; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield bar

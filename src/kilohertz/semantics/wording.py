"""Words of messages."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"#\d+")


def counted(n: int, noun: str) -> str:
    """`1 equation`, `2 equations`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def are_given(n: int) -> str:
    return f"{n} is given" if n == 1 else f"{n} are given"


def as_written(id: str) -> str:
    """The name of a class or function without the numbers that tell its modified variants apart."""
    return _NUMBER.sub("", id)

"""Words of messages."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """`1 equation`, `2 equations`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def are_given(n: int) -> str:
    return f"{n} is given" if n == 1 else f"{n} are given"

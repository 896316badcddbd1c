"""External symbols that constant evaluation meets, by their C or FORTRAN name.

A symbol takes its arguments as in C (outputs hold None or the room made for them) and gives the result, or `Outputs`
with what it wrote by argument position, or a `Message` to show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from kilohertz.interp.values import Value


@dataclass(frozen=True, slots=True)
class Outputs:
    """What an external function wrote, by argument position from zero, and what it returned."""

    written: dict[int, Value]
    result: Value = None


@dataclass(frozen=True, slots=True)
class Message:
    """Text the function wants shown (`ModelicaMessage`, print)."""

    text: str


Symbol: TypeAlias = Callable[[list[Value]], Value]


@dataclass(slots=True)
class _Tables:
    """Tables of symbols; loaded when first asked for."""

    symbols: dict[str, Symbol] = field(default_factory=dict)


_LOADED = _Tables()


def find(symbol: str) -> Symbol | None:
    """The Python stand-in for a symbol, or None for an unknown one."""
    if not _LOADED.symbols:
        pass
    return _LOADED.symbols.get(symbol)

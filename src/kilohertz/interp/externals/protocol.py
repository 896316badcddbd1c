"""How an external symbol is called and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

"""Sharing of expressions: equal ones are one object, for as long as somebody holds it."""

from __future__ import annotations

import gc
import weakref
from typing import Any

TABLE: dict[tuple[Any, ...], Any] = {}  # every node by what it is made of, in the order they were made
_LEAST = 20_000  # nodes: fewer are not worth looking through
_enough = _LEAST


def n_expressions() -> int:
    """How many distinct expressions there are in this process."""
    return len(TABLE)


def release(above: int | None = None) -> None:
    """Let go of the expressions that nobody but the table holds.

    Called where a compilation begins, so that what earlier ones made lives as long as their forms and no longer.  Only
    looks when there are more than `above` (default: twice as many as were left the last time): linear in what was made
    since then.  Nodes stand behind their operands in the table, so from its end parents go before their children.
    """
    global _enough
    if len(TABLE) <= (_enough if above is None else above):
        return
    gc.collect()  # forms hang on sessions and class trees, which refer to each other
    entries = list(TABLE.items())
    TABLE.clear()
    kept: list[tuple[tuple[Any, ...], Any]] = []
    while entries:
        key, node = entries.pop()
        holder = weakref.ref(node)
        del node
        if (held := holder()) is not None:
            kept.append((key, held))
        del key, held
    TABLE.update(reversed(kept))
    _enough = max(2 * len(TABLE), _LEAST)

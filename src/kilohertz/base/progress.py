"""How work that takes its time speaks to whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable

Announce = Callable[[str], None]
"""Hears a line on what is being done."""

"""The C runtime, shipped as package data: headers and sources by name."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of every header."""
    return _texts("include", ".h")


@lru_cache(maxsize=1)
def sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of every source file."""
    return _texts("src", ".c")


@lru_cache(maxsize=1)
def device_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of ports and devices; they need `headers()` too."""
    return _texts("devices", ".h") + _texts("drivers", ".h")


@lru_cache(maxsize=1)
def device_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of ports and drivers: what a real-time executable links besides `sources()`."""
    return _texts("devices", ".c") + _texts("drivers", ".c")


@lru_cache(maxsize=1)
def task_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of the periodic task; they need `headers()` and `device_headers()` too."""
    return _texts("task", ".h")


@lru_cache(maxsize=1)
def task_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of the periodic task: the loop, accounting, recorder, live values and `main`."""
    return _texts("task", ".c")


def _texts(folder: str, suffix: str) -> tuple[tuple[str, str], ...]:
    files = [f for f in (resources.files(__name__) / folder).iterdir() if f.name.endswith(suffix)]
    return tuple((f.name, f.read_text(encoding="utf-8")) for f in sorted(files, key=lambda f: f.name))


__all__ = ["device_headers", "device_sources", "headers", "sources", "task_headers", "task_sources"]

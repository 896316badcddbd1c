"""The files of the C runtime, shipped as package data: headers and sources by name.

Three libraries, each of some folders; one sees the headers of itself and of those before it.  Names of files are unique
over all folders, so that a build may lay them beside one another.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

_MODEL = ("model", "loops", "stepper", "offline")  # what runs a model
_DEVICES = ("devices", "drivers")  # ports and what is behind them
_TASK = ("task", "record", "rig")  # the periodic loop, its files, the process around it


@lru_cache(maxsize=1)
def headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of what runs a model."""
    return _texts(_MODEL, ".h")


@lru_cache(maxsize=1)
def sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of what runs a model: loops, the bounded stepper, off-line runs."""
    return _texts(_MODEL, ".c")


@lru_cache(maxsize=1)
def device_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of ports and devices; they need `headers()` too."""
    return _texts(_DEVICES, ".h")


@lru_cache(maxsize=1)
def device_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of ports and drivers: what a real-time executable links besides `sources()`."""
    return _texts(_DEVICES, ".c")


@lru_cache(maxsize=1)
def task_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of the periodic task; they need `headers()` and `device_headers()` too."""
    return _texts(_TASK, ".h")


@lru_cache(maxsize=1)
def task_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of the periodic task: the loop, accounting, recorder, live values and `main`."""
    return _texts(_TASK, ".c")


def _texts(folders: tuple[str, ...], suffix: str) -> tuple[tuple[str, str], ...]:
    here = resources.files("kilohertz.runtime")
    files = [f for folder in folders for f in (here / folder).iterdir() if f.name.endswith(suffix)]
    return tuple((f.name, f.read_text(encoding="utf-8")) for f in sorted(files, key=lambda f: f.name))

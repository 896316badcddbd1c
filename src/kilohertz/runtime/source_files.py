"""The files of the C runtime, shipped as package data: headers and sources by name.

Three libraries, each of some folders; one sees the headers of itself and of those before it.  Names of files are unique
over all folders, so that a build may lay them beside one another.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_STEP = ("model", "loops", "stepper", "inputs", "profile")  # what makes steps of a model, drives and times it
_HERE = Path(__file__).parent
_OFFLINE = ("offline",)  # what runs it with SUNDIALS
_FIXED_STEPS = ("khz_offline_fixed.c", "khz_offline_inputs.c", "khz_offline_rows.c", "khz_rows_text.c")
_MODEL = (*_STEP, *_OFFLINE)
_DEVICES = ("devices", "drivers")  # ports and what is behind them
_DRIVER = re.compile(r'^const khz_device_class (\w+) = \{"([\w-]+)"', re.MULTILINE)
_INCLUDE = re.compile(r'^#include "(\w+)\.h"', re.MULTILINE)
_EXTERNAL = ("external",)  # what stands between external code and the system
_TASK = ("task", "record", "rig")  # the periodic loop, its files, the process around it


@lru_cache(maxsize=1)
def headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of what runs a model."""
    return _texts(_MODEL, ".h")


@lru_cache(maxsize=1)
def step_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of what makes bounded steps of a model: loops, the stepper, what times it."""
    return _texts(_STEP, ".c")


@lru_cache(maxsize=2)
def offline_sources(with_solvers: bool = True) -> tuple[tuple[str, str], ...]:
    """(name, text) of off-line runs; they need `step_sources()` too.  Without solvers: of fixed steps alone."""
    return tuple(f for f in _texts(_OFFLINE, ".c") if with_solvers or f[0] in _FIXED_STEPS)


@lru_cache(maxsize=1)
def external_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of what is linked with external code; it needs `step_sources()` too."""
    return _texts(_EXTERNAL, ".c")


def ensemble_text(name: str) -> str:
    """What a step in one text begins or ends with."""
    return (_HERE / "ensemble" / name).read_text(encoding="utf-8")


def names_in(folders: tuple[str, ...]) -> frozenset[str]:
    """The files of some folders."""
    return frozenset(f.name for folder in folders for f in (_HERE / folder).iterdir())


@lru_cache(maxsize=1)
def device_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of ports and devices; they need `headers()` too."""
    return _texts(_DEVICES, ".h")


@lru_cache(maxsize=8)
def device_sources(drivers: tuple[str, ...] | None = None) -> tuple[tuple[str, str], ...]:
    """(name, text) of ports, of some drivers by their names (default: all) and of the table that finds them."""
    texts = dict((*_texts(_DEVICES, ".c"), *_texts(_DEVICES, ".h")))
    defined = {match[2]: (match[1], file) for file, text in texts.items() if (match := _DRIVER.search(text))}
    chosen = [defined[name] for name in (defined if drivers is None else drivers)]
    needed = ["khz_device.c", "khz_ports.c", *(file for _, file in chosen)]
    for file in needed:  # grows: each header that is included, and the C beside it
        beside = (name + ending for name in _INCLUDE.findall(texts[file]) for ending in (".h", ".c"))
        needed += [f for f in beside if f in texts and f not in needed]
    lines = ["/* The drivers in this program, by name (khz_device.h). */", '#include "khz_drivers.h"', ""]
    lines += ["const khz_device_class *const khz_linked_drivers[] = {", *(f"    &{symbol}," for symbol, _ in chosen)]
    table = "\n".join([*lines, "    NULL,", "};", ""])
    return (*((file, texts[file]) for file in sorted(needed) if file.endswith(".c")), ("khz_linked_drivers.c", table))


@lru_cache(maxsize=1)
def task_headers() -> tuple[tuple[str, str], ...]:
    """(name, text) of the headers of the periodic task; they need `headers()` and `device_headers()` too."""
    return _texts(_TASK, ".h")


@lru_cache(maxsize=1)
def task_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of the periodic task: the loop, accounting, recorder, live values and `main`."""
    return _texts(_TASK, ".c")


def _texts(folders: tuple[str, ...], suffix: str) -> tuple[tuple[str, str], ...]:
    files = [f for folder in folders for f in (_HERE / folder).iterdir() if f.name.endswith(suffix)]
    return tuple((f.name, f.read_text(encoding="utf-8")) for f in sorted(files, key=lambda f: f.name))

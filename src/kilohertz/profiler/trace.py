"""The trace that a thread of a task leaves (khz_trace.h) -> its profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kilohertz.base import Diagnostic, ModelError
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.places import Place, cycle_places, listings, model_places
from kilohertz.profiler.timing import Costs, read_rows, row_size, structure
from kilohertz.runtime import constant

if TYPE_CHECKING:
    from kilohertz.codegen import CProgram
    from kilohertz.syntax import Libraries

_HEAD = constant("KHZ_TRACE_HEAD")
_FORMAT = "khz-trace 3"
_NEEDED = (
    *("build", "thread", "task", "places", "record", "worst", "block", "blocks", "period_ns", "costs"),
    *("written", "dropped", "refused", "over"),
)


def read_trace(
    path: str | Path,
    name: str,
    codes: Mapping[str, CProgram],
    libraries: Libraries | None,
    build: str,
    about: Mapping[str, Any],
) -> Profile:
    """The costliest and the newest cycles of a thread; `codes` are those of the tasks by name, `build` their build."""
    file = Path(path)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{file}`: {error.strerror}")) from error
    head = _head(file, raw)
    if head["build"] != [build]:
        raise ModelError(Diagnostic("R795", f"`{file}` is of another build of the models: profile this one again"))
    if unknown := [name for name in head["task"] if name not in codes]:
        raise ModelError(Diagnostic("R795", f"`{file}` has times of `{unknown[0]}`, which is no model of this task"))
    places = _places(head, codes, libraries)
    if [str(len(places))] != head["places"] or [str(row_size(len(places)))] != head["record"]:
        raise ModelError(Diagnostic("R795", f"`{file}` has other places than the models: it is of another build"))
    read = read_rows(_tables(raw, head), len(places))
    return Profile(
        name,
        places,
        _costs(head),
        int(head["period_ns"][0]),
        read.records,
        {**about, **_counts(head), "torn": read.torn, "build": build},
        listings(places, libraries),
        read.borders,
    )


def _head(file: Path, raw: bytes) -> dict[str, list[str]]:
    """The lines of its head; one that lacks a line was not written whole."""
    lines = raw[:_HEAD].decode("utf-8", "replace").rstrip().splitlines()
    if lines and lines[0].startswith("khz-trace ") and lines[0] != _FORMAT:
        message = f"`{file}` was left by a task that another version built ({lines[0]}, not {_FORMAT}): build it again"
        raise ModelError(Diagnostic("R791", message))
    head: dict[str, list[str]] = {"device": [], "task": []}
    for line in lines[1:]:
        key, _, value = line.partition(" ")
        head.setdefault(key, []).append(value)
    if len(raw) < _HEAD or not lines or lines[0] != _FORMAT or not all(head.get(key) for key in _NEEDED):
        raise ModelError(Diagnostic("R791", f"`{file}` is not the trace of a task, or its head was not written whole"))
    return head


def _places(
    head: Mapping[str, list[str]], codes: Mapping[str, CProgram], libraries: Libraries | None
) -> tuple[Place, ...]:
    """As khz_profiling.c lays them out: the cycle, devices, models."""
    several = len(head["task"]) > 1
    places = [*cycle_places(), *(Place(f"device {d}", "device") for d in head["device"])]
    for task in head["task"]:
        places += model_places(codes[task], libraries, task if several else "")
    return tuple(places)


def _tables(raw: bytes, head: Mapping[str, list[str]]) -> list[NDArray[np.uint8]]:
    """The costliest cycles, and those of each block; what a file that was cut has no more is left out."""
    size, n_worst, block, n_blocks = (int(head[key][0]) for key in ("record", "worst", "block", "blocks"))
    data = np.frombuffer(raw, np.uint8)[_HEAD:]
    worst = data[: n_worst * size]
    tables = [worst[: len(worst) // size * size].reshape(-1, size)]
    kind = structure("khz_trace_block")
    for i in range(n_blocks):
        whole = data[n_worst * size + i * block :][:block]
        if len(whole) < kind.itemsize:
            break
        about = whole[: kind.itemsize].view(kind)[0]
        stride = int(about["stride"])
        count = min(int(about["count"]), (len(whole) - kind.itemsize) // stride if stride else 0)
        if count:
            tables.append(whole[kind.itemsize : kind.itemsize + count * stride].reshape(count, stride))
    return tables


def _costs(head: Mapping[str, list[str]]) -> Costs:
    numbers = [float(n) for n in head["costs"][0].split()]
    return Costs.of_numbers(numbers)


def _counts(head: Mapping[str, list[str]]) -> dict[str, Any]:
    """Cycles that were written, dropped (the ring was full), refused by the disk; whether the task was killed."""
    counts: dict[str, Any] = {key: int(head[key][0]) for key in ("written", "dropped", "refused")}
    return {**counts, "thread": head["thread"][0], "killed": head["over"] != ["1"]}

"""A profile for other viewers: Perfetto (trace events as JSON) and speedscope.

A record has how long each place took in a cycle, not when: inside a cycle, places stand one after the other, longest
first, in boxes of their phase.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.profiler.causes import Cause
from kilohertz.profiler.cycle_records import Profile
from kilohertz.profiler.views import Branch, cycle_tree

MOST_CYCLES = 2000  # of a trace: the first ones, and the worst


def perfetto(profile: Profile, causes: Sequence[Cause]) -> dict[str, Any]:
    """Trace events, as ui.perfetto.dev and chrome://tracing open them; times in microseconds."""
    chosen = sorted({*range(min(MOST_CYCLES, len(profile.records))), *(c.index for c in causes)})
    head = profile.records["head"]
    first = int(head["woke_ns"][0]) if len(head) else 0
    named = {c.index: c for c in causes}
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": profile.name}},
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "cycles"}},
    ]
    for i in chosen:
        start = (int(head["woke_ns"][i]) - first) / 1e3
        more = {"cycle": int(head["cycle"][i])} | ({"cause": named[i].text} if i in named else {})
        events += _boxes(cycle_tree(profile, profile.own_ns[i]), start, more)
        if profile.period_ns:
            due = (int(head["release_ns"][i]) + profile.period_ns - first) / 1e3
            events.append({"ph": "i", "s": "t", "name": "deadline", "pid": 1, "tid": 1, "ts": due})
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"model": profile.name}}


def _boxes(branch: Branch, start: float, more: dict[str, Any]) -> Iterator[dict[str, Any]]:
    box = {"ph": "X", "name": branch.name, "pid": 1, "tid": 1, "ts": start, "dur": branch.ns / 1e3}
    yield {**box, "args": more} if more else box
    at = start
    for below in branch.below:
        yield from _boxes(below, at, {})
        at += below.ns / 1e3


def speedscope(profile: Profile, causes: Sequence[Cause]) -> dict[str, Any]:
    """The mean cycle and the worst ones, as www.speedscope.app opens them."""
    frames: dict[tuple[str, int], int] = {}
    shared: list[dict[str, Any]] = []

    def frame(branch: Branch) -> int:
        key = (branch.name, branch.place)
        if key not in frames:
            frames[key] = len(shared)
            lines = profile.places[branch.place].lines if branch.place >= 0 else ()
            where = {"file": lines[0].file.rsplit("/", 1)[-1], "line": lines[0].line} if lines else {}
            shared.append({"name": branch.name, **where})
        return frames[key]

    means = np.array([s.mean for s in profile.statistics])
    views = [("mean cycle", cycle_tree(profile, means))]
    views += [(f"cycle {c.cycle}: {c.kind}", cycle_tree(profile, profile.own_ns[c.index])) for c in causes]
    profiles = [_sampled(name, tree, frame) for name, tree in views]
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": profile.name,
        "shared": {"frames": shared},
        "profiles": profiles,
    }


def _sampled(name: str, tree: Branch, frame: Callable[[Branch], int]) -> dict[str, Any]:
    samples: list[list[int]] = []
    weights: list[float] = []
    work: list[tuple[Branch, list[int]]] = [(tree, [])]
    while work:
        branch, above = work.pop()
        stack = [*above, frame(branch)]
        if not branch.below:
            samples.append(stack)
            weights.append(branch.ns)
        work += ((b, stack) for b in reversed(branch.below))
    whole = {"type": "sampled", "name": name, "unit": "nanoseconds", "startValue": 0, "endValue": sum(weights)}
    return {**whole, "samples": samples, "weights": weights}


EXPORTS: dict[str, Callable[[Profile, Sequence[Cause]], dict[str, Any]]] = {
    "perfetto": perfetto,
    "speedscope": speedscope,
}


def write_json(path: Path, data: Any) -> None:
    """Data to a file."""
    try:
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error

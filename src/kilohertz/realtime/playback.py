"""Stimuli of a scenario for the executable: columns of result files as CSV beside it, formulas line by line.

Whatever format a file has, the executable reads a CSV with the columns that drive something, checked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kilohertz.base import ModelError
from kilohertz.codegen import ModelSignal
from kilohertz.realtime.resolver import Resolver
from kilohertz.realtime.scenario import INTERPOLATIONS, Stimulus
from kilohertz.results import Result, read, write
from kilohertz.stimuli import check_rows, formula_of, overridden

Place = tuple[int, ModelSignal]


@dataclass(slots=True)
class Playback:
    """What `stimuli` finds: files to be written beside the executable by their names, and what is to be said."""

    files: dict[str, Result] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        for name, rows in self.files.items():
            write(folder / name, rows)


def stimuli(lines: dict[str, object], resolver: Resolver) -> Playback:
    """Each thread has stimuli of its own: a file stands once for each thread that it drives."""
    out = Playback()
    n = 0
    for s in resolver.scenario.stimuli:
        tracks = _formulas(s, resolver) if s.formulas else _columns(s, resolver, out)
        by_thread: dict[int, list[tuple[Place, str]]] = {}
        for place, what in tracks:
            by_thread.setdefault(resolver.thread_of[place[0]], []).append((place, what))
        for thread, mapped in by_thread.items():
            head = f"stimulus.{n}"
            for j, (place, what) in enumerate(mapped):
                resolver.bind(lines, f"{head}.{j}", place)
                lines |= _formula(f"{head}.{j}", what) if s.formulas else {f"{head}.{j}.column": what}
            lines |= {f"{head}.n": len(mapped), f"{head}.thread": thread}
            if not s.formulas:
                name = out_name(resolver.scenario.name, s, resolver)
                lines |= {f"{head}.file": name, f"{head}.mode": INTERPOLATIONS.index(s.interpolation)}
            n += 1
        out.notes += overridden(*_set_and_driven(tracks, resolver))
    lines["n_stimuli"] = n
    return out


def _set_and_driven(tracks: Sequence[tuple[Place, str]], resolver: Resolver) -> tuple[list[str], set[str]]:
    """The inputs that a stimulus drives, as the scenario calls them, and those that were set as well."""
    tasks = resolver.scenario.tasks
    named = {f"{tasks[task].name}.{s.name}" if len(tasks) > 1 else s.name: (task, s) for (task, s), _ in tracks}
    return list(named), {name for name, (task, s) in named.items() if s.name in tasks[task].settings}


def out_name(scenario: str, s: Stimulus, resolver: Resolver) -> str:
    """The CSV of a stimulus, beside the executable."""
    return f"{scenario}.stimulus{resolver.scenario.stimuli.index(s)}.csv"


def _formula(head: str, text: str) -> dict[str, object]:
    code = formula_of(text).lines()
    return {f"{head}.n": len(code)} | {f"{head}.{k}": word for k, word in enumerate(code)}


def _formulas(s: Stimulus, resolver: Resolver) -> Sequence[tuple[Place, str]]:
    out = []
    for name, text in s.formulas.items():
        path = (*s.path, "formula", name)
        place = resolver.input(name, path)
        if place is not None:
            resolver.drive(place, "a formula", path)
            out.append((place, text))
    return out


def _columns(s: Stimulus, resolver: Resolver, out: Playback) -> Sequence[tuple[Place, str]]:
    """The inputs that a file drives, each with its column; what is wrong with the file is a problem."""
    assert s.file is not None
    try:
        rows = read(s.file)
        named = s.signals or _named(s, rows, resolver, out)
        missing = [c for c in named.values() if c not in rows]
        for column in missing:
            resolver.problems.add("R744", f"`{s.file.name}` has no column `{column}`", (*s.path, "signals"))
        for column in dict.fromkeys(c for c in named.values() if c in rows):
            check_rows(column, rows.time, rows[column])
    except ModelError as error:
        for d in error.diagnostics:
            resolver.problems.add(d.code, d.message, (*s.path, "file"))
        return []
    driven = []
    for name, column in named.items():
        place = resolver.input(name, (*s.path, "signals"))
        if place is not None and column in rows:
            resolver.drive(place, f"stimulus {s.file.name}", (*s.path, "signals"))
            driven.append((place, column))
    columns = {c: rows[c] for c in dict.fromkeys(c for _, c in driven)}
    out.files[out_name(resolver.scenario.name, s, resolver)] = Result.of_columns(rows.name, rows.time, columns)
    return driven


def _named(s: Stimulus, rows: Result, resolver: Resolver, out: Playback) -> Mapping[str, str]:
    """Every column of the file whose name is that of an input; the others are said."""
    assert s.file is not None
    inputs = {name for _, name, signal in resolver.names() if signal.causality == "input"}
    named = {c: c for c in rows if c in inputs}
    if not named:
        message = f"no column of `{s.file.name}` has the name of an input"
        resolver.problems.add("R744", message, (*s.path, "file"))
    unused = [c for c in rows.names if c not in inputs]
    if named and unused:
        few = ", ".join(unused[:3]) + (f" and {len(unused) - 3} more" if len(unused) > 3 else "")
        out.notes.append(f"{s.file.name}: columns that are no inputs are not used: {few}")
    return named

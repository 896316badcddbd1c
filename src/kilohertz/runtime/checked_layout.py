"""What Python read in the headers against what the compiler made of them.

A program carries a table of its structures and enumerators, written from the headers here and filled in by the compiler
(`khz_layout.h`).  Whoever loads it compares: a field that the reader of the headers placed elsewhere is an error then,
not a wrong number later.  A running rig shows a digest of its table in its memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kilohertz.base import InternalError
from kilohertz.runtime import source_files
from kilohertz.runtime.definitions import Definitions, read, shipped, word_of

# What others read as bytes: Python of a loaded model and of a running rig; reports, by the names of the fields.
_MODEL = (
    *("khz_context", "khz_step_settings", "khz_step_counts", "khz_block_counts"),
    *("khz_offline", "khz_sundials", "khz_ida_functions"),
    *("khz_ticks", "khz_place_sum", "khz_cycle_record"),
)
_TASK = (
    *("khz_device_counters", "khz_segment", "khz_channel", "khz_slot"),
    *("khz_histogram", "khz_counts", "khz_account", "khz_mailbox", "khz_live_signal", "khz_lane", "khz_live"),
    *("khz_fault_settings", "khz_fault"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Offset and size of each field of some structures, values of enumerators."""

    fields: dict[tuple[str, str], tuple[int, int]]
    enumerators: dict[str, int]

    def digest(self) -> int:
        """As `khz_layout_digest` has it."""
        number = 2166136261
        parts = [(s + f, at) for (s, f), at in self.fields.items()]
        for text, values in [*parts, *((word, (value,)) for word, value in self.enumerators.items())]:
            numbers = b"".join((v & (1 << 64) - 1).to_bytes(8, "little") for v in values)
            for byte in text.encode() + numbers:
                number = (number ^ byte) * 16777619 & 0xFFFFFFFF
        return number

    def differences(self, other: Layout) -> list[str]:
        """Where `other`, the compiler's, is not as this one, the reader's."""
        ours = {f"{s}.{f}": at for (s, f), at in self.fields.items()} | self.enumerators
        theirs = {f"{s}.{f}": at for (s, f), at in other.fields.items()} | other.enumerators
        names = [n for n in {**ours, **theirs} if ours.get(n) != theirs.get(n)]
        return [f"{n} is {theirs.get(n, 'not there')}, by the headers {ours.get(n, 'not there')}" for n in names]


@lru_cache(maxsize=1)
def step_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of what makes bounded steps of a model, and the table of all that runs one."""
    return (*source_files.step_sources(), _source("khz_model_layout", source_files.headers(), _MODEL))


@lru_cache(maxsize=1)
def task_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of the periodic task: the loop, accounting, recorder, live values, `main`; and its table."""
    headers = (*source_files.device_headers(), *source_files.task_headers())
    return (*source_files.task_sources(), _source("khz_task_layout", headers, _TASK))


@lru_cache(maxsize=1)
def model_layout() -> Layout:
    """That of what runs a model, by the headers."""
    return _layout(read(*(text for _, text in source_files.headers())), _MODEL)


@lru_cache(maxsize=1)
def task_layout() -> Layout:
    """That of devices and the periodic task, by the headers."""
    headers = (*source_files.device_headers(), *source_files.task_headers())
    return _layout(shipped(), _TASK, tuple(read(*(text for _, text in headers)).constants))


def check_layout(library: ctypes.CDLL) -> None:
    """InternalError where a loaded model is not laid out as the headers say."""
    table: Any = shipped().structure("khz_layout").in_dll(library, "khz_model_layout")
    fields = (shipped().structure("khz_field") * table.n_fields).from_address(table.fields)
    places = {(_text(f.structure), _text(f.name)): (f.offset, f.size) for f in fields}
    enumerators = (shipped().structure("khz_enumerator") * table.n_enumerators).from_address(table.enumerators)
    differences = model_layout().differences(Layout(places, {_text(e.word): e.value for e in enumerators}))
    if differences:
        raise InternalError(f"the runtime and Python do not share one layout: {'; '.join(differences)}")


def _text(address: int) -> str:
    return ctypes.string_at(address).decode()


def _layout(d: Definitions, structures: Sequence[str], constants: Sequence[str] | None = None) -> Layout:
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for name in structures:
        structure = d.structure(name)
        for field, _ in d.fields(name):
            at = getattr(structure, field)
            places[name, field] = at.offset, at.size
    return Layout(places, {word_of(n): d.constant(n) for n in (d.constants if constants is None else constants)})


def _source(name: str, headers: Sequence[tuple[str, str]], structures: Sequence[str]) -> tuple[str, str]:
    definitions = {file: read(text) for file, text in headers}
    used = [file for file, d in definitions.items() if d.constants or any(s in d.structures for s in structures)]
    lines = ["/* Written from the headers; do not edit. */", "#define _GNU_SOURCE", '#include "khz_layout.h"', ""]
    lines += [*(f'#include "{file}"' for file in used if file != "khz_layout.h"), ""]
    lines += ["#define FIELD(s, f) {#s, #f, offsetof(s, f), sizeof(((s *)NULL)->f)}"]
    lines += ["#define OPEN(s, f) {#s, #f, offsetof(s, f), 0} /* an array without a length */", ""]
    lines += ["static const khz_field fields[] = {"]
    for structure in structures:
        for field, kind in shipped().fields(structure):
            lines.append(f"    {'FIELD' if ctypes.sizeof(kind) else 'OPEN'}({structure}, {field}),")
    lines += ["};", "static const khz_enumerator enumerators[] = {"]
    lines += [f'    {{"{word_of(n)}", {n}}},' for d in definitions.values() for n in d.constants]
    counts = "sizeof fields / sizeof *fields, sizeof enumerators / sizeof *enumerators"
    lines += [
        "};",
        f"extern const khz_layout {name};",
        f"const khz_layout {name} = {{{counts}, fields, enumerators}};",
        "",
    ]
    return f"{name}.c", "\n".join(lines)

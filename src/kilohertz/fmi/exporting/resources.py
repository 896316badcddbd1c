"""Files that a model reads at its start (tables), taken along inside the FMU.

A String parameter whose value is the path of a file that is there names one: in full, or from here with an ending (a
word such as `table` may be the name of something else).  In the FMU the file lies in `resources/`,
and the instance gets its new path from the folder that the importer gives (`khz_fmu_resource`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kilohertz.ir.expr import Str
from kilohertz.ir.step import Kind, Slot, Step, expressions, lists
from kilohertz.ir.traverse import walk_all

_SHORTEST = 2


@dataclass(frozen=True, slots=True)
class Resource:
    """A file, its name in `resources/`, and the parameter that names it."""

    file: Path
    name: str
    slot: Slot
    variable: str


def resources_of(step: Step, starts: Mapping[str, float | str]) -> list[Resource]:
    """The files that parameters name."""
    names: dict[Path, str] = {}
    out = []
    for v in step.of_kind(Kind.STRING_PARAMETER):
        path = _file(str(starts.get(v.name, ""))) if v.tunable else None
        if path is None:
            continue
        if path not in names:
            taken = set(names.values())
            names[path] = path.name if path.name not in taken else f"{len(names)}_{path.name}"
        out.append(Resource(path, names[path], v.slot, v.name))
    return out


def left_outside(step: Step) -> list[str]:
    """Files whose paths stand in the equations themselves: they are looked for where they are now."""
    roots = (e for _, blocks in lists(step) for block in blocks for e in expressions(block))
    texts = dict.fromkeys(e.value for e in walk_all(roots) if isinstance(e, Str))
    return [text for text in texts if _file(text) is not None]


def _file(text: str) -> Path | None:
    if len(text) < _SHORTEST or "\0" in text or not (text.startswith("/") or Path(text).suffix):
        return None
    try:
        return Path(text).absolute() if Path(text).is_file() else None
    except OSError:
        return None

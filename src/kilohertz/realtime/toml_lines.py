"""Where a key stands in a TOML text: `tomllib` does not tell, and a message without a line helps nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kilohertz.base import Dotted, Span

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
_PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")

Path = Sequence[str | int]


def find_key(file: str, text: str, path: Path) -> Span | None:
    """The span of a key, or of the nearest table around it that has a line of its own.

    Names of models have dots: `load.J`, `"load.J"` and `J` in a table `load` are one key.
    """
    places = {_cut(place): span for place, span in reversed(_places(text).items())}
    wanted = _cut(path)
    while wanted:
        for place in (wanted, (*wanted, 0)):  # an array of tables begins with its first
            if place in places:
                return Span(file, *places[place])
        wanted = wanted[:-1]
    return None


def _cut(path: Path) -> tuple[str | int, ...]:
    """Every part between dots by itself."""
    return tuple(part for whole in path for part in (Dotted.read(whole).parts if isinstance(whole, str) else (whole,)))


def _places(text: str) -> dict[tuple[str | int, ...], tuple[int, int]]:
    """Start and end of every key and table header, by its path; elements of arrays of tables by number."""
    places: dict[tuple[str | int, ...], tuple[int, int]] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    at = 0
    for line in text.splitlines(keepends=True):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = _enter(counts, _parts(header[2]), header[1] == "[[")
            places.setdefault(table, (at + header.start(2), at + header.end(2)))
        elif key:
            path = (*table, *_parts(key[1]))
            places.setdefault(path, (at + key.start(1), at + key.end(1)))
        at += len(line)
    return places


def _enter(counts: dict[tuple[str | int, ...], int], parts: list[str], is_array: bool) -> tuple[str | int, ...]:
    """The path of a table header: names before the last one mean the newest element where they are arrays."""
    path: tuple[str | int, ...] = ()
    for part in parts[:-1]:
        path = (*path, part)
        if path in counts:
            path = (*path, counts[path] - 1)
    path = (*path, parts[-1])
    if not is_array:
        return path
    counts[path] = counts.get(path, 0) + 1
    return (*path, counts[path] - 1)


def _parts(key: str) -> list[str]:
    return [a or b or c for a, b, c in _PART.findall(key)]

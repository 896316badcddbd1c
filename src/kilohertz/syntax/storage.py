"""How packages lie on disk (MLS 13.4): directories with package.mo and package.order, single files, versioned names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kilohertz.base.outside import Outside

_PACKAGE = "package.mo"
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_]*|'(?:[^'\\]|\\.)+')"  # quoted ones with their quotes: 'a.b'.mo
_VERSIONED = re.compile(rf"{_NAME}(?: (?P<version>\S.*))?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a class is stored: its file, and the directory of its children where it is a directory package."""

    file: str
    directory: Path | None = None
    version: str = ""  # as the directory's or file's name says; empty where it says nothing


def libraries_in(root: Path, outside: Outside) -> list[tuple[str, Place]]:
    """The top-level packages in a directory of libraries.  Raises OSError where it cannot be read."""
    return _scan(root, outside, with_versions=True)


def children_in(directory: Path, outside: Outside) -> dict[str, Place]:
    """The classes stored beside a package.mo, in no particular order.  Of two with one name the directory counts."""
    places: dict[str, Place] = {}
    for name, place in _scan(directory, outside, with_versions=False):
        if name not in places or place.directory is not None:
            places[name] = place
    return places


def package_order(directory: Path, outside: Outside) -> list[str]:
    """The lines of package.order, or nothing where there is none."""
    file = directory / "package.order"
    outside.reads(file)
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]


def package_place(directory: Path, version: str = "") -> Place:
    """The place of a directory package."""
    return Place(str(directory / _PACKAGE), directory, version)


def is_package(directory: Path, outside: Outside) -> bool:
    """Is this the directory of a directory package?"""
    return outside.kind(directory / _PACKAGE) == "file"


def enclosing_packages(file: Path, outside: Outside) -> list[Path]:
    """The package directories around a file, innermost first, up to the one whose parent is no package."""
    folder = file.absolute().parent
    if file.name == _PACKAGE:
        folder = folder.parent
    packages = []
    while is_package(folder, outside):
        packages.append(folder)
        folder = folder.parent
    return packages


def _scan(directory: Path, outside: Outside, with_versions: bool) -> list[tuple[str, Place]]:
    places = []
    for entry in (directory / name for name in outside.names(directory)):
        is_file = entry.suffix == ".mo"
        named = _VERSIONED.fullmatch(entry.stem if is_file else entry.name)
        if named is None or entry.name == _PACKAGE or (named["version"] and not with_versions):
            continue
        version = named["version"] or ""
        if is_file and outside.kind(entry) == "file":
            places.append((named["name"], Place(str(entry), None, version)))
        elif not is_file and is_package(entry, outside):
            places.append((named["name"], package_place(entry, version)))
    return places

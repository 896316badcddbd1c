"""An index of libraries: the JSON file that the OpenModelica package manager publishes, or one of the same form.

    {"libs": {NAME: {"git": URL, "versions": {VERSION: {"version", "path", "zipfile", "sha", "uses", "provides",
                                                        "support", "singleFileStructureCopyAllFiles"}}}},
     "mirrors": [URL]}

`uses` gives a version for each library that is needed; `provides` lists older versions whose users need no conversion.

Codes: L320 the index cannot be read, L321 the index is no index.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.base.versions import Version, version

DEFAULT_INDEX = "https://libraries.openmodelica.org/index/v1/index.json"
_SUPPORT = ("fullSupport", "support", "experimental", "unknown", "noSupport", "obsolete")


@dataclass(frozen=True, slots=True)
class Release:
    """One version of one library, and where it is kept."""

    name: str
    version: Version
    path: str = ""  # of the package inside the archive or repository
    zipfile: str = ""
    git: str = ""
    sha: str = ""  # the commit
    uses: Mapping[str, Version] = field(default_factory=dict)
    provides: tuple[Version, ...] = ()
    support: str = ""
    whole_folder: bool = False  # a single file whose neighbours belong to it

    def __str__(self) -> str:
        return f"{self.name} {self.version.text}"

    def serves(self, wanted: Version) -> bool:
        """Can it stand where `wanted` is asked for?  A preview can, where there is nothing better."""
        preview = wanted.is_release and self.version.numbers == wanted.numbers
        return preview or self.version.serves(wanted) or any(older.serves(wanted) for older in self.provides)

    def rank(self) -> tuple[Any, ...]:
        """Better ones are greater: releases before previews, then the later, then the better supported."""
        trust = -_SUPPORT.index(self.support) if self.support in _SUPPORT else -len(_SUPPORT)
        order = self.version.order()
        return self.version.is_release, order[:3], trust, order[3]


@dataclass(frozen=True, slots=True)
class Index:
    """All libraries of an index, the best version of each first."""

    libraries: Mapping[str, tuple[Release, ...]]
    mirrors: tuple[str, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.libraries.values()))


def read_index(text: str, where: str) -> Index:
    """The index in a text; `where` is what messages call it."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong(where, f"line {error.lineno}: {error.msg}") from None
    libraries = data.get("libs") if isinstance(data, dict) else None
    if not isinstance(libraries, dict):
        raise _wrong(where, "it has no object `libs`")
    releases = {name: _releases(name, entry, where) for name, entry in sorted(libraries.items())}
    mirrors = data.get("mirrors", [])
    return Index(releases, tuple(m for m in mirrors if isinstance(m, str)) if isinstance(mirrors, list) else ())


def _releases(name: str, entry: object, where: str) -> tuple[Release, ...]:
    versions = entry.get("versions") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(versions, dict):
        raise _wrong(where, f"`{name}` has no object `versions`")
    git = _text(entry, "git", name, where)
    releases: dict[str, Release] = {}
    for key, facts in versions.items():
        if not isinstance(facts, dict):
            raise _wrong(where, f"`{name}` {key} is no object")
        release = _release(name, {"version": key} | facts, git, where)
        releases[release.version.text] = release
    return tuple(sorted(releases.values(), key=Release.rank, reverse=True))


def _release(name: str, facts: dict[str, Any], git: str, where: str) -> Release:
    uses, provides = facts.get("uses") or {}, facts.get("provides") or []
    if not isinstance(uses, dict) or not isinstance(provides, list):
        raise _wrong(where, f"`uses` or `provides` of `{name}` {facts['version']} has the wrong form")
    return Release(
        name,
        version(_text(facts, "version", name, where)),
        _text(facts, "path", name, where),
        _text(facts, "zipfile", name, where),
        git,
        _text(facts, "sha", name, where),
        {str(library): version(str(wanted)) for library, wanted in uses.items()},
        tuple(version(str(older)) for older in provides),
        _text(facts, "support", name, where),
        facts.get("singleFileStructureCopyAllFiles") is True,
    )


def _text(facts: dict[str, Any], key: str, name: str, where: str) -> str:
    value = facts.get(key, "")
    if not isinstance(value, str):
        raise _wrong(where, f"`{key}` of `{name}` is no text")
    return value


def _wrong(where: str, what: str) -> ModelError:
    return ModelError(Diagnostic("L321", f"`{where}` is no index of libraries: {what}"))

"""Versions of libraries: `4.0.0`, `4.0.0-beta.1` (before the release), `4.0.0+build` (the same release), `master`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_VERSION = re.compile(r"v?(?P<numbers>\d+(?:\.\d+)*)(?:[- ](?P<preview>[^+]*))?(?:\+(?P<build>.*))?")
_PARTS = re.compile(r"\d+|[^\d.]+")
_FILL = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Version:
    """A version taken apart; `text` is how it was written."""

    text: str
    numbers: tuple[int, ...]  # at least three; empty where the text is no number (a branch)
    preview: str = ""
    build: str = ""

    @property
    def is_release(self) -> bool:
        """Neither a preview nor a branch."""
        return bool(self.numbers) and not self.preview

    def serves(self, wanted: Version) -> bool:
        """Is this what somebody means who writes `wanted`?  Builds do not count; `4.0` means 4.0.0."""
        if not wanted.numbers:
            return self.text == wanted.text
        same = (self.numbers, self.preview) == (wanted.numbers, wanted.preview)
        return same and wanted.build in ("", self.build)

    def order(self) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...], str]:
        """A sort key: branches first, then by numbers, previews before their release."""
        preview = tuple((not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in _PARTS.findall(self.preview))
        return self.numbers, not self.preview, preview, self.build


@cache
def version(text: str) -> Version:
    """Read a version; whatever does not begin with a number is the name of a branch."""
    match = _VERSION.fullmatch(text.strip())
    if match is None:
        return Version(text, ())
    numbers = tuple(map(int, match["numbers"].split(".")))
    return Version(text, numbers + _FILL[len(numbers) :], match["preview"] or "", match["build"] or "")

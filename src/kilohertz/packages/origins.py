"""Where an index and archives come from: an address, a mirror, a local clone.  The only place that uses a network.

A mirror is a folder or address with the layout of the package manager's own cache: the address of an archive without
`https://`, below it.  Mirrors that the user names come first; the ones in the index are the last resort.

Codes: L320 the index cannot be read, L330 an archive cannot be had from anywhere.
"""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.packages.index import Index, Release, read_index
from kilohertz.packages.unpacking import check_out, unpack

Progress = Callable[[str, int, int], None]  # what, bytes so far, bytes in all (0: unknown)
_SECONDS, _CHUNK = 30.0, 1 << 18


@dataclass(frozen=True, slots=True)
class Origins:
    """How to get at things: which index, mirrors before the real place, clones instead of archives."""

    index: str
    mirrors: Sequence[str] = ()
    clones: Sequence[Path] = ()

    def read_index(self, progress: Progress) -> Index:
        """The index, from an address or a file."""
        try:
            with _opened(self.index) as stream:
                data = _drained(stream, self.index, progress)
        except (OSError, ValueError) as error:
            notes = (Note("`--index` names another one: an address or a file; a folder, zip or clone needs no index"),)
            message = f"the index `{self.index}` cannot be read: {_reason(error)}"
            raise ModelError(Diagnostic("L320", message, notes=notes)) from None
        return read_index(data.decode("utf-8", "replace"), self.index)

    def obtain(
        self, release: Release, into: Path, index_mirrors: Sequence[str], progress: Progress
    ) -> tuple[Path, str]:
        """The files of a release's repository below `into`, and where they came from."""
        failures: list[str] = []
        if release.sha:
            for clone in self.clones:
                try:
                    return check_out(clone, release.sha, into), f"{clone}"
                except ModelError as error:
                    failures.append(error.diagnostics[0].message)
        for address in _addresses(release.zipfile, self.mirrors, index_mirrors):
            archive = into.with_suffix(".zip")
            try:
                with _opened(address) as stream, archive.open("wb") as file:
                    _copied(stream, file, str(release), progress)
            except (OSError, ValueError) as error:
                failures.append(f"{address}: {_reason(error)}")
                continue
            folder = unpack(archive, into, release.sha, address)
            archive.unlink()
            return folder, address
        notes = tuple(Note(failure) for failure in failures) or (Note("the index names no archive for it"),)
        raise ModelError(Diagnostic("L330", f"{release} cannot be had", notes=notes))


def _addresses(zipfile: str, mirrors: Sequence[str], last: Sequence[str]) -> list[str]:
    if not zipfile:
        return []
    below = zipfile.partition("://")[2] or zipfile
    return [*(f"{m.rstrip('/')}/{below}" for m in mirrors), zipfile, *(f"{m.rstrip('/')}/{below}" for m in last)]


def _opened(place: str) -> BinaryIO:
    scheme = place.partition("://")[0] if "://" in place else ""
    if not scheme:
        return Path(place).open("rb")
    if scheme not in ("https", "http", "file"):
        raise ValueError(f"`{scheme}` is no way to get a file")
    request = urllib.request.Request(place, headers={"User-Agent": "kilohertz"})
    opened: BinaryIO = urllib.request.urlopen(request, timeout=_SECONDS)
    return opened


def _drained(stream: BinaryIO, what: str, progress: Progress) -> bytes:
    parts = []
    total = _length(stream)
    while part := stream.read(_CHUNK):
        parts.append(part)
        progress(what, sum(map(len, parts)), total)
    return b"".join(parts)


def _copied(stream: BinaryIO, file: BinaryIO, what: str, progress: Progress) -> None:
    total, done = _length(stream), 0
    while part := stream.read(_CHUNK):
        file.write(part)
        done += len(part)
        progress(what, done, total)
    if total and done < total:
        raise OSError(f"the connection ended after {done} of {total} bytes")


def _length(stream: BinaryIO) -> int:
    headers = getattr(stream, "headers", None)
    text = headers.get("Content-Length", "") if headers is not None else ""
    return int(text) if text.isdigit() else 0


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

"""Parsed files, kept on disk between runs.

A tree is stored under the hash of its text and of the parser's own sources.  So that a warm start need not read and
hash every source, a small `.key` file leads from the source's path, size and times to that hash; it is written only for
sources untouched for two seconds, since a change right after could leave the times as they are.
Broken, missing or unwritable files mean parsing again, never an error.  Files are replaced atomically, so any number of
processes may share the cache.  `KHZ_CACHE_DIR` says where it is, `KHZ_NO_CACHE=1` turns it off.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from functools import cache
from hashlib import blake2b
from pathlib import Path

from kilohertz.base import Diagnostic, Severity, Span
from kilohertz.base.cache_place import is_switched_off, user_cache
from kilohertz.base.outside import Stamp
from kilohertz.syntax.archive import pack, unpack
from kilohertz.syntax.tree import StoredDefinition

_FORGOTTEN_S = 30 * 24 * 3600


def decoded(data: bytes, file: str) -> tuple[str, list[Diagnostic]]:
    """The text of a file; where it is not UTF-8 (MLS 13.4), a warning with the first such byte."""
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        text = data.decode("utf-8-sig", "replace")
        at = len(data[: error.start].decode("utf-8-sig", "replace"))
        message = f"the file is not UTF-8: byte 0x{data[error.start]:02x} at {error.start} has no meaning"
        return text, [Diagnostic("P113", message, Span(file, at, at + 1), severity=Severity.WARNING)]


class TreeCache:
    """The cache in one directory; `None` for no cache at all."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = None if directory is None else directory / f"trees-{parser_version()}"
        if self._directory is not None and not self._directory.is_dir():
            _forget_old(self._directory.parent)

    @classmethod
    def from_environment(cls) -> TreeCache:
        """The user's cache, as the environment variables say."""
        return cls(None if is_switched_off() else user_cache())

    def load(self, file: str, within: tuple[str, ...] | None = None) -> tuple[StoredDefinition, list[Diagnostic]]:
        """The tree of a source file, from the cache or parsed now.

        `within` is assumed where the file has no within clause.  Raises OSError where the file cannot be read.
        """
        source = Path(file)
        stamp = Stamp.of(source)
        salt = ".".join(within) if within is not None else "-"
        facts = (str(source.absolute()), *stamp, salt)
        stat_key = _digest(repr(facts).encode())
        if (key := self._read(stat_key, ".key")) and (stored := self._tree(key.decode("ascii", "replace"), file)):
            return stored, []
        data = source.read_bytes()
        content_key = _digest(data, salt.encode())
        stored = self._tree(content_key, file)
        if stored is None:
            from kilohertz.syntax.parsing.parser import parse_text

            text, strange = decoded(data, file)
            stored, diagnostics = parse_text(text, file, within)
            diagnostics += strange
            if diagnostics or not self._store(content_key, stored):
                return stored, diagnostics
        if stamp.is_settled:
            self._write(stat_key, ".key", content_key.encode())
        return stored, []

    def _tree(self, key: str, file: str) -> StoredDefinition | None:
        data = self._read(key, ".tree")
        if data is None:
            return None
        try:
            return unpack(data, file)
        except Exception:  # pickle answers damage with nearly any exception
            return None

    def _store(self, key: str, stored: StoredDefinition) -> bool:
        if self._directory is None:
            return False
        try:
            data = pack(stored)
        except RecursionError:
            return False
        return self._write(key, ".tree", data)

    def _read(self, key: str, suffix: str) -> bytes | None:
        if self._directory is None or not key.isalnum():
            return None
        try:
            with open(f"{self._directory}/{key[:2]}/{key[2:]}{suffix}", "rb") as handle:
                return handle.read()
        except OSError:
            return None

    def _write(self, key: str, suffix: str, data: bytes) -> bool:
        if self._directory is None:
            return False
        folder = self._directory / key[:2]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=folder)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(data)
                Path(temporary).replace(folder / (key[2:] + suffix))
            except BaseException:
                Path(temporary).unlink()
                raise
        except OSError:
            return False
        return True


@cache
def parser_version() -> str:
    """A hash of the sources of this room: trees of another parser are not ours."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return _digest(*(source.read_bytes() for source in sources))[:16]


def _digest(*parts: bytes) -> str:
    state = blake2b(digest_size=20)
    for part in parts:
        state.update(part)
        state.update(b"\0")
    return state.hexdigest()


def _forget_old(directory: Path) -> None:
    """Remove the trees of parsers that nobody has used for a month."""
    for old in directory.glob("trees-*"):
        try:
            if time.time() - old.stat().st_mtime > _FORGOTTEN_S:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            continue

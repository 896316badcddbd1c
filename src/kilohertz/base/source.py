"""Where text comes from: spans as character offsets, and the map that turns them into lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from pathlib import PurePath
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open range of characters in one source file (`file` as the user named it)."""

    file: str
    start: int
    end: int


@cache
def short_name(file: str) -> str:
    """A file's name without its folders; with its last one where the name says nothing: `Electrical/package.mo`."""
    path = PurePath(file)
    return "/".join(path.parts[-2:]) if path.name == "package.mo" else path.name


_IN_NO_FILE: dict[str, str] = {}  # what a user wrote on a command line, say, by the name that messages call it


def remember_text(name: str, text: str) -> None:
    """A text that every message can show, although it stands in no file."""
    _IN_NO_FILE[name] = text


class SourceMap:
    """Texts by file name; knows lines and columns (both counted from one)."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._line_starts: dict[str, list[int]] = {}

    def add(self, file: str, text: str) -> None:
        """Register (or replace) the text of a file."""
        self._texts[file] = text
        self._line_starts.pop(file, None)

    def text(self, file: str) -> str | None:
        """The text of a file; read from disk when it was not registered (a cached tree keeps no text)."""
        if file not in self._texts and file in _IN_NO_FILE:
            return _IN_NO_FILE[file]
        if file not in self._texts:
            try:
                with open(file, encoding="utf-8-sig", errors="replace", newline="") as handle:
                    self._texts[file] = handle.read()
            except OSError:
                return None
        return self._texts[file]

    def position(self, span: Span) -> tuple[int, int] | None:
        """(line, column) of the span's start, or None where the text is not at hand."""
        starts = self._starts(span.file)
        if starts is None:
            return None
        line = bisect_right(starts, span.start)
        return line, span.start - starts[line - 1] + 1

    def line_text(self, file: str, line: int) -> str:
        """One line of a file without its end-of-line characters."""
        starts, text = self._starts(file), self.text(file)
        if starts is None or text is None or not 1 <= line <= len(starts):
            return ""
        end = starts[line] if line < len(starts) else len(text)
        return text[starts[line - 1] : end].rstrip("\r\n")

    def _starts(self, file: str) -> list[int] | None:
        if file not in self._line_starts:
            text = self.text(file)
            if text is None:
                return None
            starts, at = [0], text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = text.find("\n", at + 1)
            self._line_starts[file] = starts
        return self._line_starts[file]

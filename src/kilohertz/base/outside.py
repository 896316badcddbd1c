"""What the work on a model learned from outside this process, and whether all of it still holds.

Whoever reads a file, lists a folder or looks at the environment while a model is compiled asks through `Outside`, which
keeps question and answer.  Asked again in a later process, the same answers mean the same compilation.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

SETTLED_NS = 2_000_000_000  # a file that was changed later than this could change again and keep its times


class Stamp(NamedTuple):
    """What tells a file's content without reading it, once it is settled."""

    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, file: str | Path) -> Stamp:
        """Raises OSError where there is no such file."""
        status = os.stat(file)  # noqa: PTH116  # hundreds of them at every start
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        return time.time_ns() - max(self.modified_ns, self.changed_ns) > SETTLED_NS


def _kind(path: str) -> str:
    folder = Path(path)
    return "file" if folder.is_file() else "folder" if folder.is_dir() else "other" if folder.exists() else ""


def _names(folder: str) -> list[str] | None:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  # names, not paths
    except OSError:
        return None


_QUESTIONS: dict[str, Callable[[str], Any]] = {
    "kind": _kind,
    "names": _names,
    "real path": os.path.realpath,
    "variable": os.environ.get,
    "working folder": lambda _: str(Path.cwd()),
}


class _Content(NamedTuple):
    stamp: Stamp
    is_settled: bool
    digest: str  # empty while nobody needed it


class Outside:
    """Questions and answers so far."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, str], Any] = {}
        self._files: dict[str, _Content] = {}
        self._wavering = False  # something changed while it was asked about

    def kind(self, path: str | Path) -> str:
        """What stands at a path: `file`, `folder`, `other`, or nothing (an empty text)."""
        return str(self._ask("kind", _absolute(path)))

    def names(self, folder: str | Path) -> list[str]:
        """What is in a folder, sorted.  Raises OSError where it cannot be listed."""
        names = self._ask("names", _absolute(folder))
        if names is None:
            return sorted(os.listdir(folder))  # noqa: PTH208  # raises, with the reason
        return list(names)

    def real_path(self, path: str) -> str:
        """The path without links."""
        return str(self._ask("real path", _absolute(path)))

    def variable(self, name: str) -> str | None:
        """A variable of the environment."""
        value: str | None = self._ask("variable", name)
        return value

    def working_folder(self) -> str:
        return str(self._ask("working folder", ""))

    def reads(self, file: str | Path) -> None:
        """A file is about to be read; one that is not there is noted as missing."""
        path = _absolute(file)
        if self.kind(path) != "file":
            return
        try:
            stamp = Stamp.of(path)
            known = self._files.get(path)
            if known is None:
                settled = stamp.is_settled
                self._files[path] = _Content(stamp, settled, "" if settled else _digest(path))
            elif known.stamp != stamp:
                self._wavering = True
        except OSError:
            self._wavering = True

    def facts(self) -> list[list[Any]] | None:
        """All that was learned, as JSON can say it; None where it does not hold any more."""
        if self._wavering:
            return None
        facts = [[question, subject, answer] for (question, subject), answer in self._answers.items()]
        try:
            for path, known in self._files.items():
                digest = _digest(path)
                if Stamp.of(path) != known.stamp or known.digest not in ("", digest):
                    return None
                facts.append(["content", path, [*known.stamp, known.is_settled, digest]])
        except OSError:
            return None
        return facts if hold(facts) else None

    def _ask(self, question: str, subject: str) -> Any:
        answer = _QUESTIONS[question](subject)
        key = question, subject
        self._wavering |= key in self._answers and self._answers[key] != answer
        self._answers[key] = answer
        return answer


def hold(facts: list[list[Any]]) -> bool:
    """Whether the same questions get the same answers now."""
    return all(_holds(question, subject, answer) for question, subject, answer in facts)


def _holds(question: str, subject: str, answer: Any) -> bool:
    if question != "content":
        return bool(_QUESTIONS[question](subject) == answer)
    *stamp, is_settled, digest = answer
    try:
        return (is_settled and Stamp.of(subject) == tuple(stamp)) or bool(_digest(subject) == digest)
    except OSError:
        return False


def _absolute(path: str | Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100  # no Path: thousands of them


def _digest(file: str) -> str:
    return blake2b(Path(file).read_bytes(), digest_size=20).hexdigest()


_ASKED: ContextVar[Outside] = ContextVar("asked")


@contextmanager
def asking(outside: Outside) -> Iterator[None]:
    """Who asks `the_outside` in this block asks this one."""
    token = _ASKED.set(outside)
    try:
        yield
    finally:
        _ASKED.reset(token)


def the_outside() -> Outside:
    """The one of the model that is being worked on; a new one where there is none."""
    return _ASKED.get(Outside())

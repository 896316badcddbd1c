"""The forms of a model on disk: a second start of an unchanged model goes straight to its library.

A model has a folder, named by the hash of what it is called, the roots of the libraries and the user's files and texts.
In it `facts` says what was learned from outside when it was compiled (`base/outside.py`); each form is a file that
carries the hash of these facts in its name.  Forms count where all facts hold.  Our own sources are part of the name of
the folder above: another version has other forms.

Whatever is damaged, missing or cannot be written means compiling, never an error.  The least used models go where all
together take more than `MOST_BYTES`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import kilohertz
from kilohertz.base.cache_place import is_switched_off, user_cache
from kilohertz.base.outside import Outside, Stamp, hold
from kilohertz.driver.keeping.packing import BadPack, pack, unpack

MOST_BYTES = 1 << 30
_FORGOTTEN_S = 30 * 24 * 3600
_FACTS = "facts"
_OURS = (".py", ".c", ".h", ".inc", ".toml")
_ROOT = Path(kilohertz.__file__).parent


class FormStore:
    """The forms of one model."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._state: str | None = None  # the facts that hold, by their hash; empty: none do

    @classmethod
    def of(cls, called: Iterable[str]) -> FormStore:
        """For a model by all that it is called; as the environment says, nowhere."""
        if is_switched_off():
            return cls(None)
        return cls(_forms_folder() / _digest(*(part.encode(errors="surrogateescape") for part in called)))

    def recall(self, form: str) -> Any | None:
        """A form that was kept, where it is whole and all it depends on is as it was."""
        state = self._known_state()
        if self._folder is None or not state:
            return None
        try:
            return unpack((self._folder / _file_name(state, form)).read_bytes())
        except (OSError, BadPack):
            return None

    def keep(self, forms: dict[str, object], outside: Outside) -> None:
        """Keep forms that were made from what is outside; not where that changed meanwhile."""
        if self._folder is None:
            return
        facts = outside.facts()
        if facts is None:
            return
        data = json.dumps(facts).encode()
        self._state = _digest(data)
        with contextlib.suppress(OSError, RecursionError):
            self._clear()
            for name, form in forms.items():
                self._write(_file_name(self._state, name), pack(form))
            self._write(_FACTS, data)
            _drop_least_used(self._folder.parent)

    def add(self, form: str, made: object) -> None:
        """Keep another form beside those that are here; made from them alone."""
        if self._folder is not None and self._known_state():
            with contextlib.suppress(OSError, RecursionError):
                self._write(_file_name(self._known_state(), form), pack(made))

    def _known_state(self) -> str:
        if self._state is None:
            self._state = self._read_state()
        return self._state

    def _read_state(self) -> str:
        if self._folder is None:
            return ""
        try:
            data = (self._folder / _FACTS).read_bytes()
            if not hold(json.loads(data)):
                return ""
        except (OSError, ValueError, TypeError, KeyError):
            return ""
        with contextlib.suppress(OSError):
            os.utime(self._folder)
        return _digest(data)

    def _clear(self) -> None:
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.iterdir():
            if old.name != _FACTS and not old.name.startswith("."):
                old.unlink(missing_ok=True)

    def _write(self, name: str, data: bytes) -> None:
        assert self._folder is not None
        scratch = self._folder / f".{name}.{os.getpid()}"
        try:
            scratch.write_bytes(data)
            scratch.replace(self._folder / name)
        finally:
            scratch.unlink(missing_ok=True)


def _file_name(state: str, form: str) -> str:
    """Of a form that was made where the facts of a state held; long names are those of choices."""
    return f"{state}.{form if form.replace('.', '').isalnum() else _digest(form.encode())}"


def _forms_folder() -> Path:
    return user_cache() / f"forms-{own_version()}"


@cache
def own_version() -> str:
    """A hash of our own sources and of the Python that runs them.

    So that a start need not read them all, a small file leads from their places, sizes and times to it; it is written
    where no source was touched for two seconds, since a change right after could leave the times as they are.
    """
    stamps = {file: Stamp.of(file) for file in _own_sources()}
    facts = repr((sys.version, *stamps.items()))
    place = user_cache() / f"own-{_digest(facts.encode(errors='surrogateescape'))[:16]}"
    with contextlib.suppress(OSError):
        return place.read_text(encoding="ascii")
    parts = [sys.version.encode()]
    for file in stamps:
        parts += [os.path.relpath(file, _ROOT).encode(), Path(file).read_bytes()]
    version = _digest(*parts)[:16]
    if not is_switched_off() and all(stamp.is_settled for stamp in stamps.values()):
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            scratch = place.with_name(f".{place.name}.{os.getpid()}")
            scratch.write_text(version, encoding="ascii")
            scratch.replace(place)
    return version


def _own_sources() -> Iterator[str]:
    for folder, inside, names in os.walk(_ROOT):
        inside.sort()
        yield from (f"{folder}/{name}" for name in sorted(names) if name.endswith(_OURS))


def _digest(*parts: bytes) -> str:
    state = blake2b(digest_size=20)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def _drop_least_used(folder: Path) -> None:
    """Models that together take more than there is room for, the least used first; and other versions after a month."""
    for old in folder.parent.glob("forms-*"):
        if old != folder and time.time() - old.stat().st_mtime > _FORGOTTEN_S:
            shutil.rmtree(old, ignore_errors=True)
    for key in folder.parent.glob("own-*"):
        if time.time() - key.stat().st_mtime > _FORGOTTEN_S:
            key.unlink(missing_ok=True)
    taken = 0
    for model in sorted((m for m in folder.iterdir()), key=lambda m: m.stat().st_mtime, reverse=True):
        taken += sum(file.stat().st_size for file in model.iterdir())
        if taken > MOST_BYTES:
            shutil.rmtree(model, ignore_errors=True)

"""Forms as bytes, and back.

A form is a pickle behind a checksum.  Expressions and records are stored as the calls that make them, so that equal
expressions are one object again.  Only classes of ours, containers and fractions come out, whatever the bytes say.
"""

from __future__ import annotations

import copyreg
import gc
import io
import pickle
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from operator import attrgetter
from typing import Any

from kilohertz.ir.expr import Expr

_MAGIC = b"KHZform1"
_HEAD = struct.Struct("<8sI")
_PLAIN = {"builtins": {"set", "frozenset"}, "fractions": {"Fraction"}, "pathlib": {"PosixPath", "PurePosixPath"}}


class BadPack(Exception):
    """The bytes are no form, or were cut off or changed."""


def pack(form: object) -> bytes:
    """A form as bytes."""
    with _without_collector():  # what is made on the way is no garbage until the end
        try:
            body = _pickled(((), form))
        except RecursionError:  # a sum of hundreds of terms nests as deeply: its parts are stored first
            body = _pickled((tuple(_from_the_leaves(form)), form))
    return _HEAD.pack(_MAGIC, zlib.crc32(body)) + body


def _pickled(form: object) -> bytes:
    stream = io.BytesIO()
    writer = pickle.Pickler(stream, 5)
    writer.dispatch_table = _Calls(copyreg.dispatch_table)
    writer.dump(form)
    return stream.getvalue()


class _Calls(dict[type, Callable[[Any], Any]]):
    """How an object of a class is stored: as the call that makes it, where that is known."""

    def __missing__(self, cls: type) -> Callable[[Any], Any]:
        if issubclass(cls, Enum):
            # releases of Python 3.11 differ in how they store a member; some need `getattr`, which no file may ask for
            self[cls] = _call_of(cls, ("value",))
        elif issubclass(cls, Expr):
            self[cls] = _call_of(cls, cls.__match_args__)
        elif is_dataclass(cls) and all(f.init and not f.kw_only for f in fields(cls)):
            self[cls] = _call_of(cls, tuple(f.name for f in fields(cls)))
        else:
            raise KeyError(cls)
        return self[cls]


def _call_of(cls: type, names: tuple[str, ...]) -> Callable[[object], tuple[type, tuple[object, ...]]]:
    if len(names) > 1:
        several = attrgetter(*names)
        return lambda made: (cls, several(made))
    return lambda made: (cls, tuple(getattr(made, name) for name in names))


def unpack(data: bytes) -> Any:
    """The form; raises BadPack."""
    if len(data) < _HEAD.size:
        raise BadPack("too short")
    magic, checksum = _HEAD.unpack_from(data)
    if magic != _MAGIC or zlib.crc32(memoryview(data)[_HEAD.size :]) != checksum:
        raise BadPack("wrong checksum")
    stream = io.BytesIO(data)
    stream.seek(_HEAD.size)
    with _without_collector():  # everything read stays
        try:
            _, form = _Reader(stream).load()
        except Exception as error:  # pickle answers damage with nearly any exception
            raise BadPack(str(error)) from error
    return form


@contextmanager
def _without_collector() -> Iterator[None]:
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Reader(pickle.Unpickler):
    """Makes forms and what they are made of, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("kilohertz.") or name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        raise BadPack(f"{module}.{name} is no part of a form")


def _from_the_leaves(form: object) -> Iterator[Expr]:
    """Every expression in a form once, operands before what is made of them; no recursion."""
    done: set[int] = set()
    stack: list[tuple[object, bool]] = [(form, False)]
    while stack:
        part, complete = stack.pop()
        if complete:
            assert isinstance(part, Expr)
            yield part
        elif id(part) not in done:
            done.add(id(part))
            if isinstance(part, Expr):
                stack.append((part, True))
            stack += [(inner, False) for inner in _parts(part)]


def _parts(part: object) -> tuple[object, ...]:
    match part:
        case Expr():
            return part.children()
        case dict():
            return (*part.keys(), *part.values())
        case tuple() | list():
            return tuple(part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            return tuple(getattr(part, f.name) for f in fields(part))
    return ()

"""Forms as bytes, and back.

A form is a pickle behind a checksum.  Expressions are stored as the calls that make them, so that equal ones are one
object again.  Only classes of ours and a few containers come out of it, whatever the bytes say.
"""

from __future__ import annotations

import copyreg
import gc
import io
import pickle
import struct
import zlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from kilohertz.ir.expr import Expr

_MAGIC = b"KHZform1"
_HEAD = struct.Struct("<8sI")
_CONTAINERS = {"builtins": {"set", "frozenset"}, "pathlib": {"PosixPath", "PurePosixPath"}}


class BadPack(Exception):
    """The bytes are no form, or were cut off or changed."""


def pack(form: object) -> bytes:
    """A form as bytes."""
    try:
        body = _pickled(((), form))
    except RecursionError:  # a sum of hundreds of terms nests as deeply: its parts are stored first
        body = _pickled((tuple(_from_the_leaves(form)), form))
    return _HEAD.pack(_MAGIC, zlib.crc32(body)) + body


def _pickled(form: object) -> bytes:
    stream = io.BytesIO()
    writer = pickle.Pickler(stream, 5)
    # releases of Python 3.11 differ in how they store a member; some need `getattr`, which must not come out of a file
    writer.dispatch_table = copyreg.dispatch_table | dict.fromkeys(_enumerations(Enum), _member)
    writer.dump(form)
    return stream.getvalue()


def _enumerations(base: type[Enum]) -> Iterator[type[Enum]]:
    for one in base.__subclasses__():
        yield one
        yield from _enumerations(one)


def _member(member: Enum) -> tuple[type[Enum], tuple[object]]:
    return type(member), (member.value,)


def unpack(data: bytes) -> Any:
    """The form; raises BadPack."""
    if len(data) < _HEAD.size:
        raise BadPack("too short")
    magic, checksum = _HEAD.unpack_from(data)
    if magic != _MAGIC or zlib.crc32(memoryview(data)[_HEAD.size :]) != checksum:
        raise BadPack("wrong checksum")
    stream = io.BytesIO(data)
    stream.seek(_HEAD.size)
    collects = gc.isenabled()
    gc.disable()  # everything read stays
    try:
        _, form = _Reader(stream).load()
    except Exception as error:  # pickle answers damage with nearly any exception
        raise BadPack(str(error)) from error
    finally:
        if collects:
            gc.enable()
    return form


class _Reader(pickle.Unpickler):
    """Makes forms and what they are made of, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("kilohertz.") or name in _CONTAINERS.get(module, ()):
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

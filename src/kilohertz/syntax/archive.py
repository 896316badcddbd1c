"""Trees as bytes: the body of each class is a pickle of its own, read when it is first asked for.

Layout: magic, CRC-32 of the rest, offset of the root, then the pickles.  A node is stored as the call that makes it
(`Number(3, 4, 1.5)`) with trailing defaults left out: four times as fast to read as to parse.  The names of files are
not stored; the reader puts in the one it was asked for.  Only the Tree's own classes can come out of an archive.
"""

from __future__ import annotations

import io
import pickle
import struct
import zlib
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import partial
from operator import attrgetter
from typing import Any

from kilohertz.syntax import tree, tree_expr
from kilohertz.syntax.tree import Binary, ClassDef, Expr, StoredDefinition

_MAGIC = b"KHZtree1"
_HEAD = struct.Struct("<8sIQ")
_CLASS_FIELDS = tuple(f.name for f in fields(ClassDef) if f.name not in ("body", "file", "lazy"))
_class_values = attrgetter(*_CLASS_FIELDS)


class BadArchive(Exception):
    """The bytes are no archive, or were cut off or changed."""


# ------------------------------------------------------------------------------------------------------------- writing


def pack(stored: StoredDefinition) -> bytes:
    """The tree of one file as an archive.  Raises RecursionError where it is nested too deeply for pickle."""
    blobs: list[bytes] = []
    root = _Writer(blobs).write(stored)
    body = b"".join(blobs)
    return _HEAD.pack(_MAGIC, zlib.crc32(body), root) + body


class _Writer:
    """Appends pickles to a list of blobs; `write` returns the offset of what it wrote."""

    def __init__(self, blobs: list[bytes]) -> None:
        self._blobs = blobs
        self._size = 0
        self._table = _REDUCERS | {ClassDef: self._reduce_class}

    def write(self, node: object) -> int:
        buffer = io.BytesIO()
        pickler = pickle.Pickler(buffer, 5)
        pickler.dispatch_table = self._table
        pickler.dump(node)
        offset = self._size
        self._blobs.append(buffer.getvalue())
        self._size += buffer.tell()
        return offset

    def _reduce_class(self, node: ClassDef) -> tuple[Callable[..., ClassDef], tuple[object, ...]]:
        return lazy_class, (self.write(node.body), *_class_values(node))


def _reducer(cls: type[Any]) -> Callable[[Any], tuple[Callable[..., Any], tuple[object, ...]]]:
    """How nodes of one class are stored: as a call with the values of their fields."""
    names = [f.name for f in fields(cls)]
    defaults = [f.default for f in fields(cls)]
    values = attrgetter(*names) if len(names) > 1 else lambda node: (getattr(node, names[0]),)
    required = defaults.count(MISSING)

    def reduce(node: Any) -> tuple[Callable[..., Any], tuple[object, ...]]:
        args = values(node)
        n = len(args)
        while n > required and args[n - 1] is defaults[n - 1]:
            n -= 1
        return cls, args[:n]

    return reduce


def _reduce_binary(node: Binary) -> tuple[Callable[..., Expr], tuple[object, ...]]:
    """A chain of left operands is stored as a list, so that a long sum does not nest."""
    links: list[tuple[int, int, str, Expr]] = []
    left: Expr = node
    while isinstance(left, Binary):
        links.append((left.start, left.end, left.op, left.right))
        left = left.left
    return chain, (left, links)


_FILES = (tree.__name__, tree_expr.__name__)
_NODES = {c.__name__: c for c in vars(tree).values() if isinstance(c, type) and c.__module__ in _FILES}
_REDUCERS: dict[type, Callable[[Any], Any]] = {c: _reducer(c) for c in _NODES.values()} | {Binary: _reduce_binary}

# ------------------------------------------------------------------------------------------------------------- reading


def unpack(data: bytes, file: str) -> StoredDefinition:
    """The tree in an archive, its classes marked as read from `file`; raises BadArchive."""
    if len(data) < _HEAD.size:
        raise BadArchive("too short")
    magic, checksum, root = _HEAD.unpack_from(data)
    if magic != _MAGIC or zlib.crc32(memoryview(data)[_HEAD.size :]) != checksum:
        raise BadArchive("wrong checksum")
    stored = _read(data, file, root)
    if not isinstance(stored, StoredDefinition):
        raise BadArchive("no tree")
    stored.file = file
    return stored


def _read(data: bytes, file: str, offset: int) -> Any:
    stream = io.BytesIO(data)
    stream.seek(_HEAD.size + offset)
    return _Reader(stream, data, file).load()


class _Reader(pickle.Unpickler):
    """Knows the nodes of the Tree and nothing else."""

    def __init__(self, stream: io.BytesIO, data: bytes, file: str) -> None:
        super().__init__(stream)
        self._data, self._file = data, file

    def find_class(self, module: str, name: str) -> Any:
        if name == "lazy_class":
            return self._lazy_class
        if name == "chain":
            return chain
        if name not in _NODES:
            raise BadArchive(f"{module}.{name} is no node of a tree")
        return _NODES[name]

    def _lazy_class(self, offset: int, *values: Any) -> ClassDef:
        return lazy_class(partial(_read, self._data, self._file, offset), self._file, *values)


def lazy_class(body: Callable[[], Any], file: str, *values: Any) -> ClassDef:
    """A class whose body is read on first use."""
    start, end, name, kind, *rest = values
    node = ClassDef(start, end, name, kind, tree.Body((), ()), file, *rest)
    node.lazy = body
    del node.body
    return node


def chain(left: Expr, links: list[tuple[int, int, str, Expr]]) -> Expr:
    """A left-associative chain of operations, the outermost first in `links`."""
    for start, end, op, right in reversed(links):
        left = Binary(start, end, op, left, right)
    return left

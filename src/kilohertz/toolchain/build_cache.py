"""The build cache: files named by the hash of all that went into them, published atomically.

A file in the cache is complete or absent: it is written beside and renamed, so that two builds of the same thing may
run at once.  Nothing in it is ever changed; deleting the folder is always safe.  What came compiled with the package is
taken from there, and looked for first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from kilohertz import runtime
from kilohertz.base.cache_place import user_cache

SHIPPED = Path(runtime.__file__).parent / "compiled"  # in a wheel that was made where there is a C compiler
C_SUFFIXES = (".h", ".c", ".inc")  # what external code may include


def cache_directory() -> Path:
    """$KHZ_CACHE_DIR, or the user's cache folder; one among temporary files where that cannot be written to."""
    build = user_cache() / "build"
    with contextlib.suppress(OSError):
        build.mkdir(parents=True, exist_ok=True)
        if os.access(build, os.W_OK | os.X_OK):
            return build
    build = _temporary() / "build"
    build.mkdir(exist_ok=True)
    return build


def _temporary() -> Path:
    """The same folder in each run, as long as it is ours alone."""
    folder = Path(tempfile.gettempdir()) / f"kilohertz-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022:
            return folder
    return _own_folder()


@lru_cache(maxsize=1)
def _own_folder() -> Path:
    """A folder for this process: somebody else has the usual one."""
    return Path(tempfile.mkdtemp(prefix="kilohertz-"))


def digest(parts: Iterable[str | bytes]) -> str:
    """One hash over parts whose borders count."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        state.update(f"{len(data)}:".encode())
        state.update(data)
    return state.hexdigest()[:32]


def entry(key: str, suffix: str) -> Path:
    """Where the file with this key lives, present or not."""
    came = SHIPPED / key[:2] / (key[2:] + suffix)
    if came.exists():
        return came
    folder = cache_directory() / key[:2]
    folder.mkdir(exist_ok=True)
    return folder / (key[2:] + suffix)


@contextlib.contextmanager
def published(target: Path) -> Iterator[Path]:
    """A scratch path that becomes `target` when the block ends well, and vanishes when it does not."""
    handle, name = tempfile.mkstemp(prefix="." + target.stem[:8], suffix=target.suffix, dir=target.parent)
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        scratch.replace(target)
    finally:
        scratch.unlink(missing_ok=True)


def folder_digest(folder: Path) -> str:
    """The content of every C source and header under a folder: external code may include any of them."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in C_SUFFIXES and p.is_file())
    stamps = tuple((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in files)
    return _digest_files(str(folder), stamps)


@lru_cache(maxsize=64)
def _digest_files(folder: str, stamps: tuple[tuple[str, int, int], ...]) -> str:
    parts: list[str | bytes] = []
    for name, _, _ in stamps:
        parts += [os.path.relpath(name, folder), Path(name).read_bytes()]
    return digest(parts)

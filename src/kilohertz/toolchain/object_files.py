"""From C text to objects, shared libraries and executables, through the cache.

Each source is an object of its own, keyed by its text, the headers it may see, the flags and the compiler's version, so
a changed model recompiles only the parts that changed and the runtime is compiled once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.toolchain import build_cache
from kilohertz.toolchain.compiler import Compiler, find_compiler

# no SLP vectorisation: it shuffles the scalars of generated code into pairs and out again, at more cost than it saves
FLAGS = (
    "-std=c11",
    "-O2",
    "-fno-tree-slp-vectorize",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fvisibility=hidden",
)
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla", "-Wdouble-promotion", "-Werror")
QUIET = ("-w",)
JOBS = 2
_EXCERPT_LINES = 12


@dataclass(frozen=True, slots=True)
class Source:
    """A C source or header: its file name and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Sources that are compiled alike: the headers and folders they see, and further flags."""

    sources: tuple[Source, ...]
    headers: tuple[Source, ...] = ()
    include_directories: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()
    name: str = ""  # of their folder, where the sources are written for a person


def build_objects(unit: Unit, compiler: Compiler | None = None) -> tuple[Path, ...]:
    """One object file per source, compiled where the cache has none."""
    cc = compiler or find_compiler()
    common = [cc.version, *FLAGS, *unit.flags]
    for header in unit.headers:
        common += [header.name, header.text]
    common += [build_cache.folder_digest(folder) for folder in unit.include_directories]
    targets = [build_cache.entry(build_cache.digest([*common, s.name, s.text]), ".o") for s in unit.sources]
    missing = [(s, t) for s, t in zip(unit.sources, targets, strict=True) if not t.exists()]
    if missing:
        with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
            _compile_all(cc, unit, missing, Path(scratch))
    return tuple(targets)


def build_shared(units: Sequence[Unit], libraries: tuple[str, ...] = (), compiler: Compiler | None = None) -> Path:
    """A shared library of all units; `libraries` are linker arguments (`-lm` is always there)."""
    return _link(units, ("-shared",), libraries, ".so", compiler)


def build_executable(units: Sequence[Unit], libraries: tuple[str, ...] = (), compiler: Compiler | None = None) -> Path:
    """An executable of all units."""
    return _link(units, (), libraries, ".exe", compiler)


def _link(
    units: Sequence[Unit], mode: tuple[str, ...], libraries: tuple[str, ...], suffix: str, compiler: Compiler | None
) -> Path:
    cc = compiler or find_compiler()
    objects = [str(o) for unit in units for o in build_objects(unit, cc)]
    # no -Wl,--no-undefined: an external function nobody calls may miss its library
    # -z now (zig's default): the first step does not look symbols up
    arguments = [*mode, "-fPIC", *(("-Wl,-z,now",) if not cc.is_zig else ())]
    tail = [*libraries, "-lm"]
    key = build_cache.digest([cc.version, *arguments, *map(os.path.basename, objects), *tail])
    target = build_cache.entry(key, suffix)
    if not target.exists():
        with build_cache.published(target) as scratch:
            _run([*cc.command, *arguments, "-o", str(scratch), *objects, *tail], target.parent, "linking the model")
    return target


def _compile_all(cc: Compiler, unit: Unit, missing: list[tuple[Source, Path]], scratch: Path) -> None:
    for header in unit.headers:
        (scratch / header.name).write_text(header.text, encoding="utf-8")
    includes = ["-I.", *(f"-I{d}" for d in unit.include_directories)]

    def compile_one(job: tuple[Source, Path]) -> None:
        source, target = job
        (scratch / source.name).write_text(source.text, encoding="utf-8", errors="surrogateescape")
        with build_cache.published(target) as out:
            command = [*cc.command, *FLAGS, *unit.flags, *includes, "-c", source.name, "-o", str(out)]
            _run(command, scratch, f"compiling {source.name}")

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(compile_one, missing))


def _run(command: list[str], folder: Path, what: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, errors="replace")
    if done.returncode == 0:
        return
    kept = os.environ.get("KHZ_KEEP_FAILED")
    if kept:
        shutil.copytree(folder, kept, dirs_exist_ok=True)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if any(word in line for word in ("error", "undefined", "cannot find"))] or lines
    raise ModelError(
        Diagnostic("C602", f"the C compiler failed while {what}", notes=tuple(map(Note, errors[:_EXCERPT_LINES])))
    )

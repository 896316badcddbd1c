"""From C text to objects, shared libraries and executables, through the cache.

Each source is an object of its own, keyed by its text, the headers it may see, the flags and the compiler's version, so
a changed model recompiles only the parts that changed and the runtime is compiled once.  The sources of a merged unit
are one object: the compiler starts once, reads the headers once, and sees all that calls a function.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.base.progress import taking_time
from kilohertz.toolchain import build_cache
from kilohertz.toolchain.compiler import Compiler, find_compiler, processor

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
# Passes of -O2 that find nothing in long code without loops, each value computed once and kept: without them gcc takes
# 0.6 of the time, and steps take 0.1 % fewer to 0.6 % more instructions
STRAIGHT = (
    "-fno-code-hoisting",
    "-fno-dse",
    "-fno-gcse",
    "-fno-rerun-cse-after-loop",
    "-fno-schedule-insns2",
    "-fno-tree-dse",
    "-fno-tree-fre",
    "-fno-tree-pre",
    "-fno-tree-vrp",
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
    is_straight: bool = False  # nearly all of it is code without loops: see `STRAIGHT`


@dataclass(frozen=True, slots=True)
class Unit:
    """Sources that are compiled alike: the headers and folders they see, and further flags."""

    sources: tuple[Source, ...]
    headers: tuple[Source, ...] = ()
    include_directories: tuple[Path, ...] = ()
    flags: tuple[str, ...] = ()
    name: str = ""  # of their folder, where the sources are written for a person
    merged: bool = False  # no two sources define the same name, static or not: they may be compiled as one text

    def compiled(self) -> tuple[Source, ...]:
        """What the compiler gets: the sources, or the one text of all."""
        if not self.merged:
            return self.sources
        text = "".join(f'#line 1 "{s.name}"\n{s.text}\n' for s in self.sources)
        return (Source(f"{self.name}.c", "#define _GNU_SOURCE\n" + text),)


def build_objects(units: Sequence[Unit], compiler: Compiler | None = None) -> tuple[Path, ...]:
    """The object files of some units, compiled side by side where the cache has none."""
    cc = compiler or find_compiler()
    wanted = [(unit, _targets(cc, unit)) for unit in units]
    with ExitStack() as stack:
        jobs: list[Callable[[], None]] = []
        for unit, targets in wanted:
            missing = [(s, t) for s, t in targets if not t.exists()]
            if missing:
                scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="khz-")))
                jobs += _compilations(cc, unit, missing, scratch)
        awaited = [t for _, targets in wanted for _, t in targets if not t.exists()]
        with taking_time(
            _what("compiling C", cc), lambda: f": {sum(t.exists() for t in awaited)} of {len(awaited)} files"
        ):
            _side_by_side(jobs)
    return tuple(target for _, targets in wanted for _, target in targets)


def _what(doing: str, cc: Compiler) -> str:
    """What is done, once, while C is compiled or linked."""
    first = ", which builds its own C library first where it meets a target for the first time" if cc.is_zig else ""
    return f"{doing} for {cc.architecture} with {cc.family}{first}; it is kept for the next time"


def _side_by_side(jobs: Sequence[Callable[[], None]]) -> None:
    """Run all; the first failure is raised once those under way are done, and the others are left."""
    queue, failures = iter(jobs), list[Exception]()  # an iterator over a list gives each job to one thread

    def work() -> None:
        for job in queue:
            if failures:
                return
            try:
                job()
            except Exception as error:  # raised below, in the thread of the caller
                failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(min(JOBS, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _targets(cc: Compiler, unit: Unit) -> list[tuple[Source, Path]]:
    """Each source with the place of its object in the cache."""
    common = [cc.version, *FLAGS, *unit.flags]
    if "-march=native" in (*cc.command, *unit.flags):
        common.append(processor())
    for header in unit.headers:
        common += [header.name, header.text]
    common += [build_cache.folder_digest(folder) for folder in unit.include_directories]
    head = build_cache.digest(common)
    keys = [(s, build_cache.digest([head, *_passes(cc, s), s.name, s.text])) for s in unit.compiled()]
    return [(s, build_cache.entry(key, ".o")) for s, key in keys]


def _passes(cc: Compiler, source: Source) -> tuple[str, ...]:
    """Which passes of the optimiser a source does without; only gcc has these names for them."""
    return STRAIGHT if source.is_straight and cc.family == "gcc" else ()


def build_shared(units: Sequence[Unit], libraries: tuple[str, ...] = (), compiler: Compiler | None = None) -> Path:
    """A shared library of all units; `libraries` are linker arguments (`-lm` is always there)."""
    return _link(units, ("-shared",), libraries, ".so", compiler)


def is_built(units: Sequence[Unit], libraries: tuple[str, ...] = ()) -> bool:
    """Whether the cache has the shared library of these units."""
    cc = find_compiler()
    objects = [target for unit in units for _, target in _targets(cc, unit)]
    return _linking(cc, objects, ("-shared",), libraries, ".so")[1].exists()


def build_executable(units: Sequence[Unit], libraries: tuple[str, ...] = (), compiler: Compiler | None = None) -> Path:
    """An executable of all units."""
    return _link(units, (), libraries, ".exe", compiler)


def _link(
    units: Sequence[Unit], mode: tuple[str, ...], libraries: tuple[str, ...], suffix: str, compiler: Compiler | None
) -> Path:
    cc = compiler or find_compiler()
    command, target = _linking(cc, build_objects(units, cc), mode, libraries, suffix)
    if not target.exists():
        begun = time.monotonic()
        so_far = taking_time(_what("linking", cc), lambda: f": {time.monotonic() - begun:.0f} s so far")
        with build_cache.published(target) as scratch, so_far:
            _run([*command, "-o", str(scratch)], target.parent, "linking the model")
    return target


def _linking(
    cc: Compiler, objects: Sequence[Path], mode: tuple[str, ...], libraries: tuple[str, ...], suffix: str
) -> tuple[list[str], Path]:
    """The command that links objects, but where to, and the place of what it makes in the cache."""
    # no -Wl,--no-undefined: an external function nobody calls may miss its library
    # -z now (zig's default): the first step does not look symbols up
    arguments = [*mode, "-fPIC", *(("-Wl,-z,now",) if not cc.is_zig else ())]
    tail = [*libraries, "-lm"]
    key = build_cache.digest([cc.version, *arguments, *(o.name for o in objects), *tail])
    return [*cc.command, *arguments, *map(str, objects), *tail], build_cache.entry(key, suffix)


def _compilations(
    cc: Compiler, unit: Unit, missing: list[tuple[Source, Path]], scratch: Path
) -> list[Callable[[], None]]:
    """One job for each source, in a folder with the headers of its unit."""
    for header in unit.headers:
        (scratch / header.name).write_text(header.text, encoding="utf-8")
    includes = ["-I.", *(f"-I{d}" for d in unit.include_directories)]

    def compile_one(source: Source, target: Path) -> None:
        (scratch / source.name).write_text(source.text, encoding="utf-8", errors="surrogateescape")
        with build_cache.published(target) as out:
            options = (*FLAGS, *_passes(cc, source), *unit.flags, *includes)
            _run([*cc.command, *options, "-c", source.name, "-o", str(out)], scratch, f"compiling {source.name}")

    return [partial(compile_one, source, target) for source, target in missing]


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

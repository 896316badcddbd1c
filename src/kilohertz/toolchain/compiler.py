"""Finding a C compiler: $CC, then cc, gcc, clang on the path, then the `ziglang` wheel."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note

CANDIDATES = ("cc", "gcc", "clang")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A command that compiles C, and what it says about itself (part of every cache key)."""

    command: tuple[str, ...]
    version: str

    @property
    def is_zig(self) -> bool:
        return "ziglang" in self.command

    @property
    def family(self) -> str:
        """gcc, clang or zig, as prices are listed by."""
        return "zig" if self.is_zig else "clang" if "clang" in self.version.lower() else "gcc"

    @property
    def architecture(self) -> str:
        """Of what it makes: that of this machine, or of the target it was called for."""
        target = self.command[self.command.index("-target") + 1] if "-target" in self.command else platform.machine()
        return target.partition("-")[0]


def find_compiler() -> Compiler:
    """The C compiler to use; ModelError C601 with what to install where there is none."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _find(cc: str, path: str) -> Compiler:
    if cc:
        command = tuple(shlex.split(cc))
        version = _version(command)
        if version is None:
            notes = (Note("without CC a compiler is looked for: " + ", ".join((*CANDIDATES, "zig"))),)
            raise ModelError(Diagnostic("C601", f"CC is `{cc}`, which is no C compiler that can be run", notes=notes))
        return Compiler(command, "\n".join((version, *command[1:])))  # its flags change what it makes
    commands: list[tuple[str, ...]] = []
    commands += [(executable,) for name in CANDIDATES if (executable := shutil.which(name, path=path))]
    if importlib.util.find_spec("ziglang") is not None:
        commands.append((sys.executable, "-m", "ziglang", "cc"))
    for command in commands:
        version = _version(command)
        if version is not None:
            return Compiler(command, version)
    tried = ", ".join(" ".join(c) for c in commands) or "CC, " + ", ".join(CANDIDATES)
    raise ModelError(
        Diagnostic(
            "C601",
            "no C compiler was found",
            notes=(
                Note(f"tried: {tried}"),
                Note("install gcc or clang (Debian/Ubuntu: `apt install gcc`), or `pip install ziglang`; or set CC"),
            ),
        )
    )


@lru_cache(maxsize=1)
def processor() -> str:
    """What this machine says of its processor: code for it may not run on another one that shares the cache."""
    told: dict[str, str] = {}
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            told.setdefault(name.strip(), value.strip())
    names = ("model name", "flags", "CPU implementer", "CPU part", "Features")  # of x86-64 and of aarch64
    return "\n".join([platform.machine(), platform.processor(), *(told.get(name, "") for name in names)])


def cross_compiler(target: str) -> Compiler:
    """`zig cc` for another machine, e.g. `aarch64-linux-gnu`; C605 where there is no zig or no such target."""
    if importlib.util.find_spec("ziglang") is None:
        note = Note("`pip install ziglang` brings one for every usual target")
        raise ModelError(Diagnostic("C605", f"no compiler for the target `{target}`", notes=(note,)))
    return _cross(target)


@lru_cache(maxsize=8)
def _cross(target: str) -> Compiler:
    command = (sys.executable, "-m", "ziglang", "cc", "-target", target)
    try:
        done = subprocess.run([*command, "-E", "-x", "c", os.devnull], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ModelError(Diagnostic("C605", f"zig does not run: {error}")) from error
    if done.returncode != 0:
        said = next((line for line in done.stderr.splitlines() if line.strip()), "")
        example = Note("for example aarch64-linux-gnu, or aarch64-linux-musl for a static executable")
        notes = (Note(said), example) if said else (example,)
        raise ModelError(Diagnostic("C605", f"zig has no target `{target}`", notes=notes))
    version = _version((sys.executable, "-m", "ziglang", "cc")) or ""
    return Compiler(command, f"{version}\n{target}")


def _version(command: tuple[str, ...]) -> str | None:
    """The compiler's own words, or None where the command does not run."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return done.stdout.strip()

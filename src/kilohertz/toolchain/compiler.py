"""Finding a C compiler: $CC, then cc, gcc, clang on the path, then the `ziglang` wheel."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache

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


def find_compiler() -> Compiler:
    """The C compiler to use; ModelError C601 with what to install where there is none."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=8)
def _find(cc: str, path: str) -> Compiler:
    commands = [tuple(shlex.split(cc))] if cc else []
    commands += [(found,) for name in CANDIDATES if (found := shutil.which(name, path=path))]
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


def _version(command: tuple[str, ...]) -> str | None:
    """The compiler's own words, or None where the command does not run."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return done.stdout.strip()

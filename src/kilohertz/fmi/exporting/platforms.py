"""The machines that an FMU has binaries for: their names in FMI, and the compiler that makes them."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError
from kilohertz.toolchain import Compiler, cross_compiler, find_compiler

_MACHINES = {  # name in FMI 3: name in FMI 2, where it has one of its own; target of zig; suffix of a library
    "x86_64-linux": ("linux64", "x86_64-linux-gnu", ".so"),
    "aarch64-linux": ("", "aarch64-linux-gnu", ".so"),
    "x86_64-windows": ("win64", "x86_64-windows-gnu", ".dll"),
    "x86_64-darwin": ("darwin64", "x86_64-macos", ".dylib"),
    "aarch64-darwin": ("", "aarch64-macos", ".dylib"),
}
HERE = f"{platform.machine()}-linux"


@dataclass(frozen=True, slots=True)
class Platform:
    """A machine: what FMI calls it, where its library lies in an FMU, and for whom zig compiles."""

    name: str
    folder: str
    target: str
    suffix: str

    def compiler(self) -> Compiler:
        """That of this machine, or zig."""
        return find_compiler() if self.name == HERE else cross_compiler(self.target)


def platforms(version: int, more: tuple[str, ...]) -> list[Platform]:
    """This machine and others by name; R801 where there is none of that name."""
    out = []
    for name in dict.fromkeys((HERE, *more)):
        if name not in _MACHINES:
            known = ", ".join(_MACHINES)
            text = f"no binaries can be made for `{name}`; there are {known}"
            raise ModelError(Diagnostic("R801", text))
        short, target, suffix = _MACHINES[name]
        out.append(Platform(name, short if version == 2 and short else name, target, suffix))
    return out


def folders(name: str) -> tuple[str, ...]:
    """Where an FMU has its binaries for a machine, whatever the version of FMI."""
    short = _MACHINES[name][0] if name in _MACHINES else ""
    return (name, short) if short else (name,)

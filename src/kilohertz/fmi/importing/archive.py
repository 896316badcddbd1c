"""An FMU on disk: unpacked into a folder of its own, its binary for this machine found.

Codes: R814 there is no binary for this machine, nor sources to make one from.  What is wrong with the zip itself: L327.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.fmi.exporting.platforms import HERE, folders
from kilohertz.fmi.importing.description import Description, read_description
from kilohertz.fmi.importing.sources import built_library
from kilohertz.packages.unpacking import unpack


@dataclass(frozen=True, slots=True)
class Fmu:
    """An FMU, unpacked."""

    path: Path
    folder: Path
    description: Description

    def binary(self, kind: str) -> Path:
        """The library of a kind for this machine, made from sources where there is none; else R814."""
        identifier = self.description.identifiers[kind]
        for name in folders(HERE):
            file = self.folder / "binaries" / name / f"{identifier}.so"
            if file.is_file():
                return file
        built = self.rebuilt(kind)
        if built is not None:
            return built
        there = sorted(f.name for f in (self.folder / "binaries").glob("*")) or ["none"]
        notes = (Note(f"it has binaries for {', '.join(there)}, and lists no sources"),)
        text = f"`{self.path.name}` has no binary `{identifier}.so` for {HERE}"
        raise ModelError(Diagnostic("R814", text, notes=notes))

    def prefix(self, kind: str) -> str:
        """How the names of its functions begin."""
        version = self.description.version
        return f"{self.description.identifiers[kind]}_fmi" if version == 1 else f"fmi{version}"

    def rebuilt(self, kind: str) -> Path | None:
        """The library of a kind from the FMU's sources; None where it lists none."""
        identifier = self.description.identifiers[kind]
        return built_library(self.folder, self.description.version, kind, identifier)


@contextmanager
def opened(path: Path) -> Iterator[Fmu]:
    """An FMU as long as it is looked at."""
    if not path.is_file():
        raise ModelError(Diagnostic("R811", f"there is no file `{path}`"))
    with tempfile.TemporaryDirectory(prefix="khz-fmu-") as name:
        folder = Path(name)
        unpack(path, folder)
        yield Fmu(path, folder, read_description(folder))

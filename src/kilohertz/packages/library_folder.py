"""The user's folder of libraries: `NAME VERSION/` each, with a small file that says where it came from.

The folder is searched by every command after MODELICAPATH.  `KHZ_LIBRARY_DIR` moves it.  A library appears under its
name when it is complete and not before; what a killed installation left behind is taken away by the next one.

Codes: L325 the folder cannot be written, L326 not installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.base.versions import Version, version

RECORD = ".kilohertz.json"
_UNFINISHED = ".installing-"


@dataclass(frozen=True, slots=True)
class Installed:
    """A library in the store."""

    name: str
    version: str
    origin: str  # the address, folder, archive or clone it came from
    path: str = ""  # of the package in there
    zipfile: str = ""  # the address of the archive, wherever its copy was had from
    sha: str = ""  # the commit, where there is one
    content: str = ""  # SHA-256 over all files
    uses: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def user_folder() -> Path:
    """Where libraries are installed for this user."""
    place = os.environ.get("KHZ_LIBRARY_DIR")
    return Path(place) if place else platformdirs.user_data_path("kilohertz") / "libraries"


class Store:
    """The libraries in one folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = user_folder() if folder is None else folder

    def place(self, name: str, text: str) -> Path:
        """The folder of a library."""
        return self.folder / f"{name} {text}"

    def all(self) -> list[Installed]:
        """What is installed, by name, later versions first."""
        records = sorted(self.folder.glob(f"*/{RECORD}")) if self.folder.is_dir() else []
        installed = [item for item in map(_read_record, records) if item is not None]
        installed.sort(key=lambda item: version(item.version).order(), reverse=True)
        return sorted(installed, key=lambda item: item.name.lower())

    def find(self, name: str, wanted: Version | None = None) -> list[Installed]:
        """The installed versions that somebody means who writes this."""
        named = [item for item in self.all() if item.name == name]
        return named if wanted is None else [item for item in named if version(item.version).serves(wanted)]

    def remove(self, name: str, wanted: Version | None = None) -> list[Installed]:
        """Delete a library (all its versions where none is given)."""
        installed = self.find(name, wanted)
        if not installed:
            what = name if wanted is None else f"{name} {wanted.text}"
            close = near(name, {item.name for item in self.all()} - {name})
            raise ModelError(Diagnostic("L326", f"`{what}` is not installed in `{self.folder}`{close}"))
        with self._writable():
            for item in installed:
                shutil.rmtree(self.place(item.name, item.version))
        return installed

    @contextmanager
    def making(self) -> Iterator[Path]:
        """An empty folder beside the libraries, gone at the end unless `add` has taken it."""
        with self._writable():
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob(f"{_UNFINISHED}*"):
                if not _in_use(left):
                    shutil.rmtree(left, ignore_errors=True)
            scratch = Path(tempfile.mkdtemp(prefix=f"{_UNFINISHED}{os.getpid()}-", dir=self.folder))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def add(self, folder: Path, item: Installed) -> None:
        """Put a complete library folder into its place, instead of the one that may be there."""
        with self._writable():
            record = json.dumps(asdict(item) | {"uses": dict(item.uses)}, indent=1)
            (folder / RECORD).write_text(record + "\n", encoding="utf-8")
            place = self.place(item.name, item.version)
            if place.exists():
                shutil.rmtree(place)
            folder.rename(place)

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"libraries cannot be kept in `{self.folder}`: {reason}"
            raise ModelError(Diagnostic("L325", message)) from None


def content_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of all files but the record, in the order of their names."""
    total = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != RECORD):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return total.hexdigest()


def _read_record(file: Path) -> Installed | None:
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        uses = tuple((str(name), str(wanted)) for name, wanted in facts.pop("uses", {}).items())
        return Installed(**facts, uses=uses)
    except (OSError, ValueError, TypeError, AttributeError):
        return None  # a folder of somebody else's making: found by the search, not ours to list or remove


def _in_use(folder: Path) -> bool:
    owner = folder.name.removeprefix(_UNFINISHED).partition("-")[0]
    return owner.isdigit() and Path(f"/proc/{owner}").exists()

"""Where a wrapper and the FMU that it wraps lie: beside each other, or in the cache by the FMU's content.

Codes: R815 the FMU does not offer what is asked for; R823 a variable that a wrapper has no place for (warning).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError
from kilohertz.base.cache_place import user_cache
from kilohertz.fmi.importing.archive import Fmu, opened
from kilohertz.fmi.importing.checking import loadable
from kilohertz.fmi.importing.description import Description
from kilohertz.fmi.wrapping.ports import Ports, ports_of
from kilohertz.fmi.wrapping.wrapper import FIRST, MODEL, STEP, Place, package_name, tells_steps, wrapper
from kilohertz.results import Selection

_HERE = Path(__file__).parent
_HEADERS = tuple(sorted(file.name for file in _HERE.glob("khz_called_*.h")))


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A package around an FMU, on disk."""

    path: Path  # of the package
    class_name: str  # of the model in it
    kind: str  # me or cs
    description: Description
    ports: Ports

    @property
    def has_calls(self) -> bool:
        """Whether something in it happens once in a period."""
        return self.kind == "cs" or tells_steps(self.description)

    @property
    def step_name(self) -> str:
        """The parameter that says how far apart calls are."""
        return self.ports.free(STEP)

    @property
    def first_name(self) -> str:
        """The parameter that says when a run begins."""
        return self.ports.free(FIRST)


def wrap_fmu(path: Path, package: Path, *, kind: str = "", shown: Sequence[str] = ()) -> Wrapped:
    """Write the package of an FMU, and the FMU unpacked beside it; `shown` are patterns of local variables."""
    if package.suffix != ".mo":
        raise ModelError(Diagnostic("R702", f"`{package}` must end with .mo"))
    name = package_name(package.stem)
    if name != package.stem:
        text = f"`{package.name}` cannot be the file of a package: `{package.stem}` is no name; take `{name}.mo`"
        raise ModelError(Diagnostic("R702", text))
    with opened(path) as fmu:
        return _written(fmu, package.absolute(), kind, shown)


def wrapped_in_cache(path: Path, shown: Sequence[str] = (), kind: str = "") -> Wrapped:
    """The same for a task: in the cache, once for each content."""
    with opened(path) as fmu:
        content = sha256(path.read_bytes())
        for name in sorted(f.name for f in _HERE.iterdir() if f.is_file()):
            content.update((_HERE / name).read_bytes())
        content.update("\n".join((kind, *shown)).encode())
        folder = user_cache() / "fmu" / content.hexdigest()[:32]
        package = folder / f"{package_name(path.stem)}.mo"
        if package.is_file():
            chosen = _kind(fmu, kind)
            ports = _ports(fmu.description, shown)
            return Wrapped(package, f"{package.stem}.{MODEL}", chosen, fmu.description, ports)
        folder.parent.mkdir(parents=True, exist_ok=True)
        return _written(fmu, package.absolute(), kind, shown)


def _kind(fmu: Fmu, kind: str) -> str:
    offered = fmu.description.identifiers
    chosen = kind or ("cs" if "cs" in offered else "me")
    if chosen not in offered:
        text = f"`{fmu.path.name}` does not offer `{chosen}`; it offers {', '.join(offered)}"
        raise ModelError(Diagnostic("R815", text))
    return chosen


def _ports(d: Description, shown: Sequence[str]) -> Ports:
    """R744 where a pattern shows nothing."""
    wanted = Selection(shown)
    names = [v.name for v in d.variables if wanted.takes(v.name, is_output=v.causality == "output")]
    problems = wanted.problems([v.name for v in d.variables])
    if problems:
        raise ModelError(*problems)
    return ports_of(d, names)


def _written(fmu: Fmu, package: Path, kind: str, shown: Sequence[str]) -> Wrapped:
    d, chosen = fmu.description, _kind(fmu, kind)
    beside = package.with_name(f"{package.stem}_fmu")
    binary = beside / loadable(fmu, chosen).relative_to(fmu.folder)
    ports = _ports(d, shown)
    resources = beside / "resources"
    said = {1: beside.as_uri(), 2: resources.as_uri()}.get(d.version, f"{resources}{os.sep}")
    text = wrapper(d, chosen, ports, Place(package.stem, beside.name, str(binary), said, fmu.prefix(chosen)))
    try:
        package.parent.mkdir(parents=True, exist_ok=True)
        _replaced(fmu.folder, beside)
        _put(package, text)
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write to `{package.parent}`: {error.strerror}")) from error
    return Wrapped(package, f"{package.stem}.{MODEL}", chosen, d, ports)


def _replaced(unpacked: Path, beside: Path) -> None:
    """The unpacked FMU with our headers, put in place whole: another process may be reading."""
    with tempfile.TemporaryDirectory(dir=beside.parent, prefix=f".{beside.name}-") as scratch:
        fresh = Path(scratch) / "new"
        shutil.copytree(unpacked, fresh)
        (fresh / "resources").mkdir(exist_ok=True)
        for name in _HEADERS:
            shutil.copyfile(_HERE / name, fresh / name)
        if beside.exists():
            beside.rename(Path(scratch) / "old")
        fresh.rename(beside)


def _put(package: Path, text: str) -> None:
    scratch = package.with_name(f".{package.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(package)

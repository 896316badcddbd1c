"""External C code of Modelica libraries: what to compile and link for the functions a model calls.

A library named in an annotation is looked for as source (`Resources/C-Sources/<name>.c`, or a folder of that name),
compiled once into the cache; else it is left to the linker (`-l<name>`) with the library's own folders.  One that comes
compiled for this platform is left to it, too, where the source is a folder (an archive gives what is needed of it, all
of it may need more) or includes headers that are not there.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import platform
import re
from collections.abc import Iterable
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.ir.flat import ExternalCall
from kilohertz.toolchain.object_files import QUIET, Source, Unit

FLAGS = (
    "-std=gnu11",
    "-DHAVE_ZLIB=1",
    "-DHAVE_UNISTD_H=1",
    "-DHAVE_STDARG_H=1",
    "-DHAVE_MEMCPY=1",
    "-DSTDC99=1",
    "-DDUMMY_FUNCTION_USERTAB=1",
    *QUIET,
)
# libraries whose sources go by other names (Modelica/Resources/C-Sources/readme.txt)
PARTS = {"ModelicaExternalC": ("ModelicaFFT", "ModelicaInternal", "ModelicaRandom", "ModelicaStrings")}
PLATFORM = {"x86_64": "linux64", "i686": "linux32"}.get(platform.machine(), f"linux-{platform.machine()}")
SYSTEM_HEADERS = (Path("/usr/include"), Path("/usr/local/include"))
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
LAPACK = frozenset({"lapack", "Lapack", "blas"})
NEEDS = {  # one source calls another library
    "ModelicaStandardTables": ("ModelicaIO", "ModelicaMatIO", "zlib", "ModelicaStandardTablesUsertab"),
    "ModelicaIO": ("ModelicaMatIO", "zlib"),
}


def external_units(calls: Iterable[ExternalCall], headers: tuple[Source, ...]) -> tuple[list[Unit], tuple[str, ...]]:
    """Units to compile and linker arguments for all external functions of a model."""
    files: dict[Path, None] = {}
    folders: dict[Path, None] = {}
    arguments: dict[str, None] = {}
    for call in calls:
        named_folders = [Path(d) for d in (*call.source_directories, *call.include_directories)]
        folders.update(dict.fromkeys(d for d in named_folders if d.is_dir()))
        for library in _closed(call.libraries):
            sources = _sources(library, named_folders)
            if _is_compiled(library, call) and not _is_whole(library, sources, named_folders):
                sources = []
            files.update(dict.fromkeys(sources))
            if not sources:
                arguments.update(dict.fromkeys(_linked(library, call)))
    directories = (*folders, *(dict.fromkeys(f.parent for f in files if f.parent not in folders)))
    texts = tuple(Source(f.name, f.read_text(encoding="utf-8", errors="surrogateescape")) for f in files)
    units = [Unit(texts, headers, directories, FLAGS, "external")] if texts else []
    return units, tuple(arguments)


def lapack_arguments() -> list[str]:
    """LAPACK as the system has it, else the one inside SciPy, whose symbols begin with `scipy_`."""
    if ctypes.util.find_library("lapack"):
        return ["-llapack", "-lblas"]
    spec = importlib.util.find_spec("scipy")
    folder = Path(spec.origin).parent.parent / "scipy.libs" if spec is not None and spec.origin is not None else Path()
    libraries = sorted(folder.glob("libscipy_openblas-*"))
    if not libraries:
        message = "an external function needs LAPACK, which is not found"
        raise ModelError(Diagnostic("C603", message, notes=(Note("install liblapack, or SciPy from its wheel"),)))
    return [str(libraries[0]), f"-Wl,-rpath,{folder}"]


def lapack_prefix(calls: Iterable[ExternalCall]) -> tuple[str, ...]:
    """Flags that give the LAPACK functions the names they have in the library."""
    if ctypes.util.find_library("lapack"):
        return ()
    symbols = sorted({c.symbol.lower() for c in calls if LAPACK & set(c.libraries)})
    return tuple(f"-D{s}_=scipy_{s}_" for s in symbols)


def include_directories(calls: Iterable[ExternalCall]) -> tuple[Path, ...]:
    """Folders that the texts of Include annotations may name."""
    directories: dict[Path, None] = {}
    for call in calls:
        directories.update(
            dict.fromkeys(Path(d) for d in (*call.include_directories, *call.source_directories) if Path(d).is_dir())
        )
    return tuple(directories)


def _closed(libraries: Iterable[str]) -> list[str]:
    out: dict[str, None] = {}
    stack = list(libraries)
    while stack:
        name = stack.pop(0)
        if name not in out:
            out[name] = None
            stack += [*PARTS.get(name, ()), *NEEDS.get(name, ())]
    return [name for name in out if name not in PARTS]


def _sources(library: str, folders: list[Path]) -> list[Path]:
    for folder in folders:
        if (folder / f"{library}.c").is_file():
            return [folder / f"{library}.c"]
        if (folder / library).is_dir():
            return sorted((folder / library).glob("*.c"))
    return []


def _is_whole(library: str, sources: list[Path], folders: list[Path]) -> bool:
    """Whether the source is one file and what it includes is there: its own beside it or in these folders."""
    if [source.stem for source in sources] != [library]:
        return False
    source = sources[0]
    places = [source.parent, *folders, *SYSTEM_HEADERS, *SYSTEM_HEADERS[0].glob("*-linux-gnu")]
    names = _INCLUDE.findall(source.read_text(encoding="utf-8", errors="replace"))
    return all(
        any((place / name).is_file() for place in places)
        for bracket, name in names
        if name != "ModelicaUtilities.h" and (bracket == '"' or "/" in name)
    )


def _is_compiled(library: str, call: ExternalCall) -> bool:
    """Whether the library comes compiled for this platform."""
    names = (f"lib{library}.a", f"lib{library}.so")
    return any((Path(d) / PLATFORM / name).is_file() for d in call.library_directories for name in names)


def _linked(library: str, call: ExternalCall) -> list[str]:
    if library in LAPACK:
        return lapack_arguments()
    places = [p for d in call.library_directories for p in (Path(d) / PLATFORM, Path(d))]  # MLS 12.9.4: ours first
    folders = [f"-L{p}" for p in places if p.is_dir()]
    return [*folders, *(f"-Wl,-rpath,{f[2:]}" for f in folders), f"-l{library}"]

"""FMUs that come as C: a library for this machine from the sources that the FMU lists.

Taken from the description: files, definitions of the preprocessor and folders of headers, all inside `sources/`.
Options of a compiler are not: they are a stranger's words on our command line.  Headers of FMI that the FMU does not
bring are not here either; the compiler's message says so.

Code: R814 the sources cannot be compiled.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.fmi.exporting.platforms import HERE, folders
from kilohertz.fmi.importing.safe_xml import read_xml
from kilohertz.toolchain import COMMON_FLAGS, find_compiler

_KINDS = {"me": "ModelExchange", "cs": "CoSimulation"}
_PATIENCE = 600.0  # seconds for the compiler
_FLAGS = (*COMMON_FLAGS, "-fvisibility=default", "-std=gnu11", "-w", "-shared", "-I.")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a library is made from, below `sources/`."""

    files: tuple[str, ...]
    definitions: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()


def built_library(folder: Path, version: int, kind: str, identifier: str) -> Path | None:
    """The library of an unpacked FMU, made from its sources; None where it lists none."""
    recipe = _recipe_2(folder, kind) if version == 2 else _recipe_3(folder, identifier)
    if recipe is None or not recipe.files:
        return None
    sources = folder / "sources"
    for name in (*recipe.files, *recipe.headers):
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or name.startswith("-") or not (sources / path).exists():
            raise _not_built(f"`{name}` is no file among its sources")
    target = folder / "binaries" / folders(HERE)[0] / f"{identifier}.so"
    target.parent.mkdir(parents=True, exist_ok=True)
    told = [*(f"-D{d}" for d in recipe.definitions), *(f"-I{h}" for h in recipe.headers)]
    command = [*find_compiler().command, *_FLAGS, *told, "-o", str(target), *recipe.files, "-lm", "-ldl"]
    try:
        done = subprocess.run(
            command, cwd=sources, capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        raise _not_built(f"the compiler did not end within {_PATIENCE:g} s") from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        raise _not_built("the compiler refuses them", *lines[:1])
    return target


def _recipe_2(folder: Path, kind: str) -> Recipe | None:
    root = read_xml((folder / "modelDescription.xml").read_bytes(), "its description", _not_built)
    return Recipe(tuple(e.get("name", "") for e in root.findall(f"{_KINDS[kind]}/SourceFiles/File")))


def _recipe_3(folder: Path, identifier: str) -> Recipe | None:
    file = folder / "sources" / "buildDescription.xml"
    if not file.is_file():
        return None
    root = read_xml(file.read_bytes(), "its build description", _not_built)
    for configuration in root.findall("BuildConfiguration"):
        if configuration.get("modelIdentifier") != identifier or configuration.get("platform", HERE) != HERE:
            continue
        sets = configuration.findall("SourceFileSet")
        files = (e.get("name", "") for s in sets for e in s.findall("SourceFile"))
        headers = (e.get("name", "") for s in sets for e in s.findall("IncludeDirectory"))
        defined = [e for s in sets for e in s.findall("PreprocessorDefinition")]
        words = (f"{e.get('name', '')}={e.get('value', '')}" if e.get("value") else e.get("name", "") for e in defined)
        return Recipe(tuple(files), tuple(words), tuple(headers))
    return None


def _not_built(why: str, *said: str) -> ModelError:
    notes = tuple(Note(line.strip()[:200]) for line in said)
    return ModelError(Diagnostic("R814", f"no library can be made from the sources of the FMU: {why}", notes=notes))

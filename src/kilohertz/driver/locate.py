"""What the user calls a model: a class name, `file.mo` (its last class), `file.mo:Class`, `file.fmu`,
`file.fmu@me` (as Model Exchange) or `file.fmu:PATTERN` (with local variables shown); each may have modifiers.

`MODEL(resistor(R = 50), x(start = 1), redeclare Pump2 pump)` is the model with these changes compiled in, whatever they
are: arrays, start values, parameters that others follow from, classes.

Codes: L309 not a name and not a file, L310 no such class, L311 a file without classes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Dotted, ModelError, Note, closest
from kilohertz.packages import user_folder
from kilohertz.syntax import annotation_args, annotation_entry

if TYPE_CHECKING:
    from kilohertz.syntax.library import Libraries
    from kilohertz.syntax.tree import ClassDef

FMU = ".fmu"
_FEW = 3  # classes that are named in a message
BUNDLED = Path(__file__).parent.parent / "library"


def search_path(libraries: Iterable[str | Path]) -> tuple[Path, ...]:
    """Where libraries are looked for, in order: those given, MODELICAPATH, those installed, our own."""
    from_environment = [d for d in os.environ.get("MODELICAPATH", "").split(os.pathsep) if d]
    installed = [folder] if os.access(folder := user_folder(), os.R_OK | os.X_OK) else []
    return tuple(dict.fromkeys(Path(d) for d in (*libraries, *from_environment, *installed, BUNDLED)))


def locate(text: str, libraries: Libraries) -> ClassDef:
    """The class the user means; its file is loaded where one was named."""
    named, opening, modifiers = text.partition("(")
    if opening and text.rstrip().endswith(")"):
        return _modified(locate(named.strip(), libraries), opening + modifiers, libraries)
    file, _, class_name = text.partition(".mo:")
    if class_name:
        return _in_file(Path(file + ".mo"), class_name, libraries)
    if text.endswith(".mo"):
        return _in_file(Path(text), "", libraries)
    fmu = fmu_of(text)
    if fmu is not None:
        from kilohertz.fmi import wrapped_in_cache

        wrapped = wrapped_in_cache(fmu.path, fmu.shown, fmu.kind)
        return _in_file(wrapped.path, wrapped.class_name, libraries)
    if os.sep in text or not all(Dotted.read(text).parts):
        raise ModelError(_no_name(text))
    try:
        return _by_name(text, libraries)
    except ModelError as error:
        only = error.diagnostics[0]
        if only.code != "L310" or "." in text or only.notes:
            raise
        raise ModelError(replace(only, notes=(_elsewhere(text),))) from None


@dataclass(frozen=True, slots=True)
class NamedFmu:
    """An FMU that the user calls a model: `file.fmu`, as Model Exchange `file.fmu@me`, with local variables to be shown
    `file.fmu:PATTERN,...`."""

    path: Path
    shown: tuple[str, ...] = ()
    kind: str = ""  # me, cs; "": Co-Simulation where it is offered


def fmu_of(text: str) -> NamedFmu | None:
    """The FMU that a model is, or None."""
    file, ending, rest = text.partition(FMU)
    kind = rest[1:3] if rest.startswith(("@me", "@cs")) else ""
    rest = rest[3:] if kind else rest
    if not ending or (rest and not rest.startswith((":", "("))):
        return None
    patterns = rest[1:].split(",") if rest.startswith(":") else ()
    return NamedFmu(Path(file + ending), tuple(p.strip() for p in patterns if p.strip()), kind)


def absolute(text: str) -> str:
    """What a model is called, from wherever it is asked for: files by their full path."""
    path, ending, rest = text.partition(FMU if FMU in text else ".mo")
    return f"{Path(path).absolute()}{ending}{rest}" if ending and Path(path + ending).exists() else text


def _modified(base: ClassDef, modifiers: str, libraries: Libraries) -> ClassDef:
    """A class of a name of its own that extends `base` with modifiers; its experiment is that of `base`."""
    from kilohertz.syntax import unparse

    taken, name, k = set(libraries.names()), f"{base.name}_modified", 1
    while name in taken:
        k += 1
        name = f"{base.name}_modified{k}"
    entry = annotation_entry(annotation_args(base.annotation, base), "experiment")
    experiment = f"  annotation({unparse(entry)});\n" if entry is not None else ""
    extended = f"  extends {'.'.join((*base.within, base.name))}{modifiers};\n"
    return libraries.load_text(f"model {name}\n{extended}{experiment}end {name};\n", f"<modifiers of {name}>")[-1]


def _in_file(file: Path, class_name: str, libraries: Libraries) -> ClassDef:
    classes = libraries.load_file(file)
    if not classes:
        raise ModelError(Diagnostic("L311", f"the file `{file}` defines no class"))
    if not class_name:
        return classes[-1]
    for cls in classes:  # a name may be written as seen from inside the file, or in full
        if Dotted.read(class_name).parts[0] == cls.name:
            return _by_name(".".join((*cls.within, class_name)), libraries)
    inside = [path for cls in classes for path in _called(class_name, cls, libraries)]
    if inside and libraries.top(Dotted.read(class_name).parts[0]) is None:
        text = f"`{file}` has no class `{class_name}` of its own"
        found = " or ".join(f"`{file}:{path}`" for path in inside[:_FEW])
        raise ModelError(Diagnostic("L310", text, notes=(Note(f"did you mean {found}?"),)))
    return _by_name(class_name, libraries)


def _called(name: str, cls: ClassDef, libraries: Libraries, above: str = "") -> list[str]:
    """Where classes of that name stand in a class of a file, as they are asked for."""
    path = f"{above}{cls.name}"
    children = (libraries.child(cls, n) for n in libraries.children(cls))
    within = [p for inner in children if inner is not None for p in _called(name, inner, libraries, f"{path}.")]
    return [path, *within] if path.endswith(f".{name}") else within


def _by_name(name: str, libraries: Libraries) -> ClassDef:
    path = Dotted.read(name).parts
    definition = libraries.find(path)
    if definition is not None:
        return definition
    if libraries.top(path[0]) is None:
        raise ModelError(_no_library(name, path, libraries))
    parent, depth = libraries.top(path[0]), 1
    while parent is not None and (child := libraries.child(parent, path[depth])) is not None:
        parent, depth = child, depth + 1
    assert parent is not None
    names = list(libraries.children(parent))
    notes = _similar(path[depth], names)
    message = f"there is no class `{path[depth]}` in `{'.'.join(path[:depth])}`"
    raise ModelError(Diagnostic("L310", message, notes=notes))


def _no_name(text: str) -> Diagnostic:
    return Diagnostic("L309", f"`{text}` is neither the name of a class nor a file that ends with .mo or .fmu")


def _no_library(name: str, path: tuple[str, ...], libraries: Libraries) -> Diagnostic:
    if Path(name).is_file():
        return _no_name(name)
    if len(path) > 1:
        missing = libraries.missing(path[0])
        return Diagnostic(missing.code, missing.message, notes=missing.notes + _similar(path[0], libraries.names()))
    return Diagnostic("L310", f"there is no class `{name}`", notes=_similar(name, libraries.names()))


def _elsewhere(name: str) -> Note:
    """Where a class that stands in no library is looked for: for somebody who has it in a file."""
    file = Path(f"{name}.mo")
    here = next((p for p in (file, Path(f"{name.lower()}.mo")) if p.is_file()), "file.mo")
    return Note(f"a class in a file is `{here}:{name}`; others come from libraries on the library path")


def _similar(name: str, names: Iterable[str]) -> tuple[Note, ...]:
    by_lower = {n.lower(): n for n in names}
    near = closest(name.lower(), by_lower)
    return (Note("did you mean " + " or ".join(f"`{by_lower[n]}`" for n in near) + "?"),) if near else ()

"""Libraries: from the full name of a class to its Tree, reading no file before a class in it is asked for.

`Libraries` knows the top-level packages below the roots (`--library`, MODELICAPATH), chooses among versions, walks
directory packages, and holds the user's own files.  Only what is *stored* is found here: inherited and imported
names are the business of semantics.

Codes: L301 no such library, L302 another version than the one asked for, L303 no such directory, L304 a file holds
another class than its name says, L305 a file says `within` another package, L306 no such enclosing package,
L307 (annotations) source changed, L308 unreadable file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Note, Severity, SourceMap, Span, closest
from kilohertz.base.outside import Outside
from kilohertz.base.source import remember_text
from kilohertz.base.versions import version
from kilohertz.syntax.annotations import annotation_args, annotation_entries, annotation_entry, annotation_value
from kilohertz.syntax.parse_cache import TreeCache
from kilohertz.syntax.storage import (
    Place,
    children_in,
    enclosing_packages,
    is_package,
    libraries_in,
    package_order,
    package_place,
)
from kilohertz.syntax.tree import Argument, Body, ClassDef, ElementModification, StoredDefinition, String

Name = tuple[str, ...]


class Libraries:
    """All classes that can be found by their full names.  Collects its warnings in `diagnostics`."""

    def __init__(self, roots: Iterable[str | Path] = (), cache: TreeCache | None = None) -> None:
        self.sources = SourceMap()
        self.outside = Outside()  # what was read and looked for
        self.given: list[tuple[str, ...]] = []  # files and texts of the user, in the order they were loaded
        self.n_flattened = 0  # models, by whoever flattens them
        self.read: dict[str, Name | None] = {}  # files, and the package that each was expected in
        self.diagnostics: list[Diagnostic] = []
        self._cache = TreeCache.from_environment() if cache is None else cache
        self._roots = [Path(root) for root in roots]
        self._candidates: dict[str, list[Place]] = {}
        self._tops: dict[str, ClassDef] = {}
        self._uses: dict[str, list[tuple[str, Span]]] = {}  # versions asked for, by library
        self._directories: dict[ClassDef, Path] = {}
        self._stored: dict[ClassDef, dict[str, Place]] = {}
        self._children: dict[ClassDef, dict[str, ClassDef]] = {}
        self._added: dict[Name, dict[str, ClassDef]] = {}  # the user's classes `within` a package
        for root in self._roots:
            self._add_root(root)

    @classmethod
    def from_environment(cls, roots: Iterable[str | Path] = (), cache: TreeCache | None = None) -> Libraries:
        """The given roots, then those of MODELICAPATH."""
        listed = os.environ.get("MODELICAPATH", "").split(os.pathsep)
        return cls((*roots, *(entry for entry in listed if entry)), cache)

    def identity(self) -> list[str]:
        """What decides where a class is found, besides what stands there: the roots, and the user's files and texts."""
        return [str(root.absolute()) for root in self._roots] + [part for group in self.given for part in group]

    # --------------------------------------------------------------------------------------------------------- finding

    def names(self) -> list[str]:
        """All top-level names that can be found."""
        return sorted(self._candidates.keys() | self._tops.keys())

    def find(self, path: Name) -> ClassDef | None:
        """The class with this full name; raises ModelError where a file on the way has errors."""
        if not path:
            return None
        cls = self.top(path[0])
        for name in path[1:]:
            if cls is None:
                break
            cls = self.child(cls, name)
        return cls if cls is not None else self._added.get(path[:-1], {}).get(path[-1])

    def top(self, name: str) -> ClassDef | None:
        """A top-level class; the version is chosen when it is first asked for."""
        if name not in self._tops:
            places = self._candidates.get(name)
            if places is None:
                return None
            self._tops[name] = self._choose(name, places)
            self._note_uses(self._tops[name])
        return self._tops[name]

    def child(self, cls: ClassDef, name: str) -> ClassDef | None:
        """The class stored inside `cls` under this name: written in its body, in a file or directory of its own."""
        known = self._known_children(cls)
        if name not in known:
            place = self._stored_in(cls).get(name)
            if place is None:
                return None
            known[name] = self._load(place, name, full_name(cls))
        return known[name]

    def children(self, cls: ClassDef) -> Mapping[str, Callable[[], ClassDef]]:
        """All classes stored inside `cls`, in the order of package.order or of the text; a value loads its class."""
        known, stored = self._known_children(cls), self._stored_in(cls)
        names = list(known) + [name for name in sorted(stored) if name not in known]
        directory = self._directories.get(cls)
        if directory is not None:
            rank = {name: at for at, name in enumerate(package_order(directory, self.outside))}
            names.sort(key=lambda name: rank.get(name, len(rank)))
        return {name: partial(self._demand, cls, name) for name in names}

    def has_outside_text(self, cls: ClassDef) -> bool:
        """Can classes be stored inside `cls` that are not written in its body?"""
        return cls in self._directories or full_name(cls) in self._added

    def class_names(self) -> Callable[[Span], str]:
        """Which class some characters stand in: of those read so far the innermost, by its full name; empty: none."""
        by_file: dict[str, list[ClassDef]] = {}
        for group in (self._tops, *self._added.values(), *self._children.values()):
            for cls in group.values():
                by_file.setdefault(cls.file, []).append(cls)
        for file, within in self.read.items():
            if file not in by_file:  # read by an earlier process, which kept what it made of it
                by_file[file] = list(self._checked(file, within).classes)

        def name(span: Span) -> str:
            innermost: ClassDef | None = None
            inside: Iterable[object] = by_file.get(span.file, ())
            while around := [c for c in inside if isinstance(c, ClassDef) and c.start <= span.start < c.end]:
                innermost = max(around, key=lambda c: c.start)
                inside = innermost.body.elements if isinstance(innermost.body, Body) else ()
            return ".".join(full_name(innermost)) if innermost is not None else ""

        return name

    def enclosing(self, cls: ClassDef) -> ClassDef | None:
        """The class that `cls` stands in; None at the top."""
        return self.find(cls.within)

    def version(self, cls: ClassDef) -> str:
        """The version of a top-level package; empty where its annotation has none."""
        return _version(annotation_args(cls.annotation, cls))

    def uses(self, cls: ClassDef) -> tuple[tuple[str, str], ...]:
        """The libraries that a top-level package says it uses, with their versions."""
        return tuple((name, asked) for name, asked, _ in _uses(cls))

    def n_versions(self, name: str) -> int:
        """How many libraries of this name are there to choose from."""
        return len(self._candidates.get(name, ()))

    def missing(self, name: str, span: Span | None = None) -> Diagnostic:
        """What to tell the user about a library that is not there."""
        places = ", ".join(map(str, self._roots)) or "nowhere: neither --library nor MODELICAPATH is set"
        notes = (
            Note(f"looked for in: {places}"),
            Note(f"`khz library install {name}` gets it, where the index has it"),
        )
        return Diagnostic("L301", f"the library `{name}` is not found", span, notes=notes)

    # ------------------------------------------------------------------------------------------------- the user's files

    def load_file(self, path: str | Path) -> tuple[ClassDef, ...]:
        """Read a file (or a package directory) of the user; its classes come before those of the libraries.

        A file that says `within P` joins the package P: that of the libraries, or the one whose directories it lies in.
        """
        file = Path(path)
        if is_package(file, self.outside):
            file = file / "package.mo"
        self.given.append((str(file), str(file.absolute())))
        stored = self._checked(str(file), None)
        if stored.within:
            self._add_surroundings(file, stored.within[0])
        directory = file.parent if file.name == "package.mo" else None
        return self._join(stored, directory)

    def load_text(self, text: str, file: str = "<text>") -> tuple[ClassDef, ...]:
        """The same for a text that is in no file."""
        from kilohertz.syntax.parsing.parser import parse_text

        self.sources.add(file, text)
        remember_text(file, text)
        self.given.append((file, text))
        stored, diagnostics = parse_text(text, file, keep_annotations=True)
        self._raise_errors(diagnostics)
        return self._join(stored, None)

    def _join(self, stored: StoredDefinition, directory: Path | None) -> tuple[ClassDef, ...]:
        within = stored.within or ()
        first: dict[str, ClassDef] = {}
        for cls in stored.classes:
            if first.setdefault(cls.name, cls) is not cls:
                note = Note("first here", first[cls.name].name_span)
                raise ModelError(Diagnostic("S213", f"`{cls.name}` is declared twice", cls.name_span, notes=(note,)))
            if directory is not None:
                self._directories[cls] = directory
            if not within:
                self._tops[cls.name] = cls
                self._note_uses(cls)
            else:
                self._added.setdefault(within, {})[cls.name] = cls
        if within and stored.classes:
            self._join_package(within, stored.classes)
        return stored.classes

    def _join_package(self, within: Name, classes: tuple[ClassDef, ...]) -> None:
        package = self.find(within)
        if package is not None:
            self._known_children(package).update((cls.name, cls) for cls in classes)
            return
        span = Span(classes[0].file, classes[0].start, classes[0].start + 1)
        self._warn("L306", f"the enclosing package `{'.'.join(within)}` is not found", span)

    def _add_surroundings(self, file: Path, name: str) -> None:
        """A file inside a package directory brings that package along, unless one of that name is loaded."""
        around = enclosing_packages(file, self.outside)
        if around and name not in self._tops:
            self._candidates[name] = [package_place(around[-1])]

    # --------------------------------------------------------------------------------------------------------- loading

    def _add_root(self, root: Path) -> None:
        try:
            packages = self._in_root(root)
        except OSError:
            self._warn("L303", f"the library directory `{root}` cannot be read", None)
            return
        for name, place in packages:
            self._candidates.setdefault(name, []).append(place)

    def _in_root(self, root: Path) -> list[tuple[str, Place]]:
        if is_package(root, self.outside) or self.outside.kind(root) == "file":
            return self._root_package(root)
        return libraries_in(root, self.outside)

    def _root_package(self, root: Path) -> list[tuple[str, Place]]:
        """A root that is a package itself: the text says its name, and the directory may be called anything."""
        folder = root.parent if root.name == "package.mo" else root
        place = package_place(folder) if is_package(folder, self.outside) else Place(str(root))
        self.outside.reads(place.file)
        stored, _ = self._cache.load(place.file)
        around = enclosing_packages(Path(place.file), self.outside)
        if stored.within and around:
            return self._root_package(around[-1])
        return [(cls.name, place) for cls in stored.classes]

    def _checked(self, file: str, within: Name | None) -> StoredDefinition:
        self.outside.reads(file)
        self.read[file] = within
        try:
            stored, diagnostics = self._cache.load(file, within)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ModelError(
                Diagnostic("L308", f"the file `{file}` cannot be read: {reason}", notes=_beside(file))
            ) from None
        self._raise_errors(diagnostics)
        return stored

    def _raise_errors(self, diagnostics: list[Diagnostic]) -> None:
        if any(d.severity is Severity.ERROR for d in diagnostics):
            raise ModelError(*diagnostics)
        self.diagnostics += diagnostics

    def _load(self, place: Place, name: str, within: Name) -> ClassDef:
        """The class `name` from its file, which must be inside `within`."""
        stored = self._checked(place.file, within)
        loaded = next((cls for cls in stored.classes if cls.name == name), None)
        start = Span(place.file, 0, 1)
        if loaded is None:
            named = ", ".join(f"`{cls.name}`" for cls in stored.classes) or "no class"
            raise ModelError(Diagnostic("L304", f"the file should define `{name}` and defines {named}", start))
        if loaded.within != within:
            said, due = ".".join(loaded.within) or "no package", ".".join(within) or "no package"
            raise ModelError(Diagnostic("L305", f"the file stands in {due} and says it is within {said}", start))
        if place.directory is not None:
            self._directories[loaded] = place.directory
        return loaded

    def _demand(self, cls: ClassDef, name: str) -> ClassDef:
        child = self.child(cls, name)
        assert child is not None  # `children` lists what `child` finds
        return child

    def _known_children(self, cls: ClassDef) -> dict[str, ClassDef]:
        known = self._children.get(cls)
        if known is None:
            body = cls.body
            elements = body.elements if isinstance(body, Body) else ()
            known = self._children[cls] = {e.name: e for e in elements if isinstance(e, ClassDef)}
            known |= self._added.get(full_name(cls), {})
        return known

    def _stored_in(self, cls: ClassDef) -> dict[str, Place]:
        stored = self._stored.get(cls)
        if stored is None:
            directory = self._directories.get(cls)
            stored = self._stored[cls] = {} if directory is None else children_in(directory, self.outside)
        return stored

    # -------------------------------------------------------------------------------------------------------- versions

    def _choose(self, name: str, places: list[Place]) -> ClassDef:
        """The version some `uses` annotation asks for, else the highest; of equal ones the first root's.

        Of those with other numbers one that says it takes models of the version asked for as they are (MLS 18.8.2).
        """
        if len(places) == 1:
            return self._load(places[0], name, ())
        versions = [place.version or self.version(self._load(place, name, ())) for place in places]
        self._ask_used(name)
        wanted = [asked for asked, _ in self._uses.get(name, ())]
        for asked in wanted:
            for place, text in zip(places, versions, strict=True):
                if version(text).serves(version(asked)):
                    return self._load(place, name, ())
        loaded = [self._load(place, name, ()) for place in places] if wanted else []
        takes = [_compatible(annotation_args(cls.annotation, cls)) for cls in loaded]
        fits = [i for i in range(len(loaded)) if any(asked in takes[i] for asked in wanted)]
        best = max(fits or range(len(places)), key=lambda i: (version(versions[i]).order(), -i))
        return self._load(places[best], name, ())

    def _ask_used(self, name: str) -> None:
        """Where nobody asks for a version of `name`, the libraries that those read so far use may."""
        asked: set[str] = {name}
        while name not in self._uses and (more := [n for n in self._uses if n in self._candidates and n not in asked]):
            asked.add(more[0])
            if len(self._candidates[more[0]]) == 1:  # another choice may come back to this one
                self.top(more[0])

    def _note_uses(self, cls: ClassDef) -> None:
        """Remember the versions that a top-level class asks for, and check them against what is loaded."""
        for asked, span in self._uses.get(cls.name, ()):
            self._check_version(cls, asked, span)
        for name, asked, span in _uses(cls):
            self._uses.setdefault(name, []).append((asked, span))
            if name in self._tops:
                self._check_version(self._tops[name], asked, span)
            elif name not in self._candidates:
                missing = self.missing(name, span)
                self._warn(missing.code, missing.message, span, missing.notes)

    def _check_version(self, cls: ClassDef, wanted: str, span: Span) -> None:
        args = annotation_args(cls.annotation, cls)
        actual = _version(args)
        if not wanted or wanted == actual or wanted in _compatible(args):
            return
        known = f"version {actual} is used" if actual else "the one found has no version"
        self._warn("L302", f"`{cls.name}` {wanted} is asked for; {known}", span)

    def _warn(self, code: str, message: str, span: Span | None, notes: tuple[Note, ...] = ()) -> None:
        self.diagnostics.append(Diagnostic(code, message, span, notes=notes, severity=Severity.WARNING))


def _beside(file: str) -> tuple[Note, ...]:
    """Files of the same folder whose name is close to one that is not there."""
    path = Path(file)
    if path.exists() or not path.parent.is_dir():
        return ()
    near = closest(path.name, sorted(p.name for p in path.parent.glob("*.mo")), 1)
    return (Note(f"did you mean `{path.with_name(near[0])}`?"),) if near else ()


def full_name(cls: ClassDef) -> Name:
    """The full name of a class as a tuple."""
    return (*cls.within, cls.name)


def _uses(cls: ClassDef) -> Iterator[tuple[str, str, Span]]:
    """Library, version and place of each entry of the annotation `uses`."""
    uses = annotation_entry(annotation_args(cls.annotation, cls), "uses")
    for entry in uses.modification.args if uses is not None and uses.modification is not None else ():
        if isinstance(entry, ElementModification) and len(entry.names) == 1 and entry.modification is not None:
            asked = _version(entry.modification.args)
            if asked or not entry.modification.args:  # what says something else is no library
                yield entry.names[0], asked, Span(cls.file, entry.start, entry.end)


def _version(args: tuple[Argument, ...]) -> str:
    value = annotation_value(args, "version")
    return value.value if isinstance(value, String) else ""


def _compatible(args: tuple[Argument, ...]) -> set[str]:
    """The older versions whose models need no conversion."""
    entries = annotation_entries(args, "conversion", "noneFromVersion")
    bindings = (entry.modification.binding for entry in entries if entry.modification is not None)
    return {binding.value for binding in bindings if isinstance(binding, String)}

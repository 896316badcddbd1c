"""The world a model lives in: libraries, built-in classes, and what is known once for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, Dotted, Note, Severity, Span, closest
from kilohertz.base.outside import the_outside
from kilohertz.semantics.classes.modifiers import Spec
from kilohertz.semantics.classes.nodes import PRIMITIVES, ClassNode, Element, View, not_found
from kilohertz.semantics.instances import Comp
from kilohertz.syntax import Libraries, parse_text, tree

if TYPE_CHECKING:
    from kilohertz.ir.expr import Expr
    from kilohertz.semantics.expressions.elaborate import Elaborator

_BUILTIN_TEXT = """
type StateSelect = enumeration(never, avoid, default, prefer, always);
type AssertionLevel = enumeration(warning, error);
partial class ExternalObject end ExternalObject;
"""


class World:
    """Libraries and built-in classes, looked up from the top; diagnostics that are not errors."""

    def __init__(self, libraries: Libraries) -> None:
        self.libraries = libraries
        self.warnings: list[Diagnostic] = []
        self.rescaled: set[Expr] = set()  # products with a constant that is a number by now: its unit is gone
        self.redeclared: list[tuple[Any, ...]] = []  # what rules.Redeclared is made of; to be checked at last
        self.specs: dict[tree.Modification, Spec] = {}  # by what was written
        self.views: dict[int, View] = {}  # of all classes that were read, by definition; to be checked at last
        self.twice: list[tuple[Element, Element]] = []  # replaceable classes inherited twice, likewise; the first holds
        self.extended: dict[int, tuple[View, tree.Extends | tree.ClassDef, ClassNode]] = {}  # base classes, likewise
        self.refused: dict[tuple[str, Span | None], Diagnostic] = {}  # rules of the language that are broken
        self._warned: set[tuple[str, Span | None]] = set()
        self.elaborator: Elaborator
        self._top: dict[str, ClassNode | None] = {}
        self._names: dict[str, int] = {}
        self._holders: dict[str, tree.ClassDef] = {}  # of the names of classes without modifications
        self._builtin: dict[str, ClassNode] = {}
        for name in PRIMITIVES:
            definition = tree.ClassDef(0, 0, name, "type", tree.Body((), ()))
            self._builtin[name] = ClassNode(definition, None, self)
            self._builtin[name].builtin = name
        stored, _ = parse_text(_BUILTIN_TEXT, "")
        for definition in stored.classes:
            self._builtin[definition.name] = ClassNode(definition, None, self)
        self.external_object = self._builtin["ExternalObject"].definition

    # --------------------------------------------------------------------------------------------------------- lookup

    def top(self, name: str) -> ClassNode | None:
        """A class at the top: built in, or the first level of a library."""
        builtin = self._builtin.get(name)
        if builtin is not None and name != "Clock":  # no reserved name (MLS 4.9): a model may have it
            return builtin
        if name not in self._top:
            definition = self.libraries.find((name,))
            self._top[name] = builtin if definition is None else ClassNode(definition, None, self)
        return self._top[name]

    def top_if_builtin(self, name: str) -> ClassNode | None:
        """What an encapsulated class still sees of the outside (MLS 5.3.1); the rest only by import."""
        return self._builtin.get(name)

    def absolute(self, path: tuple[str, ...]) -> Element | ClassNode | None:
        """A full name, as imports have it."""
        named: Element | ClassNode | None = self.top(path[0])
        for name in path[1:]:
            if not isinstance(named, ClassNode):
                return None
            named = named.member(name)
        return named

    def stored_names(self, definition: tree.ClassDef) -> list[str]:
        """Names of the classes that lie in files of their own beside a class, mostly a package (MLS 13.4.1)."""
        if not isinstance(definition.body, tree.Body) or not self.libraries.has_outside_text(definition):
            return []
        written = {e.name for e in definition.body.elements if isinstance(e, tree.ClassDef)}
        return [name for name in self.libraries.children(definition) if name not in written]

    def stored_class(self, definition: tree.ClassDef, name: str) -> tree.ClassDef:
        child = self.libraries.child(definition, name)
        assert child is not None, name
        return child

    def component_type(self, element: Element) -> ClassNode:
        """The class of a component, modifications of this one component left out."""
        if element.type_node is None:
            element.type_node = element.view.lookup_class(element.component.type)
        return element.type_node

    def package_instance(self, node: ClassNode) -> Comp:
        """A class as a package, so that its constants can be read."""
        return Comp(self, node, node.full_name, None, node.definition.name, (), variability="constant")

    def unique_name(self, name: str) -> str:
        """`name`, with a number behind it from its second use on."""
        count = self._names.get(name, 0) + 1
        self._names[name] = count
        return f"{name}#{count}"

    def own_name(self, name: str, definition: tree.ClassDef, moved: bool) -> str:
        """`name`; numbered where a modification declares the class (`moved`) and another definition has the name."""
        holder = self._holders.setdefault(name, definition)
        return self.unique_name(name) if moved and holder is not definition else name

    def resource(self, uri: str) -> str | None:
        """The path of a `modelica://Library/...` or `file://` URI (MLS 13.5); None for other texts."""
        if uri.startswith("file://"):
            return uri[7:]
        if not uri.startswith("modelica://"):
            return None
        rest = uri[len("modelica://") :]
        name, _, path = rest.partition("/")
        # MLS allows dots for nested packages: modelica://Modelica.Mechanics/...
        cls = self.absolute(Dotted.read(name).parts)
        if not isinstance(cls, ClassNode):
            return None
        folder = "/" if path.endswith("/") else ""  # models append a file's name to it
        # within the package: a slash too many is no path from the root
        return str(Path(the_outside().real_path(cls.definition.file)).parent / path.lstrip("/")) + folder

    # -------------------------------------------------------------------------------------------------------- messages

    def warn(self, code: str, message: str, span: Span | None, *notes: Note) -> None:
        self.warnings.append(Diagnostic(code, message, span, notes=notes, severity=Severity.WARNING))

    def refuse(self, code: str, message: str, span: Span | None, *notes: Note) -> None:
        """A rule of the language is broken: told when the model is flat, once for each place."""
        self.record(Diagnostic(code, message, span, notes=notes))

    def record(self, diagnostic: Diagnostic) -> None:
        """What a rule of the language has to say of the model, once for each place."""
        key = (diagnostic.code, diagnostic.span)
        if diagnostic.severity is Severity.ERROR:
            self.refused.setdefault(key, diagnostic)
        elif key not in self._warned:
            self._warned.add(key)
            self.warnings.append(diagnostic)

    def missing_class(self, view: View, ref: tree.Ref, name: str, span: Span) -> Diagnostic:
        """Says which part of a dotted name is not there, and what comes close."""
        named: Element | ClassNode | None = self.top(ref.names[0]) if ref.absolute else view.lookup(ref.names[0])
        if named is None:
            notes = not_found(ref.names[0], view)
            path = view.import_of(ref.names[0])
            if path is not None:
                notes = (
                    Note(f"`{ref.names[0]}` is imported as `{'.'.join(path)}`, which is not there"),
                    *self._version_of(path[0], view),
                )
            elif not notes and len(ref.names) > 1:
                top = ref.names[0]
                notes = (
                    Note(f"no library `{top}` is on the library path (--library, MODELICAPATH)"),
                    Note(f"`khz library install {top}` gets it, where the index has it"),
                )
            return Diagnostic("S202", f"there is no class `{name}`", span, notes=notes)
        for i, part in enumerate(ref.names[1:], 1):
            inner = named if isinstance(named, ClassNode) else self.component_type(named)
            named = inner.member(part)
            if named is None:
                near = closest(part, list(inner.table), 1)
                notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
                where = ".".join(ref.names[:i])
                notes = (*notes, *self._version_of(ref.names[0], view))
                return Diagnostic("S202", f"there is no class `{part}` in `{where}`", span, notes=notes)
        return Diagnostic("S202", f"there is no class `{name}`", span)

    def _version_of(self, name: str, view: View) -> tuple[Note, ...]:
        """Which version of another library was looked into: names come and go with versions."""
        library = self.libraries.top(name)
        version = self.libraries.version(library) if library is not None else ""
        if not version or view.definition.name == name or name in view.definition.within[:1]:
            return ()
        others = self.libraries.n_versions(name) > 1
        chooses = f"; others are there, too, and `uses({name}(version = ...))` chooses one" if others else ""
        return (Note(f"`{name}` is version {version} here{chooses}"),)

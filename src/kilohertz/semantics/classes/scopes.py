"""Elements of classes, and the scopes in which their text is read (MLS 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Dotted, ModelError, Note, Severity, Span, closest
from kilohertz.semantics.classes.modifiers import Env
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.classes.nodes import ClassNode
    from kilohertz.semantics.world import World

ATTRIBUTES = (
    "quantity",
    "unit",
    "displayUnit",
    "min",
    "max",
    "start",
    "fixed",
    "nominal",
    "stateSelect",
    "unbounded",
)
_NOT_PACKAGES = ("model", "block", "connector", "record", "function")
PRIMITIVES = ("Real", "Integer", "Boolean", "String", "Clock")


class Element:
    """A named element of a class: a component or a class, with the modifications that inheritance put on it."""

    __slots__ = (
        "_busy",
        "_decl",
        "_node",
        "base",
        "chain",
        "depth",
        "name",
        "protected",
        "replaces",
        "type_node",
        "view",
    )

    def __init__(
        self, name: str, decl: tree.Component | tree.ClassDef | None, view: View, chain: Env, depth: int
    ) -> None:
        self.name = name
        self._decl = decl  # None: stored in a file of its own, not read yet
        self.view = view  # where it is declared
        self.chain = chain  # modifications of the class and of the extends clauses it came through, outermost first
        self.depth = depth  # how many extends clauses away from the class that has it
        self.protected = decl.protected if decl is not None else False
        self.base: Element | None = None  # the inherited class that `class extends` builds on
        self.replaces: Element | None = None  # the inherited element that this one redeclares
        self.type_node: ClassNode | None = None  # of a component, once looked up
        self._node: ClassNode | None = None
        self._busy = False

    @property
    def decl(self) -> tree.Component | tree.ClassDef:
        if self._decl is None:
            self._decl = self.view.world.stored_class(self.view.definition, self.name)
        return self._decl

    @property
    def component(self) -> tree.Component:
        assert isinstance(self._decl, tree.Component)
        return self._decl

    @property
    def is_class(self) -> bool:
        return not isinstance(self._decl, tree.Component)

    @property
    def span(self) -> Span:
        decl = self.decl
        start = decl.name_start if isinstance(decl, tree.ClassDef) else decl.start
        return Span(self.view.definition.file, start, start + len(self.name))

    def node(self) -> ClassNode:
        """The class this element stands for, redeclarations applied."""
        if self._node is None:
            if self._busy:
                raise ModelError(Diagnostic("S211", f"`{self.name}` is defined in terms of itself", self.span))
            self._busy = True
            try:
                self._node = self.view.root.class_of(self)
            finally:
                self._busy = False
        return self._node


class View:
    """The scope of one class body inside a node: the names of that class and what surrounds its text."""

    __slots__ = ("_imports", "_meanings", "definition", "names", "parent", "root", "stars", "world")

    def __init__(self, definition: tree.ClassDef, parent: View | None, root: ClassNode, world: World) -> None:
        self.definition, self.parent, self.root, self.world = definition, parent, root, world
        self.names: set[str] = set()
        self._imports: dict[str, tuple[str, ...]] | None = None
        self.stars: list[tuple[str, ...]] = []
        self._meanings: dict[str, Element | ClassNode | None] = {}

    def lookup(self, name: str) -> Element | ClassNode | None:
        """A simple name by MLS 5.3.1: this class, its imports, the enclosing classes, the libraries."""
        meaning = self._meanings.get(name)
        if meaning is not None:
            return meaning
        table = self.root.table
        if name in self.names and name in table:  # a selective extension may have broken it off
            element = table[name]
            meaning = element.node() if element.is_class else element
        else:
            meaning = self._imported(name)
            if meaning is None:
                if self.definition.encapsulated:
                    meaning = self.world.top_if_builtin(name)
                else:
                    meaning = self.world.top(name) if self.parent is None else self.parent.lookup(name)
        if meaning is not None and not self.root.building:
            self._meanings[name] = meaning
        return meaning

    def imports(self) -> dict[str, tuple[str, ...]]:
        if self._imports is None:
            self._imports = {}
            body = self.definition.body
            for element in body.elements if isinstance(body, tree.Body) else ():
                if not isinstance(element, tree.Import):
                    continue
                if element.star:
                    self.stars.append(element.path)
                elif element.names:
                    for name in element.names:
                        self._imports[name] = (*element.path, name)
                else:
                    self._imports[element.alias or element.path[-1]] = element.path
        return self._imports

    def import_of(self, name: str) -> tuple[str, ...] | None:
        """What a name is imported as, here or in the classes around."""
        at: View | None = self
        while at is not None:
            if name in at.imports():
                return at.imports()[name]
            at = at.parent
        return None

    def _imported(self, name: str) -> Element | ClassNode | None:
        path = self.imports().get(name)
        if path is not None:
            self._check_import(path)
            return self.world.absolute(path)
        packages: list[ClassNode] = []
        for package in self.stars:
            node = self.world.absolute(package)
            if (
                node is not None
                and not isinstance(node, Element)
                and name in node.table
                and not node.table[name].protected
            ):
                packages.append(node)
        if not packages:
            return None
        self._check_stars(name, packages)
        return packages[0].member(name)

    def _check_stars(self, name: str, packages: list[ClassNode]) -> None:
        """What several `import P.*` bring in under one name means nothing (MLS 13.2.1.3); they are of packages."""
        for node in packages:
            path = (*Dotted.read(node.full_name).parts, name)
            if node.kind in _NOT_PACKAGES:
                self._not_from_package(path, node)
        if any(node.definition is not packages[0].definition for node in packages):
            spans = [Span(self.definition.file, e.start, e.end) for e in self._star_imports()]
            text = f"`{name}` is imported from `{packages[0].written_name}` and from `{packages[1].written_name}`"
            self.world.refuse("S306", text, spans[-1], Note("the first import is here", spans[0]))

    def _star_imports(self) -> list[tree.Import]:
        body = self.definition.body
        elements = body.elements if isinstance(body, tree.Body) else ()
        return [e for e in elements if isinstance(e, tree.Import) and e.star]

    def _check_import(self, path: tuple[str, ...]) -> None:
        """Imports are from packages, and of what is public (MLS 13.2.1)."""
        owner = self.world.absolute(path[:-1]) if len(path) > 1 else None
        if owner is None or isinstance(owner, Element):
            return
        if owner.kind in _NOT_PACKAGES:
            self._not_from_package(path, owner)
        element = owner.table.get(path[-1])
        if element is not None and element.protected:
            text = f"`{path[-1]}` is protected in `{owner.written_name}`"
            self.world.refuse("S314", text, self._import_span(path), Note("declared here", element.span))

    def _not_from_package(self, path: tuple[str, ...], owner: ClassNode) -> None:
        text = f"`{'.'.join(path[:-1])}` is a {owner.kind}; imports are from packages"
        self.world.refuse("S219", text, self._import_span(path))

    def _import_span(self, path: tuple[str, ...]) -> Span:
        body = self.definition.body
        elements = body.elements if isinstance(body, tree.Body) else ()
        at = next(e for e in elements if isinstance(e, tree.Import) and path[: len(e.path)] == e.path)
        return Span(self.definition.file, at.start, at.end)

    def lookup_path(self, ref: tree.Ref) -> Element | ClassNode | None:
        """A dotted name whose parts are all classes but possibly the last."""
        named = self.world.top(ref.names[0]) if ref.absolute else self.lookup(ref.names[0])
        for name in ref.names[1:]:
            if isinstance(named, Element):
                # a component's class reached through the component (MLS 5.3.2): its type's members
                named = self.world.component_type(named)
            if named is None:
                return None
            self._check_visible(named, name, ref)
            named = named.member(name)
        return named

    def _check_visible(self, owner: ClassNode, name: str, ref: tree.Ref) -> None:
        """Protected classes are not reached from outside by a dot (MLS 4.1)."""
        element = owner.table.get(name)
        if element is not None and element.protected:
            span = Span(self.definition.file, ref.start, ref.end)
            text = f"`{name}` is protected in `{owner.written_name}`"
            self.world.refuse("S314", text, span, Note("declared here", element.span))
        elif element is not None and element.is_class and owner.kind in ("model", "block", "class"):
            self._check_encapsulated(owner, element, ref)

    def _check_encapsulated(self, owner: ClassNode, element: Element, ref: tree.Ref) -> None:
        """Inside a class that is no package, only encapsulated classes are found (MLS 5.3.2)."""
        decl = element.decl
        if (isinstance(decl, tree.ClassDef) and decl.encapsulated) or owner.is_like_package:
            return
        text = f"`{owner.written_name}` is no package, and `{element.name}` in it is not encapsulated"
        # from inside of it a library may name its own classes so: `M.Part` in M is what `Part` is
        severity = Severity.WARNING if self._is_inside(owner) and not ref.absolute else Severity.ERROR
        self.world.record(Diagnostic("S320", text, Span(self.definition.file, ref.start, ref.end), severity=severity))

    def _is_inside(self, owner: ClassNode) -> bool:
        """Whether this text stands in the text of `owner`."""
        at: View | None = self
        while at is not None and at.definition is not owner.definition:
            at = at.parent
        return at is not None

    def _is_through_component(self, ref: tree.Ref) -> bool:
        named = self.world.top(ref.names[0]) if ref.absolute else self.lookup(ref.names[0])
        for name in ref.names[1:-1]:
            if named is None or isinstance(named, Element):
                break
            named = named.member(name)
        return isinstance(named, Element)

    def not_through_component(self, ref: tree.Ref) -> None:
        """A class is not reached through a component, only a function to be called is (MLS 5.3.2)."""
        text = f"`{'.'.join(ref.names[:-1])}` is a component: only functions can be called through it"
        self.world.refuse("S319", text, Span(self.definition.file, ref.start, ref.end))

    def lookup_class(self, ref: tree.Ref, wanted: str = "class") -> ClassNode:
        """The class a type name stands for, or a diagnostic."""
        meaning = self.lookup_path(ref)
        if meaning is not None and not isinstance(meaning, Element):
            if len(ref.names) > 1 and self._is_through_component(ref):
                self.not_through_component(ref)
            return meaning
        span = Span(self.definition.file, ref.start, ref.end)
        name = ("." if ref.absolute else "") + ".".join(ref.names)
        if isinstance(meaning, Element):
            raise ModelError(
                Diagnostic(
                    "S203",
                    f"`{name}` is a component, a {wanted} is needed here",
                    span,
                    notes=(Note("declared here", meaning.span),),
                )
            )
        raise ModelError(self.world.missing_class(self, ref, name, span))


def visible_names(view: View) -> set[str]:
    """Everything that can be named from a view, for suggestions."""
    names: set[str] = {*PRIMITIVES, *view.world.libraries.names()}
    at: View | None = view
    while at is not None:
        names |= at.names | set(at.imports())
        if at.definition.encapsulated:
            return names - set(view.world.libraries.names())
        at = at.parent
    return names


def not_found(name: str, view: View, others: frozenset[str] = frozenset()) -> tuple[Note, ...]:
    """What may be meant by a name that is not found: one of a class that inherits this one, one that `encapsulated`
    hides (MLS 5.3.1), or one of the view or of `others` that is like it."""
    heir = view.root
    if heir.definition is not view.definition and name in heir.table and name not in view.names:
        own = f"`{view.definition.name}`"
        text = f"`{heir.written_name}`, which inherits {own}, has it: what is inherited sees only its own names"
        return (Note(f"{text}, so {own} has to declare or inherit `{name}` itself"),)
    at: View | None = view
    while at is not None and not at.definition.encapsulated:
        at = at.parent
    outside = None if at is None else view.world.top(name) if at.parent is None else at.parent.lookup(name)
    if at is not None and outside is not None:
        text = f"`{at.definition.name}` is encapsulated: `{name}`, which is outside of it, is not seen there"
        advice = "" if isinstance(outside, Element) else f"; `import {outside.full_name};` in it makes it known"
        return (Note(text + advice),)
    near = closest(name, sorted((visible_names(view) | others) - {name}), 1)
    return (Note(f"did you mean `{near[0]}`?"),) if near else ()

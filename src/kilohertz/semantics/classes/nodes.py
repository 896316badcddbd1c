"""Classes in their context: element tables with inheritance and redeclaration, and lookup (MLS 5.3, 7).

A `ClassNode` is a class definition seen from one enclosing scope with one set of class modifications; unmodified ones
are shared.  Its `table` holds all its elements, inherited ones merged and redeclarations applied.  Text of a base class
is resolved in a `View`: it sees the names of that base class, but takes them from the table of the class that inherits
(so a redeclared `Medium` is what the base class's equations see), then the base class's own imports and surroundings.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, Span
from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod, Spec, spec_of
from kilohertz.syntax import same_tree, tree

if TYPE_CHECKING:
    from kilohertz.semantics.instances import Comp
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
                self._node = _class_node(self)
            finally:
                self._busy = False
        return self._node


class View:
    """The scope of one class body inside a node: the names of that class and what surrounds its text."""

    __slots__ = ("_found", "_imports", "definition", "names", "parent", "root", "stars", "world")

    def __init__(self, definition: tree.ClassDef, parent: View | None, root: ClassNode, world: World) -> None:
        self.definition, self.parent, self.root, self.world = definition, parent, root, world
        self.names: set[str] = set()
        self._imports: dict[str, tuple[str, ...]] | None = None
        self.stars: list[tuple[str, ...]] = []
        self._found: dict[str, Element | ClassNode | None] = {}

    def lookup(self, name: str) -> Element | ClassNode | None:
        """A simple name by MLS 5.3.1: this class, its imports, the enclosing classes, the libraries."""
        found = self._found.get(name)
        if found is not None:
            return found
        table = self.root.table
        if name in self.names and name in table:  # a selective extension may have broken it off
            element = table[name]
            found = element.node() if element.is_class else element
        else:
            found = self._imported(name)
            if found is None:
                if self.definition.encapsulated:
                    found = self.world.top_if_builtin(name)
                else:
                    found = self.world.top(name) if self.parent is None else self.parent.lookup(name)
        if found is not None and not self.root.building:
            self._found[name] = found
        return found

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

    def _imported(self, name: str) -> Element | ClassNode | None:
        path = self.imports().get(name)
        if path is not None:
            self._check_import(path)
            return self.world.absolute(path)
        for package in self.stars:
            node = self.world.absolute(package)
            if isinstance(node, ClassNode) and name in node.table and not node.table[name].protected:
                return node.member(name)
        return None

    def _check_import(self, path: tuple[str, ...]) -> None:
        """Imports are from packages (MLS 13.2.1); a warning, since libraries in use differ."""
        owner = self.world.absolute(path[:-1]) if len(path) > 1 else None
        if isinstance(owner, ClassNode) and owner.kind in ("model", "block", "connector", "record", "function"):
            body = self.definition.body
            elements = body.elements if isinstance(body, tree.Body) else ()
            at = next(e for e in elements if isinstance(e, tree.Import) and path[: len(e.path)] == e.path)
            span = Span(self.definition.file, at.start, at.end)
            if not any(w.code == "S219" and w.span == span for w in self.world.warnings):
                text = f"`{'.'.join(path[:-1])}` is a {owner.kind}; imports are from packages"
                self.world.warn("S219", text, span)

    def lookup_path(self, ref: tree.Ref) -> Element | ClassNode | None:
        """A dotted name whose parts are all classes but possibly the last."""
        found = self.world.top(ref.names[0]) if ref.absolute else self.lookup(ref.names[0])
        for name in ref.names[1:]:
            if isinstance(found, Element):
                # a component's class reached through the component (MLS 5.3.2): its type's members
                found = self.world.component_type(found)
            if found is None:
                return None
            found = found.member(name)
        return found

    def lookup_class(self, ref: tree.Ref, wanted: str = "class") -> ClassNode:
        """The class a type name stands for, or a diagnostic."""
        found = self.lookup_path(ref)
        if isinstance(found, ClassNode):
            return found
        span = Span(self.definition.file, ref.start, ref.end)
        name = ("." if ref.absolute else "") + ".".join(ref.names)
        if isinstance(found, Element):
            raise ModelError(
                Diagnostic(
                    "S203",
                    f"`{name}` is a component, a {wanted} is needed here",
                    span,
                    notes=(Note("declared here", found.span),),
                )
            )
        raise ModelError(self.world.missing_class(self, ref, name, span))


class ClassNode:
    """A class definition in its scope, with the modifications made on it as a class."""

    def __init__(
        self,
        definition: tree.ClassDef,
        parent: View | None,
        world: World,
        env: Env = (),
        tail: Env = (),
        inst: Comp | None = None,
    ) -> None:
        self.definition, self.parent, self.world = definition, parent, world
        self.inst = inst  # the instance whose components a redeclaration's own modification may name
        self.env = env  # outermost first; stronger than what the class says itself
        self.tail = tail  # of a constraining clause: weaker than what the class says itself
        self.view = View(definition, parent, self, world)
        self.building = False
        self.extends_of: Element | None = None  # for `class extends X`: the X it extends
        self.sections: list[tuple[tree.Section, View]] = []
        self.external: tuple[tree.External, View] | None = None
        self.builtin = ""  # Real, ... when the class is derived from a primitive type
        self.attribute_chain: Env = ()  # on that primitive type
        self.enum: tree.ClassDef | None = None
        self.class_dims: list[tuple[tuple[tree.Expr, ...], View]] = []
        self.causality = ""
        self.derivative_of: tuple[tree.DerBody, View] | None = None
        self.annotations: list[tuple[tree.Annotation, tree.ClassDef]] = []
        self.is_external_object = False
        self.ancestors: set[str] = set()
        self.kinds: set[str] = {definition.kind}  # of the class and its base classes
        self.is_expandable = definition.expandable
        self._table: dict[str, Element] | None = None
        self._instance: Comp | None = None
        self._special: dict[tuple[object, ...], ClassNode] = {}
        self._full_name: str | None = None
        self.moved = False  # declared in a modification: two of them may have one name
        self.memo: dict[str, object] = {}  # what other files remember about this class

    @property
    def kind(self) -> str:
        return self.definition.kind

    @property
    def full_name(self) -> str:
        """Qualified name; a class with modifications of its own, or declared in one, is told apart by a number."""
        if self._full_name is None:
            outer = self.parent.root.full_name + "." if self.parent is not None else ""
            name = outer + self.definition.name
            if self.env or self.tail:
                self._full_name = self.world.unique_name(name)
            else:
                self._full_name = self.world.own_name(name, self.definition, self.moved)
        return self._full_name

    @property
    def table(self) -> dict[str, Element]:
        if self._table is None:
            self._table = {}
            self.building = True
            try:
                _Collector(self).collect(self, self.view, self.env, 0)
                self._check_inherited()
            except BaseException:
                self._table = None
                raise
            finally:
                self.building = False
        return self._table

    def _check_inherited(self) -> None:
        """What a class body redeclares must come from a base class (MLS 7.3)."""
        for element in (self._table or {}).values():
            decl = element._decl
            if decl is None or element.depth or not decl.redeclare or element.replaces is not None:
                continue
            if isinstance(decl, tree.Component) or not (isinstance(decl.body, tree.Body) and decl.body.is_extension):
                text = f"there is no inherited `{element.name}` to redeclare"
                raise ModelError(Diagnostic("S212", text, element.span))

    def member(self, name: str) -> Element | ClassNode | None:
        """An element by name, not looking outside."""
        element = self.table.get(name)
        if element is None:
            return None
        return element.node() if element.is_class else element

    def instance(self) -> Comp:
        """The class as a package: what its constants are read from."""
        if self._instance is None:
            self._instance = self.world.package_instance(self)
        return self._instance

    def specialised(self, mods: Env) -> ClassNode:
        """This class with those of the component's modifications that touch its local classes."""
        relevant: list[Mod] = []
        key: list[object] = []
        for mod in mods:
            if mod.implied or not mod.spec.subs:
                continue
            names = [n for n, s in mod.spec.subs.items() if self._is_class_name(n, s)]
            if names:
                relevant.append(Mod(_filtered(mod.spec, names), mod.ctx, mod.select))
                key.extend(_mod_key(n, mod) for n in names)
        if not relevant:
            return self
        known = self._special.get(tuple(key))
        if known is None:
            known = ClassNode(self.definition, self.parent, self.world, (*relevant, *self.env), self.tail)
            known.extends_of = self.extends_of
            self._special[tuple(key)] = known
        return known

    def _is_class_name(self, name: str, spec: Spec) -> bool:
        if spec.redeclare is not None and isinstance(spec.redeclare.element, tree.ClassDef):
            return True
        element = self.table.get(name)
        return element is not None and element.is_class


_FILTERED: dict[tuple[int, tuple[str, ...]], tuple[Spec, Spec]] = {}


def _filtered(spec: Spec, names: list[str]) -> Spec:
    key = (id(spec), tuple(names))
    if key not in _FILTERED:
        small = Spec(spec.start, spec.end)
        small.subs = {n: spec.subs[n] for n in names}
        _FILTERED[key] = (spec, small)
    return _FILTERED[key][1]


def _mod_key(name: str, mod: Mod) -> object:
    """Equal keys: the same local classes.  A plain `redeclare package Medium = X` is known by what X is."""
    redeclared = mod.spec.subs[name].redeclare
    if redeclared is not None and isinstance(redeclared.element, tree.ClassDef) and _is_plain(redeclared.element):
        body = redeclared.element.body
        assert isinstance(body, tree.ShortBody)
        return (name, id(mod.ctx.view.lookup_class(body.type)))
    return (name, id(mod.spec), id(mod.ctx.view), id(mod.ctx.inst), mod.select)


def _is_plain(decl: tree.ClassDef) -> bool:
    """`package A = B` and nothing more: the same class under another name."""
    body = decl.body
    return (
        isinstance(body, tree.ShortBody)
        and not decl.outer
        and not body.dims
        and not body.causality
        and (body.modification is None or (not body.modification.args and body.modification.binding is None))
    )


def _class_node(element: Element) -> ClassNode:
    """Apply the outermost redeclaration of a class element, then the modifications on it."""
    decl, view, chain = element.decl, element.view, element.chain
    tail: Env = ()
    inst: Comp | None = None
    assert isinstance(decl, tree.ClassDef)
    for k, mod in enumerate(chain):
        redeclared = mod.spec.redeclare
        if redeclared is not None and isinstance(redeclared.element, tree.ClassDef):
            tail = _constraint(element)
            view.world.redeclared.append((element, redeclared.element, mod.ctx.view, mod.span))
            decl, view, chain, inst = redeclared.element, mod.ctx.view, chain[:k], mod.ctx.inst
            break
    else:
        if decl.constraint is not None:
            tail = _constraint(element)
        if element.replaces is not None and not element.base:
            tail += _constraint(element.replaces)
    chain = tuple(m for m in chain if m.spec.subs or m.spec.binding is not None)
    if _is_plain(decl) and not chain and not tail:
        body = decl.body
        assert isinstance(body, tree.ShortBody)
        same = view.lookup_class(body.type)
        if decl.kind != "connector" or same.kind == "connector":  # `connector C = Real` is more than Real
            return same
    node = ClassNode(decl, view, view.world, chain, tail, inst)
    node.moved = decl is not element.decl
    if element.base is not None and decl is element.decl:
        node.extends_of = element.base
    return node


def _constraint(element: Element) -> Env:
    """Modifications of the constraining clause, or else of the original declaration (MLS 7.3.2)."""
    decl = element.decl
    modification = None
    if decl.constraint is not None:
        modification = decl.constraint.modification
    elif isinstance(decl, tree.ClassDef) and isinstance(decl.body, tree.ShortBody):
        modification = decl.body.modification
    if modification is None:
        return ()
    return (Mod(spec_of(modification, element.view.definition.file), Ctx(element.view)),)


class _Collector:
    """Fills the table of one node, base classes included."""

    def __init__(self, node: ClassNode) -> None:
        self.node, self.world = node, node.world
        self.active: list[tree.ClassDef] = []

    def collect(self, cls: ClassNode, view: View, chain: Env, depth: int) -> None:
        """Everything of `cls` (the node itself or a base class), seen through `view`; `chain` modifies it."""
        definition = cls.definition
        if any(d is definition for d in self.active):
            names = " -> ".join(d.name for d in [*self.active, definition])
            raise ModelError(Diagnostic("S210", f"recursive inheritance: {names}", _name_span(definition)))
        self.active.append(definition)
        if definition.annotation is not None:
            self.node.annotations.append((definition.annotation, definition))
        body, outside = definition.body, view.parent or view
        match body:
            case tree.Body():
                self._long(cls, body, view, chain + cls.tail, depth)
            case tree.ShortBody():
                if body.dims:
                    self.node.class_dims.append((body.dims, outside))
                self.node.causality = self.node.causality or body.causality
                own = _own(body.modification, definition.file, Ctx(outside, cls.inst, file=definition.file))
                base = outside.lookup_class(body.type)
                self._merge(base, view, chain + own + cls.tail, depth)
                self._check_names(base, own)
            case tree.EnumBody():
                self.node.enum = definition
                self.node.attribute_chain = chain + cls.tail
            case tree.DerBody():
                self.node.derivative_of = (body, view)
        self.active.pop()

    def _long(self, cls: ClassNode, body: tree.Body, view: View, chain: Env, depth: int) -> None:
        for name in self.world.stored_names(cls.definition):
            self._insert(Element(name, None, view, _narrow(chain, name), depth), view)
        for item in body.elements:
            if isinstance(item, tree.ClassDef):
                self._insert(Element(item.name, item, view, _narrow(chain, item.name), depth), view)
        if body.is_extension:
            self._extend_inherited(cls, body, view, chain, depth)
        for item in body.elements:
            if isinstance(item, tree.Component):
                self._insert(Element(item.name, item, view, _narrow(chain, item.name), depth), view)
            elif isinstance(item, tree.Extends):
                own = _own(item.modification, view.definition.file, Ctx(view))
                base = view.lookup_class(item.type, "base class")
                before = set(view.names) if item.protected else set()
                known, n = set(self.node._table or ()), len(self.node.sections)
                self._merge(base, view, chain + own, depth)
                self._check_names(base, own)
                if item.breaks:
                    self._break(item.breaks, known, n, view)
                if item.protected:
                    self._protect(view.names - before)
        self.node.sections.extend((section, view) for section in body.sections)
        if body.external is not None:
            self.node.external = (body.external, view)

    def _break(self, breaks: tuple[str | tree.Connect, ...], known: set[str], n: int, view: View) -> None:
        """`extends A(break c, break connect(a, b))`: without those components and connections (MLS 7.4)."""
        table = self.node._table
        assert table is not None
        names = {b for b in breaks if isinstance(b, str)}
        pairs = [{b.left.names, b.right.names} for b in breaks if isinstance(b, tree.Connect)]
        for name in names - known:
            table.pop(name, None)
            view.names.discard(name)
        self.node.sections[n:] = [
            (replace(s, items=_unbroken(s.items, names, pairs)), v) for s, v in self.node.sections[n:]
        ]

    def _extend_inherited(self, cls: ClassNode, body: tree.Body, view: View, chain: Env, depth: int) -> None:
        """`redeclare model extends X(mod)`: the inherited X is the first base class (MLS 7.3.1)."""
        if cls.extends_of is None:
            name = cls.definition.name
            raise ModelError(
                Diagnostic("S212", f"there is no inherited class `{name}` to extend", _name_span(cls.definition))
            )
        self._merge(cls.extends_of.node(), view, chain + _own(body.extends, view.definition.file, Ctx(view)), depth)

    def _merge(self, base: ClassNode, view: View, chain: Env, depth: int) -> None:
        """Take over everything from a base class; `chain` are the modifications on the way to it."""
        node, definition = self.node, base.definition
        node.ancestors.add(base.full_name)
        node.kinds.add(definition.kind)
        node.is_expandable = node.is_expandable or definition.expandable
        if definition.file == "" and definition.name in PRIMITIVES:
            node.builtin = definition.name
            node.attribute_chain = chain + base.env
            return
        if definition is self.world.external_object:
            node.is_external_object = True
        inner = View(definition, base.parent, node, self.world)
        self.collect(base, inner, chain + base.env, depth + 1)
        view.names |= inner.names

    def _protect(self, names: set[str]) -> None:
        """What comes through `protected extends` is protected (MLS 7.1.2)."""
        assert self.node._table is not None
        for name in names:
            self.node._table[name].protected = True

    def _check_names(self, base: ClassNode, own: Env) -> None:
        """What a base class is modified by must be there (MLS 7.2)."""
        base.table  # noqa: B018  (finds out whether it is primitive)
        for mod in own:
            for name, spec in mod.spec.subs.items():
                known = ATTRIBUTES if base.builtin or base.enum is not None else tuple(base.table)
                if name not in known:
                    near = get_close_matches(name, known, 1)
                    notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
                    message = f"there is no `{name}` in `{base.full_name}`"
                    raise ModelError(Diagnostic("S205", message, mod.ctx.span(spec), notes=notes))

    def _insert(self, element: Element, view: View) -> None:
        table = self.node._table
        assert table is not None
        name = element.name
        view.names.add(name)
        known = table.get(name)
        if known is None:
            table[name] = element
            return
        if element.depth > known.depth:  # inherited, while a stronger one is already there
            self._check_same(known, element)
            self._redeclares(known, element)
            return
        if element.depth == known.depth:
            if element.depth == 0 and known._decl is not None and element._decl is not None:
                raise ModelError(
                    Diagnostic(
                        "S213", f"`{name}` is declared twice", element.span, notes=(Note("first here", known.span),)
                    )
                )
            self._check_same(known, element)
            return
        self._check_same(element, known)
        table[name] = element
        self._redeclares(element, known)

    def _check_same(self, strong: Element, weak: Element) -> None:
        """One name from two base classes, or hiding an inherited one: both must say the same (MLS 7.1)."""
        a, b = strong._decl, weak._decl
        if a is b or not isinstance(a, tree.Component) or not isinstance(b, tree.Component):
            return
        if a.redeclare or same_declaration(a, b):
            return
        # a warning: libraries in use differ in comments of units and the like, and other tools take the stronger one
        self.world.warn(
            "S217",
            f"`{strong.name}` is inherited twice, and the two declarations differ",
            strong.span,
            Note("the other one is here", weak.span),
        )

    def _redeclares(self, strong: Element, weak: Element) -> None:
        decl = strong._decl
        if decl is None:
            return
        if isinstance(decl, tree.ClassDef) and isinstance(decl.body, tree.Body) and decl.body.is_extension:
            strong.base = strong.base or weak
        if strong.replaces is None:
            strong.replaces = weak
            if decl.redeclare:
                self.world.redeclared.append((weak, decl, strong.view, strong.span))
        elif strong.replaces is not weak and strong.replaces.depth < weak.depth:
            self._redeclares(strong.replaces, weak)


def same_declaration(a: tree.Component, b: tree.Component) -> bool:
    """Whether two declarations mean the same: type, sizes, prefixes and modifications; comments do not count."""
    prefixes = ("variability", "causality", "connection", "inner", "outer")
    if any(getattr(a, p) != getattr(b, p) for p in prefixes):
        return False
    if a.type.names[-1] != b.type.names[-1]:
        return False
    return same_tree((a.dims, a.modification, a.condition), (b.dims, b.modification, b.condition))


def _unbroken(items: tuple[Any, ...], names: set[str], pairs: list[set[tuple[str, ...]]]) -> tuple[Any, ...]:
    """Equations without the connections that a selective extension breaks off."""
    kept: list[Any] = []
    for item in items:
        match item:
            case tree.Connect():
                if item.left.names[0] in names or item.right.names[0] in names:
                    continue
                if {item.left.names, item.right.names} in pairs:
                    continue
            case tree.ForEquation():
                item = replace(item, body=_unbroken(item.body, names, pairs))
            case tree.IfEquation():
                item = replace(
                    item,
                    branches=tuple((c, _unbroken(body, names, pairs)) for c, body in item.branches),
                    otherwise=_unbroken(item.otherwise, names, pairs),
                )
        kept.append(item)
    return tuple(kept)


def _name_span(definition: tree.ClassDef) -> Span:
    return Span(definition.file, definition.name_start, definition.name_start + len(definition.name))


def _own(modification: tree.Modification | None, file: str, ctx: Ctx) -> Env:
    return () if modification is None else (Mod(spec_of(modification, file), ctx),)


def _narrow(chain: Env, name: str) -> Env:
    return tuple(sub for mod in chain if (sub := mod.sub(name)) is not None)


def visible_names(view: View) -> set[str]:
    """Everything that can be named from a view, for suggestions."""
    names: set[str] = {*PRIMITIVES, *view.world.libraries.names()}
    at: View | None = view
    while at is not None:
        names |= at.names | set(at.imports())
        at = at.parent
    return names

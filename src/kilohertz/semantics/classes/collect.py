"""The table of a class: its own elements and those of its base classes, merged (MLS 7.1, 7.3, 7.4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, closest
from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod, same_spec, spec_of
from kilohertz.semantics.classes.scopes import ATTRIBUTES, PRIMITIVES, Element, View
from kilohertz.syntax import same_tree, tree

if TYPE_CHECKING:
    from kilohertz.semantics.classes.nodes import ClassNode


class Collector:
    """Fills the table of one node, base classes included."""

    def __init__(self, node: ClassNode) -> None:
        self.node, self.world = node, node.world
        self.active: list[tree.ClassDef] = []

    def collect(self, cls: ClassNode, view: View, chain: Env, depth: int) -> None:
        """Everything of `cls` (the node itself or a base class), seen through `view`; `chain` modifies it."""
        definition = cls.definition
        if any(d is definition for d in self.active):
            names = " -> ".join(d.name for d in [*self.active, definition])
            raise ModelError(Diagnostic("S210", f"recursive inheritance: {names}", definition.name_span))
        self.active.append(definition)
        self.world.views.setdefault(id(definition), view)
        if definition.annotation is not None:
            self.node.annotations.append((definition.annotation, definition))
        body, outside = definition.body, view.parent or view
        match body:
            case tree.Body():
                self._long(cls, body, view, chain + cls.tail, depth)
            case tree.ShortBody():
                level = len(self.node.class_dims)
                if body.dims:
                    self.node.class_dims.append((body.dims, outside))
                self.node.causality = self.node.causality or body.causality
                at = Ctx(outside, cls.inst, file=definition.file)
                mods = _mods_of(body.modification, definition.file, at, level)
                base = outside.lookup_class(body.type)
                self.world.extended.setdefault(id(definition), (view, definition, base))
                self._merge(base, view, chain + mods + cls.tail, depth)
                self._check_names(base, mods)
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
                mods = _mods_of(item.modification, view.definition.file, Ctx(view))
                base = view.lookup_class(item.type, "base class")
                self.world.extended.setdefault(id(item), (view, item, base))
                before = set(view.names) if item.protected else set()
                known, n = set(self.node._table or ()), len(self.node.sections)
                self._merge(base, view, chain + mods, depth)
                self._check_names(base, mods)
                if item.breaks:
                    self._break(item.breaks, known, n, view)
                if item.protected:
                    self._protect(view.names - before)
        self.node.sections.extend((section, view) for section in body.sections)
        if body.external is not None:
            if self.node.external is not None:
                text = f"`{self.node.written_name}` inherits an external function, and has one of its own"
                self.world.refuse("S303", text, self.node.definition.name_span)
            self.node.external = (body.external, view)

    def _break(self, breaks: tuple[str | tree.Connect, ...], known: set[str], n: int, view: View) -> None:
        """`extends A(break c, break connect(a, b))`: without those components and connections (MLS 7.4)."""
        table = self.node._table
        assert table is not None
        names = {b for b in breaks if isinstance(b, str)}
        pairs = [{b.left.names, b.right.names} for b in breaks if isinstance(b, tree.Connect)]
        joined = [p for s, _ in self.node.sections[n:] for p in _joined(s.items)]
        for pair in pairs:
            if pair not in joined:
                names_of = " and ".join(".".join(x) for x in sorted(pair))
                text = f"there is no inherited connection of {names_of} to break off"
                raise ModelError(Diagnostic("S205", text, view.definition.name_span))
        for name in sorted(names - known):
            if name not in table or table[name].is_class:
                text = f"there is no inherited component `{name}` to break off"
                raise ModelError(Diagnostic("S205", text, view.definition.name_span))
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
                Diagnostic("S212", f"there is no inherited class `{name}` to extend", cls.definition.name_span)
            )
        self._merge(cls.extends_of.node(), view, chain + _mods_of(body.extends, view.definition.file, Ctx(view)), depth)

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

    def _check_names(self, base: ClassNode, mods: Env) -> None:
        """What a base class is modified by must be there (MLS 7.2)."""
        base.table  # noqa: B018  (finds out whether it is primitive)
        for mod in mods:
            for name, spec in mod.spec.subs.items():
                known = ATTRIBUTES if base.builtin or base.enum is not None else tuple(base.table)
                if name not in known:
                    near = closest(name, known, 1)
                    notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
                    message = f"there is no `{name}` in `{base.written_name}`"
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
        self._check_modified(strong, weak)
        if isinstance(a, tree.ClassDef) and isinstance(b, tree.ClassDef):
            self._check_same_class(strong, weak, a, b)
        if a is b or not isinstance(a, tree.Component) or not isinstance(b, tree.Component):
            return
        if a.redeclare or same_declaration(a, b):
            return
        types = {decl.type.names[-1] for decl in (a, b)}
        if len(types) > 1 and types <= set(PRIMITIVES):
            text = f"`{strong.name}` is inherited twice, as {a.type.names[-1]} and as {b.type.names[-1]}"
            self.world.refuse("S217", text, strong.span, Note("the other one is here", weak.span))
            return
        # a warning: libraries in use differ in comments of units and the like, and other tools take the stronger one
        self.world.warn(
            "S217",
            f"`{strong.name}` is inherited twice, and the two declarations differ",
            strong.span,
            Note("the other one is here", weak.span),
        )

    def _check_modified(self, strong: Element, weak: Element) -> None:
        """S217: what is inherited twice is modified alike (MLS 7.1); else the weaker one's modifications are lost."""
        decl = strong._decl
        is_extension = isinstance(decl, tree.ClassDef) and isinstance(decl.body, tree.Body) and decl.body.is_extension
        if decl is None or decl.redeclare or is_extension:
            return  # it takes them over
        if isinstance(decl, tree.ClassDef) and decl.replaceable:
            self.world.twice.append((strong, weak))  # one is put in for both: which, shows when all classes are there
            return
        for mod in weak.chain:
            if not any(same_spec(mod.spec, other.spec) for other in strong.chain):
                text = f"`{strong.name}` is inherited twice, and only the other one is modified so: this does not hold"
                self.world.warn("S217", text, mod.span, Note("the one that holds is declared here", strong.span))

    def _check_same_class(self, strong: Element, weak: Element, a: tree.ClassDef, b: tree.ClassDef) -> None:
        """Two classes of one name, neither of which redeclares the other (MLS 7.1)."""
        is_extension = isinstance(a.body, tree.Body) and a.body.is_extension
        if a is b or a.redeclare or is_extension or (a.kind == b.kind and same_tree(a.body, b.body)):
            return
        if a.replaceable and b.replaceable:
            return  # media of two base classes, in libraries in wide use: one is put in for both
        text = f"the class `{strong.name}` is inherited and declared again, or inherited twice, and the two differ"
        self.world.refuse("S217", text, strong.span, Note("the other one is here", weak.span))

    def _redeclares(self, strong: Element, weak: Element) -> None:
        decl = strong._decl
        if decl is None:
            return
        is_extension = isinstance(decl, tree.ClassDef) and isinstance(decl.body, tree.Body) and decl.body.is_extension
        if is_extension:
            strong.base = strong.base or weak
        if strong.replaces is None:
            strong.replaces = weak
            if decl.redeclare or is_extension:
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


def _joined(items: tuple[Any, ...]) -> Iterator[set[tuple[str, ...]]]:
    """What the connections among equations join, two names each."""
    for item in items:
        match item:
            case tree.Connect():
                yield {item.left.names, item.right.names}
            case tree.ForEquation():
                yield from _joined(item.body)
            case tree.IfEquation():
                for body in (*(body for _, body in item.branches), item.otherwise):
                    yield from _joined(tuple(body))


def _mods_of(modification: tree.Modification | None, file: str, ctx: Ctx, level: int = -1) -> Env:
    return () if modification is None else (Mod(spec_of(modification, ctx.view, file), ctx, level=level),)


def _narrow(chain: Env, name: str) -> Env:
    return tuple(sub for mod in chain if (sub := mod.sub(name)) is not None)

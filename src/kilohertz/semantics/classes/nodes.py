"""Classes in their context: element tables with inheritance and redeclaration, and lookup (MLS 5.3, 7).

A `ClassNode` is a class definition seen from one enclosing scope with one set of class modifications; unmodified ones
are shared.  Its `table` holds all its elements, inherited ones merged and redeclarations applied.  Text of a base class
is resolved in a `View`: it sees the names of that base class, but takes them from the table of the class that inherits
(so a redeclared `Medium` is what the base class's equations see), then the base class's own imports and surroundings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.semantics.classes.collect import Collector
from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod, Spec
from kilohertz.semantics.classes.redeclare import inherited, kept, of_constraint, redeclarations
from kilohertz.semantics.classes.scopes import ATTRIBUTES, PRIMITIVES, Element, View, not_found
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.instances import Comp
    from kilohertz.semantics.world import World

__all__ = ["ATTRIBUTES", "PRIMITIVES", "ClassNode", "Element", "View", "not_found"]


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
    def written_name(self) -> str:
        """Qualified name as in the source, whatever its modifications."""
        outer = self.parent.root.written_name + "." if self.parent is not None else ""
        return outer + self.definition.name

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
                Collector(self).collect(self, self.view, self.env, 0)
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

    @property
    def is_like_package(self) -> bool:
        """Whether it contains classes and constants only."""
        return all(e.is_class or e.component.variability == "constant" for e in self.table.values())

    def member(self, name: str) -> Element | ClassNode | None:
        """An element by name, not looking outside."""
        element = self.table.get(name)
        if element is None:
            return None
        return element.node() if element.is_class else element

    @staticmethod
    def class_of(element: Element) -> ClassNode:
        """The class that an element of this kind of node stands for."""
        return _class_node(element)

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
                relevant.append(mod.only(names))
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
            tail = of_constraint(redeclared.element, mod.ctx) + kept(element, chain[k + 1 :])
            between = redeclarations(chain[k + 1 :])
            view.world.redeclared.append((element, redeclared.element, mod.ctx.view, mod.span, between))
            decl, view, chain, inst = redeclared.element, mod.ctx.view, chain[:k], mod.ctx.inst
            break
    else:
        tail = of_constraint(decl, Ctx(view))
        if element.base is None:
            tail += inherited(element)
    chain = tuple(m for m in chain if m.spec.subs or m.spec.binding is not None)
    if _is_plain(decl) and not chain and not tail:
        body = decl.body
        assert isinstance(body, tree.ShortBody)
        same = view.lookup_class(body.type)
        view.world.extended.setdefault(id(decl), (view, decl, same))
        if decl.kind != "connector" or same.kind == "connector":  # `connector C = Real` is more than Real
            return same
    node = ClassNode(decl, view, view.world, chain, tail, inst)
    node.moved = decl is not element.decl
    if element.base is not None and decl is element.decl:
        node.extends_of = element.base
    return node

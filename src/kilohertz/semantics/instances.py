"""Components as instances: created on demand, with their modifications and dimensions.

A `Comp` is one component that is not an array of composites: a primitive variable (possibly an array of Reals, kept
whole) or a composite with children.  Arrays of composites are a `CompArray` of Comps.  Children come into being when
somebody asks for them, so that a dimension may use a parameter that is declared later.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Span
from kilohertz.interp import ArrayValue
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import Type
from kilohertz.semantics.classes import inner_class
from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod
from kilohertz.semantics.classes.nodes import ATTRIBUTES, ClassNode, Element, View
from kilohertz.semantics.classes.redeclare import (
    inherited,
    kept,
    of_constraint,
    of_declaration,
    of_redeclaration,
    redeclarations,
)
from kilohertz.semantics.own_sizes import own_size, speaks_of, with_own_sizes
from kilohertz.semantics.rules import check_outer
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator
    from kilohertz.semantics.world import World

_MAX_RECURSION = 20  # how often a class may stand inside itself
_STRENGTH = {"": 0, "discrete": 1, "parameter": 2, "constant": 3}


class Comp:
    """A component instance; `path` is its flat name."""

    __slots__ = (
        "_attributes",
        "_ref",
        "binding_expr",
        "busy",
        "causality",
        "children",
        "connection",
        "decl",
        "element",
        "env",
        "final",
        "index",
        "inner_children",
        "is_primitive",
        "name",
        "node",
        "parent",
        "path",
        "protected",
        "structural",
        "ty",
        "value",
        "variability",
        "world",
    )

    def __init__(
        self,
        world: World,
        node: ClassNode,
        path: str,
        parent: Comp | None,
        name: str,
        env: Env,
        element: Element | None = None,
        variability: str = "",
    ) -> None:
        self.world, self.node, self.path, self.parent, self.name, self.env = world, node, path, parent, name, env
        self.element = element
        self.index: tuple[tuple[int, int], ...] = ()  # in an array of components: place and size, by dimension
        self.decl: tree.Component | None = None
        self.variability = variability
        self.causality = self.connection = ""
        self.protected = self.final = False
        self.children: dict[str, Comp | CompArray | None] = {}
        self.inner_children: dict[str, Comp | CompArray | None] = {}
        self.is_primitive = False
        self.ty: Type | None = None
        self.structural = False
        self.busy = False
        self.value: object = None
        self.binding_expr: Expr | bool | None = False  # False: not asked yet
        self._attributes: dict[str, Expr | None] = {}
        self._ref: Expr | None = None

    @property
    def span(self) -> Span | None:
        return self.element.span if self.element is not None else None

    @property
    def origin(self) -> Origin:
        span = self.span
        return Origin((span,) if span is not None else (), self.parent.path if self.parent is not None else "")

    def has(self, name: str) -> bool:
        element = self.node.table.get(name)
        if element is None or (self.node.is_expandable and _is_unsized(element)):
            return name in self.children  # put into an expandable connector
        return not element.is_class

    def child(self, name: str) -> Comp | CompArray | None:
        """The component `name`; None where its condition is false.  It must exist (`has`)."""
        if name in self.children:
            return self.children[name]
        component = self.world.elaborator.maker.make(self, self.node.table[name])
        self.children[name] = component
        return component

    def components(self) -> Iterator[Comp | CompArray]:
        """All children that are there, in order of declaration; outer ones are not ours."""
        for name, element in list(self.node.table.items()):
            if element.is_class:
                continue
            decl = element.component
            if (decl.outer and not decl.inner) or (self.node.is_expandable and _is_unsized(element)):
                continue
            component = self.inner_child(name) if decl.outer else self.child(name)
            if component is not None:
                yield component
        if self.node.is_expandable:
            for name, added in list(self.children.items()):
                declared = self.node.table.get(name)
                if added is not None and (declared is None or _is_unsized(declared)):
                    yield added

    def inner_child(self, name: str) -> Comp | CompArray | None:
        """For `inner outer`: the one that is declared here."""
        if name not in self.inner_children:
            self.inner_children[name] = self.world.elaborator.maker.make(self, self.node.table[name], inner=True)
        return self.inner_children[name]


def _is_unsized(element: Element) -> bool:
    """`Real x[:]` without a value, which in an expandable connector gets its size from a connection (MLS 9.1.3)."""
    decl = element._decl
    if not isinstance(decl, tree.Component) or not any(isinstance(d, tree.Colon) for d in decl.dims):
        return False
    return decl.modification is None or decl.modification.binding is None


class CompArray:
    """An array of composite components; elements in row-major order."""

    __slots__ = ("_elements", "causality", "connection", "dims", "env", "name", "node", "parent", "path", "proto")

    def __init__(self, proto: Comp, dims: tuple[int, ...]) -> None:
        self.proto, self.dims = proto, dims
        self.path, self.parent, self.name = proto.path, proto.parent, proto.name
        self.node, self.env = proto.node, proto.env
        self._elements: dict[tuple[int, ...], Comp] = {}

    def at(self, index: tuple[int, ...]) -> Comp:
        """The element at an index counted from one."""
        element = self._elements.get(index)
        if element is None:
            element = self._elements[index] = self._make(index)
        return element

    def elements(self) -> Iterator[Comp]:
        for index in product(*(range(1, n + 1) for n in self.dims)):
            yield self.at(index)

    def _make(self, index: tuple[int, ...]) -> Comp:
        proto = self.proto
        env = proto.env
        for i, n in zip(index, self.dims, strict=True):
            env = tuple(m.at(i, n) for m in env)
        comp = Comp(
            proto.world, proto.node, f"{proto.path}[{','.join(map(str, index))}]", proto.parent, proto.name, env
        )
        comp.element, comp.decl, comp.index = proto.element, proto.decl, tuple(zip(index, self.dims, strict=True))
        comp.variability, comp.causality, comp.connection = proto.variability, proto.causality, proto.connection
        comp.protected, comp.final = proto.protected, proto.final
        return comp


class Maker:
    """Makes components from declarations: redeclaration, condition, type, dimensions, prefixes."""

    def __init__(self, world: World, elaborator: Elaborator) -> None:
        self.world, self.elaborator = world, elaborator
        self.top: Comp | None = None
        self._making: set[tuple[int, str, bool]] = set()
        self._checked: set[tuple[int, int]] = set()

    def make(self, parent: Comp, element: Element, inner: bool = False) -> Comp | CompArray | None:
        """The component of `parent` that `element` declares; None where its condition is false."""
        key = (id(parent), element.name, inner)
        if key in self._making:
            raise ModelError(
                Diagnostic("S234", f"`{_join(parent.path, element.name)}` depends on itself", element.span)
            )
        self._making.add(key)
        try:
            return self._make(parent, element, inner)
        finally:
            self._making.discard(key)

    def _make(self, parent: Comp, element: Element, inner: bool) -> Comp | CompArray | None:
        decl = element.component
        if decl.outer and not inner:
            enclosing = self._find_inner(parent, element)
            if enclosing is not None or not decl.inner:
                return enclosing
        declared_in = Ctx(element.view, parent)
        env = self._environment(parent, element, declared_in)
        decl, view, env, ctx = self._redeclared(parent, element, declared_in, env)
        if element.component.condition is not None and not self._condition(element.component.condition, declared_in):
            return None
        node = self._type(element, decl, view, env, parent)
        self._check_recursion(node, parent, element)
        comp = Comp(self.world, node, _join(parent.path, element.name), parent, element.name, env, element)
        comp.decl = decl
        self._check_final(parent, element, env)
        if node.definition.partial and node.kind in ("model", "block", "class", "record", "connector"):
            raise ModelError(
                Diagnostic("S215", f"`{comp.path}` is of the partial class `{node.written_name}`", element.span)
            )
        self._prefixes(comp, parent, element, decl)
        return self._dimensioned(comp, element, decl, ctx, declared_in)

    def _check_recursion(self, node: ClassNode, parent: Comp, element: Element) -> None:
        """A class may contain itself only as far as conditions end it."""
        at: Comp | None = parent
        depth = 0
        while at is not None:
            depth += at.node.definition is node.definition
            at = at.parent
        if depth > _MAX_RECURSION:
            raise ModelError(Diagnostic("S211", f"`{node.written_name}` contains itself", element.span))

    def _check_final(self, parent: Comp, element: Element, env: Env) -> None:
        """Neither a final element nor what a final modification set can be modified again (MLS 7.2.6)."""
        outer = [sub for mod in parent.env if (sub := mod.sub(element.name)) is not None]
        for mod in outer if element.component.final else ():
            raise ModelError(
                Diagnostic("S222", f"`{element.name}` is final", mod.span, notes=(Note("declared here", element.span),))
            )
        bound = [mod for mod in env if mod.spec.binding is not None and not mod.implied]
        for mod in env[env.index(bound[0]) + 1 :] if bound else ():
            if mod.spec.final and not mod.implied and mod.spec is not bound[0].spec:
                raise ModelError(
                    Diagnostic(
                        "S222",
                        f"`{element.name}` was set by a final modification",
                        bound[0].span,
                        notes=(Note("which is here", mod.span),),
                    )
                )

    def _environment(self, parent: Comp, element: Element, declared_in: Ctx) -> Env:
        name = element.name
        env: list[Mod] = []
        for mod in parent.env:
            sub = mod.sub(name)
            if sub is not None:
                env.append(sub)
            if mod.spec.binding is not None:
                field = mod.field(name)
                if field is not None:
                    env.append(field)
        for mod in element.chain:
            bound = mod.bound(parent)
            n = 0 if mod.level < 0 else sum(len(dims) for dims, _ in parent.node.class_dims[mod.level :])
            env.append(bound.element_of(parent.index[-n:]) if 0 < n <= len(parent.index) else bound)
        return tuple(env)

    def _redeclared(
        self, parent: Comp, element: Element, declared_in: Ctx, env: Env
    ) -> tuple[tree.Component, View, Env, Ctx]:
        """Apply the outermost redeclaration; otherwise append the declaration's own modification."""
        for k, mod in enumerate(env):
            redeclared = mod.spec.redeclare
            if redeclared is None or not isinstance(redeclared.element, tree.Component):
                continue
            new = redeclared.element
            self.world.redeclared.append((element, new, mod.ctx.view, mod.span, redeclarations(env[k + 1 :])))
            rest = self._fitting(kept(element, env[k + 1 :]), parent, element, mod.ctx.view.lookup_class(new.type))
            return new, mod.ctx.view, env[:k] + of_redeclaration(mod) + rest, mod.ctx
        decl = element.component
        env += of_declaration(decl, declared_in) + of_constraint(decl, declared_in)
        old = inherited(element)
        if old:
            env += self._fitting(old, parent, element, element.view.lookup_class(decl.type))
        return decl, element.view, env, declared_in

    def _fitting(self, env: Env, parent: Comp, element: Element, node: ClassNode) -> Env:
        """Modifications of what was replaced, without those of elements that the new class does not have."""
        known = ATTRIBUTES if self.elaborator.types.primitive(node) is not None else node.table
        fitting: list[Mod] = []
        for mod in (one.bound(parent) for one in env):
            lost = [] if mod.implied else [name for name in mod.spec.subs if name not in known]
            for name in lost:
                new = node.written_name
                text = f"`{element.name}` is redeclared as `{new}`, which has no `{name}`: this does not hold"
                self.world.warn("S297", text, mod.ctx.span(mod.spec.subs[name]))
            fitting.append(mod if not lost else mod.only([n for n in mod.spec.subs if n in known]))
        return tuple(fitting)

    def _condition(self, condition: tree.Expr, ctx: Ctx) -> bool:
        value = self.elaborator.evaluation.constant(condition, ctx, "the condition of a component")
        if not isinstance(value, bool):
            raise ModelError(Diagnostic("S231", "the condition of a component must be Boolean", ctx.span(condition)))
        return value

    def _type(self, element: Element, decl: tree.Component, view: View, env: Env, inst: Comp | None) -> ClassNode:
        if decl is element.component:
            if element.type_node is None:
                element.type_node = view.lookup_class(decl.type)
            node = element.type_node
        else:
            node = view.lookup_class(decl.type)
        node = inner_class(node, inst)
        node.table  # noqa: B018  (finds out whether it is primitive)
        return node.specialised(env) if env else node

    def _prefixes(self, comp: Comp, parent: Comp, element: Element, decl: tree.Component) -> None:
        original = element.component
        declared = decl.variability or original.variability
        inherited = parent.variability if parent.parent is not None or parent.variability == "constant" else ""
        comp.variability = declared if _STRENGTH[declared] >= _STRENGTH[inherited] else inherited
        comp.causality = decl.causality or original.causality or comp.node.causality or parent.causality
        comp.connection = decl.connection or original.connection or parent.connection
        comp.protected = parent.protected or element.protected
        comp.final = decl.final or original.final

    def _dimensioned(
        self, comp: Comp, element: Element, decl: tree.Component, ctx: Ctx, declared_in: Ctx
    ) -> Comp | CompArray | None:
        node = comp.node
        exprs: list[tuple[tree.Expr, Ctx]] = []
        if decl.dims:
            exprs += [(d, ctx) for d in decl.dims]
        elif element.component.dims:
            exprs += [(d, declared_in) for d in element.component.dims]
        for dims, view in node.class_dims:
            inst = ctx.inst if ctx.inst is not None and view.root is ctx.inst.node else None
            exprs += [(d, Ctx(view, inst)) for d in dims]
        base = self.elaborator.types.primitive(node)
        if base is not None:
            comp.is_primitive = True
            sizes = self._sizes(comp, exprs)
            comp.ty = Type(base, sizes)
            return comp
        if not exprs:
            return comp
        return CompArray(comp, self._sizes(comp, exprs))

    def _sizes(self, comp: Comp, exprs: list[tuple[tree.Expr, Ctx]]) -> tuple[int, ...]:
        sizes: list[int] = []
        shape: tuple[int | None, ...] | None = None
        written = exprs
        dims = [e for e, _ in exprs]
        exprs = [(own_size(comp.name, e, dims), ctx) for e, ctx in exprs]
        for k, (expr, ctx) in enumerate(exprs):
            # `A[:, size(A, 1)]` speaks of itself: its binding has the sizes
            if isinstance(expr, tree.Colon) or speaks_of(comp.name, k, expr):
                if shape is None:
                    shape = self._shape_of_binding(comp, expr, ctx)
                if k >= len(shape) or shape[k] is None:
                    raise ModelError(
                        Diagnostic("S232", f"the size of `{comp.path}` cannot be found from its binding", comp.span)
                    )
                sizes.append(shape[k])  # type: ignore[arg-type]
            else:
                sizes.append(self.elaborator.evaluation.dimension(expr, ctx))
        if shape is not None:
            self._check_own_sizes(comp, written, sizes)
        return tuple(sizes)

    def _check_own_sizes(self, comp: Comp, exprs: list[tuple[tree.Expr, Ctx]], sizes: list[int]) -> None:
        """What a dimension says of the others has to be what the binding made of it."""
        for k, (expr, ctx) in enumerate(exprs):
            known = with_own_sizes(comp.name, expr, sizes)
            if known is None:
                continue
            said = self.elaborator.evaluation.dimension(known, ctx)
            if said != sizes[k]:
                text = f"by its binding `{comp.path}` has {sizes[k]} elements in dimension {k + 1}, which says {said}"
                raise self.elaborator.error("S240", text, expr, ctx)

    def _shape_of_binding(self, comp: Comp, expr: tree.Expr, ctx: Ctx) -> tuple[int | None, ...]:
        for mod in comp.env:
            if mod.spec.binding is not None:
                binding = self.elaborator.bindings.binding_of(mod)
                value = self.elaborator.evaluation.try_value(binding) if None in binding.ty.dims else None
                return value.shape if isinstance(value, ArrayValue) else binding.ty.dims
        start = self.elaborator.bindings.attribute_mod(comp, "start")
        if start is not None:
            return self.elaborator.bindings.binding_of(start).ty.dims
        raise ModelError(
            Diagnostic("S232", f"`{comp.path}` has no binding to take its size from", comp.span or ctx.span(expr))
        )

    def _find_inner(self, parent: Comp, element: Element) -> Comp | CompArray | None:
        """The `inner` declaration of that name in the enclosing instances (MLS 5.4)."""
        declaring = _declaring_inner(parent.parent, element.name)
        if declaring is not None:
            inner = _inner_of(declaring, element.name)
            if inner is not None:
                self._check_outer(parent, element, inner)
            return inner
        if element.component.inner:
            return None
        return self._default_inner(parent, element)

    def _check_outer(self, parent: Comp, element: Element, inner: Comp | CompArray) -> None:
        """Rules on an outer declaration, once for each."""
        if (id(element), id(inner)) in self._checked:
            return
        self._checked.add((id(element), id(inner)))
        for one in check_outer(parent, element, self.world.component_type(element), inner):
            self.world.record(one)

    def _default_inner(self, parent: Comp, element: Element) -> Comp | CompArray | None:
        """No inner anywhere: one with default values is put at the top, with a warning (MLS 5.4)."""
        top = self.top
        assert top is not None
        if element.name in top.inner_children:
            made = top.inner_children[element.name]
            if made is not None:
                self._check_same_default(parent, element, made)
            return made
        self.world.warn(
            "S290", f"there is no inner `{element.name}`; one with default values is added at the top", element.span
        )
        ctx = Ctx(element.view)
        node = self._type(element, element.component, element.view, (), None)
        if node.definition.partial:
            raise ModelError(
                Diagnostic(
                    "S233",
                    f"there is no inner component for `outer {element.name}` of `{parent.path or top.name}`",
                    element.span,
                    notes=(Note(f"its class `{node.written_name}` is partial, so a default one cannot be made"),),
                )
            )
        comp = Comp(self.world, node, element.name, top, element.name, (), element)
        comp.decl = element.component
        comp.variability = element.component.variability
        dimensioned = self._dimensioned(comp, element, element.component, ctx, ctx)
        top.inner_children[element.name] = dimensioned
        return dimensioned

    def _check_same_default(self, parent: Comp, element: Element, made: Comp | CompArray) -> None:
        """MLS 5.4: all that lack an inner declaration are of one class, which tells what is to be made."""
        node = self.world.component_type(element)
        if element.component.inner or node.definition is made.node.definition:
            return
        text = f"there is no inner component for `outer {element.name}` of `{parent.path or parent.name}`"
        known = (
            f"another one without an inner is of class `{made.node.written_name}`, this one of `{node.written_name}`"
        )
        self.world.refuse("S233", text, element.span, Note(f"{known}: none can be made for both"))


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def inner_component(inst: Comp, name: str) -> Comp | CompArray | None:
    """What an `outer` declaration in a package stands for that is used in `inst`; None where nothing is inner."""
    declaring = _declaring_inner(inst, name)
    return None if declaring is None else _inner_of(declaring, name)


def _declaring_inner(at: Comp | None, name: str) -> Comp | None:
    """The nearest instance, `at` or around it, that declares an `inner` component of that name."""
    while at is not None and not ((e := at.node.table.get(name)) and not e.is_class and e.component.inner):
        at = at.parent
    return at


def _inner_of(declaring: Comp, name: str) -> Comp | CompArray | None:
    """Where it is `inner outer`, the one it gives to those inside."""
    is_both = declaring.node.table[name].component.outer
    return declaring.inner_child(name) if is_both else declaring.child(name)

"""Modifications: what a `(...)` says, and where it was written.

A `Spec` is the text of a modification turned into a table (made once per tree node, shared by all instances).  A `Mod`
is a Spec together with the context its expressions are resolved in and the selection (indices and record fields) that
narrows its binding to the element it has reached: `r[3](R={1,2,3})` gives element 2 the binding `{1,2,3}` narrowed by
(2,).  Modifications are never merged; a component carries them as a tuple, outermost first, and asks in that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Span
from kilohertz.syntax import same_tree, tree

if TYPE_CHECKING:
    from kilohertz.ir.expr import Expr
    from kilohertz.semantics.classes.nodes import ClassNode, View
    from kilohertz.semantics.instances import Comp


class Spec:
    """One level of a modification: binding, nested modifications by name, or a redeclaration."""

    __slots__ = ("binding", "each", "end", "filtered", "final", "redeclare", "start", "subs")

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.binding: tree.Expr | None = None
        self.subs: dict[str, Spec] = {}
        self.redeclare: tree.Redeclaration | None = None
        self.each = self.final = False
        self.filtered: dict[tuple[str, ...], Spec] = {}  # without other elements, as far as they were asked for


def spec_of(modification: tree.Modification, view: View, file: str) -> Spec:
    """The Spec of a modification; the world keeps it, since the same declaration is instantiated many times."""
    known = view.world.specs.get(modification)
    if known is None:
        known = view.world.specs[modification] = Spec(modification.start, modification.end)
        _fill(known, modification, file)
    return known


def _fill(spec: Spec, modification: tree.Modification, file: str) -> None:
    if modification.binding is not None:
        spec.binding = modification.binding
    for arg in modification.args:
        name = arg.element.name if isinstance(arg, tree.Redeclaration) else arg.names[0]
        known = spec.subs.get(name)
        if known is not None and (known.redeclare is not None or isinstance(arg, tree.Redeclaration)):
            text = f"`{name}` is modified twice, and redeclared"
            raise ModelError(Diagnostic("S221", text, Span(file, arg.start, arg.end)))
        if isinstance(arg, tree.Redeclaration):
            inner = spec.subs.setdefault(arg.element.name, Spec(arg.start, arg.end))
            inner.redeclare, inner.each, inner.final = arg, arg.each, arg.final
            continue
        inner = spec
        for name in arg.names:
            inner = inner.subs.setdefault(name, Spec(arg.start, arg.end))
        # `each a.b = e`: the array is `a`, so the flag belongs to the first name (MLS 7.2.5)
        if arg.each:
            spec.subs[arg.names[0]].each = True
        inner.final = inner.final or arg.final
        if arg.modification is not None:
            if arg.modification.binding is not None and inner.binding is not None:
                raise ModelError(
                    Diagnostic("S221", f"`{'.'.join(arg.names)}` is modified twice", Span(file, arg.start, arg.end))
                )
            _fill(inner, arg.modification, file)


def same_spec(a: Spec, b: Spec) -> bool:
    """Whether two modifications are written alike."""
    if a is b:
        return True
    if (a.redeclare is None) != (b.redeclare is None) or a.subs.keys() != b.subs.keys():
        return False
    if a.redeclare is not None and b.redeclare is not None and not same_tree(a.redeclare.element, b.redeclare.element):
        return False
    return same_tree(a.binding, b.binding) and all(same_spec(sub, b.subs[name]) for name, sub in a.subs.items())


def _filtered(spec: Spec, names: list[str]) -> Spec:
    """A Spec without the modifications of other elements."""
    key = tuple(names)
    small = spec.filtered.get(key)
    if small is None:
        small = spec.filtered[key] = Spec(spec.start, spec.end)
        small.subs = {n: spec.subs[n] for n in names}
        small.binding, small.each, small.final = spec.binding, spec.each, spec.final
    return small


class Ctx:
    """Where names are resolved: a view of a class, the instance of that class, and names bound on the way."""

    __slots__ = ("file", "inst", "iterators", "locals", "open", "view")

    def __init__(
        self,
        view: View,
        inst: Comp | None = None,
        iterators: dict[str, Expr] | None = None,
        locals_: dict[str, Expr] | None = None,
        open_: bool = False,
        file: str = "",
    ) -> None:
        self.view, self.inst = view, inst
        self.file = file or view.definition.file  # a short class's text may lie in another file than its scope
        self.open = open_  # inside a model's algorithm: sizes may depend on variables
        self.iterators = iterators  # values of for-indices
        self.locals = locals_  # inside a function: its variables

    def span(self, node: tree.Expr | tree.Equation | tree.Statement | Spec | tree.Component | tree.Extends) -> Span:
        return Span(self.file, node.start, node.end)

    def with_iterator(self, name: str, value: Expr) -> Ctx:
        iterators = dict(self.iterators) if self.iterators else {}
        iterators[name] = value
        return Ctx(self.view, self.inst, iterators, self.locals, self.open, self.file)


Selection = tuple[tuple[int, int] | str, ...]  # (index, size) into an array, or a record's field


class Mod:
    """A Spec in its context, narrowed to one element.  `implied`: a field of a whole record's binding.

    `level`: of a short class that may be an array, how many such are around it (`class_dims` of the node);
    -1: of anything else.
    """

    __slots__ = ("cache", "ctx", "implied", "level", "select", "spec")

    def __init__(
        self,
        spec: Spec,
        ctx: Ctx,
        select: Selection = (),
        cache: dict[int, Expr] | None = None,
        implied: bool = False,
        level: int = -1,
    ) -> None:
        self.spec, self.ctx, self.select, self.implied, self.level = spec, ctx, select, implied, level
        self.cache = {} if cache is None else cache  # elaborated bindings by spec, shared by all narrowed copies

    def sub(self, name: str) -> Mod | None:
        """What this modification says of the element `name` by name."""
        if self.implied:
            return None
        spec = self.spec.subs.get(name)
        if spec is None:
            return None
        return Mod(spec, self.ctx, () if spec.each else self.select, self.cache, level=-1 if spec.each else self.level)

    def field(self, name: str) -> Mod | None:
        """The part of a whole record's binding that belongs to its field `name`."""
        if self.spec.binding is None:
            return None
        return Mod(self.spec, self.ctx, (*self.select, name), self.cache, implied=True)

    def at(self, index: int, size: int) -> Mod:
        """Narrowed to one element of an array of `size` elements."""
        return Mod(self.spec, self.ctx, (*self.select, (index, size)), self.cache, self.implied)

    def only(self, names: list[str]) -> Mod:
        """What this modification says of some elements, and its binding."""
        return Mod(_filtered(self.spec, names), self.ctx, self.select, self.cache, level=self.level)

    def bound(self, inst: Comp) -> Mod:
        """A modification written in the class of `inst` or of what contains it, now that the instance is known."""
        if self.ctx.inst is not None:
            return self
        owner = instance_of(self.ctx.view, inst)
        if owner is None:
            return self
        ctx = Ctx(self.ctx.view, owner, file=self.ctx.file)
        return Mod(self.spec, ctx, self.select, None, self.implied, self.level)

    def element_of(self, index: tuple[tuple[int, int], ...]) -> Mod:
        """That of `model A3 = A[3](x = {1, 2, 3})` for one element of the array, now that it is known which."""
        return Mod(self.spec, self.ctx, (*index, *self.select), self.cache, self.implied)

    @property
    def span(self) -> Span:
        return self.ctx.span(self.spec)


Env = tuple[Mod, ...]


def inner_class(node: ClassNode, inst: Comp | None) -> ClassNode:
    """An `outer` class stands for the `inner` one of the nearest enclosing instance (MLS 5.4)."""
    if not node.definition.outer:
        return node
    at = None if inst is None else inst.parent
    while at is not None:
        element = at.node.table.get(node.definition.name)
        if element is not None and element.is_class and element.decl.inner:
            return element.node()
        at = at.parent
    return node


def instance_of(view: View, inst: Comp | None) -> Comp | None:
    """The instance, `inst` itself or around it, whose class the view belongs to."""
    while inst is not None and inst.node is not view.root:
        inst = inst.parent
    return inst

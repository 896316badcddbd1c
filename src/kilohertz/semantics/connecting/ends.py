"""The connectors that a reference in a connect clause names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from kilohertz.base import Severity
from kilohertz.ir.expr import Int
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


@dataclass(slots=True)
class End:
    """One end of a connect: a scalar connector or a primitive one (whole, or with subscripts)."""

    comp: Comp
    index: tuple[int, ...]  # into a primitive array
    outside: bool

    @property
    def path(self) -> str:
        return self.comp.path + (f"[{','.join(map(str, self.index))}]" if self.index else "")


class EndFinder:
    """From references to connectors."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def ends(self, ref: tree.Ref, ctx: Ctx) -> list[End] | None:
        """The connectors a reference names; [] where a component is absent, None where a bus lacks it so far."""
        inst = ctx.inst
        assert inst is not None
        name = ref.names[0]
        meaning = ctx.view.lookup(name)
        if isinstance(meaning, ClassNode) or meaning is None or not inst.has(name):
            raise self.elaborator.error("S201", f"there is no component `{name}` to connect", ref, ctx)
        first = inst.child(name)
        decl = inst.node.table[name].component
        is_inside = first is not None and is_connector(first) and not (decl.outer and not decl.inner)
        return self._walk(first, ref, 0, ctx, is_inside)

    def _walk(self, comp: Comp | CompArray | None, ref: tree.Ref, k: int, ctx: Ctx, outside: bool) -> list[End] | None:
        if comp is None:
            return []
        subs = ref.subs[k] if ref.subs is not None else ()
        if isinstance(comp, CompArray):
            ends: list[End] = []
            for element in self.selected(comp, subs, ref, ctx):
                inner = self._walk_on(element, ref, k, ctx, outside)
                if inner is None:
                    return None
                ends += inner
            return ends
        if comp.is_primitive:
            if k + 1 < len(ref.names):
                raise self.elaborator.error("S205", f"`{comp.path}` has no `{ref.names[k + 1]}`", ref, ctx)
            return self.primitive_ends(comp, subs, ref, ctx, outside)
        return self._walk_on(comp, ref, k, ctx, outside)

    def _walk_on(self, comp: Comp, ref: tree.Ref, k: int, ctx: Ctx, outside: bool) -> list[End] | None:
        if k + 1 == len(ref.names):
            return [End(comp, (), outside)]
        name = ref.names[k + 1]
        if k and comp.node.kind in ("model", "block"):
            text = f"`{'.'.join(ref.names)}` is no connector of this class or of one of its components"
            self.elaborator.world.refuse("S321", text, ctx.span(ref))
        if not comp.has(name):
            if is_expandable(comp):
                return None
            names = [n for n, e in comp.node.table.items() if not e.is_class]
            raise self.elaborator.names.no_member(comp.path, name, names, ref, ctx)
        self.elaborator.names.check_visible(comp.node, name, ref, ctx, Severity.WARNING)  # libraries in use do it
        return self._walk(comp.child(name), ref, k + 1, ctx, outside)

    def selected(self, array: CompArray, subs: tuple[tree.Expr, ...], ref: tree.Ref, ctx: Ctx) -> Iterator[Comp]:
        for index in self._indices(array.dims, subs, ref, ctx):
            yield array.at(index)

    def _indices(
        self, dims: tuple[int, ...], subs: tuple[tree.Expr, ...], ref: tree.Ref, ctx: Ctx
    ) -> Iterator[tuple[int, ...]]:
        exprs = self.elaborator.subscripts.subscripts(subs, [Int(n) for n in dims], ref, ctx)
        choices: list[list[int]] = []
        for k, n in enumerate(dims):
            positions: list[int] | None = list(range(1, n + 1))
            if k < len(exprs):
                positions = self.elaborator.names.positions(exprs[k], n)
            if positions is None:
                raise self.elaborator.error("S235", "a subscript in connect must be known", ref, ctx)
            for p in positions:
                if not 1 <= p <= n:
                    raise self.elaborator.error("S250", f"subscript {p} is outside 1..{n}", ref, ctx)
            choices.append(positions)
        return product(*choices)

    def primitive_ends(
        self, comp: Comp, subs: tuple[tree.Expr, ...], ref: tree.Ref, ctx: Ctx, outside: bool
    ) -> list[End]:
        assert comp.ty is not None
        dims = tuple(d for d in comp.ty.dims if d is not None)
        if not dims:
            return [End(comp, (), outside)]
        return [End(comp, index, outside) for index in self._indices(dims, subs, ref, ctx)]


def is_connector(comp: Comp | CompArray) -> bool:
    return comp.node.kind == "connector" or _through_short(comp.node)


def _through_short(node: ClassNode) -> bool:
    """A class that only renames or extends a connector counts as one."""
    return "connector" in node.kinds


def can_connect(comp: Comp) -> bool:
    """A connector, or part of one."""
    at: Comp | None = comp
    while at is not None:
        if is_connector(at):
            return True
        at = at.parent
    return False


def is_expandable(comp: Comp | CompArray) -> bool:
    return not (isinstance(comp, Comp) and comp.is_primitive) and comp.node.is_expandable


def made_for_bus(comp: Comp) -> bool:
    """Whether connects made it: its modifications are those of what it was made after."""
    return comp.parent is not None and comp.parent.node.is_expandable and comp.name not in comp.parent.node.table

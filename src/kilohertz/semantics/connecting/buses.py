"""Expandable connectors: what connects ask of them is created, connected ones share their elements (MLS 9.1.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, Dotted, ModelError
from kilohertz.semantics.classes.modifiers import Ctx, Env, Mod
from kilohertz.semantics.classes.nodes import Element
from kilohertz.semantics.connecting.ends import End, EndFinder, is_connector, is_expandable
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


_INDEX = re.compile(r"\[([0-9,]+)\]")


@dataclass(slots=True)
class Pending:
    """A connect clause as written; expandable connectors may still be missing what it names."""

    node: tree.Connect
    ctx: Ctx
    done: bool = False


class Buses:
    """The expandable connectors of a model while its connects are resolved."""

    def __init__(self, elaborator: Elaborator, ends: EndFinder, pending: list[Pending]) -> None:
        self.elaborator, self.ends, self.pending = elaborator, ends, pending
        self.connected: set[str] = set()  # paths inside expandable connectors that take part
        self.links: list[tuple[Comp, Comp]] = []
        self._open: set[str] = set()  # arrays that subscripts made: as large as the largest of all connected buses

    def fill(self, a: End, b: End) -> None:
        """A bus connected to an ordinary connector gets that connector's components."""
        bus, other = (a.comp, b.comp) if is_expandable(a.comp) else (b.comp, a.comp)
        for child in other.components():
            if not bus.has(child.name):
                self._clone(child, bus, child.name)
            self.connected.add(f"{bus.path}.{child.name}")

    def mark(self, comp: Comp) -> None:
        """The connector and, for a bus, the way to it take part."""
        at: Comp | None = comp
        while at is not None:
            self.connected.add(at.path)
            whole = at.parent.children.get(at.name) if at.parent is not None else None
            if isinstance(whole, CompArray):
                self.connected.add(whole.path)
            at = at.parent
            if at is not None and not is_expandable(at):
                break

    def can_create(self, ref: tree.Ref, ctx: Ctx) -> bool:
        """Whether all but the last of what a reference names is there."""
        comp = ctx.inst.child(ref.names[0]) if ctx.inst is not None else None
        for name in ref.names[1:-1]:
            if isinstance(comp, CompArray):
                comp = comp.at((1,) * len(comp.dims))
            if comp is None or not comp.has(name):
                return comp is None
            comp = comp.child(name)
        return True

    def created(self, ref: tree.Ref, others: list[End], other: tree.Ref, ctx: Ctx) -> list[End]:
        """The missing element of a bus, made after what it is connected to, `other` (MLS 9.1.3)."""
        if not others:
            return []
        inst = ctx.inst
        assert inst is not None
        comp = inst.child(ref.names[0])
        outside = comp is not None and is_connector(comp)
        bus = _owner(ref, ctx)
        ends = self._created_below(comp, ref, 0, others, outside, ctx)
        rank = _rank(others[0], other, ctx)
        if len(others) == 1 and rank and isinstance(bus, Comp) and not (ref.subs and any(ref.subs)):
            return [self._array_of_one(bus, ref.names[-1], rank, outside)]
        return ends

    def _array_of_one(self, bus: Comp, name: str, rank: int, outside: bool) -> End:
        """The element of a bus just made, as an array with one element."""
        comp, one = bus.child(name), (1,) * rank
        assert isinstance(comp, Comp)
        if comp.is_primitive and comp.ty is not None:
            comp.ty = comp.ty.scalar().array_of(*one)
            return End(comp, one, outside)
        bus.children[name] = array = CompArray(comp, one)
        return End(array.at(one), (), outside)

    def _created_below(
        self, comp: Comp | CompArray | None, ref: tree.Ref, k: int, others: list[End], outside: bool, ctx: Ctx
    ) -> list[End]:
        """The rest of a reference from its k-th name on; elements of an array of buses share the others among them."""
        if comp is None:
            return []
        subs = ref.subs[k] if ref.subs is not None else ()
        last = k + 1 == len(ref.names)
        if isinstance(comp, CompArray):
            chosen = list(self.ends.selected(comp, subs, ref, ctx))
            if last:
                return [End(c, (), outside) for c in chosen]
            share = max(1, len(others) // max(1, len(chosen)))
            ends: list[End] = []
            for i, element in enumerate(chosen):
                part = others[i * share : (i + 1) * share] or others[:share]
                ends += self._created_in(element, ref, k, part, outside, ctx)
            return ends
        if last:
            return (
                self.ends.primitive_ends(comp, subs, ref, ctx, outside)
                if comp.is_primitive
                else [End(comp, (), outside)]
            )
        return self._created_in(comp, ref, k, others, outside, ctx)

    def _created_in(self, comp: Comp, ref: tree.Ref, k: int, others: list[End], outside: bool, ctx: Ctx) -> list[End]:
        name = ref.names[k + 1]
        if comp.has(name):
            child = comp.child(name)
        elif k + 2 == len(ref.names):
            child = self._clone_all(others, comp, name, self._largest_subscripts(ref, ctx))
        else:
            raise self.elaborator.error("S456", f"the bus `{comp.path}` has no connector `{name}`", ref, ctx)
        return self._created_below(child, ref, k + 1, others, outside, ctx)

    def _largest_subscripts(self, ref: tree.Ref, ctx: Ctx) -> tuple[int, ...]:
        """`bus.x[2]` makes an array as large as the largest subscript any connect to this bus uses (MLS 9.1.3)."""
        sizes: tuple[int, ...] = ()
        bus = _owner(ref, ctx)
        for pending in self.pending:
            for other in (pending.node.left, pending.node.right):
                if other.names[-1] != ref.names[-1] or not (other.subs and other.subs[-1]):
                    continue
                if _owner(other, pending.ctx) is not bus:
                    continue
                if any(isinstance(s, tree.Colon) for s in other.subs[-1]):
                    continue
                values = [self.elaborator.evaluation.constant(s, pending.ctx, "a subscript") for s in other.subs[-1]]
                index = tuple(max(v, default=0) if isinstance(v, Iterable) else v for v in values)
                sizes = index if not sizes else tuple(map(max, sizes, index))
        return sizes

    def _clone_all(self, others: list[End], bus: Comp, name: str, sizes: tuple[int, ...]) -> Comp | CompArray:
        first = others[0]
        if sizes and (len(others) == 1 or first.comp.is_primitive):
            self._open.add(f"{bus.path}.{name}")
            comp = self._clone(first.comp, bus, name)
            assert isinstance(comp, Comp)
            if comp.is_primitive and comp.ty is not None:
                comp.ty = comp.ty.scalar().array_of(*sizes)
                return comp
            bus.children[name] = array = CompArray(comp, sizes)
            return array
        if first.comp.is_primitive or len(others) == 1:
            comp = self._clone(first.comp, bus, name)
            if first.index or len(others) > 1:
                assert isinstance(comp, Comp) and comp.ty is not None
                comp.ty = comp.ty.scalar().array_of(*_shape(others))
            return comp
        proto = self._clone(first.comp, bus, name)
        assert isinstance(proto, Comp)
        array = CompArray(proto, (len(others),))
        bus.children[name] = array
        return array

    def _clone(self, model: Comp | CompArray, bus: Comp, name: str) -> Comp | CompArray:
        path = f"{bus.path}.{name}"
        source = model.proto if isinstance(model, CompArray) else model
        comp = Comp(source.world, source.node, path, bus, name, _of_type(source), source.element, source.variability)
        comp.decl, comp.is_primitive, comp.ty, comp.connection = (
            source.decl,
            source.is_primitive,
            source.ty,
            source.connection,
        )
        element: Comp | CompArray = CompArray(comp, model.dims) if isinstance(model, CompArray) else comp
        bus.children[name] = element
        return element

    def join(self) -> bool:
        """Connected buses have the same elements; True if one got a new one."""
        changed = False
        for a, b in self.links:
            for here, there in ((a, b), (b, a)):
                for child in list(here.components()):
                    if child.path in self.connected and not there.has(child.name):
                        self.mark(there)
                        clone = self._clone(child, there, child.name)
                        self.connected.add(clone.path)
                        self._open |= {clone.path} if child.path in self._open else set()
                        changed = True
                    elif child.path in self.connected:
                        changed = self._join_element(child, there.child(child.name)) or changed
        return changed

    def _join_element(self, here: Comp | CompArray, there: Comp | CompArray | None) -> bool:
        """An element both buses have; nested buses are joined in turn."""
        if there is None:
            return False
        if self._grow(here, there):
            return True
        self._check_sizes(here, there)
        if is_expandable(here) and is_expandable(there) and self._link_all(here, there):
            return True
        fresh = {y.path for x, y in zip(_parts(here), _parts(there), strict=False) if x.path in self.connected}
        fresh = (fresh | {there.path}) - self.connected
        self.connected |= fresh
        return bool(fresh)

    def _link_all(self, a: Comp | CompArray, b: Comp | CompArray) -> bool:
        """Link nested buses, of arrays each with its like; True if one was not."""
        pairs = zip(_parts(a), _parts(b), strict=False)
        fresh = [(x, y) for x, y in pairs if (x, y) not in self.links and (y, x) not in self.links]
        self.links += fresh
        if fresh:
            self._check_nesting()
        return bool(fresh)

    def _check_nesting(self) -> None:
        """S459: a bus that is connected with one inside it, or inside one of its like, would hold itself for ever."""
        group: dict[str, str] = {}

        def root(path: str) -> str:
            while (above := group.get(path, path)) != path:
                path = above
            return path

        for a, b in self.links:
            group[root(a.path)] = root(b.path)
        buses = {bus.path: bus for link in self.links for bus in link}
        for path, bus in buses.items():
            parts = Dotted.read(path)
            while outer := str(parts := parts.owner):
                if outer in buses and root(outer) == root(path):
                    text = (
                        f"the bus `{outer}` is connected with `{path}` inside it, and would hold itself without an end"
                    )
                    raise ModelError(Diagnostic("S459", text, bus.span))

    def _grow(self, a: Comp | CompArray, b: Comp | CompArray) -> bool:
        """Make two arrays of one element equally large, as far as subscripts made them; True if one has grown."""
        sizes = [_dims(a), _dims(b)]
        if sizes[0] == sizes[1] or len(sizes[0]) != len(sizes[1]):
            return False
        most = tuple(map(max, *sizes))
        grown = [x for x, dims in zip((a, b), sizes, strict=True) if x.path in self._open and dims != most]
        for x in grown:
            _resize(x, most)
        return bool(grown)

    def widened(self, sides: tuple[list[End], list[End]], refs: tuple[tree.Ref, tree.Ref]) -> bool:
        """An array that subscripts made is as large as what the whole of it is connected to; True if it has grown."""
        few, many = sorted(sides, key=len)
        ref = refs[0 if few is sides[0] else 1]
        comp = few[0].comp
        whole = comp if comp.is_primitive or comp.parent is None else comp.parent.children.get(comp.name)
        if whole is None or whole.path not in self._open or (ref.subs and ref.subs[-1]):
            return False
        dims, shape = _dims(whole), _shape(many)
        if len(dims) != len(shape) or any(n > m for n, m in zip(dims, shape, strict=True)):
            return False
        _resize(whole, shape)
        return True

    def _check_sizes(self, a: Comp | CompArray, b: Comp | CompArray) -> None:
        """S455: arrays of connectors that connected buses share are equally large."""
        if isinstance(a, CompArray) or isinstance(b, CompArray):
            sizes = [_dims(x) for x in (a, b)]
            if sizes[0] != sizes[1]:
                words = [f"`{x.path}` {_sized(dims)}" for x, dims in zip((a, b), sizes, strict=True)]
                text = f"{words[0]}, {words[1]}: the buses they are in are connected"
                raise ModelError(Diagnostic("S455", text, b.proto.span if isinstance(b, CompArray) else b.span))

    def mark_used(self, comp: Comp) -> None:
        """What equations and bindings of a class name in its buses is there, even if nobody connects it."""
        if comp.node.is_expandable:
            return
        buses = {c.name: c for c in comp.components() if isinstance(c, Comp) and is_expandable(c)}
        if not buses:
            return
        declared = [e.component.modification for e in comp.node.table.values() if not e.is_class]
        equations = [i for s, _ in comp.node.sections for i in s.items if not has_connect((i,))]
        for ref in tree.refs((*declared, *equations)):
            bus = buses.get(ref.names[0])
            for name in ref.names[1:]:
                if bus is None or not bus.has(name):
                    break
                child = bus.child(name)
                if child is not None:
                    self.mark(child.proto if isinstance(child, CompArray) else child)
                bus = child if isinstance(child, Comp) and is_expandable(child) else None

    def unused(self, comp: Comp | CompArray) -> bool:
        """Declared in an expandable connector, but nobody connects it: it is not there (MLS 9.1.3)."""
        at: Comp | CompArray = comp
        while at.parent is not None:
            if is_expandable(at.parent):
                return at.path not in self.connected and not is_expandable(at)
            at = at.parent
        return False

    def in_bus(self, comp: Comp) -> bool:
        """Whether a variable belongs to an expandable connector."""
        at = comp.parent
        while at is not None and is_connector(at):
            if is_expandable(at):
                return True
            at = at.parent
        return False


def _dims(comp: Comp | CompArray) -> tuple[int, ...]:
    if isinstance(comp, CompArray):
        return comp.dims
    return tuple(d or 0 for d in comp.ty.dims) if comp.is_primitive and comp.ty is not None else ()


def _resize(comp: Comp | CompArray, dims: tuple[int, ...]) -> None:
    if isinstance(comp, CompArray):
        comp.dims = dims
    elif comp.ty is not None:
        comp.ty = comp.ty.scalar().array_of(*dims)


def _owner(ref: tree.Ref, ctx: Ctx) -> Comp | CompArray | None:
    """The component that the last name of a reference belongs to; None where it is not there so far."""
    assert ctx.inst is not None
    at: Comp | CompArray | None = ctx.inst
    for name in ref.names[:-1]:
        if not isinstance(at, Comp) or not at.has(name):
            return at if isinstance(at, CompArray) else None
        at = at.child(name)
    return at


def _rank(end: End, ref: tree.Ref, ctx: Ctx) -> int:
    """How many dimensions a reference without subscripts has, of which this is an element."""
    if (ref.subs and any(ref.subs)) or ctx.inst is None or not end.path.startswith(ctx.inst.path):
        return 0
    groups = _INDEX.findall(end.path[len(ctx.inst.path) :])
    return sum(group.count(",") + 1 for group in groups)


def _shape(ends: list[End]) -> tuple[int, ...]:
    """The sizes of an array of which these are the elements: all of a variable, or a part of it."""
    ty = ends[0].comp.ty
    dims = ty.dims if ty is not None and all(end.comp is ends[0].comp for end in ends) else ()
    whole = tuple(d for d in dims if d is not None)
    if prod(whole) == len(ends) > 1:
        return whole
    chosen = [len({end.index[k] for end in ends}) for k in range(len(whole))]
    part = tuple(n for n in chosen if n > 1)
    return part if prod(part) == len(ends) else (len(ends),)


def _sized(dims: tuple[int, ...]) -> str:
    return f"has the size {' x '.join(map(str, dims))}" if dims else "is no array"


def _parts(comp: Comp | CompArray) -> Iterator[Comp]:
    return comp.elements() if isinstance(comp, CompArray) else iter((comp,))


def _of_type(comp: Comp) -> Env:
    """Of the modifications of a connector those that belong to its type: of parameters, which sizes may depend on.

    Others, starts and bindings of variables, stay behind.
    """
    if comp.is_primitive:
        return ()
    kept: list[Mod] = []
    for mod in comp.env:
        names = [] if mod.implied else [n for n in mod.spec.subs if _is_fixed(comp.node.table.get(n))]
        if names and mod.spec.binding is None:
            kept.append(mod.only(names))
    return tuple(kept)


def _is_fixed(element: Element | None) -> bool:
    return element is not None and not element.is_class and element.component.variability in ("parameter", "constant")


def has_connect(items: Any) -> bool:
    for item in items:
        match item:
            case tree.Connect():
                return True
            case tree.CallEquation() if item.call.function.names[0] == "Connections":
                return True
            case tree.ForEquation() if has_connect(item.body):
                return True
            case tree.IfEquation() if _has_connect_if(item):
                return True
    return False


def _has_connect_if(item: tree.IfEquation) -> bool:
    return any(has_connect(body) for _, body in item.branches) or has_connect(item.otherwise)

"""Connect clauses of the instance tree: gathered first, turned into connection sets, streams and a spanning forest.

Order matters: all connects are collected before any equation is elaborated, because equations ask back
(`inStream`, `cardinality`, `Connections.isRoot`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity
from kilohertz.ir import build
from kilohertz.ir.expr import Array, Bool, Expr, Index, Int, Ref
from kilohertz.ir.flat import Equality, Equation
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.connecting.connect_sets import (
    FLOW,
    PARAMETER,
    POTENTIAL,
    STREAM,
    Connection,
    FlowLeaf,
    Leaf,
    connection_equations,
)
from kilohertz.semantics.connecting.overconstrained import Branch, BreakableEdge, Forest, Root, spanning_forest
from kilohertz.semantics.connecting.streams import StreamTable, StreamVariable
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

_KINDS = {"": POTENTIAL, "flow": FLOW, "stream": STREAM}


@dataclass(slots=True)
class End:
    """One end of a connect: a scalar connector or a primitive one (whole, or with subscripts)."""

    comp: Comp
    index: tuple[int, ...]  # into a primitive array
    outside: bool

    @property
    def path(self) -> str:
        return self.comp.path + (f"[{','.join(map(str, self.index))}]" if self.index else "")


@dataclass(slots=True)
class Pending:
    """A connect clause as written; expandable connectors may still be missing what it names."""

    node: tree.Connect
    ctx: Ctx
    done: bool = False


class Graph:
    """Everything that connect clauses and `Connections.*` say about one model."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self.pending: list[Pending] = []
        self.links: list[tuple[End, End, Origin]] = []
        self.roots: list[Root] = []
        self.potential_roots: list[Root] = []
        self.branches: list[Branch] = []
        self.nodes: dict[str, None] = {}
        self.counts: dict[str, int] = {}
        self.forest: Forest | None = None
        self.streams: StreamTable | None = None
        self.equations: list[Equation] = []
        self.connected: set[str] = set()  # paths inside expandable connectors that take part
        self.bus_links: list[tuple[Comp, Comp]] = []

    # -------------------------------------------------------------------------------------------------------- gathering

    def gather(self, items: Any, ctx: Ctx) -> None:
        """Note the connects and graph statements among equations."""
        for item in items:
            match item:
                case tree.Connect():
                    self.pending.append(Pending(item, ctx))
                case tree.CallEquation() if item.call.function.names[0] == "Connections":
                    self._graph_call(item.call, ctx)
                case tree.ForEquation() if _has_connect(item.body):
                    self._gather_for(list(item.iterators), item, ctx)
                case tree.IfEquation() if _has_connect_if(item):
                    self._gather_if(item, ctx)

    def _gather_for(self, iterators: list[tree.Iterator], item: tree.ForEquation, ctx: Ctx) -> None:
        if not iterators:
            self.gather(item.body, ctx)
            return
        for value in self.elaborator.loops.iteration_values(iterators[0], item.body, ctx):
            self._gather_for(iterators[1:], item, ctx.with_iterator(iterators[0].name, value))

    def _gather_if(self, item: tree.IfEquation, ctx: Ctx) -> None:
        for condition, body in item.branches:
            value = self.elaborator.evaluation.constant(condition, ctx, "the condition around a connect")
            if value:
                self.gather(body, ctx)
                return
        self.gather(item.otherwise, ctx)

    def _graph_call(self, call: tree.Call, ctx: Ctx) -> None:
        name = call.function.names[-1]
        origin = Origin((ctx.span(call),), ctx.inst.path if ctx.inst is not None else "")
        paths = [self._node_paths(a, ctx) for a in call.args[: 2 if name == "branch" else 1]]
        for path in (p for group in paths for p in group):
            self.nodes[path] = None
        match name:
            case "branch":
                self.branches += [Branch(a, b, origin) for a, b in zip(*paths, strict=True)]
            case "root":
                self.roots += [Root(p, 0, origin) for p in paths[0]]
            case "potentialRoot":
                priority = 0
                given = list(call.args[1:]) + [v for n, v in call.named if n == "priority"]
                if given:
                    value = self.elaborator.evaluation.constant(given[0], ctx, "the priority of a root")
                    priority = value if isinstance(value, int) else 0
                self.potential_roots += [Root(p, priority, origin) for p in paths[0]]
            case _:
                raise self.elaborator.error("S464", f"there is no `Connections.{name}`", call, ctx)

    def _node_paths(self, node: tree.Expr, ctx: Ctx) -> list[str]:
        if not isinstance(node, tree.Ref):
            raise self.elaborator.error("S465", "a connector's overdetermined part is needed here", node, ctx)
        # an overdetermined type may be an array: it is one node
        return list(dict.fromkeys(end.comp.path for end in self._ends(node, ctx) or []))

    # ------------------------------------------------------------------------------------------------ connect clauses

    def resolve(self) -> None:
        """Turn all connects into links, creating what expandable connectors are asked for."""
        while True:
            progress = False
            for pending in self.pending:
                if not pending.done and self._connect(pending):
                    pending.done = progress = True
            if self._join_buses():
                progress = True
            if not progress:
                break
        for pending in self.pending:
            if not pending.done:
                self._connect(pending, last=True)

    def _connect(self, pending: Pending, last: bool = False) -> bool:
        node, ctx = pending.node, pending.ctx
        left, right = self._both_ends(node, ctx)
        if left is None and right is None:
            if last:
                raise self.elaborator.error(
                    "S454", "neither side of this connect is declared anywhere, so its type is not known", node, ctx
                )
            return False
        if left is None:
            left = self._created(node.left, right or [], ctx)
        elif right is None:
            right = self._created(node.right, left, ctx)
        assert left is not None and right is not None
        if left == [] or right == []:
            return True
        if len(left) != len(right):
            raise self.elaborator.error(
                "S455", f"arrays of {len(left)} and {len(right)} connectors cannot be connected", node, ctx
            )
        origin = Origin((ctx.span(node),), ctx.inst.path if ctx.inst is not None else "")
        for a, b in zip(left, right, strict=True):
            for end in (a, b):
                if not _can_connect(end.comp):
                    raise self.elaborator.error("S458", f"`{end.path}` is not a connector", node, ctx)
            self._link(a, b, origin, node, ctx)
        return True

    def _both_ends(self, node: tree.Connect, ctx: Ctx) -> tuple[list[End] | None, list[End] | None]:
        """The connectors on both sides; where one side is absent, subscripts of the other do not matter."""
        try:
            left = self._ends(node.left, ctx)
        except ModelError:
            if self._ends(node.right, ctx) == []:
                return [], []
            raise
        try:
            return left, self._ends(node.right, ctx)
        except ModelError:
            if left == []:
                return [], []
            raise

    def _link(self, a: End, b: End, origin: Origin, node: tree.Connect, ctx: Ctx) -> None:
        for end in (a, b):
            self.counts[end.path] = self.counts.get(end.path, 0) + 1
            self._mark(end.comp)
        if _is_expandable(a.comp) and _is_expandable(b.comp):
            self.bus_links.append((a.comp, b.comp))
        elif _is_expandable(a.comp) != _is_expandable(b.comp) and not (a.comp.is_primitive or b.comp.is_primitive):
            self._fill_bus(a, b)
        self.links.append((a, b, origin))

    def _fill_bus(self, a: End, b: End) -> None:
        """A bus connected to an ordinary connector gets that connector's components."""
        bus, other = (a.comp, b.comp) if _is_expandable(a.comp) else (b.comp, a.comp)
        for child in other.components():
            if not bus.has(child.name):
                self._clone(child, bus, child.name)
            self.connected.add(f"{bus.path}.{child.name}")

    def _mark(self, comp: Comp) -> None:
        """The connector and, for a bus, the way to it take part."""
        at: Comp | None = comp
        while at is not None:
            self.connected.add(at.path)
            at = at.parent
            if at is not None and not _is_expandable(at):
                break

    def _ends(self, ref: tree.Ref, ctx: Ctx) -> list[End] | None:
        """The connectors a reference names; [] where a component is absent, None where a bus lacks it so far."""
        inst = ctx.inst
        assert inst is not None
        name = ref.names[0]
        found = ctx.view.lookup(name)
        if isinstance(found, ClassNode) or found is None or not inst.has(name):
            raise self.elaborator.error("S201", f"there is no component `{name}` to connect", ref, ctx)
        first = inst.child(name)
        decl = inst.node.table[name].component
        own = first is not None and _is_connector(first) and not (decl.outer and not decl.inner)
        return self._walk(first, ref, 0, ctx, own)

    def _walk(self, comp: Comp | CompArray | None, ref: tree.Ref, k: int, ctx: Ctx, outside: bool) -> list[End] | None:
        if comp is None:
            return []
        subs = ref.subs[k] if ref.subs is not None else ()
        if isinstance(comp, CompArray):
            ends: list[End] = []
            for element in self._selected(comp, subs, ref, ctx):
                inner = self._walk_on(element, ref, k, ctx, outside)
                if inner is None:
                    return None
                ends += inner
            return ends
        if comp.is_primitive:
            if k + 1 < len(ref.names):
                raise self.elaborator.error("S205", f"`{comp.path}` has no `{ref.names[k + 1]}`", ref, ctx)
            return self._primitive_ends(comp, subs, ref, ctx, outside)
        return self._walk_on(comp, ref, k, ctx, outside)

    def _walk_on(self, comp: Comp, ref: tree.Ref, k: int, ctx: Ctx, outside: bool) -> list[End] | None:
        if k + 1 == len(ref.names):
            return [End(comp, (), outside)]
        name = ref.names[k + 1]
        if not comp.has(name):
            if _is_expandable(comp):
                return None
            names = [n for n, e in comp.node.table.items() if not e.is_class]
            raise self.elaborator.names.no_member(comp.path, name, names, ref, ctx)
        return self._walk(comp.child(name), ref, k + 1, ctx, outside)

    def _selected(self, array: CompArray, subs: tuple[tree.Expr, ...], ref: tree.Ref, ctx: Ctx) -> Iterator[Comp]:
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

    def _primitive_ends(
        self, comp: Comp, subs: tuple[tree.Expr, ...], ref: tree.Ref, ctx: Ctx, outside: bool
    ) -> list[End]:
        assert comp.ty is not None
        dims = tuple(d for d in comp.ty.dims if d is not None)
        if not dims:
            return [End(comp, (), outside)]
        return [End(comp, index, outside) for index in self._indices(dims, subs, ref, ctx)]

    # ------------------------------------------------------------------------------------------ expandable connectors

    def _created(self, ref: tree.Ref, others: list[End], ctx: Ctx) -> list[End]:
        """The missing element of a bus, made after what it is connected to (MLS 9.1.3)."""
        if not others:
            return []
        inst = ctx.inst
        assert inst is not None
        comp = inst.child(ref.names[0])
        outside = comp is not None and _is_connector(comp)
        return self._created_below(comp, ref, 0, others, outside, ctx)

    def _created_below(
        self, comp: Comp | CompArray | None, ref: tree.Ref, k: int, others: list[End], outside: bool, ctx: Ctx
    ) -> list[End]:
        """The rest of a reference from its k-th name on; elements of an array of buses share the others among them."""
        if comp is None:
            return []
        subs = ref.subs[k] if ref.subs is not None else ()
        last = k + 1 == len(ref.names)
        if isinstance(comp, CompArray):
            chosen = list(self._selected(comp, subs, ref, ctx))
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
                self._primitive_ends(comp, subs, ref, ctx, outside) if comp.is_primitive else [End(comp, (), outside)]
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
        """`bus.x[2]` makes an array as large as the largest subscript any connect of this instance uses (MLS 9.1.3)."""
        sizes: tuple[int, ...] = ()
        for pending in self.pending:
            for other in (pending.node.left, pending.node.right):
                if pending.ctx.inst is not ctx.inst or other.names != ref.names or not (other.subs and other.subs[-1]):
                    continue
                values = [self.elaborator.evaluation.constant(s, pending.ctx, "a subscript") for s in other.subs[-1]]
                index = tuple(v if isinstance(v, int) else 0 for v in values)
                sizes = index if not sizes else tuple(map(max, sizes, index))
        return sizes

    def _clone_all(self, others: list[End], bus: Comp, name: str, sizes: tuple[int, ...]) -> Comp | CompArray:
        first = others[0]
        if sizes and len(others) == 1:
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
                comp.ty = comp.ty.scalar() if len(others) == 1 else comp.ty.scalar().array_of(len(others))
            return comp
        proto = self._clone(first.comp, bus, name)
        assert isinstance(proto, Comp)
        array = CompArray(proto, (len(others),))
        bus.children[name] = array
        return array

    def _clone(self, model: Comp | CompArray, bus: Comp, name: str) -> Comp | CompArray:
        path = f"{bus.path}.{name}"
        source = model.proto if isinstance(model, CompArray) else model
        # its own modifications stay behind: only the type comes along
        comp = Comp(source.world, source.node, path, bus, name, (), source.element, source.variability)
        comp.decl, comp.is_primitive, comp.ty, comp.connection = (
            source.decl,
            source.is_primitive,
            source.ty,
            source.connection,
        )
        made: Comp | CompArray = CompArray(comp, model.dims) if isinstance(model, CompArray) else comp
        bus.children[name] = made
        return made

    def _join_buses(self) -> bool:
        """Connected buses have the same elements; True if one got a new one."""
        changed = False
        for a, b in self.bus_links:
            for here, there in ((a, b), (b, a)):
                for child in list(here.components()):
                    if child.path in self.connected and not there.has(child.name):
                        self._mark(there)
                        made = self._clone(child, there, child.name)
                        self.connected.add(made.path)
                        changed = True
                    elif child.path in self.connected:
                        changed = self._join_element(child, there.child(child.name)) or changed
        return changed

    def _join_element(self, here: Comp | CompArray, there: Comp | CompArray | None) -> bool:
        """An element both buses have; nested buses are joined in turn."""
        if there is None:
            return False
        nested = isinstance(here, Comp) and isinstance(there, Comp) and _is_expandable(here) and _is_expandable(there)
        if nested and (here, there) not in self.bus_links and (there, here) not in self.bus_links:
            self.bus_links.append((here, there))  # type: ignore[arg-type]
            return True
        if there.path in self.connected:
            return False
        self.connected.add(there.path)
        return True

    def mark_used(self, comp: Comp) -> None:
        """What equations and bindings of a class name in its buses is there, even if nobody connects it."""
        if comp.node.is_expandable:
            return
        buses = {c.name: c for c in comp.components() if isinstance(c, Comp) and _is_expandable(c)}
        if not buses:
            return
        declared = [e.component.modification for e in comp.node.table.values() if not e.is_class]
        equations = [i for s, _ in comp.node.sections for i in s.items if not _has_connect((i,))]
        for ref in tree.refs((*declared, *equations)):
            bus = buses.get(ref.names[0])
            for name in ref.names[1:]:
                if bus is None or not bus.has(name):
                    break
                child = bus.child(name)
                if child is not None:
                    self._mark(child.proto if isinstance(child, CompArray) else child)
                bus = child if isinstance(child, Comp) and _is_expandable(child) else None

    def unused(self, comp: Comp | CompArray) -> bool:
        """Declared in an expandable connector, but nobody connects it: it is not there (MLS 9.1.3)."""
        at: Comp | CompArray = comp
        while at.parent is not None:
            if _is_expandable(at.parent):
                return at.path not in self.connected and not _is_expandable(at)
            at = at.parent
        return False

    def in_bus(self, comp: Comp) -> bool:
        """Whether a variable belongs to an expandable connector."""
        at = comp.parent
        while at is not None and _is_connector(at):
            if _is_expandable(at):
                return True
            at = at.parent
        return False

    # --------------------------------------------------------------------------------------------------------- results

    def finish(self, flow_leaves: list[FlowLeaf], streams: dict[str, StreamVariable]) -> None:
        """Spanning forest, connection equations and stream expressions."""
        edges = self._overdetermined_edges()
        breakable = [BreakableEdge(i, a.path, b.path, o) for i, (_, a, b, o) in enumerate(edges)]
        for _, a, b, _ in edges:
            self.nodes[a.path] = self.nodes[b.path] = None
        self.forest = spanning_forest(list(self.nodes), self.roots, self.potential_roots, self.branches, breakable)
        self._report(self.forest.diagnostics)
        dropped: dict[int, list[tuple[Comp, Comp]]] = {}
        for i, (link, a, b, origin) in enumerate(edges):
            if i in self.forest.broken:
                self._constraint(a, b, origin)
            if i in self.forest.broken or i in self.forest.redundant:
                dropped.setdefault(link, []).append((a, b))
        connections = [self._connection(k, dropped.get(k, [])) for k in range(len(self.links))]
        result = connection_equations(connections, flow_leaves)
        self._report(result.diagnostics)
        self.equations += result.equations
        self.equations += result.asserts
        self.streams = StreamTable(result.stream_sets, streams)
        self.equations += self.streams.equations

    def _report(self, diagnostics: Any) -> None:
        errors = [d for d in diagnostics if d.severity is Severity.ERROR]
        if errors:
            raise ModelError(*errors)
        self.elaborator.world.warnings.extend(diagnostics)

    def _overdetermined_edges(self) -> list[tuple[int, Comp, Comp, Origin]]:
        edges = []
        for k, (a, b, origin) in enumerate(self.links):
            for x, y in _overdetermined_pairs(a.comp, b.comp):
                edges.append((k, x, y, origin))
        return edges

    def _constraint(self, a: Comp, b: Comp, origin: Origin) -> None:
        """`equalityConstraint(a, b) = zeros(n)` in place of a broken connection (MLS 9.4.1)."""
        elaborator = self.elaborator
        function = a.node.member("equalityConstraint")
        assert isinstance(function, ClassNode)
        here = Ctx(function.view, None)
        at = tree.Colon(function.definition.start, function.definition.end)
        residual = elaborator.calls.apply(
            function, [elaborator.names.whole(a), elaborator.names.whole(b)], {}, at, here
        )
        self.equations.append(Equality(residual, build.zeros(residual.ty), origin))

    def _connection(self, k: int, dropped: list[tuple[Comp, Comp]]) -> Connection:
        a, b, origin = self.links[k]
        skip = {x.path for pair in dropped for x in pair}
        left, right = dict(self._leaves(a, skip)), dict(self._leaves(b, skip))
        names = [n for n in left if n in right]
        if len(names) != max(len(left), len(right)) and not (_is_expandable(a.comp) or _is_expandable(b.comp)):
            missing = sorted(set(left) ^ set(right))
            raise ModelError(
                Diagnostic(
                    "S457",
                    f"`{a.path}` and `{b.path}` do not match: `{missing[0].lstrip('.')}` is only on one side",
                    origin.spans[0] if origin.spans else None,
                    notes=(Note(f"`{a.comp.node.full_name}` and `{b.comp.node.full_name}`"),),
                )
            )
        return Connection(tuple(left[n] for n in names), tuple(right[n] for n in names), a.outside, b.outside, origin)

    def _leaves(self, end: End, skip: set[str]) -> Iterator[tuple[str, Leaf]]:
        if end.comp.is_primitive:
            yield "", self.leaf(end.comp, end.index)
            return
        yield from self._leaves_in(end.comp, "", skip)

    def _leaves_in(self, comp: Comp, name: str, skip: set[str]) -> Iterator[tuple[str, Leaf]]:
        for child in comp.components():
            if child.path in skip or (_is_expandable(comp) and self.unused(child)):
                continue
            inner = f"{name}.{child.name}"
            for k, part in enumerate(child.elements() if isinstance(child, CompArray) else (child,)):
                label = f"{inner}[{k}]" if isinstance(child, CompArray) else inner
                if part.is_primitive:
                    if part.variability != "constant":
                        yield label, self.leaf(part)
                else:
                    yield from self._leaves_in(part, label, skip)

    def leaf(self, comp: Comp, index: tuple[int, ...] = ()) -> Leaf:
        assert comp.ty is not None
        ref = self.elaborator.names.variable(comp)
        kind = PARAMETER if comp.variability in ("parameter", "constant") else _KINDS[comp.connection]
        # a bus takes its direction from what it is connected to; so does a protected connector (MLS 9.3)
        free = comp.protected or (comp.parent is not None and _is_expandable(comp.parent))
        causality = "" if free else comp.causality
        if not index:
            return Leaf(comp.path, comp.ty, kind, ref, causality)
        name = f"{comp.path}[{','.join(map(str, index))}]"
        element = build.index(ref, tuple(Int(i) for i in index))
        return Leaf(name, element.ty, kind, element, causality)

    # ------------------------------------------------------------------------------------------------------ questions

    def query(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        """cardinality(c), Connections.isRoot(R), Connections.rooted(R)."""
        arg = node.args[0] if node.args else None
        if not isinstance(arg, tree.Ref):
            raise self.elaborator.error("S465", f"`{name}` needs a connector", node, ctx)
        if ctx.inst is None:
            raise self.elaborator.error("S465", f"`{name}` stands only in a model", node, ctx)
        ends = self._ends(arg, ctx) or []
        if name == "cardinality":
            return Int(sum(self.counts.get(e.path, 0) for e in ends))
        assert self.forest is not None
        path = ends[0].comp.path if ends else ""  # absent, or an array without elements
        if path not in self.nodes:
            return Bool(False)
        return Bool(self.forest.is_root(path) if name.endswith("isRoot") else self.forest.rooted(path))

    def stream(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        """inStream(port.h), actualStream(port.h)."""
        arg = node.args[0]
        expr = self.elaborator.expr(arg, ctx)
        for leaf in _variables_of(expr):
            comp = self.elaborator.evaluation.variables.get(leaf.name)
            if comp is not None and comp.connection != "stream":
                raise self.elaborator.error(
                    "S468", f"`{name}` needs a stream variable, `{leaf.name}` is none", node, ctx
                )
        return build.map_expr(expr, lambda e: self._stream_of(name, e))

    def _stream_of(self, name: str, expr: Expr) -> Expr:
        if not isinstance(expr, Ref) or self.streams is None:
            return expr
        comp = self.elaborator.evaluation.variables.get(expr.name)
        if comp is None or comp.connection != "stream":
            return expr
        return self.streams.in_stream(expr.name) if name == "inStream" else self.streams.actual_stream(expr.name)


def _variables_of(expr: Expr) -> list[Ref]:
    """The variables that an expression names, alone or gathered in arrays; empty for other expressions."""
    match expr:
        case Ref():
            return [expr]
        case Index(base):
            return _variables_of(base)
        case Array(elements):
            return [leaf for e in elements for leaf in _variables_of(e)]
    return []


def _is_connector(comp: Comp | CompArray) -> bool:
    return comp.node.kind == "connector" or _through_short(comp.node)


def _through_short(node: ClassNode) -> bool:
    """A class that only renames or extends a connector counts as one."""
    return "connector" in node.kinds


def _can_connect(comp: Comp) -> bool:
    """A connector, or part of one."""
    at: Comp | None = comp
    while at is not None:
        if _is_connector(at):
            return True
        at = at.parent
    return False


def _is_expandable(comp: Comp | CompArray) -> bool:
    return not (isinstance(comp, Comp) and comp.is_primitive) and comp.node.is_expandable


def _overdetermined(comp: Comp) -> bool:
    if comp.node.kind not in ("record", "type", "operator record"):
        return False
    return isinstance(comp.node.member("equalityConstraint"), ClassNode)


def _overdetermined_pairs(a: Comp, b: Comp) -> Iterator[tuple[Comp, Comp]]:
    """Pairs of overdetermined parts of two connectors of one class."""
    if _overdetermined(a) and _overdetermined(b):
        yield a, b
        return
    if a.is_primitive or b.is_primitive:
        return
    for x in a.components():
        y = b.child(x.name) if b.has(x.name) else None
        if isinstance(x, Comp) and isinstance(y, Comp):
            yield from _overdetermined_pairs(x, y)
        elif isinstance(x, CompArray) and isinstance(y, CompArray) and x.dims == y.dims:
            for left, right in zip(x.elements(), y.elements(), strict=True):
                yield from _overdetermined_pairs(left, right)


def _has_connect(items: Any) -> bool:
    for item in items:
        match item:
            case tree.Connect():
                return True
            case tree.CallEquation() if item.call.function.names[0] == "Connections":
                return True
            case tree.ForEquation() if _has_connect(item.body):
                return True
            case tree.IfEquation() if _has_connect_if(item):
                return True
    return False


def _has_connect_if(item: tree.IfEquation) -> bool:
    return any(_has_connect(body) for _, body in item.branches) or _has_connect(item.otherwise)

"""Connect clauses of the instance tree: gathered first, turned into connection sets, streams and a spanning forest.

Order matters: all connects are collected before any equation is elaborated, because equations ask back
(`inStream`, `cardinality`, `Connections.isRoot`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, Origin, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Array, Bool, Builtin, Expr, Index, Int, Ref
from kilohertz.ir.flat import Equality, Equation
from kilohertz.ir.types import BOOLEAN, INTEGER
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode
from kilohertz.semantics.connecting.agreement import check_direction, check_pair
from kilohertz.semantics.connecting.buses import Buses, Pending, has_connect
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
from kilohertz.semantics.connecting.ends import End, EndFinder, can_connect, is_expandable
from kilohertz.semantics.connecting.overconstrained import Branch, BreakableEdge, Forest, Root, spanning_forest
from kilohertz.semantics.connecting.streams import StreamTable, StreamVariable
from kilohertz.semantics.instances import Comp, CompArray
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

_KINDS = {"": POTENTIAL, "flow": FLOW, "stream": STREAM}


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
        self._empty: set[str] = set()  # of those: arrays without elements
        self.counts: dict[str, int] = {}
        self.forest: Forest | None = None
        self._indexed: list[tuple[str, tree.Call, Ctx]] = []  # variables that uniqueRootIndices gives
        self.indices: dict[str, Array] = {}  # their values, which subscripts may name
        self.streams: StreamTable | None = None
        self.equations: list[Equation] = []
        self.n_early = 0  # questions before connections are known: for the sizes of what is asked for
        self._paired: set[tuple[object, ...]] = set()
        self.ends = EndFinder(elaborator)
        self.buses = Buses(elaborator, self.ends, self.pending)

    # -------------------------------------------------------------------------------------------------------- gathering

    def gather(self, items: Any, ctx: Ctx) -> None:
        """Note the connects and graph statements among equations."""
        for item in items:
            match item:
                case tree.Connect():
                    self.pending.append(Pending(item, ctx))
                case tree.CallEquation() if item.call.function.names[0] == "Connections":
                    self._graph_call(item.call, ctx)
                case tree.Equality(left=tree.Ref() as left, right=tree.Call() as call) if _gives_indices(call):
                    head = f"{ctx.inst.path}." if ctx.inst is not None and ctx.inst.path else ""
                    self._indexed.append((head + ".".join(left.names), call, ctx))
                case tree.ForEquation() if has_connect(item.body):
                    self._gather_for(list(item.iterators), item, ctx)
                case tree.IfEquation() if has_connect((item,)):
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
        if name not in ("branch", "root", "potentialRoot", "uniqueRoot"):
            raise self.elaborator.error("S464", f"there is no `Connections.{name}`", call, ctx)
        paths = [self._node_paths(a, ctx) for a in call.args[: 2 if name == "branch" else 1]]
        for path in (p for group in paths for p in group):
            self.nodes[path] = None
        match name:
            case "branch":
                self.branches += [Branch(a, b, origin) for a, b in zip(*paths, strict=True)]
            case "root":
                self.roots += [Root(p, 0, origin) for p in paths[0]]
            case "uniqueRoot":
                message = self._message(call, 1, ctx)
                self.roots += [Root(p, 0, origin, is_unique=True, message=message) for p in paths[0]]
            case "potentialRoot":
                priority = 0
                priorities = list(call.args[1:]) + [v for n, v in call.named if n == "priority"]
                if priorities:
                    value = self.elaborator.evaluation.constant(priorities[0], ctx, "the priority of a root")
                    priority = value if isinstance(value, int) else 0
                self.potential_roots += [Root(p, priority, origin) for p in paths[0]]

    def _message(self, call: tree.Call, at: int, ctx: Ctx) -> str:
        """The text that an operator of unique roots is given, by position or name."""
        given = [*call.args[at:], *(v for n, v in call.named if n == "message")]
        value = self.elaborator.evaluation.constant(given[0], ctx, "the message of a unique root") if given else ""
        return value if isinstance(value, str) else ""

    def _node_paths(self, node: tree.Expr, ctx: Ctx) -> list[str]:
        if not isinstance(node, tree.Ref):
            raise self.elaborator.error("S465", "a connector's overdetermined part is needed here", node, ctx)
        ends = self.ends.ends(node, ctx) or []
        if ends and not any(is_overdetermined(end.comp) for end in ends):
            text = "an overdetermined part of a connector is needed here: one with an `equalityConstraint`"
            raise self.elaborator.error("S465", text, node, ctx)
        # an overdetermined type may be an array: it is one node
        self._empty |= {end.comp.path for end in ends if _is_empty(end.comp)}
        return list(dict.fromkeys(end.comp.path for end in ends))

    # ------------------------------------------------------------------------------------------------ connect clauses

    def resolve(self) -> None:
        """Turn all connects into links, creating what expandable connectors are asked for."""
        while True:
            progress = False
            for pending in self.pending:
                if not pending.done and self._connect(pending):
                    pending.done = progress = True
            if self.buses.join():
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
        if not last and not self.buses.can_create(node.left if left is None else node.right, ctx):
            return False  # another bus may bring what is missing on the way
        if left is None:
            left = self.buses.created(node.left, right or [], node.right, ctx)
        elif right is None:
            right = self.buses.created(node.right, left, node.left, ctx)
        assert left is not None and right is not None
        if left == [] or right == []:
            return True
        if len(left) != len(right) and self.buses.widened((left, right), (node.left, node.right)):
            left, right = self._both_ends(node, ctx)
            assert left is not None and right is not None
        if len(left) != len(right):
            raise self.elaborator.error(
                "S455", f"arrays of {len(left)} and {len(right)} connectors cannot be connected", node, ctx
            )
        origin = Origin((ctx.span(node),), ctx.inst.path if ctx.inst is not None else "")
        for a, b in zip(left, right, strict=True):
            for end in (a, b):
                if can_connect(end.comp):
                    continue
                text = f"`{end.path}` is not a connector"
                if not end.comp.is_primitive or not end.comp.causality:
                    raise self.elaborator.error("S458", text, node, ctx)
                # libraries in use connect what is declared `input Real` or `output Real`: signals all the same
                self.elaborator.world.record(Diagnostic("S458", text, ctx.span(node), severity=Severity.WARNING))
            self._link(a, b, origin, node, ctx)
        return True

    def _both_ends(self, node: tree.Connect, ctx: Ctx) -> tuple[list[End] | None, list[End] | None]:
        """The connectors on both sides; where one side is absent, subscripts of the other do not matter."""
        try:
            left = self.ends.ends(node.left, ctx)
        except ModelError:
            if self.ends.ends(node.right, ctx) == []:
                return [], []
            raise
        try:
            return left, self.ends.ends(node.right, ctx)
        except ModelError:
            if left == []:
                return [], []
            raise

    def _link(self, a: End, b: End, origin: Origin, node: tree.Connect, ctx: Ctx) -> None:
        for end in (a, b):
            self.counts[end.path] = self.counts.get(end.path, 0) + 1
            self.buses.mark(end.comp)
        if is_expandable(a.comp) and is_expandable(b.comp):
            self.buses.links.append((a.comp, b.comp))
        elif is_expandable(a.comp) != is_expandable(b.comp) and not (a.comp.is_primitive or b.comp.is_primitive):
            self.buses.fill(a, b)
        self.links.append((a, b, origin))

    # --------------------------------------------------------------------------------------------------------- results

    def finish(self, flow_leaves: list[FlowLeaf], streams: dict[str, StreamVariable]) -> None:
        """Spanning forest, connection equations and stream expressions."""
        edges = self._overdetermined_edges()
        breakable = [BreakableEdge(i, a.path, b.path, o) for i, (_, a, b, o) in enumerate(edges)]
        for _, a, b, _ in edges:
            self.nodes[a.path] = self.nodes[b.path] = None
            self._empty |= {comp.path for comp in (a, b) if _is_empty(comp)}
        self.forest = spanning_forest(
            list(self.nodes), self.roots, self.potential_roots, self.branches, breakable, self._empty
        )
        self._report(self.forest.diagnostics)
        for path, call, ctx in self._indexed:
            value = self.root_indices("Connections.uniqueRootIndices", call, ctx)
            if isinstance(value, Array):
                self.indices[path] = value
        dropped: dict[int, list[tuple[Comp, Comp]]] = {}
        for i, (link, a, b, origin) in enumerate(edges):
            if i in self.forest.broken:
                self._constraint(a, b, origin)
            if i in self.forest.broken or i in self.forest.redundant:
                dropped.setdefault(link, []).append((a, b))
        connections = [self._connection(k, dropped.get(k, [])) for k in range(len(self.links))]
        result = connection_equations(connections, flow_leaves, self.elaborator.machines.take_turns)
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
        self.equations.append(Equality(residual, make.zeros(residual.ty), origin))

    def _connection(self, k: int, dropped: list[tuple[Comp, Comp]]) -> Connection:
        a, b, origin = self.links[k]
        skip = {x.path for pair in dropped for x in pair}
        left, right = dict(self._leaves(a, skip)), dict(self._leaves(b, skip))
        if left.keys() != right.keys() and a.comp.node.definition is b.comp.node.definition:
            # of one class: a parameter on one side may be redeclared as a constant on the other
            left |= {n: leaf for n, leaf in self._leaves(a, skip, constants=True) if n in right}
            right |= {n: leaf for n, leaf in self._leaves(b, skip, constants=True) if n in left}
        self._check_pair(a.comp, b.comp, origin)
        names = [n for n in left if n in right]
        if len(names) != max(len(left), len(right)) and not (is_expandable(a.comp) or is_expandable(b.comp)):
            missing = sorted(set(left) ^ set(right))
            raise ModelError(
                Diagnostic(
                    "S457",
                    f"`{a.path}` and `{b.path}` do not match: `{missing[0].lstrip('.')}` is only on one side",
                    origin.spans[0] if origin.spans else None,
                    notes=(Note(f"`{a.comp.node.written_name}` and `{b.comp.node.written_name}`"),),
                )
            )
        return Connection(tuple(left[n] for n in names), tuple(right[n] for n in names), a.outside, b.outside, origin)

    def _check_pair(self, a: Comp, b: Comp, origin: Origin) -> None:
        """Rules on two connectors, once for each two classes and, where they have constants, for each two of them."""
        if a.is_primitive and b.is_primitive and origin.spans:
            # a warning: libraries in use connect plain Reals with signals
            for one in check_direction(a, b, origin.spans[0], Severity.WARNING):
                self.elaborator.world.record(one)
        if a.is_primitive or b.is_primitive or is_expandable(a) or is_expandable(b):
            return
        classes = (id(a.node), id(b.node))
        if classes in self._paired or not origin.spans:
            return
        key = (*classes, a.env, b.env) if _has_constants(a) else classes
        if key in self._paired:
            return
        self._paired.add(key)
        names = self.elaborator.names

        def value(comp: Comp) -> object:
            return self.elaborator.evaluation.try_value(names.variable(comp))

        for one in check_pair(a, b, value, origin.spans[0]):
            self.elaborator.world.record(one)

    def _leaves(self, end: End, skip: set[str], constants: bool = False) -> Iterator[tuple[str, Leaf]]:
        if end.comp.is_primitive:
            yield "", self.leaf(end.comp, end.index)
            return
        yield from self._leaves_in(end.comp, "", skip, constants)

    def _leaves_in(self, comp: Comp, name: str, skip: set[str], constants: bool) -> Iterator[tuple[str, Leaf]]:
        for child in comp.components():
            if child.path in skip or (is_expandable(comp) and self.buses.unused(child)):
                continue
            inner = f"{name}.{child.name}"
            for k, part in enumerate(child.elements() if isinstance(child, CompArray) else (child,)):
                if is_expandable(comp) and self.buses.unused(part):
                    continue
                label = f"{inner}[{k}]" if isinstance(child, CompArray) else inner
                if part.is_primitive:
                    if constants or part.variability != "constant":
                        yield label, self.leaf(part)
                else:
                    yield from self._leaves_in(part, label, skip, constants)

    def leaf(self, comp: Comp, index: tuple[int, ...] = ()) -> Leaf:
        assert comp.ty is not None
        ref = self.elaborator.names.variable(comp)
        kind = PARAMETER if comp.variability in ("parameter", "constant") else _KINDS[comp.connection]
        # a bus takes its direction from what it is connected to; so does a protected connector (MLS 9.3)
        free = comp.protected or (comp.parent is not None and is_expandable(comp.parent))
        causality = "" if free else comp.causality
        if not index:
            return Leaf(comp.path, comp.ty, kind, ref, causality)
        name = f"{comp.path}[{','.join(map(str, index))}]"
        element = make.index(ref, tuple(Int(i) for i in index))
        return Leaf(name, element.ty, kind, element, causality)

    # ------------------------------------------------------------------------------------------------------ questions

    def query(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        """cardinality(c), Connections.isRoot(R), Connections.rooted(R)."""
        arg = node.args[0] if node.args else None
        if not isinstance(arg, tree.Ref):
            raise self.elaborator.error("S465", f"`{name}` needs a connector", node, ctx)
        if ctx.inst is None:
            raise self.elaborator.error("S465", f"`{name}` stands only in a model", node, ctx)
        ends = self.ends.ends(arg, ctx) or []
        self.n_early += self.forest is None
        if name == "cardinality":
            if any(not can_connect(e.comp) for e in ends):
                raise self.elaborator.error("S465", "`cardinality` needs a connector", node, ctx)
            return Int(sum(self.counts.get(e.path, 0) for e in ends))
        if self.forest is None:
            return Builtin(name, (), BOOLEAN)  # no size can depend on it
        path = ends[0].comp.path if ends else ""  # absent, or an array without elements
        if path not in self.nodes:
            return Bool(False)
        return Bool(self.forest.is_root(path) if name == "Connections.isRoot" else self.forest.rooted(path))

    def root_indices(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        """Connections.uniqueRootIndices(roots, nodes, message): by node the root it is joined with, then the others."""
        if len(node.args) < 2 or ctx.inst is None:
            raise self.elaborator.error("S465", f"`{name}` needs roots and nodes of a model", node, ctx)
        roots, nodes = (self._node_paths(a, ctx) for a in node.args[:2])
        if self.forest is None:
            self.n_early += 1
            return make.array([Int(i) for i in range(1, len(roots) + 1)], INTEGER)
        number = {root: i for i, root in enumerate(roots, 1)}
        found = [number.get(self.forest.root_of.get(n, ""), 0) for n in nodes]
        if 0 in found or len(set(found)) < len(found):
            lost = nodes[found.index(0)] if 0 in found else nodes[-1]
            notes = (Note(" ".join(message.split())),) if (message := self._message(node, 2, ctx)) else ()
            text = f"`{lost}` is not joined with a unique root of its own"
            raise ModelError(Diagnostic("S479", text, ctx.span(node), notes=notes))
        others = [i for i in range(1, len(roots) + 1) if i not in found]
        return make.array([Int(i) for i in (*found, *others)], INTEGER)

    def stream(self, name: str, node: tree.Call, ctx: Ctx) -> Expr:
        """inStream(port.h), actualStream(port.h)."""
        arg = node.args[0]
        expr = self.elaborator.expr(arg, ctx)
        if make.is_literal(expr) and 0 not in expr.ty.dims:
            raise self.elaborator.error("S468", f"`{name}` needs a stream variable, this is a number", node, ctx)
        for leaf in _variables_of(expr):
            comp = self.elaborator.evaluation.variables.get(leaf.name)
            if comp is not None and comp.connection != "stream":
                raise self.elaborator.error(
                    "S468", f"`{name}` needs a stream variable, `{leaf.name}` is none", node, ctx
                )
        return traverse.map_expr(expr, lambda e: self._stream_of(name, e))

    def _stream_of(self, name: str, expr: Expr) -> Expr:
        comp = self.elaborator.evaluation.variables.get(expr.name) if isinstance(expr, Ref) else None
        if not isinstance(expr, Ref) or comp is None or comp.connection != "stream":
            return expr
        if self.streams is None:
            self.n_early += 1
            return expr
        return self.streams.in_stream(expr.name) if name == "inStream" else self.streams.actual_stream(expr.name)


def _has_constants(comp: Comp) -> bool:
    return any(not e.is_class and e.component.variability == "constant" for e in comp.node.table.values())


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


def is_overdetermined(comp: Comp) -> bool:
    if comp.node.kind not in ("record", "type", "operator record"):
        return False
    return isinstance(comp.node.member("equalityConstraint"), ClassNode)


def _gives_indices(call: tree.Call) -> bool:
    return call.function.names == ("Connections", "uniqueRootIndices")


def _is_empty(comp: Comp) -> bool:
    return comp.ty is not None and 0 in comp.ty.dims


def _overdetermined_pairs(a: Comp, b: Comp) -> Iterator[tuple[Comp, Comp]]:
    """Pairs of overdetermined parts of two connectors of one class."""
    if is_overdetermined(a) and is_overdetermined(b):
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

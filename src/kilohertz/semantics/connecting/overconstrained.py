"""Overconstrained connectors: the virtual connection graph and its spanning forest (MLS 9.4).

Nodes are the overdetermined records of connectors (`world.frame_b.R`).  `Connections.branch` edges always hold;
connections may be broken.  A connection is broken when it would close a loop or join two trees that both have a
definite root; its overdetermined record then gets `equalityConstraint(a, b) = zeros(n)` instead of equality.  A tree
without a definite root takes its potential root of lowest priority number.  Of equal ones MLS leaves the choice open:
the node that stands highest in the hierarchy of components is taken, then the first one.  A grid that a model declares
itself goes before the generator inside one of its plants.

A root may be *unique* (`Connections.uniqueRoot`, of libraries for state diagrams; MLS 3.6 does not have it): no other
root may be joined with it, whatever could be broken.

A loop made of connections alone (one set, connected twice) tells nothing new: the edge that closes it is *redundant*,
and nothing at all is to be generated for its overdetermined record.

Cost: near-linear; all choices follow the order of the arguments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kilohertz.base import Diagnostic, InternalError, Note, Origin, Severity
from kilohertz.base.dotted import Dotted
from kilohertz.graphs.unionfind import UnionFind


@dataclass(frozen=True, slots=True)
class Root:
    """`Connections.root(node)`, or with a priority `Connections.potentialRoot(node, priority)`."""

    node: str
    priority: int = 0
    origin: Origin = Origin()
    is_unique: bool = False
    message: str = ""  # of a unique one: what is said where it is none


@dataclass(frozen=True, slots=True)
class Branch:
    """`Connections.branch(left, right)`."""

    left: str
    right: str
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class BreakableEdge:
    """A connection of two overdetermined records; `index` is the caller's number for it."""

    index: int
    left: str
    right: str
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Forest:
    """What became of the graph: broken and redundant connections (by index), roots, and each node's way to its root."""

    broken: frozenset[int]
    redundant: frozenset[int]
    roots: tuple[str, ...]
    root_of: dict[str, str]  # by node
    depth: dict[str, int]
    branch_partners: dict[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...]

    def is_root(self, node: str) -> bool:
        """`Connections.isRoot(node)`."""
        return self._depth(node) == 0

    def rooted(self, node: str) -> bool:
        """`Connections.rooted(node)`: nearer to the root than the node at the other end of its branch."""
        partners = self.branch_partners.get(node, ())
        return all(self._depth(node) < self._depth(partner) for partner in partners)

    def _depth(self, node: str) -> int:
        if node not in self.depth:
            raise InternalError(f"{node} is not in the virtual connection graph")
        return self.depth[node]


def spanning_forest(
    nodes: Iterable[str],
    roots: Sequence[Root],
    potential_roots: Sequence[Root],
    branches: Sequence[Branch],
    connections: Sequence[BreakableEdge],
    empty: Collection[str] = (),
) -> Forest:
    """The spanning forest of the virtual connection graph.  Nodes that only edges or roots mention are added.

    `empty`: arrays without elements, which need no root.
    """
    graph = _Graph(nodes, empty)
    for root in roots:
        graph.add_root(root)
    for branch in branches:
        graph.add_branch(branch)
    redundant = graph.redundant(connections)
    broken = frozenset(c.index for c in connections if c.index not in redundant and not graph.add_connection(c))
    graph.choose_roots(potential_roots)
    return Forest(
        broken,
        redundant,
        tuple(graph.names[n] for n in graph.roots),
        graph.root_of(),
        graph.depths(),
        {graph.names[n]: tuple(graph.names[m] for m in ends) for n, ends in graph.branch_ends.items()},
        tuple(graph.diagnostics),
    )


class _Graph:
    def __init__(self, nodes: Iterable[str], empty: Collection[str]) -> None:
        self._empty = empty
        self.names: list[str] = []
        self.roots: list[int] = []
        self.branch_ends: dict[int, list[int]] = {}
        self.diagnostics: list[Diagnostic] = []
        self._number: dict[str, int] = {}
        self._edges: list[list[int]] = []  # of the forest
        self._trees = UnionFind()
        self._root_of: dict[int, Root] = {}  # by tree
        for node in nodes:
            self._node(node)

    def _node(self, name: str) -> int:
        number = self._number.get(name)
        if number is None:
            number = self._number[name] = self._trees.add()
            self.names.append(name)
            self._edges.append([])
        return number

    def add_root(self, root: Root) -> None:
        node = self._node(root.node)
        if node not in self._root_of:
            self._root_of[node] = root
            self.roots.append(node)

    def add_branch(self, branch: Branch) -> None:
        a, b = self._node(branch.left), self._node(branch.right)
        if b in self.branch_ends.get(a, ()):
            return
        first, second = self._root_of.get(self._trees.find(a)), self._root_of.get(self._trees.find(b))
        self.branch_ends.setdefault(a, []).append(b)
        self.branch_ends.setdefault(b, []).append(a)
        if self._trees.same(a, b):
            self.diagnostics.append(_closed_loop(branch))
            return
        if first is not None and second is not None:
            self.diagnostics.append(_two_roots(first, second, branch))
        self._join(a, b, first or second)

    def redundant(self, connections: Sequence[BreakableEdge]) -> frozenset[int]:
        """Connections that close a loop of connections alone."""
        ends = [(c.index, self._node(c.left), self._node(c.right)) for c in connections]
        sets = UnionFind(len(self.names))
        return frozenset(index for index, a, b in ends if not sets.union(a, b))

    def add_connection(self, edge: BreakableEdge) -> bool:
        """Keep the edge if the forest stays one; False where it must be broken."""
        a, b = self._node(edge.left), self._node(edge.right)
        first, second = self._root_of.get(self._trees.find(a)), self._root_of.get(self._trees.find(b))
        if self._trees.same(a, b):
            return False
        if first is not None and second is not None:
            if first.is_unique or second.is_unique:
                self.diagnostics.append(_two_roots(first, second, edge))
            return False
        self._join(a, b, first or second)
        return True

    def _join(self, a: int, b: int, root: Root | None) -> None:
        self._trees.union(a, b)
        self._edges[a].append(b)
        self._edges[b].append(a)
        if root is not None:
            self._root_of[self._trees.find(a)] = root

    def choose_roots(self, potential_roots: Sequence[Root]) -> None:
        """Give every tree without a definite root its best potential one; without any, its first node and a warning."""
        for root in sorted(potential_roots, key=lambda r: (r.priority, len(Dotted.read(r.node).parts))):
            node = self._node(root.node)
            self._take_root(node, root)
        for node in range(len(self.names)):
            is_taken = self._take_root(node, Root(self.names[node]))
            if is_taken and self._edges[node] and self.names[node] not in self._empty:
                self.diagnostics.append(_no_root(self.names[node]))

    def _take_root(self, node: int, root: Root) -> bool:
        tree = self._trees.find(node)
        if tree in self._root_of:
            return False
        self._root_of[tree] = root
        self.roots.append(node)
        return True

    def root_of(self) -> dict[str, str]:
        return {name: self._root_of[self._trees.find(n)].node for n, name in enumerate(self.names)}

    def depths(self) -> dict[str, int]:
        """Edges between each node and the root of its tree."""
        depth = dict.fromkeys(self.roots, 0)
        queue = list(self.roots)
        for node in queue:
            for other in self._edges[node]:
                if other not in depth:
                    depth[other] = depth[node] + 1
                    queue.append(other)
        return {self.names[node]: depth[node] for node in range(len(self.names))}


def _notes(*places: tuple[str, Origin]) -> tuple[Note, ...]:
    return tuple(Note(text, origin.spans[0]) for text, origin in places if origin.spans)


def _two_roots(first: Root, second: Root, edge: Branch | BreakableEdge) -> Diagnostic:
    how = "joined by branches that no connection breaks"
    if isinstance(edge, BreakableEdge):
        how = "a unique root is joined with no other"
    text = f"`{first.node}` and `{second.node}` are both roots, but {how}"
    span = edge.origin.spans[0] if edge.origin.spans else None
    places = ((f"root `{first.node}`", first.origin), (f"root `{second.node}`", second.origin))
    said = next((Note(" ".join(r.message.split())) for r in (first, second) if r.message), None)
    return Diagnostic("S461", text, span, "joined here", (*_notes(*places), *([said] if said is not None else [])))


def _closed_loop(branch: Branch) -> Diagnostic:
    text = f"Connections.branch(`{branch.left}`, `{branch.right}`) closes a loop that no connection could break"
    return Diagnostic("S462", text, branch.origin.spans[0] if branch.origin.spans else None)


def _no_root(node: str) -> Diagnostic:
    text = f"no root among the connectors joined with `{node}`; it is taken as the root itself"
    return Diagnostic("S463", text, severity=Severity.WARNING)

"""Where shared subexpressions are computed: each in the innermost scope that encloses all its uses.

Scopes are the function's body, the branches of an if-expression, the right side of `and`/`or`, and the body of a
comprehension.  A value used in two branches is computed once before the `if`, one used in a single branch stays there;
so nothing is computed twice.  Nothing is computed either that the model guards against: what may fail is computed in
the outermost scopes that need it whatever further conditions say, and where these are several, once in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kilohertz.ir.expr import Comprehension, Expr, IfExp, Ref
from kilohertz.ir.scopes import around, certain, common, may_fail, opens_scope, opens_scopes


class Scope:
    """A node of the tree of scopes; `lines` and `values` are filled while C is written."""

    __slots__ = ("depth", "in_loop", "lines", "parent", "results", "values")

    def __init__(self, parent: Scope | None, in_loop: bool = False) -> None:
        self.parent = parent
        self.in_loop = in_loop
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.lines: list[str] = []
        self.values: dict[int, object] = {}  # by id of the node: its C text or array
        self.results: dict[int, list[Any]] = {}  # by id of a call: its outputs


class Placement:
    """Uses, home scopes and inner scopes of every node below some roots; `parts` have roots in scopes of their own."""

    def __init__(self, roots: Iterable[Expr], top: Scope, parts: Iterable[tuple[Scope, Iterable[Expr]]] = ()) -> None:
        self.uses: dict[int, int] = {}
        self.home: dict[int, Scope] = {}
        self.apart: dict[int, dict[Scope, int]] = {}  # of what has several homes: its uses in each
        self.inner: dict[tuple[int, int, Scope], Scope] = {}  # by a node, an operand, and where the node is computed
        self.other: dict[Scope, Scope] = {}  # the two branches of an `if`
        placed = [*((root, top) for root in roots), *((root, scope) for scope, members in parts for root in members)]
        self.kept = [root for root, _ in placed]  # ids stay valid as long as the nodes live
        order = _parents_first(self.kept)
        used: dict[int, list[Scope]] = {key: [] for key in _failing(order)}
        for root, scope in placed:
            self._use(root, scope, used)
        for node in order:
            if id(node) in used or opens_scopes(node):
                self._pass_down(node, used)
            elif children := node.children():
                self._pass_on(children, self.home[id(node)], used)
        self._keep_in_loops(order)

    def is_shared(self, e: Expr, here: Scope) -> bool:
        """Whether a node is used more than once in its home around a scope."""
        apart = self.apart.get(id(e))
        if apart is None:
            return self.uses.get(id(e), 0) > 1
        home = around(here, apart)
        return home is not None and apart[home] > 1

    def home_around(self, e: Expr, here: Scope) -> Scope | None:
        """The home of a node that is a scope, or around it."""
        apart = self.apart.get(id(e))
        if apart is not None:
            return around(here, apart)
        home = self.home.get(id(e))
        return None if home is None else around(here, (home,))

    def _keep_in_loops(self, order: list[Expr]) -> None:
        """What needs an iterator is not shared outside its loop, even where two loops have the same name for it."""
        iterators = {name for node in order if isinstance(node, Comprehension) for name, _ in node.iterators}
        if not iterators:
            return
        bound: set[int] = set()
        for node in reversed(order):
            if isinstance(node, Ref):
                if node.name in iterators:
                    bound.add(id(node))
            elif any(id(child) in bound for child in node.children()):
                bound.add(id(node))
                if not self.home[id(node)].in_loop:
                    self.uses[id(node)] = 1

    def _pass_down(self, node: Expr, used: dict[int, list[Scope]]) -> None:
        """Count a node as a use of its children, in the scope where it is computed, or in each of them."""
        key, homes = id(node), [self.home[id(node)]]
        if key in used and len(places := certain(used[key], self.other)) > 1:
            homes = places
            uses = self.apart[key] = dict.fromkeys(homes, 0)
            for scope in used[key]:
                home = around(scope, uses)
                assert home is not None
                uses[home] += 1
        for here in homes:
            scopes = [self._scope_of(node, k, here) for k in range(len(node.children()))]
            if isinstance(node, IfExp):
                self.other[scopes[1]], self.other[scopes[2]] = scopes[2], scopes[1]
            for child, scope in zip(node.children(), scopes, strict=True):
                self._use(child, scope, used)

    def _pass_on(self, children: tuple[Expr, ...], here: Scope, used: dict[int, list[Scope]]) -> None:
        """The same for operands that stand where the node does, which most do."""
        uses, home = self.uses, self.home
        for child in children:
            key = id(child)
            uses[key] = uses.get(key, 0) + 1
            known = home.get(key)
            if known is None:
                home[key] = here
            elif known is not here:
                home[key] = common(known, here)
            if key in used:
                used[key].append(here)

    def _scope_of(self, node: Expr, k: int, here: Scope) -> Scope:
        if not opens_scope(node, k):
            return here
        scope = self.inner[id(node), k, here] = Scope(here, here.in_loop or isinstance(node, Comprehension))
        return scope

    def _use(self, e: Expr, scope: Scope, used: dict[int, list[Scope]]) -> None:
        key = id(e)
        if key in used:
            used[key].append(scope)
        self.uses[key] = self.uses.get(key, 0) + 1
        self.home[key] = common(self.home.get(key, scope), scope)


def _failing(order: list[Expr]) -> set[int]:
    """Nodes, parents first, that may fail or have a part that may."""
    failing: set[int] = set()
    for node in reversed(order):
        if may_fail(node) or (failing and any(id(child) in failing for child in node.children())):
            failing.add(id(node))
    return failing


def _parents_first(roots: list[Expr]) -> list[Expr]:
    """Every node once, each after all its parents (reversed postorder, on an explicit stack)."""
    order: list[Expr] = []
    seen: set[int] = set()
    for root in roots:
        stack: list[Expr | None] = [root]  # None: what stands before it comes after all its operands
        while stack:
            node = stack.pop()
            if node is None:
                done = stack.pop()
                assert done is not None
                order.append(done)
            elif id(node) not in seen:
                seen.add(id(node))
                if children := node.children():
                    stack += (node, None, *children)
                else:
                    order.append(node)
    order.reverse()
    return order

"""Where shared subexpressions are computed: each in the innermost scope that encloses all its uses.

Scopes are the function's body, the branches of an if-expression, the right side of `and`/`or`, and the body of a
comprehension.  A value used in two branches is computed once before the `if`, one used in a single branch stays there;
so nothing is computed twice and nothing is computed that the model guards against.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kilohertz.ir.expr import Binary, Comprehension, Expr, IfExp, Ref


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


def common(a: Scope, b: Scope) -> Scope:
    """The innermost scope around both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.parent is not None
            a = a.parent
        else:
            assert b.parent is not None
            b = b.parent
    return a


class Placement:
    """Uses, home scope and inner scopes of every node below some roots; `parts` have roots in scopes of their own."""

    def __init__(self, roots: Iterable[Expr], top: Scope, parts: Iterable[tuple[Scope, Iterable[Expr]]] = ()) -> None:
        self.uses: dict[int, int] = {}
        self.home: dict[int, Scope] = {}
        self.inner: dict[tuple[int, int], Scope] = {}
        placed = [*((root, top) for root in roots), *((root, scope) for scope, members in parts for root in members)]
        self.kept = [root for root, _ in placed]  # ids stay valid as long as the nodes live
        for root, scope in placed:
            self.uses[id(root)] = self.uses.get(id(root), 0) + 1
            self.home[id(root)] = common(self.home.get(id(root), scope), scope)
        order = _parents_first(self.kept)
        for node in order:
            self._pass_down(node)
        self._keep_in_loops(order)

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

    def _pass_down(self, node: Expr) -> None:
        here = self.home[id(node)]
        for k, child in enumerate(node.children()):
            scope = here
            if _opens_scope(node, k):
                scope = self.inner[id(node), k] = Scope(here, here.in_loop or isinstance(node, Comprehension))
            key = id(child)
            self.uses[key] = self.uses.get(key, 0) + 1
            known = self.home.get(key)
            self.home[key] = scope if known is None else common(known, scope)


def _opens_scope(node: Expr, child: int) -> bool:
    match node:
        case IfExp():
            return child > 0
        case Binary("and" | "or", _, _):
            return child == 1
        case Comprehension():
            return child == 0
        case _:
            return False


def _parents_first(roots: list[Expr]) -> list[Expr]:
    """Every node once, each after all its parents (reversed postorder, on an explicit stack)."""
    order: list[Expr] = []
    seen: set[int] = set()
    for root in roots:
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((child, False) for child in node.children())
    order.reverse()
    return order

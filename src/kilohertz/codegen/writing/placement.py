"""Where shared subexpressions are computed: each in the innermost scope that encloses all its uses.

Scopes are the function's body, the branches of an if-expression, the right side of `and`/`or`, and the body of a
comprehension.  A value used in two branches is computed once before the `if`, one used in a single branch stays there;
so nothing is computed twice.  Nothing is computed either that the model guards against: what may fail is computed in
the outermost scopes that need it whatever further conditions say, and where these are several, once in each of them.
Branches of several `if` with one condition, as the variables that a when-clause sets have them, need it together: then
it is computed before them all, in an `if` of its own.

    k = w ? f(integer(x)) : pre_k;                  int32_t t1 = {0};
    l = w ? g(integer(x)) : pre_l;     ->           if (w) { t1 = integer(x); }
                                                    k = w ? f(t1) : pre_k;  l = w ? g(t1) : pre_l;

Chains of values in branches of branches may need the first of them in more cases than can be written: arithmetic that
is needed in more of them than it is written in (and in more than 16) is computed once, before their conditions; calls
and subscripts never are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from kilohertz.ir.expr import Binary, Builtin, Call, Comprehension, Expr, IfExp, Index, Ref
from kilohertz.ir.scopes import around, certain, common, may_fail, most_homes, opens_scope, opens_scopes
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL


class Case:
    """When a scope is entered: where a condition holds, or does not, in another case; None: in the body of a loop."""

    __slots__ = ("condition", "depth", "holds", "parent")

    def __init__(self, parent: Case | None, condition: Expr | None = None, holds: bool = True) -> None:
        self.parent, self.condition, self.holds = parent, condition, holds
        self.depth: int = 0 if parent is None else parent.depth + 1

    def is_in(self, other: Case) -> bool:
        return around(self, (other,)) is not None


class Scope:
    """A node of the tree of scopes; `lines`, `values` and `guarded` are filled while C is written."""

    __slots__ = ("case", "depth", "guarded", "in_loop", "lines", "parent", "results", "values")

    def __init__(self, parent: Scope | None, in_loop: bool = False, case: Case | None = None) -> None:
        self.parent = parent
        self.in_loop = in_loop
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.case: Case = case or (Case(None) if parent is None else parent.case)
        self.guarded: dict[int, list[tuple[Case, str]]] = {}  # by id of the node: its C text in some cases
        self.lines: list[str] = []
        self.values: dict[int, object] = {}  # by id of the node: its C text or array
        self.results: dict[int, list[Any]] = {}  # by id of a call: its outputs


@dataclass(frozen=True, slots=True)
class Home:
    """One of several places where a node is computed: a scope, and blocks in it that conditions guard."""

    scope: Scope
    case: Case  # in which it has a value
    blocks: tuple[Scope, ...]  # each in the one before, for scopes of one case
    uses: int

    @property
    def inside(self) -> Scope:
        return self.blocks[-1] if self.blocks else self.scope


class Placement:
    """Uses, home scopes and inner scopes of every node below some roots; `parts` have roots in scopes of their own."""

    def __init__(self, roots: Iterable[Expr], top: Scope, parts: Iterable[tuple[Scope, Iterable[Expr]]] = ()) -> None:
        self.uses: dict[int, int] = {}
        self.home: dict[int, Scope] = {}
        self.apart: dict[int, list[Home]] = {}  # of what may fail and is not certain where all its uses are
        self.inner: dict[tuple[int, int, Scope], Scope] = {}  # by a node, an operand, and where the node is computed
        self.other: dict[Scope, Scope] = {}  # the two branches of an `if`
        self._cases: dict[tuple[Case, int, bool], Case] = {}
        self._contrary: dict[Case, Case] = {}
        placed = [*((root, top) for root in roots), *((root, scope) for scope, members in parts for root in members)]
        self.kept = [root for root, _ in placed]  # ids stay valid as long as the nodes live
        order = _parents_first(self.kept)
        failing, self._strict = _failing(order)
        self._most = most_homes(order) if failing else {}
        used: dict[int, list[Scope]] = {key: [] for key in failing}
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
        if id(e) not in self.apart:
            return self.uses.get(id(e), 0) > 1
        home = self.home_around(e, here)
        return home is not None and home.uses > 1

    def home_around(self, e: Expr, here: Scope) -> Home | None:
        """The home of a node that is a scope, or around it."""
        apart = self.apart.get(id(e))
        if apart is not None:
            return next((h for h in apart if here.case.is_in(h.case) and around(here, (h.scope,)) is not None), None)
        home = self.home.get(id(e))
        if home is None or around(here, (home,)) is None:
            return None
        return Home(home, home.case, (), self.uses[id(e)])

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
        places = [self.home[id(node)]]
        if id(node) in used and len(scopes := certain(used[id(node)], self.other)) > 1:
            homes = self._homes(node, used[id(node)], scopes)
            if len(homes) <= self._most[node] or id(node) in self._strict:
                self.apart[id(node)] = homes
                places = [home.inside for home in homes]
        for here in places:
            scopes = [self._scope_of(node, k, here) for k in range(len(node.children()))]
            if isinstance(node, IfExp):
                self.other[scopes[1]], self.other[scopes[2]] = scopes[2], scopes[1]
            for child, scope in zip(node.children(), scopes, strict=True):
                self._use(child, scope, used)

    def _homes(self, node: Expr, used: list[Scope], places: list[Scope]) -> list[Home]:
        """Where a node is computed that is used in some scopes, and certain in several of them."""
        if not _is_worth_a_block(node):
            return [Home(p, p.case, (), sum(around(u, (p,)) is not None for u in used)) for p in places]
        cases = certain([u.case for u in used], self._contrary)
        return [_home(case, [u for u in used if u.case.is_in(case)]) for case in cases]

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
        case, in_loop = self._case_of(node, k, here.case), here.in_loop or isinstance(node, Comprehension)
        scope = self.inner[id(node), k, here] = Scope(here, in_loop, case)
        return scope

    def _case_of(self, node: Expr, k: int, outer: Case) -> Case:
        """The case of an operand that stands in a scope of its own: the same for all with the same condition."""
        match node:
            case IfExp(condition, _, _):
                holds = k == 1
            case Binary(op, condition, _):
                holds = op == "and"
            case _:
                return Case(outer)
        key = outer, id(condition), holds
        found = self._cases.get(key)
        if found is None:
            found = self._cases[key] = Case(outer, condition, holds)
            contrary = self._cases.get((outer, id(condition), not holds))
            if contrary is not None:
                self._contrary[found], self._contrary[contrary] = contrary, found
        return found

    def _use(self, e: Expr, scope: Scope, used: dict[int, list[Scope]]) -> None:
        key = id(e)
        if key in used:
            used[key].append(scope)
        self.uses[key] = self.uses.get(key, 0) + 1
        self.home[key] = common(self.home.get(key, scope), scope)


def _home(case: Case, used: list[Scope]) -> Home:
    """The scope around some that have a case in common, with blocks where it is not in that case itself."""
    outer = scope = reduce(common, used)
    steps: list[Case] = []
    at = case
    while at is not outer.case:
        steps.append(at)
        assert at.parent is not None
        at = at.parent
    blocks = []
    for step in reversed(steps):
        scope = Scope(scope, scope.in_loop, step)
        blocks.append(scope)
    return Home(outer, case, tuple(blocks), len(used))


def _is_worth_a_block(node: Expr) -> bool:
    """A number that takes more than one operation: others are written where they are used."""
    return node.ty in (REAL, INTEGER, BOOLEAN) and any(child.children() for child in node.children())


def _failing(order: list[Expr]) -> tuple[set[int], set[int]]:
    """Nodes, parents first, that may fail or have a part that may; and those among them with calls or subscripts."""
    failing: set[int] = set()
    strict: set[int] = set()
    for node in reversed(order):
        if may_fail(node) or (failing and any(id(child) in failing for child in node.children())):
            failing.add(id(node))
            if _is_strict(node) or any(id(child) in strict for child in node.children()):
                strict.add(id(node))
    return failing, strict


def _is_strict(node: Expr) -> bool:
    return isinstance(node, (Call, Index)) or (isinstance(node, Builtin) and node.name == "$subscript")


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

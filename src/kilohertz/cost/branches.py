"""What stands in a branch of an if-expression alone, and is not computed where the other one is taken.

As in the generated C (`codegen/writing/placement.py`): a part is computed in the innermost scope around all its uses,
and the branches of an if-expression are scopes; what may fail is computed in the outermost scopes that need it, once
in each of them.  Of two branches the dearer one is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kilohertz.cost.prices import Count, total
from kilohertz.ir.expr import Expr, IfExp
from kilohertz.ir.scopes import certain, common, may_fail, most_homes

_CHEAP = 8  # instructions of a branch that a compiler may compute whether it is taken or not


@dataclass(slots=True, eq=False)
class _Scope:
    """A C function, or a branch; `pairs` are the branches that open in it."""

    parent: _Scope | None
    depth: int
    members: list[Expr] = field(default_factory=list)
    pairs: list[tuple[_Scope, _Scope]] = field(default_factory=list)


def idle(roots: Iterable[Expr], price: Callable[[Expr], Count]) -> set[Expr]:
    """Parts of the expressions of one C function that stand in the cheaper of two branches; `price` is that of a node
    without its operands."""
    wanted = list(dict.fromkeys(roots))
    order = _parents_first(wanted)
    if not any(isinstance(e, IfExp) for e in order):
        return set()
    left: set[_Scope] = set()
    totals: dict[_Scope, Count] = {}
    scopes = sorted(_placed(order, wanted), key=lambda s: -s.depth)
    for scope in scopes:
        here = total(map(price, scope.members))
        for pair in scope.pairs:
            cheaper, dearer = sorted(pair, key=lambda s: totals[s].regular.instructions)
            less, more = totals[cheaper], totals[dearer]
            is_less = less.worst.instructions <= more.worst.instructions
            if is_less and less.regular.instructions > _CHEAP:
                left.add(cheaper)
                here = here + more
            else:
                here = here + less + more
        totals[scope] = here
    for scope in reversed(scopes):  # with what opens in them
        if scope.parent in left:
            left.add(scope)
    computed = {e for scope in scopes if scope not in left for e in scope.members}
    return {e for scope in scopes if scope in left for e in scope.members if e not in computed}


def _placed(order: list[Expr], roots: Iterable[Expr]) -> list[_Scope]:
    """All scopes, with what is computed in each."""
    top = _Scope(None, 0)
    scopes, home = [top], dict.fromkeys(roots, top)
    used: dict[Expr, list[_Scope]] = {e: [] for e in _failing(order)}
    other: dict[_Scope, _Scope] = {}
    for e in home.keys() & used.keys():
        used[e].append(top)
    most = most_homes(order) if used else {}
    for e in order:
        places = certain(used[e], other) if e in used else []
        for here in places if 0 < len(places) <= most.get(e, 0) else [home[e]]:
            here.members.append(e)
            inside = [here] * len(e.children())
            if isinstance(e, IfExp):
                first, second = _Scope(here, here.depth + 1), _Scope(here, here.depth + 1)
                other |= {first: second, second: first}
                here.pairs.append((first, second))
                scopes += (first, second)
                inside[1:] = (first, second)
            for child, place in zip(e.children(), inside, strict=True):
                home[child] = common(home[child], place) if child in home else place
                if child in used:
                    used[child].append(place)
    return scopes


def _failing(order: Iterable[Expr]) -> list[Expr]:
    """What may fail, or has a part that may; the order is parents first."""
    failing: dict[Expr, None] = {}
    for e in reversed(list(order)):
        if may_fail(e) or any(child in failing for child in e.children()):
            failing[e] = None
    return list(failing)


def _parents_first(roots: Iterable[Expr]) -> list[Expr]:
    """Every node after all that use it."""
    done: dict[Expr, None] = {}
    stack: list[tuple[Expr, bool]] = [(e, False) for e in roots]
    while stack:
        e, is_ready = stack.pop()
        if e in done:
            continue
        if is_ready:
            done[e] = None
        else:
            stack.append((e, True))
            stack += [(child, False) for child in e.children() if child not in done]
    return list(reversed(done))

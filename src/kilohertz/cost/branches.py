"""What stands in a branch of an if-expression alone, and is not computed where the other one is taken.

As in the generated C (`codegen/writing/placement.py`): a part is computed in the innermost scope around all its uses,
and the branches of an if-expression are scopes.  Of two branches the dearer one is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kilohertz.cost.prices import Count
from kilohertz.ir.expr import Expr, IfExp
from kilohertz.ir.scopes import common

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
    found: set[Expr] = set()
    totals: dict[_Scope, Count] = {}
    for scope in sorted(_placed(order, wanted), key=lambda s: -s.depth):
        total = Count()
        for e in scope.members:
            total = total + price(e)
        for pair in scope.pairs:
            cheaper, dearer = sorted(pair, key=lambda s: totals[s].regular.instructions)
            less, more = totals[cheaper], totals[dearer]
            is_less = less.worst.instructions <= more.worst.instructions
            if is_less and less.regular.instructions > _CHEAP:
                found.update(_inside(cheaper))
                total = total + more
            else:
                total = total + less + more
        totals[scope] = total
    return found


def _inside(scope: _Scope) -> list[Expr]:
    """Everything in a scope and in those that open in it."""
    members: list[Expr] = []
    stack = [scope]
    while stack:
        scope = stack.pop()
        members += scope.members
        stack += [branch for pair in scope.pairs for branch in pair]
    return members


def _placed(order: list[Expr], roots: Iterable[Expr]) -> list[_Scope]:
    """All scopes, with what is computed in each."""
    top = _Scope(None, 0)
    scopes, home = [top], dict.fromkeys(roots, top)
    for e in order:
        here = home[e]
        here.members.append(e)
        places = [here] * len(e.children())
        if isinstance(e, IfExp):
            pair = (_Scope(here, here.depth + 1), _Scope(here, here.depth + 1))
            here.pairs.append(pair)
            scopes += pair
            places[1:] = pair
        for child, place in zip(e.children(), places, strict=True):
            home[child] = common(home[child], place) if child in home else place
    return scopes


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

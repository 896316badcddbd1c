"""Functions that search: what they give follows from comparisons alone.

  for k in 1:60 loop  x := (a + b)/2;  if g(x) > h then b := x; else a := x; end if;  end for;

No statement takes a number from `h` to `x`: the derivative of the statements is zero, and that of x is not.  A search
is an `if` in a loop whose condition hangs on an input and on a variable that no input reaches through statements,
that the branches set, and that goes round the loop.  A table is none: what it looks for does not go round (`if u >
t[i] then k := i`).  Cost: each loop once, with a closure over its variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kilohertz.ir.expr import Expr, Field, IfExp, Index, Ref
from kilohertz.ir.flat import Assign, ForStatement, Function, IfStatement, Statement, TupleTarget, WhileStatement
from kilohertz.passes.derivative import has_reals

Sources = dict[str, set[str]]  # by variable: those that its assignments read


def searches(f: Function) -> bool:
    """Whether some variable of it is found by a search."""
    if not any(True for _ in _loops(f.body)):
        return False
    reached = _closure({v.name for v in f.inputs if has_reals(v.ty)}, _turned(_sources(f.body)))
    return any(_is_search(loop, reached) for loop in _loops(f.body))


def assigned(body: Iterable[Statement]) -> set[str]:
    """The variables that statements set."""
    names: set[str] = set()
    for s in _all(body):
        if isinstance(s, Assign):
            targets = s.target.elements if isinstance(s.target, TupleTarget) else (s.target,)
            names.update(_root(t) for t in targets if t is not None)
    return names


def _is_search(loop: list[Statement], reached: set[str]) -> bool:
    sources = _sources(loop)
    for s in _all(loop):
        if not isinstance(s, IfStatement):
            continue
        read = _closure({n for c, _ in s.branches for n in _numbers(c)}, sources)
        if not read & reached:
            continue
        set_there = _sources([x for _, b in s.branches for x in b] + s.otherwise)
        for name in sorted((set(set_there) & read) - reached):
            if name in _closure(set(sources[name]), sources):
                return True
    return False


def _loops(body: Iterable[Statement]) -> Iterator[list[Statement]]:
    return (s.body for s in _all(body) if isinstance(s, ForStatement | WhileStatement))


def _all(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement, nested ones included."""
    for s in body:
        yield s
        match s:
            case IfStatement(branches, otherwise):
                for _, inner in branches:
                    yield from _all(inner)
                yield from _all(otherwise)
            case ForStatement() | WhileStatement():
                yield from _all(s.body)


def _sources(body: Iterable[Statement]) -> Sources:
    sources: Sources = {}
    for s in _all(body):
        if isinstance(s, Assign):
            targets = s.target.elements if isinstance(s.target, TupleTarget) else (s.target,)
            for name in (_root(t) for t in targets if t is not None and has_reals(t.ty)):
                sources.setdefault(name, set()).update(_numbers(s.value))
    return sources


def _turned(sources: Sources) -> Sources:
    """By variable: those that are made of it."""
    made: Sources = {}
    for name, read in sources.items():
        for other in read:
            made.setdefault(other, set()).add(name)
    return made


def _closure(names: set[str], along: Sources) -> set[str]:
    found: set[str] = set()
    stack = sorted(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += sorted(along.get(name, ()))
    return found


def _numbers(e: Expr) -> set[str]:
    """Names whose Reals an expression, or a comparison, is made of: neither subscripts nor conditions."""
    names: set[str] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        match node:
            case Ref(name) if has_reals(node.ty):
                names.add(name)
            case IfExp(_, then, otherwise):
                stack += (then, otherwise)
            case Index(base):
                stack.append(base)
            case _:
                stack += node.children()
    return names


def _root(place: Expr) -> str:
    while isinstance(place, Index | Field):
        place = place.base
    assert isinstance(place, Ref)
    return place.name

"""Walks over expressions and over everything a Flat holds, on stacks of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kilohertz.ir.expr import Comprehension, Expr, Ref
from kilohertz.ir.flat import (
    Assert,
    Assign,
    Break,
    CallEquation,
    Equality,
    Equation,
    Flat,
    ForStatement,
    Function,
    IfEquation,
    IfStatement,
    Reinit,
    Return,
    Statement,
    Terminate,
    TupleTarget,
    WhenEquation,
    WhenStatement,
    WhileStatement,
)

T = TypeVar("T")


def bottom_up(
    root: Expr,
    visit: Callable[[Expr, list[T]], T],
    memo: dict[Expr, T],
    operands: Callable[[Expr], Sequence[Expr]] | None = None,
) -> T:
    """The answer for an expression from the answers for its operands: every distinct node once, left before right.

    `memo` holds the answers; expressions that share it share the work.  `operands` (default: all children) are those
    whose answers a node needs.  On a stack of its own: a chain may be as long as memory allows.
    """
    if root in memo:
        return memo[root]
    # a node to look at, or one whose operands stand above it in the stack, with them
    stack: list[Expr | tuple[Expr, Sequence[Expr]]] = [root]
    while stack:
        entry = stack.pop()
        if type(entry) is tuple:
            node, needed = entry
        elif entry in memo:
            continue
        else:
            node = entry  # type: ignore[assignment]
            needed = node.children() if operands is None else operands(node)
            if not needed:
                memo[node] = visit(node, [])
                continue
            missing = [c for c in needed if c not in memo]
            if missing:
                missing.reverse()
                stack.append((node, needed))
                stack += missing
                continue
        memo[node] = visit(node, [memo[c] for c in needed])
    return memo[root]


def map_expr(e: Expr, f: Callable[[Expr], Expr], memo: dict[Expr, Expr] | None = None) -> Expr:
    """Rewrite from the leaves up: `f` gets every distinct node once, its children already rewritten.

    Pass one `memo` to share work between expressions (valid as long as `f` answers alike).
    """

    def rewritten(node: Expr, fresh: list[Expr]) -> Expr:
        if not fresh:
            return f(node)
        children = tuple(fresh)
        return f(node if children == node.children() else node.rebuilt(children))

    return bottom_up(e, rewritten, {} if memo is None else memo)


def walk(e: Expr) -> Iterator[Expr]:
    """Every distinct node once: parents before children, left before right."""
    return walk_all((e,))


def refs(e: Expr) -> list[Ref]:
    """The distinct variables an expression reads, in order of appearance; iterators it binds itself are left out."""
    read: list[Ref] = []
    bound: set[str] = set()
    seen, stack = {e}, [e]
    while stack:  # as `walk`, which as a generator takes twice the time
        node = stack.pop()
        if type(node) is Ref:
            read.append(node)
        elif type(node) is Comprehension:
            bound.update(name for name, _ in node.iterators)
        for child in reversed(node.children()):
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return [r for r in read if r.name not in bound] if bound else read


def names_in(expressions: Iterable[Expr]) -> set[str]:
    """The names in several expressions, iterators among them."""
    names: set[str] = set()
    stack = list(expressions)
    seen = set(stack)
    while stack:
        node = stack.pop()
        if type(node) is Ref:
            names.add(node.name)
            continue
        for child in node.children():
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return names


def walk_all(expressions: Iterable[Expr], seen: set[Expr] | None = None) -> Iterator[Expr]:
    """Every distinct node of several expressions once; without those that were `seen` in walks before, which it adds
    to."""
    seen = set() if seen is None else seen
    for e in expressions:
        if e in seen:
            continue
        seen.add(e)
        stack = [e]
        while stack:
            node = stack.pop()
            yield node
            for child in reversed(node.children()):
                if child not in seen:
                    seen.add(child)
                    stack.append(child)


def flat_expressions(flat: Flat) -> Iterator[Expr]:
    """Every expression of a model and its functions, in order."""
    for v in flat.variables.values():
        yield from v.attributes.values()
        if v.binding is not None:
            yield v.binding
    yield from expressions_in(flat.initial_equations)
    yield from expressions_in(flat.equations)
    for algorithm in (*flat.initial_algorithms, *flat.algorithms):
        yield from expressions_in(algorithm.statements)
    for function in flat.functions.values():
        yield from function_expressions(function)


def function_expressions(function: Function) -> Iterator[Expr]:
    """Every expression of a function: sizes, defaults, body, external call."""
    for local in (*function.inputs, *function.outputs, *function.locals):
        yield from (e for e in (*local.dims, local.default) if e is not None)
    yield from expressions_in(function.body)
    if function.external is not None:
        yield from function.external.args
        if function.external.result is not None:
            yield function.external.result


def expressions_in(items: Iterable[Equation | Statement]) -> Iterator[Expr]:
    """Every expression of equations or statements, nested ones included."""
    for item in items:
        match item:
            case Equality(left, right) | Assign(left, right):
                yield from (e for e in (left.elements if isinstance(left, TupleTarget) else (left,)) if e is not None)
                yield right
            case IfEquation(branches, otherwise) | IfStatement(branches, otherwise):
                yield from _branch_expressions(branches)
                yield from expressions_in(otherwise)
            case WhenEquation(branches) | WhenStatement(branches):
                yield from _branch_expressions(branches)
            case ForStatement(_, over, body) | WhileStatement(over, body):
                yield over
                yield from expressions_in(body)
            case Assert(condition, message, level):
                yield from (e for e in (condition, message, level) if e is not None)
            case Terminate(e) | CallEquation(e):
                yield e
            case Reinit(target, value):
                yield target
                yield value
            case Break() | Return():
                pass


def _branch_expressions(
    branches: Iterable[tuple[Expr, list[Equation]]] | Iterable[tuple[Expr, list[Statement]]],
) -> Iterator[Expr]:
    for condition, body in branches:
        yield condition
        yield from expressions_in(body)

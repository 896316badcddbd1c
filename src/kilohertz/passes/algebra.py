"""Algebra on scalar expressions: simplification, degree, linear parts and cost.  All on explicit stacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kilohertz.base import InternalError
from kilohertz.ir import make, traverse
from kilohertz.ir.builtins import fold, named
from kilohertz.ir.expr import (
    Binary,
    Bool,
    Builtin,
    Call,
    Comprehension,
    Expr,
    IfExp,
    Int,
    Real,
    Ref,
    Unary,
)
from kilohertz.ir.make import ONE, ZERO, add, div, if_, mul, neg, sub
from kilohertz.ir.rules.function_record import Event
from kilohertz.ir.traverse import bottom_up
from kilohertz.ir.types import REAL

TRANSPARENT = named(Event.QUIET) | {"real"}


# ------------------------------------------------------------------------------------------------------------ folding


def simplify_node(e: Expr) -> Expr:
    """One node by its smart constructor, plus what pays in equation systems."""
    kind = type(e)
    if kind is Builtin:
        return fold(e)  # type: ignore[arg-type]
    if kind is Binary:
        return _simplify_binary(e)  # type: ignore[arg-type]
    if kind is Real:
        return ZERO if e.value == 0.0 else e  # type: ignore[attr-defined]
    if kind is Unary and e.op == "-" and isinstance(e.operand, Binary) and e.operand.op == "-":  # type: ignore[attr-defined]
        return make.sub(e.operand.right, e.operand.left)  # type: ignore[attr-defined]
    return make.folded(e)


def _simplify_binary(e: Binary) -> Expr:
    if e.left is e.right and not e.ty.dims:
        if e.op == "-":
            return ZERO if e.ty == REAL else Int(0)
        if e.op in ("==", "<=", ">="):
            return Bool(True)
        if e.op in ("<>", "<", ">"):
            return Bool(False)
    if e.ty.dims:
        return e
    if e.op in ("*", "/"):
        return _product(e)
    if e.op in ("+", "-"):
        return _sum(e)
    return make.binary(e.op, e.left, e.right)


def _product(e: Binary) -> Expr:
    """Signs outside, literals in front."""
    left, right, flip = e.left, e.right, False
    if isinstance(left, Unary):
        left, flip = left.operand, not flip
    if isinstance(right, Unary):
        right, flip = right.operand, not flip
    if type(right) is Real and right.value < 0.0 and type(left) is not Real:
        right, flip = Real(-right.value), not flip
    if e.op == "*":
        if type(right) is Real and type(left) is not Real:
            left, right = right, left
        if type(left) is Real and isinstance(right, Binary) and right.op == "*" and type(right.left) is Real:
            left, right = make.mul(left, right.left), right.right
        if isinstance(right, Binary) and right.op == "/" and right.left is ONE:
            result = make.div(left, right.right)
        else:
            result = make.mul(left, right)
    elif left is right and type(left) is not Real:
        result = ONE
    else:
        result = make.div(left, right)
    return make.neg(result) if flip else result


def _sum(e: Binary) -> Expr:
    """`-a + b` as `b - a`, `-a - b` as `-(a + b)`."""
    left, right = e.left, e.right
    if isinstance(left, Unary) and left.op == "-":
        if e.op == "-":
            return make.neg(make.add(left.operand, right))
        if not (isinstance(right, Unary) and right.op == "-"):
            return make.sub(right, left.operand)
        return make.neg(make.add(left.operand, right.operand))
    return make.binary(e.op, left, right)


def simplify(e: Expr, memo: dict[Expr, Expr] | None = None) -> Expr:
    return traverse.map_expr(e, simplify_node, memo)


def substitute(e: Expr, values: Mapping[str, Expr], memo: dict[Expr, Expr] | None = None) -> Expr:
    """Refs replaced by name, then simplified."""

    def replaced(node: Expr) -> Expr:
        if type(node) is Ref:
            return values.get(node.name, node)
        return simplify_node(node)

    return traverse.map_expr(e, replaced, memo)


# ----------------------------------------------------------------------------------------------------- what is in it


class Occurrence:
    """Names in expressions, memoised by node; `names(e)` in order of first appearance."""

    def __init__(self) -> None:
        self._memo: dict[Expr, tuple[str, ...]] = {}

    def names(self, e: Expr) -> tuple[str, ...]:
        names_inside = self._memo.get(e)
        if names_inside is None:
            names_inside = tuple(dict.fromkeys(r.name for r in traverse.refs(e)))
            self._memo[e] = names_inside
        return names_inside

    def names_of(self, expressions: Iterable[Expr]) -> list[str]:
        """Those in several expressions, in order of first appearance; what these have in common is looked at once."""
        found: dict[str, None] = {}
        seen: set[Expr] = set()
        for e in expressions:
            if e in self._memo:
                found.update(dict.fromkeys(self._memo[e]))
                continue
            nodes = list(traverse.walk_all((e,), seen))
            if any(type(node) is Comprehension for node in nodes):  # binds names that may be free elsewhere
                seen.difference_update(nodes)
                found.update(dict.fromkeys(self.names(e)))
            else:
                found.update((node.name, None) for node in nodes if type(node) is Ref)
        return list(found)


def degree(e: Expr, unknowns: set[str] | frozenset[str], memo: dict[Expr, int]) -> int:
    """0: free of the unknowns, 1: linear in them, 2: not linear."""
    return bottom_up(e, lambda node, d: _degree_of(node, d, unknowns), memo)


def _degree_of(node: Expr, d: list[int], unknowns: set[str] | frozenset[str]) -> int:
    kind = type(node)
    if kind is Ref:
        return 1 if node.name in unknowns else 0  # type: ignore[attr-defined]
    if not d or max(d) == 0:
        return 0
    if kind is Unary:
        return d[0] if node.op == "-" else 2  # type: ignore[attr-defined]
    if kind is Binary:
        op = node.op  # type: ignore[attr-defined]
        if op in ("+", "-"):
            return max(d)
        if op == "*":
            return min(2, d[0] + d[1])
        if op == "/":
            return d[0] if d[1] == 0 else 2
        return 2
    if kind is IfExp:
        return max(d[1:]) if d[0] == 0 else 2
    if kind is Builtin and node.name in TRANSPARENT:  # type: ignore[attr-defined]
        return d[-1]
    if kind is Builtin and node.name == "homotopy":  # type: ignore[attr-defined]
        return max(d)
    return 2


# -------------------------------------------------------------------------------------------------------- linear parts


def linear_parts(e: Expr, name: str) -> tuple[Expr, Expr] | None:
    """(a, b) with e = a*name + b and neither containing `name`; None where e is not linear in it."""
    degrees: dict[Expr, int] = {}
    if degree(e, frozenset((name,)), degrees) > 1:
        return None
    if degrees[e] == 0:
        return ZERO, e
    coefficients: dict[Expr, Expr] = {}
    a = _coefficient(e, degrees, coefficients)
    rests: dict[Expr, Expr] = {}

    def rest(node: Expr, _: list[Expr]) -> Expr:
        if degrees[node] == 0:
            return node
        return ZERO if type(node) is Ref else _part_of(node, rests, coefficients)

    return simplify(a), simplify(bottom_up(e, rest, rests, lambda node: _linear_operands(node, degrees)))


def linear_coefficient(e: Expr, name: str) -> Expr | None:
    """The first of `linear_parts`, for those who do not ask for the rest."""
    degrees: dict[Expr, int] = {}
    if degree(e, frozenset((name,)), degrees) > 1:
        return None
    return simplify(_coefficient(e, degrees, {}))


def _coefficient(e: Expr, degrees: dict[Expr, int], known: dict[Expr, Expr]) -> Expr:
    """Of the unknown in an expression that is linear in it, and by the way of all in it that contain it."""

    def visit(node: Expr, _: list[Expr]) -> Expr:
        if degrees[node] == 0:
            return ZERO
        return ONE if type(node) is Ref else _part_of(node, known, known)

    return bottom_up(e, visit, known, lambda node: _linear_operands(node, degrees))


def _linear_operands(node: Expr, degrees: dict[Expr, int]) -> list[Expr]:
    return [] if degrees[node] == 0 else [c for c in node.children() if not _is_condition(node, c)]


def _is_condition(node: Expr, child: Expr) -> bool:
    return isinstance(node, IfExp) and child is node.condition and child not in (node.then, node.otherwise)


def _part_of(node: Expr, parts: dict[Expr, Expr], coefficients: dict[Expr, Expr]) -> Expr:
    """Coefficient or rest of a node, from those of its operands."""
    match node:
        case Unary(_, operand):
            return neg(parts[operand])
        case Binary(op, left, right):
            if op == "+":
                return add(parts[left], parts[right])
            if op == "-":
                return sub(parts[left], parts[right])
            if op == "*":
                return mul(parts[left], right) if coefficients[right] is ZERO else mul(left, parts[right])
            return div(parts[left], right)
        case IfExp(condition, then, otherwise):
            return if_(condition, parts[then], parts[otherwise])
        case Builtin("homotopy", (actual, simplified)):
            return _homotopy(parts[actual], parts[simplified])
        case Builtin():
            return parts[node.args[-1]]
        case _:
            raise InternalError(f"no linear parts of {node!r}")


def _homotopy(a: Expr, s: Expr) -> Expr:
    return a if a is s else Builtin("homotopy", (a, s), REAL)


# -------------------------------------------------------------------------------------------------------------- cost

_COSTS = {"/": 4, "^": 20}


def cost(roots: Iterable[Expr]) -> int:
    """Operations to evaluate expressions once, shared parts counted once; a division as 4, a function as 20."""
    seen: set[Expr] = set()
    stack = list(roots)
    total = 0
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        seen.add(e)
        kind = type(e)
        if kind is Binary:
            total += _COSTS.get(e.op, 1)  # type: ignore[attr-defined]
        elif kind in (Unary, IfExp):
            total += 1
        elif kind is Builtin:
            total += 0 if e.name in TRANSPARENT else 20  # type: ignore[attr-defined]
        elif kind is Call:
            total += 50
        stack.extend(e.children())
    return total

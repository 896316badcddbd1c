"""Operators, if-expressions and items with their types computed and folded; new leaves for old ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from kilohertz.base import InternalError
from kilohertz.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    Bool,
    Builtin,
    Expr,
    Field,
    IfExp,
    Index,
    Int,
    Item,
    Range,
    Real,
    Ref,
    Str,
    Unary,
)
from kilohertz.ir.make.access import field, index
from kilohertz.ir.make.literals import (
    LITERALS,
    ONE,
    number,
    plain,
    range_,
    to_real,
)
from kilohertz.ir.rules.arithmetic import RELATIONS, is_integer, power
from kilohertz.ir.traverse import map_expr
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type

_INTEGER, _REAL = INTEGER.base, REAL.base
_NUMBERS = {_INTEGER, _REAL}
_MIXED = {"+": ".+", "-": ".-", "*": ".*", "/": "./", "^": ".^"}
_PLAIN = {mixed: plain for plain, mixed in _MIXED.items()}

# ------------------------------------------------------------------------------------------------------------ queries


def is_zero(e: Expr) -> bool:
    """A literal zero, Real or Integer."""
    return (type(e) is Real or type(e) is Int) and e.value == 0


def is_one(e: Expr) -> bool:
    """A literal one, Real or Integer."""
    return (type(e) is Real or type(e) is Int) and e.value == 1


def _common_dims(a: Type, b: Type) -> tuple[int | None, ...]:
    """Dimensions of an elementwise result: of the array operand, taking what either side knows."""
    if not a.dims or not b.dims:
        return a.dims or b.dims
    if len(a.dims) != len(b.dims):
        raise InternalError(f"operands of shapes {a} and {b}")
    return tuple(y if x is None else x for x, y in zip(a.dims, b.dims, strict=True))


def _matched(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Both operands Real where one is."""
    if a.ty.base is b.ty.base or a.ty.base == b.ty.base:
        return a, b
    if a.ty.base == _INTEGER and b.ty.base == _REAL:
        return to_real(a), b
    if a.ty.base == _REAL and b.ty.base == _INTEGER:
        return a, to_real(b)
    raise InternalError(f"operands of types {a.ty} and {b.ty}")


# --------------------------------------------------------------------------------------------------------- arithmetic


def add(a: Expr, b: Expr) -> Expr:
    """`a + b`, elementwise; a scalar stands for all elements.  Strings are joined."""
    a, b = _matched(a, b)
    if isinstance(a, Str) and isinstance(b, Str):
        return Str(a.value + b.value)
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return _folded("+", a, b, x + y)
    if x == 0:
        return b
    if y == 0:
        return a
    if isinstance(b, Unary) and b.op == "-":
        return _elementwise("-", a, b.operand)
    return _elementwise("+", a, b)


def sub(a: Expr, b: Expr) -> Expr:
    """`a - b`, elementwise; a scalar stands for all elements."""
    a, b = _matched(a, b)
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return _folded("-", a, b, x - y)
    if y == 0:
        return a
    if x == 0:
        return neg(b)
    if isinstance(b, Unary) and b.op == "-":
        return _elementwise("+", a, b.operand)
    return _elementwise("-", a, b)


def neg(a: Expr) -> Expr:
    """`-a`."""
    if isinstance(a, Real):
        return Real(-a.value)
    if isinstance(a, Int) and is_integer(-a.value):
        return Int(-a.value)
    if isinstance(a, Unary) and a.op == "-":
        return a.operand
    return Unary("-", a)


def mul(a: Expr, b: Expr) -> Expr:
    """`a * b`: of scalars, of a scalar and an array (`.*`), or the matrix product of two arrays."""
    a, b = _matched(a, b)
    if a.ty.dims and b.ty.dims:
        return Binary("*", a, b, Type(a.ty.base, _product_dims(a.ty, b.ty)))
    return _scaled(a, b)


def _scaled(a: Expr, b: Expr) -> Expr:
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return _folded("*", a, b, x * y)
    if x == 1:
        return b
    if y == 1:
        return a
    if x == -1:
        return neg(b)
    if y == -1:
        return neg(a)
    if x == 0 and not b.ty.dims:
        return a
    if y == 0 and not a.ty.dims:
        return b
    return _elementwise("*", a, b)


def _product_dims(a: Type, b: Type) -> tuple[int | None, ...]:
    if len(a.dims) > 2 or len(b.dims) > 2:
        raise InternalError(f"matrix product of {a} and {b}")
    return a.dims[:-1] + b.dims[1:]


def div(a: Expr, b: Expr) -> Expr:
    """`a / b` in Real; of an array by a scalar `./`."""
    a, b = to_real(a), to_real(b)
    x, y = number(a), number(b)
    if x is not None and y:
        return _folded("/", a, b, x / y)
    if y == 1:
        return a
    if y == -1:
        return neg(a)
    if x == 0 and y is None and not b.ty.dims:
        return a
    return _elementwise("/", a, b)


def pow_(a: Expr, b: Expr) -> Expr:
    """`a ^ b` in Real; a square matrix may be raised to an Integer."""
    a = to_real(a)
    if a.ty.dims:
        return Binary("^", a, b, a.ty)
    return _power(a, to_real(b))


def _power(a: Expr, b: Expr) -> Expr:
    x, y = number(a), number(b)
    if y == 1:
        return a
    if y == 0 and not a.ty.dims:
        return ONE
    if x is not None and y is not None and (x > 0 or (y > 0 and float(y).is_integer())):
        return _folded("^", a, b, power(x, y))
    return _elementwise("^", a, b)


def _elementwise(op: str, a: Expr, b: Expr) -> Expr:
    """Choose the spelling: `+ -` for equal shapes, `* / ^` for scalars alone, the dotted ones otherwise."""
    dims = _common_dims(a.ty, b.ty)
    mixed = not (a.ty.dims and b.ty.dims) if op in "+-" else True
    spelled = _MIXED[op] if dims and mixed else op
    return Binary(spelled, a, b, Type(a.ty.base, dims) if dims else a.ty)


def _folded(op: str, a: Expr, b: Expr, value: float) -> Expr:
    """The literal result; what is too large for its type stays an operation."""
    if a.ty.base == _INTEGER:
        return Int(int(value)) if is_integer(int(value)) else Binary(op, a, b, a.ty)
    return Real(value) if math.isfinite(value) else Binary(op, a, b, a.ty)


def elementwise(op: str, a: Expr, b: Expr) -> Expr:
    """`.+ .- .* ./ .^` (or without the dot): element by element."""
    plain = _PLAIN.get(op, op)
    if plain == "+":
        return add(a, b)
    if plain == "-":
        return sub(a, b)
    if plain == "*":
        a, b = _matched(a, b)
        return _elementwise("*", a, b) if a.ty.dims and b.ty.dims else _scaled(a, b)
    if plain == "/":
        return div(a, b)
    return _power(to_real(a), to_real(b))


def binary(op: str, a: Expr, b: Expr) -> Expr:
    """Any binary operator by its Modelica spelling."""
    make = _BINARY.get(op)
    if make is not None:
        return make(a, b)
    if op in RELATIONS:
        return relation(op, a, b)
    return elementwise(op, a, b)


# -------------------------------------------------------------------------------------------------------------- logic


def relation(op: str, a: Expr, b: Expr) -> Expr:
    """`a op b` for `< <= > >= == <>` on scalars."""
    a, b = _matched(a, b)
    if isinstance(a, LITERALS) and isinstance(b, LITERALS):
        return Bool(RELATIONS[op](plain(a), plain(b)))
    return Binary(op, a, b, BOOLEAN)


def and_(a: Expr, b: Expr) -> Expr:
    """`a and b`."""
    return _joined("and", a, b, TRUE, FALSE)


def or_(a: Expr, b: Expr) -> Expr:
    """`a or b`."""
    return _joined("or", a, b, FALSE, TRUE)


def _joined(op: str, a: Expr, b: Expr, neutral: Expr, decisive: Expr) -> Expr:
    if a is neutral or a is b:
        return b
    if b is neutral:
        return a
    if a is decisive or b is decisive:
        return decisive
    return Binary(op, a, b, Type(BOOLEAN.base, _common_dims(a.ty, b.ty)))


def not_(a: Expr) -> Expr:
    """`not a`."""
    if isinstance(a, Bool):
        return Bool(not a.value)
    if isinstance(a, Unary) and a.op == "not":
        return a.operand
    return Unary("not", a)


def if_(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """`if condition then ... else ...`."""
    if condition is TRUE:
        return then
    if condition is FALSE:
        return otherwise
    if {then.ty.base, otherwise.ty.base} == _NUMBERS:
        then, otherwise = to_real(then), to_real(otherwise)
    if then is otherwise:
        return then
    if then is TRUE and otherwise is FALSE:
        return condition
    if then is FALSE and otherwise is TRUE:
        return not_(condition)
    return IfExp(condition, then, otherwise)


_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": div,
    "^": pow_,
    "and": and_,
    "or": or_,
}


def item(base: Expr, position: int) -> Expr:
    """Output number `position` (from zero) of a call with several outputs."""
    return Item(base, position)


# ------------------------------------------------------------------------------------------------------------ rewriting


def folded(node: Expr) -> Expr:
    """One node rebuilt by its smart constructor: what `map_expr` needs to simplify after a replacement."""
    make = _FOLDERS.get(type(node))
    return node if make is None else make(node)


def _fold_unary(node: Expr) -> Expr:
    assert isinstance(node, Unary)
    return neg(node.operand) if node.op == "-" else not_(node.operand)


def _fold_builtin(node: Expr) -> Expr:
    assert isinstance(node, Builtin)
    return to_real(node.args[0]) if node.name == "real" else node


_FOLDERS: dict[type[Expr], Callable[[Any], Expr]] = {
    Unary: _fold_unary,
    Binary: lambda e: binary(e.op, e.left, e.right),
    IfExp: lambda e: if_(e.condition, e.then, e.otherwise),
    Builtin: _fold_builtin,
    Index: lambda e: index(e.base, e.subs),
    Field: lambda e: field(e.base, e.name),
    Range: lambda e: range_(e.first, e.step, e.last),
}


def substitute(e: Expr, values: Mapping[str, Expr], memo: dict[Expr, Expr] | None = None) -> Expr:
    """`e` with Refs replaced by name, and folded where that made something simpler."""

    def replaced(node: Expr) -> Expr:
        if type(node) is Ref:
            return values.get(node.name, node)
        return folded(node)

    return map_expr(e, replaced, memo)

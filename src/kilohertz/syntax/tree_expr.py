"""Expressions of the Tree; `tree.py` has the contract and all other nodes, and hands these on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(slots=True, eq=False)
class Number:
    """A numeric literal: `int` for UNSIGNED-INTEGER, `float` for UNSIGNED-NUMBER with point or exponent."""

    start: int
    end: int
    value: int | float


@dataclass(slots=True, eq=False)
class String:
    start: int
    end: int
    value: str  # escapes resolved


@dataclass(slots=True, eq=False)
class Boolean:
    start: int
    end: int
    value: bool


@dataclass(slots=True, eq=False)
class End:
    """`end` inside a subscript."""

    start: int
    end: int


@dataclass(slots=True, eq=False)
class Colon:
    """`:` as a whole subscript or dimension."""

    start: int
    end: int


@dataclass(slots=True, eq=False)
class Ref:
    """A component reference or type name: `.a.b[1, :].c`.  Quoted identifiers keep their quotes.

    `names[i]` has subscripts `subs[i]`; `subs` is None when no part has any (the common case).
    """

    start: int
    end: int
    names: tuple[str, ...]
    subs: tuple[tuple[Expr, ...], ...] | None = None
    absolute: bool = False  # a leading dot


@dataclass(slots=True, eq=False)
class Unary:
    start: int
    end: int
    op: str  # + - .+ .- not
    operand: Expr


@dataclass(slots=True, eq=False)
class Binary:
    start: int
    end: int
    op: str  # + - * / ^ .+ .- .* ./ .^ < <= > >= == <> and or
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class IfExp:
    start: int
    end: int
    branches: tuple[tuple[Expr, Expr], ...]  # (condition, value), if and elseifs
    otherwise: Expr


@dataclass(slots=True, eq=False)
class Range:
    start: int
    end: int
    first: Expr
    step: Expr | None
    last: Expr


@dataclass(slots=True, eq=False)
class Iterator:
    """`i in 1:n`; without a range (`i` alone) it runs over the dimension it indexes."""

    start: int
    end: int
    name: str
    range: Expr | None


@dataclass(slots=True, eq=False)
class Call:
    """`f(a, b, name=c)`.  `der`, `initial`, `pure` are spelled as references too.

    A reduction `sum(e for i in r)` has one argument, a `Comprehension`.
    """

    start: int
    end: int
    function: Ref
    args: tuple[Expr, ...]
    named: tuple[tuple[str, Expr], ...] = ()


@dataclass(slots=True, eq=False)
class PartialCall:
    """`function f(name=c)` as an argument."""

    start: int
    end: int
    function: Ref
    named: tuple[tuple[str, Expr], ...]


@dataclass(slots=True, eq=False)
class Array:
    """`{a, b, c}`."""

    start: int
    end: int
    elements: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Comprehension:
    """`e for i in r, j in s`: alone as the argument of a reduction, or inside braces (then `braces`)."""

    start: int
    end: int
    body: Expr
    iterators: tuple[Iterator, ...]
    braces: bool


@dataclass(slots=True, eq=False)
class Matrix:
    """`[a, b; c, d]`."""

    start: int
    end: int
    rows: tuple[tuple[Expr, ...], ...]


@dataclass(slots=True, eq=False)
class Tuple:
    """`(a, , b)`; a parenthesised single expression is that expression itself, not a Tuple."""

    start: int
    end: int
    elements: tuple[Expr | None, ...]


@dataclass(slots=True, eq=False)
class Subscripted:
    """`(e)[i, j]`."""

    start: int
    end: int
    base: Expr
    subs: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class FieldOf:
    """`(e).name`."""

    start: int
    end: int
    base: Expr
    name: str


Expr: TypeAlias = (
    Number
    | String
    | Boolean
    | End
    | Colon
    | Ref
    | Unary
    | Binary
    | IfExp
    | Range
    | Call
    | PartialCall
    | Array
    | Comprehension
    | Matrix
    | Tuple
    | Subscripted
    | FieldOf
)

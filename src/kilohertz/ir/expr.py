"""Expressions: immutable, typed, hash-consed.

Contract: equal expressions are one object, so `is` compares, `id` memoises and common subexpressions are shared.
Names are resolved (a `Ref` names a flat variable, a function's local or an iterator), every node knows its type, and
operators say what they do:

  `+ - .* ./ .^`   elementwise; operands of one shape, or one of them scalar (only `.+ .- .* ./ .^` mix shapes)
  `* / ^`          on scalars; `*` of two arrays is the matrix product, `^` of a matrix by an Integer its power
  `< <= > >= == <>`, `and or not`   scalars, and elementwise for `and or not` on Boolean arrays

Integer and Real mix only through an explicit `Builtin("real", (x,))`; `/` and `^` always take and give Reals.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from kilohertz.ir.sharing import TABLE
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, STRING, EnumType, RecordType, TupleType, Type


class Expr:
    """Base of all expressions: `children()` are the operands in order, `rebuilt(children)` is it with new ones."""

    __slots__ = ("__weakref__", "ty")
    __match_args__: ClassVar[tuple[str, ...]] = ()
    ty: Type

    def children(self) -> tuple[Expr, ...]:
        return ()

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        assert not children
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), tuple(getattr(self, name) for name in self.__match_args__))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(repr(getattr(self, n)) for n in self.__match_args__)})"


class Real(Expr):
    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: float

    def __new__(cls, value: float) -> Real:
        key = (cls, value, math.copysign(1.0, value)) if value == value else (cls, "nan")
        node: Real | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.value, node.ty = float(value), REAL
        return node


class Int(Expr):
    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: int

    def __new__(cls, value: int) -> Int:
        key = (cls, value)
        node: Int | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.value, node.ty = int(value), INTEGER
        return node


class Bool(Expr):
    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: bool

    def __new__(cls, value: bool) -> Bool:
        key = (cls, bool(value))
        node: Bool | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.value, node.ty = bool(value), BOOLEAN
        return node


class Str(Expr):
    __slots__ = ("value",)
    __match_args__ = ("value",)
    value: str

    def __new__(cls, value: str) -> Str:
        key = (cls, value)
        node: Str | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.value, node.ty = value, STRING
        return node


class Enum(Expr):
    """An enumeration literal: its type and its position, counted from one."""

    __slots__ = ("enum", "index")
    __match_args__ = ("enum", "index")
    enum: EnumType
    index: int

    def __new__(cls, enum: EnumType, index: int) -> Enum:
        key = (cls, enum, index)
        node: Enum | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.enum, node.index, node.ty = enum, index, Type(enum)
        return node

    @property
    def literal(self) -> str:
        return self.enum.literals[self.index - 1]


class Ref(Expr):
    """A whole variable by its name: of the flat model, of a function, or an iterator.  `time` is a Ref too."""

    __slots__ = ("name",)
    __match_args__ = ("name", "ty")
    name: str

    def __new__(cls, name: str, ty: Type) -> Ref:
        key = (cls, name, ty)
        node: Ref | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.name, node.ty = name, ty
        return node


class Unary(Expr):
    """`-` or `not`."""

    __slots__ = ("op", "operand")
    __match_args__ = ("op", "operand")
    op: str
    operand: Expr

    def __new__(cls, op: str, operand: Expr) -> Unary:
        key = (cls, op, operand)
        node: Unary | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.op, node.operand, node.ty = op, operand, operand.ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.operand,)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Unary(self.op, children[0])


class Binary(Expr):
    """An operator with two operands; see the head of this file for what each one means."""

    __slots__ = ("left", "op", "right")
    __match_args__ = ("op", "left", "right", "ty")
    op: str
    left: Expr
    right: Expr

    def __new__(cls, op: str, left: Expr, right: Expr, ty: Type) -> Binary:
        # operands of unknown size may be rebuilt with others: until its type is, it is not the same expression
        key = (cls, op, left, right, ty.dims) if ty.dims else (cls, op, left, right)
        node: Binary | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.op, node.left, node.right, node.ty = op, left, right, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.left, self.right)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Binary(self.op, children[0], children[1], self.ty)


class IfExp(Expr):
    """`if c then a else b`; elseif is nested."""

    __slots__ = ("condition", "otherwise", "then")
    __match_args__ = ("condition", "then", "otherwise")
    condition: Expr
    then: Expr
    otherwise: Expr

    def __new__(cls, condition: Expr, then: Expr, otherwise: Expr) -> IfExp:
        key = (cls, condition, then, otherwise)
        node: IfExp | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.condition, node.then, node.otherwise, node.ty = condition, then, otherwise, then.ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.condition, self.then, self.otherwise)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return IfExp(*children)


class Builtin(Expr):
    """A built-in operator or function by its Modelica name: der, pre, sin, size, noEvent, sample, ...

    Internal ones: `real` (Integer to Real).  Optional arguments left out by the user are left out here too.
    """

    __slots__ = ("args", "name")
    __match_args__ = ("name", "args", "ty")
    name: str
    args: tuple[Expr, ...]

    def __new__(cls, name: str, args: tuple[Expr, ...], ty: Type) -> Builtin:
        key = (cls, name, args, ty)
        node: Builtin | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.name, node.args, node.ty = name, args, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return self.args

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Builtin(self.name, children, self.ty)


class Call(Expr):
    """A call of a Modelica function by its id (a key of `Flat.functions`); all inputs given, in order.

    One output: that output's type.  Several (or none): a TupleType, taken apart with `Item`.
    """

    __slots__ = ("args", "function")
    __match_args__ = ("function", "args", "ty")
    function: str
    args: tuple[Expr, ...]

    def __new__(cls, function: str, args: tuple[Expr, ...], ty: Type) -> Call:
        key = (cls, function, args, ty)
        node: Call | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.function, node.args, node.ty = function, args, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return self.args

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Call(self.function, children, self.ty)


class Item(Expr):
    """Output number `index` (from zero) of a call with several outputs."""

    __slots__ = ("base", "index")
    __match_args__ = ("base", "index")
    base: Expr
    index: int

    def __new__(cls, base: Expr, index: int) -> Item:
        key = (cls, base, index)
        node: Item | None = TABLE.get(key)
        if node is None:
            assert isinstance(base.ty.base, TupleType)
            node = TABLE[key] = object.__new__(cls)
            node.base, node.index, node.ty = base, index, base.ty.base.elements[index]
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.base,)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Item(children[0], self.index)


class Array(Expr):
    """`{a, b, ...}`: elements of one type; `ty` is theirs with the count put before (an empty one needs it given)."""

    __slots__ = ("elements",)
    __match_args__ = ("elements", "ty")
    elements: tuple[Expr, ...]

    def __new__(cls, elements: tuple[Expr, ...], ty: Type) -> Array:
        key = (cls, elements, ty)
        node: Array | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.elements, node.ty = elements, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return self.elements

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Array(children, self.ty)


class Record(Expr):
    """A record value, field by field in the order of its type."""

    __slots__ = ("fields",)
    __match_args__ = ("fields", "ty")
    fields: tuple[Expr, ...]

    def __new__(cls, fields: tuple[Expr, ...], ty: Type) -> Record:
        key = (cls, fields, ty)
        node: Record | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.fields, node.ty = fields, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return self.fields

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Record(children, self.ty)


class Field(Expr):
    """`base.name` of a record-valued expression; of an array of records it is the array of that field."""

    __slots__ = ("base", "name")
    __match_args__ = ("base", "name")
    base: Expr
    name: str

    def __new__(cls, base: Expr, name: str) -> Field:
        key = (cls, base, name)
        node: Field | None = TABLE.get(key)
        if node is None:
            assert isinstance(base.ty.base, RecordType)
            field = dict(base.ty.base.fields)[name]
            node = TABLE[key] = object.__new__(cls)
            node.base, node.name, node.ty = base, name, field.array_of(*base.ty.dims)
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.base,)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Field(children[0], self.name)


class Colon(Expr):
    """`:` as a subscript: the whole dimension."""

    __slots__ = ()

    def __new__(cls) -> Colon:
        node: Colon | None = TABLE.get((cls,))
        if node is None:
            node = TABLE[(cls,)] = object.__new__(cls)
            node.ty = INTEGER.array_of(None)
        return node


class Index(Expr):
    """`base[s1, s2, ...]`: a scalar subscript drops its dimension, a vector or `Colon` keeps it.

    Subscripts are Integer (Boolean and enumeration ones already turned into positions), counted from one.
    """

    __slots__ = ("base", "subs")
    __match_args__ = ("base", "subs", "ty")
    base: Expr
    subs: tuple[Expr, ...]

    def __new__(cls, base: Expr, subs: tuple[Expr, ...], ty: Type) -> Index:
        key = (cls, base, subs, ty)
        node: Index | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.base, node.subs, node.ty = base, subs, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.base, *self.subs)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        return Index(children[0], children[1:], self.ty)


class Range(Expr):
    """`first:step:last`; `step` is None where it was not written."""

    __slots__ = ("first", "last", "step")
    __match_args__ = ("first", "step", "last", "ty")
    first: Expr
    step: Expr | None
    last: Expr

    def __new__(cls, first: Expr, step: Expr | None, last: Expr, ty: Type) -> Range:
        key = (cls, first, step, last, ty)
        node: Range | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.first, node.step, node.last, node.ty = first, step, last, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.first, self.last) if self.step is None else (self.first, self.step, self.last)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        if self.step is None:
            return Range(children[0], None, children[1], self.ty)
        return Range(children[0], children[1], children[2], self.ty)


class Comprehension(Expr):
    """`{body for i in r, j in s}`, or with `op` one of sum, product, min, max its reduction.

    Only inside functions: elsewhere the ranges are known and it is unrolled.  Iterators are Refs by unique names; the
    last iterator is the outermost dimension, as the language has it (MLS 10.4.1).
    """

    __slots__ = ("body", "iterators", "op")
    __match_args__ = ("op", "body", "iterators", "ty")
    op: str  # "" for an array
    body: Expr
    iterators: tuple[tuple[str, Expr], ...]

    def __new__(cls, op: str, body: Expr, iterators: tuple[tuple[str, Expr], ...], ty: Type) -> Comprehension:
        key = (cls, op, body, iterators, ty)
        node: Comprehension | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.op, node.body, node.iterators, node.ty = op, body, iterators, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return (self.body, *(r for _, r in self.iterators))

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        iterators = tuple((name, r) for (name, _), r in zip(self.iterators, children[1:], strict=True))
        return Comprehension(self.op, children[0], iterators, self.ty)


class FunctionRef(Expr):
    """A function as a value: its id and the inputs already bound (`function f(k=2)`), by name."""

    __slots__ = ("bound", "function")
    __match_args__ = ("function", "bound", "ty")
    function: str
    bound: tuple[tuple[str, Expr], ...]

    def __new__(cls, function: str, bound: tuple[tuple[str, Expr], ...], ty: Type) -> FunctionRef:
        key = (cls, function, bound, ty)
        node: FunctionRef | None = TABLE.get(key)
        if node is None:
            node = TABLE[key] = object.__new__(cls)
            node.function, node.bound, node.ty = function, bound, ty
        return node

    def children(self) -> tuple[Expr, ...]:
        return tuple(e for _, e in self.bound)

    def rebuilt(self, children: tuple[Expr, ...]) -> Expr:
        bound = tuple((name, e) for (name, _), e in zip(self.bound, children, strict=True))
        return FunctionRef(self.function, bound, self.ty)


TIME = Ref("time", REAL)
TRUE = Bool(True)
FALSE = Bool(False)

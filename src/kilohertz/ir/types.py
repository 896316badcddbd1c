"""Types of expressions: a base and dimensions.  Immutable, compared by value.

A dimension is an `int`, or None where it is not known before run time (only inside functions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Primitive:
    """Real, Integer, Boolean, String or Clock."""

    name: str


@dataclass(frozen=True, slots=True)
class EnumType:
    """An enumeration; values are the literals' positions, counted from one."""

    name: str
    literals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: its class name, and its fields in declaration order."""

    name: str
    fields: tuple[tuple[str, Type], ...]


@dataclass(frozen=True, slots=True)
class ExternalObjectType:
    """A class that extends ExternalObject; `constructor` and `destructor` are function ids."""

    name: str
    constructor: str
    destructor: str


@dataclass(frozen=True, slots=True)
class TupleType:
    """What a function with several outputs returns; no outputs: an empty one."""

    elements: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function handed over as an argument: types of its open inputs, and of its outputs."""

    inputs: tuple[tuple[str, Type], ...]
    outputs: tuple[Type, ...]


Base: TypeAlias = Primitive | EnumType | RecordType | ExternalObjectType | TupleType | FunctionType


@dataclass(frozen=True, slots=True)
class Type:
    """A base and its array dimensions, outermost first; a scalar has none."""

    base: Base
    dims: tuple[int | None, ...] = ()

    @property
    def is_scalar(self) -> bool:
        return not self.dims

    def array_of(self, *dims: int | None) -> Type:
        """An array of this type: `dims` stand before the type's own."""
        return Type(self.base, dims + self.dims)

    def element(self, n: int = 1) -> Type:
        """The type with the first `n` dimensions taken off."""
        return Type(self.base, self.dims[n:])

    def scalar(self) -> Type:
        """The type without any dimension."""
        return Type(self.base) if self.dims else self

    def __str__(self) -> str:
        dims = "[" + ", ".join(":" if d is None else str(d) for d in self.dims) + "]" if self.dims else ""
        match self.base:
            case TupleType(elements):
                return "(" + ", ".join(map(str, elements)) + ")" + dims
            case FunctionType():
                return "function" + dims
            case base:
                return base.name + dims


REAL = Type(Primitive("Real"))
INTEGER = Type(Primitive("Integer"))
BOOLEAN = Type(Primitive("Boolean"))
STRING = Type(Primitive("String"))
CLOCK = Type(Primitive("Clock"))
NOTHING = Type(TupleType(()))

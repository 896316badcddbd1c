"""Types of expressions: a base and dimensions.  Immutable; equal ones are one object (`sharing.py`).

A dimension is an `int`, or None where it is not known before run time (only inside functions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from kilohertz.ir.sharing import TABLE


class Shared:
    """What `__match_args__` names is all there is to it: made once, then compared and hashed as the object it is."""

    __slots__ = ("__weakref__",)
    __match_args__: tuple[str, ...] = ()

    def __new__(cls, *values: Any) -> Any:
        key = (cls, *values)
        instance = TABLE.get(key)
        if instance is None:
            instance = TABLE[key] = object.__new__(cls)
            for name, value in zip(cls.__match_args__, values, strict=True):
                object.__setattr__(instance, name, value)
        return instance

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self.__match_args__)})"


class Primitive(Shared):
    """Real, Integer, Boolean, String or Clock."""

    __slots__ = __match_args__ = ("name",)
    name: str

    if TYPE_CHECKING:

        def __new__(cls, name: str) -> Primitive: ...


class EnumType(Shared):
    """An enumeration; values are the literals' positions, counted from one."""

    __slots__ = __match_args__ = ("name", "literals")
    name: str
    literals: tuple[str, ...]

    if TYPE_CHECKING:

        def __new__(cls, name: str, literals: tuple[str, ...]) -> EnumType: ...


class RecordType(Shared):
    """A record: its class name, and its fields in declaration order."""

    __slots__ = __match_args__ = ("name", "fields")
    name: str
    fields: tuple[tuple[str, Type], ...]

    if TYPE_CHECKING:

        def __new__(cls, name: str, fields: tuple[tuple[str, Type], ...]) -> RecordType: ...


class ExternalObjectType(Shared):
    """A class that extends ExternalObject; `constructor` and `destructor` are function ids."""

    __slots__ = __match_args__ = ("name", "constructor", "destructor")
    name: str
    constructor: str
    destructor: str

    if TYPE_CHECKING:

        def __new__(cls, name: str, constructor: str, destructor: str) -> ExternalObjectType: ...


class TupleType(Shared):
    """What a function with several outputs returns; no outputs: an empty one."""

    __slots__ = __match_args__ = ("elements",)
    elements: tuple[Type, ...]

    if TYPE_CHECKING:

        def __new__(cls, elements: tuple[Type, ...]) -> TupleType: ...


class FunctionType(Shared):
    """A function handed over as an argument: types of its open inputs, and of its outputs."""

    __slots__ = __match_args__ = ("inputs", "outputs")
    inputs: tuple[tuple[str, Type], ...]
    outputs: tuple[Type, ...]

    if TYPE_CHECKING:

        def __new__(cls, inputs: tuple[tuple[str, Type], ...], outputs: tuple[Type, ...]) -> FunctionType: ...


Base: TypeAlias = Primitive | EnumType | RecordType | ExternalObjectType | TupleType | FunctionType


class Type(Shared):
    """A base and its array dimensions, outermost first; a scalar has none."""

    __slots__ = __match_args__ = ("base", "dims")
    base: Base
    dims: tuple[int | None, ...]

    def __new__(cls, base: Base, dims: tuple[int | None, ...] = ()) -> Type:
        instance: Type | None = TABLE.get((cls, base, dims))
        return instance if instance is not None else super().__new__(cls, base, dims)

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

"""Values: what expressions evaluate to.

Scalars are Python's float, int, bool and str; an enumeration value is its position, counted from one.  A record is a
dict by field name, a call with several outputs a tuple, a function a `FunctionValue`.

An array is an `ArrayValue`: shape and a flat row-major list.  Not numpy, because arrays here are tiny and many: a
3-vector is built and its elements read several times faster, sums cost about the same, only products of matrices are
slower (large ones do go through numpy); and importing numpy would take longer than most models need to be flattened.
`to_numpy()` converts.

Values are shared and must not be changed by who receives them; only a function's own variables change, and what is
assigned to them is copied first.  Elements never assigned are None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from kilohertz.interp.errors import EvaluationError
from kilohertz.ir.types import RecordType, Type

if TYPE_CHECKING:
    import numpy

Value: TypeAlias = Any  # float | int | bool | str | ArrayValue | dict[str, Value] | tuple[Value, ...] | FunctionValue
Env: TypeAlias = Mapping[str, Value] | Callable[[str], Value]


class ArrayValue:
    """An array: its shape (sizes may be zero) and its elements, row by row."""

    __slots__ = ("data", "shape")
    shape: tuple[int, ...]
    data: list[Value]

    def __init__(self, shape: tuple[int, ...], data: list[Value]) -> None:
        self.shape = shape
        self.data = data

    @classmethod
    def of(cls, nested: Any) -> ArrayValue:
        """From nested lists or a numpy array."""
        shape = getattr(nested, "shape", None)
        if shape is not None:
            return cls(tuple(shape), nested.ravel().tolist())
        sizes: list[int] = []
        rows = [nested]
        while rows and isinstance(rows[0], list | tuple):
            sizes.append(len(rows[0]))
            if any(len(row) != sizes[-1] for row in rows):
                raise EvaluationError("the rows of an array differ in length")
            rows = [x for row in rows for x in row]
        return cls(tuple(sizes), rows)

    def tolist(self) -> list[Any]:
        """As nested lists."""
        items: list[Any] = self.data
        for n in reversed(self.shape[1:]):
            items = [items[k : k + n] for k in range(0, len(items), n)] if n else []
        if not self.data and len(self.shape) > 1:
            return _empty_nest(self.shape)
        return list(items)

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """As a numpy array: float64, int64, bool, or object for strings and records."""
        import numpy as np

        kinds = {type(x) for x in self.data}
        dtype: Any = object
        if kinds <= {float, int}:
            dtype = np.int64 if kinds == {int} else np.float64
        elif kinds == {bool}:
            dtype = np.bool_
        flat = np.empty(len(self.data), dtype)
        flat[:] = self.data
        return flat.reshape(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayValue) and self.shape == other.shape and self.data == other.data

    __hash__ = None  # type: ignore[assignment]  # changed in place by the function that owns it

    def __repr__(self) -> str:
        return f"ArrayValue({self.shape}, {self.data})"


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A function handed over: its id and the inputs bound so far, by name."""

    function: str
    bound: Mapping[str, Value]


def _empty_nest(shape: tuple[int, ...]) -> list[Any]:
    return [] if shape[0] == 0 else [_empty_nest(shape[1:]) for _ in range(shape[0])]


def stacked(parts: list[Value]) -> ArrayValue:
    """Equal parts (scalars or arrays) put side by side along a new first dimension; at least one."""
    first = parts[0]
    if not isinstance(first, ArrayValue):
        return ArrayValue((len(parts),), parts)
    data: list[Value] = []
    for part in parts:
        if part.shape != first.shape:
            raise EvaluationError(f"array elements of sizes {list(first.shape)} and {list(part.shape)}")
        data += part.data
    return ArrayValue((len(parts), *first.shape), data)


def copied(value: Value) -> Value:
    """A value that may be changed without changing the original."""
    if isinstance(value, ArrayValue):
        if value.data and isinstance(value.data[0], dict):
            return ArrayValue(value.shape, [copied(x) for x in value.data])
        return ArrayValue(value.shape, value.data.copy())
    if isinstance(value, dict):
        return {name: copied(x) for name, x in value.items()}
    return value


def is_complete(value: Value) -> bool:
    """Nothing in it is still to be assigned."""
    if isinstance(value, ArrayValue):
        if value.data and isinstance(value.data[0], dict):
            return all(is_complete(x) for x in value.data)
        return None not in value.data
    if isinstance(value, dict):
        return all(is_complete(x) for x in value.values())
    return value is not None


def blank(ty: Type, shape: tuple[int, ...]) -> Value:
    """A variable before its first assignment: None in every place, with what shape is known."""
    if shape or ty.dims:
        count = 1
        for n in shape:
            count *= n
        return ArrayValue(shape, [blank(ty.scalar(), ()) for _ in range(count)])
    if isinstance(ty.base, RecordType):
        return {name: _blank_field(t) for name, t in ty.base.fields}
    return None


def _blank_field(ty: Type) -> Value:
    shape = tuple(n for n in ty.dims if n is not None)
    return blank(ty, shape) if len(shape) == len(ty.dims) else None

"""C values of Modelica types: spelling of types, arrays as pointer and dimensions, records as structs."""

from __future__ import annotations

from dataclasses import dataclass

from kilohertz.base import InternalError
from kilohertz.codegen.writing.spelling import Names
from kilohertz.ir.types import EnumType, ExternalObjectType, FunctionType, Primitive, RecordType, TupleType, Type

_ALIGNED = 16  # bytes that go to alignment, at most


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A row-major array: C pointer text, dimensions as C integer texts, type of an element."""

    pointer: str
    dims: tuple[str, ...]
    element: Type

    @property
    def size(self) -> str:
        return product(self.dims)

    @property
    def is_fixed(self) -> bool:
        return all(d.isdigit() for d in self.dims)


def product(dims: tuple[str, ...]) -> str:
    """The C text of a product of dimensions; folded where they are numbers."""
    number = 1
    names = []
    for d in dims:
        if d.isdigit():
            number *= int(d)
        else:
            names.append(d)
    if not names or number == 0:
        return str(number)
    return " * ".join(([str(number)] if number != 1 else []) + names)


class TypeTable:
    """C types of Modelica types; collects the structs of the records in the order they are needed."""

    def __init__(self) -> None:
        self._names = Names("khz_record_")
        self._structs: dict[RecordType, str] = {}
        self.fields = Names("", "_")
        self.definitions: list[str] = []
        self.room = 0  # bytes of all temporaries in the arena whose size is known
        self.takes_room = False  # whether anything is put there

    def of(self, ty: Type) -> str:
        """The C type of one element of `ty`."""
        match ty.base:
            case Primitive("Real"):
                return "double"
            case Primitive("Integer" | "Boolean") | EnumType():
                return "int32_t"
            case Primitive("String"):
                return "const char *"
            case ExternalObjectType():
                return "void *"
            case RecordType():
                return self.struct(ty.base)
            case Primitive() | TupleType() | FunctionType():
                raise InternalError(f"no C value of type {ty}")

    def declare(self, ty: Type, name: str) -> str:
        """`double x`; a pointer type hugs the name."""
        text = self.of(ty)
        return text + name if text.endswith("*") else f"{text} {name}"

    def struct(self, record: RecordType) -> str:
        known = self._structs.get(record)
        if known is not None:
            return known
        members = []
        for name, ty in record.fields:
            c_name = self.fields(name)
            if any(d is None for d in ty.dims):  # elements in the arena, and the sizes that are not fixed
                members.append(f"    {self.declare(ty.scalar(), '*' + c_name)};")
                members += [f"    int32_t {c_name}n{k};" for k, d in enumerate(ty.dims, 1) if d is None]
                continue
            count = 1
            for d in ty.dims:
                count *= d or 0
            dims = f"[{max(count, 1)}]" if ty.dims else ""
            members.append(f"    {self.declare(ty.scalar(), c_name)}{dims};")
        if not members:
            members.append("    char empty;")
        again = any(r.name == record.name for r in self._structs)
        tag = self._names(f"{record.name} {len(self._structs)}" if again else record.name)
        self._structs[record] = tag
        self.definitions += [f"typedef struct {tag} {{", *members, f"}} {tag};", ""]
        return tag

    def field_array(self, record: str, name: str, ty: Type) -> ArrayValue:
        """The array field of a record: C text of the record, name and type of the field."""
        member = f"{record}.{self.fields(name)}"
        dims = tuple(str(d) if d is not None else f"{member}n{k}" for k, d in enumerate(ty.dims, 1))
        return ArrayValue(member, dims, ty.scalar())

    def note_room(self, count: int, element: Type) -> None:
        """An array of so many elements goes to the arena."""
        self.room += count * _bytes(element) + _ALIGNED

    def is_record(self, ty: Type) -> bool:
        return isinstance(ty.base, RecordType)


def _bytes(ty: Type) -> int:
    """Of a value of C, at most."""
    count = 1
    for d in ty.dims:
        count *= d or 2  # a pointer and sizes
    if not isinstance(ty.base, RecordType):
        return 8 * count
    return count * (8 + sum(map(_bytes, (field for _, field in ty.base.fields))))


def is_growing(ty: Type) -> bool:
    """A value whose elements live in the arena: an array, or a record with one, of a size not known in advance."""
    if any(d is None for d in ty.dims):
        return True
    return isinstance(ty.base, RecordType) and any(is_growing(f) for _, f in ty.base.fields)


def needs_room(ty: Type) -> bool:
    """A value with a pointer in it: it cannot be read where a function ended before it gave one."""
    if is_growing(ty) or is_string(ty):
        return True
    return isinstance(ty.base, RecordType) and any(needs_room(f) for _, f in ty.base.fields)


def is_string(ty: Type) -> bool:
    return ty.base == Primitive("String")


def is_real(ty: Type) -> bool:
    return ty.base == Primitive("Real")


def fixed_dims(ty: Type) -> tuple[str, ...] | None:
    """The dimensions as texts, or None where one is not known."""
    if any(d is None for d in ty.dims):
        return None
    return tuple(str(d) for d in ty.dims)


def default_start(ty: Type) -> str:
    """The start value of a variable that has none (MLS 4.8.1)."""
    match ty.base:
        case EnumType():
            return "1"
        case base if getattr(base, "name", "") == "String":
            return '""'
        case base if getattr(base, "name", "") == "Real":
            return "0.0"
        case _:
            return "0"

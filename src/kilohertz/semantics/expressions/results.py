"""What a call gives back: the types of its outputs, with the sizes that this call gives them (MLS 12.4.4).

An output may leave sizes open (`:`), also those of fields of a record.  They are told by its dimensions, by what it
starts with, by what the body assigns to it or to a whole field of it, and, of arguments that are known, by running
the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kilohertz.interp import ArrayValue, Value
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Call, Expr, Ref
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.types import RecordType, TupleType, Type
from kilohertz.semantics.behaviour.reach import assigned_values
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import compatible
from kilohertz.semantics.expressions.sizes import closed, is_blank, is_open, is_unsized, sized

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.calls import Calls
    from kilohertz.semantics.expressions.elaborate import Elaborator

_Path = tuple[str, ...]  # of a field: the names on the way to it


class Results:
    """Types of calls."""

    def __init__(self, elaborator: Elaborator, calls: Calls) -> None:
        self.elaborator, self.calls = elaborator, calls
        self._reading: set[str] = set()  # functions whose bodies are asked for sizes: a recursive one tells none

    def type_of(self, header: Function, values: list[Expr], node: Any, ctx: Ctx) -> Type:
        """The type of a call: that of its output, or of all of them.  Inside a function sizes may stay open."""
        types = [self._output_type(header, x, values, ctx.locals is not None) for x in header.outputs]
        for x, ty in zip(header.outputs, types, strict=True):
            if None in ty.dims and ctx.locals is None:
                raise self.calls.wrong(header, f"gives `{x.name}` a size that is not known here", node, ctx)
        return _joined(types)

    def _output_type(self, header: Function, x: Local, values: list[Expr], inside: bool) -> Type:
        inputs = {i.name: v for i, v in zip(header.inputs, values, strict=True)}
        if None not in x.ty.dims:
            return self._record_output(header, x, values, inside) if is_open(x.ty) else x.ty
        dims: list[int | None] = []
        for size, dim in zip(x.ty.dims, x.dims, strict=True):
            if size is not None or dim is None:
                dims.append(size if size is not None else _size_by_default(x, len(dims), inputs))
            else:
                dims.append(self._number(make.substitute(self._without_locals(header, dim), inputs), inside))
        if None in dims and not inside:
            value = self._by_running(header, x, values)
            dims = list(value.shape) if isinstance(value, ArrayValue) else dims
        if None in dims and not inside:
            ty = self._by_body(header, x, inputs, inside)
            if len(ty.dims) == len(dims):
                dims = [b if a is None else a for a, b in zip(dims, ty.dims, strict=True)]
        return Type(x.ty.base, tuple(dims))

    def _record_output(self, header: Function, x: Local, values: list[Expr], inside: bool) -> Type:
        """A record with arrays of open size: what it starts with or is assigned has their sizes."""
        ty = self._by_body(header, x, {i.name: v for i, v in zip(header.inputs, values, strict=True)}, inside)
        if is_open(ty) and not inside:
            value = self._by_running(header, x, values)
            ty = ty if value is None else closed(ty, _type_of_value(ty, value))
        return ty if compatible(ty, x.ty) else x.ty

    def _number(self, e: Expr, inside: bool) -> int | None:
        """The value of a size; inside a function names are those of its variables, which have none."""
        if inside and traverse.refs(e):
            return None
        value = self.elaborator.evaluation.try_value(e)
        return value if isinstance(value, int) else None

    # ---------------------------------------------------------------------------------------------------- by the body

    def _by_body(self, header: Function, x: Local, inputs: dict[str, Expr], inside: bool) -> Type:
        """The type of an output by what the function declares and assigns."""
        if header.id in self._reading:
            return x.ty
        self._reading.add(header.id)
        try:
            return self._variables(header, inputs, inside)[x.name].ty
        finally:
            self._reading.discard(header.id)

    def _variables(self, header: Function, inputs: dict[str, Expr], inside: bool) -> dict[str, Expr]:
        """Inputs, outputs and protected variables with all the sizes that can be told; one may tell another."""
        function = self.elaborator.functions.by_id(header.id)
        own = (*function.outputs, *function.locals)
        known: dict[str, Expr] = {x.name: _variable(function, x, x.ty) for x in own} | inputs
        for _ in own:  # as often as one may wait for another
            before = dict(known)
            for x in own:
                if is_unsized(known[x.name].ty):
                    known[x.name] = _variable(function, x, self._told(function, x, known, inside))
            if known == before:
                break
        return known

    def _told(self, function: Function, x: Local, known: dict[str, Expr], inside: bool) -> Type:
        """What is known of a variable's type, with the sizes that are declared or else of what it is given."""
        ty = known[x.name].ty
        dims = list(ty.dims)
        for k, dim in enumerate(x.dims):
            if dims[k] is None and dim is not None:
                dims[k] = self._number(self._sized(self._without_locals(function, dim), known, inside), inside)
        ty = Type(ty.base, tuple(dims))
        rooms = self.elaborator.functions.rooms.get((function.id, x.name), {})
        for path in _open_fields(ty):
            told = self._given(function, x, path, rooms, known, inside)
            if told is not None:
                ty = _with_field(ty, path, told)
        # a declared size that is not known yet is not told by an assignment
        kept = (a if dim is not None else b for a, b, dim in zip(dims, ty.dims, x.dims, strict=True))
        return Type(ty.base, tuple(kept))

    def _given(
        self,
        function: Function,
        x: Local,
        path: _Path,
        rooms: dict[_Path, Expr],
        known: dict[str, Expr],
        inside: bool,
    ) -> Type | None:
        """The type of the room for a field, or of all that is given to it, where that is always the same."""
        if path in rooms:
            return self._sized(rooms[path], known, inside).ty
        values = list(assigned_values(function.body, x.name, path))
        first = x.default
        for name in path if first is not None else ():
            assert first is not None
            first = make.field(first, name)
        if first is not None and not is_blank(first):
            values.insert(0, first)
        types = _distinct(self._sized(value, known, inside).ty for value in values)
        told = [ty for ty in types if None not in ty.dims]
        if len(told) == 1 and len(types) > 1:  # others may be in terms of the variable itself
            itself = known | {x.name: _variable(function, x, _with_field(known[x.name].ty, path, told[0]))}
            types = _distinct(self._sized(value, itself, inside).ty for value in values)
        return types[0] if len(types) == 1 else None

    def _sized(self, e: Expr, known: dict[str, Expr], inside: bool) -> Expr:
        return sized(e, known, lambda call: self._call_type(call, inside), lambda size: self._number(size, inside))

    def _call_type(self, call: Call, inside: bool) -> Type:
        """The type of a call whose arguments have got their sizes."""
        try:
            header = self.elaborator.functions.by_id(call.function)
        except KeyError:  # of a function that was handed over
            return call.ty
        if header.partial_of or len(header.inputs) != len(call.args):
            return call.ty
        return _joined([self._output_type(header, x, list(call.args), inside) for x in header.outputs])

    def _without_locals(self, header: Function, dim: Expr) -> Expr:
        """Protected variables with a default stand for it in a dimension."""
        defaults = {x.name: x.default for x in header.locals if x.default is not None}
        for _ in range(4):
            if not any(r.name in defaults for r in traverse.refs(dim)):
                break
            dim = make.substitute(dim, {k: v for k, v in defaults.items() if v is not None})
        return dim

    # ----------------------------------------------------------------------------------------------------- by running

    def _by_running(self, header: Function, x: Local, values: list[Expr]) -> Value | None:
        """What the function gives, where its arguments are known."""
        result = self.elaborator.evaluation.try_value(Call(header.id, tuple(values), Type(TupleType(()))))
        outputs = result if isinstance(result, tuple) else (result,)
        return next((v for output, v in zip(header.outputs, outputs, strict=False) if output is x), None)


def _joined(types: list[Type]) -> Type:
    return types[0] if len(types) == 1 else Type(TupleType(tuple(types)))


def _variable(function: Function, x: Local, ty: Type) -> Expr:
    """A variable of a function, by a name that none of the model has."""
    return Ref(f"{function.id}: {x.name}", ty)


def _size_by_default(x: Local, k: int, inputs: dict[str, Expr]) -> int | None:
    return None if x.default is None else make.substitute(x.default, inputs).ty.dims[k]


def _distinct(types: Iterable[Type]) -> list[Type]:
    return list(dict.fromkeys(types))


def _open_fields(ty: Type, above: _Path = ()) -> Iterator[_Path]:
    """Where sizes are open: the variable itself, or arrays among its fields and theirs."""
    if isinstance(ty.base, RecordType) and not ty.dims:
        for name, field in ty.base.fields:
            yield from _open_fields(field, (*above, name))
    elif None in ty.dims or is_open(ty):
        yield above


def _with_field(ty: Type, path: _Path, told: Type) -> Type:
    """`ty` with the sizes that are told of one of its fields; what is known stays."""
    if not path:
        return closed(ty, told)
    assert isinstance(ty.base, RecordType)
    fields = tuple((n, _with_field(t, path[1:], told) if n == path[0] else t) for n, t in ty.base.fields)
    return Type(RecordType(ty.base.name, fields), ty.dims)


def _type_of_value(ty: Type, value: Value) -> Type:
    """`ty` with the sizes of a value of it."""
    if isinstance(value, ArrayValue):
        return Type(ty.base, value.shape) if len(value.shape) == len(ty.dims) else ty
    if isinstance(value, dict) and isinstance(ty.base, RecordType):
        fields = tuple((n, _type_of_value(t, value[n]) if n in value else t) for n, t in ty.base.fields)
        return Type(RecordType(ty.base.name, fields))
    return ty

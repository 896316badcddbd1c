"""First values of records in a function: `output R r(x = a, redeclare Real c[n + 1], inner(k = 4))` (MLS 12.4.4).

Fields have the values that modifications give them, at any depth, or their own declarations.  A field that is
redeclared with a size, or has one that other fields tell, has room for it.  Where some field is without a value, the
others are set one by one where the body begins; if a variable reads the record before, it starts with blanks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from kilohertz.base import ModelError, Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Bool, Builtin, Enum, Expr, Int, Record, Ref, Str
from kilohertz.ir.flat import Assign, Function, Local
from kilohertz.ir.types import BOOLEAN, INTEGER, STRING, EnumType, RecordType, Type
from kilohertz.semantics.classes import Ctx, Spec, spec_of
from kilohertz.semantics.classes.nodes import ClassNode, Element
from kilohertz.semantics.conversion import coerce
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

_Path: TypeAlias = tuple[str, ...]
_Said: TypeAlias = list[tuple[Spec, Ctx]]  # modifications of one record, the strongest first
_Given: TypeAlias = dict[str, "Expr | _Given"]  # values by field; of records some of whose fields have one, again


class FirstRecords:
    """Finds what a record of a function starts with."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._partly: dict[str, dict[str, tuple[_Given, Origin]]] = {}  # by function and variable
        self.rooms: dict[tuple[str, str], dict[_Path, Expr]] = {}  # likewise; by the names on the way to a field
        self._made: set[Expr] = set()  # all rooms so far

    def value(self, local: Local, element: Element, ctx: Ctx) -> Expr | None:
        """The whole value; what is known of another one is kept until `finish`."""
        base = local.ty.base
        if not isinstance(base, RecordType) or local.ty.dims:
            return None
        said: _Said = [(m.spec, ctx if m.ctx.view.root is ctx.view.root else m.ctx) for m in element.chain]
        own = element.component.modification
        if own is not None:
            spec = spec_of(own, element.view, element.view.definition.file)
            said.append((spec, Ctx(element.view, None, None, ctx.locals)))
        given = self._given(base, said)
        record = self.elaborator.types.record_nodes.get(base.name)
        if record is None or not (given or self._has_defaults(record, base)):
            return None
        known = self._known(record, given, element)
        function = ctx.view.root.full_name
        self.rooms[function, local.name] = {path: e for path, e in _leaves(known, ()) if e in self._made}
        if isinstance(known, Expr):
            return known
        self._partly.setdefault(function, {})[local.name] = (known, Origin((element.span,)))
        return None

    def finish(self, function: Function) -> list[Assign]:
        """Values of single fields, to be set where the body begins."""
        own = {x.name: x for x in (*function.outputs, *function.locals)}
        read = [e for x in own.values() for e in (x.default, *x.dims) if e is not None]
        early = {r.name for e in read for r in traverse.refs(e)}
        found: list[Assign] = []
        for name, (known, origin) in self._partly.pop(function.id, {}).items():
            local = own.get(name)
            if local is None:
                continue  # an input has a value of its own, or none
            if name in early:
                local.default = _with_blanks(local.ty, known)
            else:
                found += _assignments(Ref(name, local.ty), known, origin)
        return found

    def _given(self, base: RecordType, said: _Said) -> _Given:
        """What modifications give the fields of a record."""
        given: _Given = {}
        for name, ty in base.fields:
            subs = [(spec.subs[name], inside) for spec, inside in said if name in spec.subs]
            value = next((v for sub, inside in subs if (v := self._single(sub, ty, inside)) is not None), None)
            inner = self._given(ty.base, subs) if isinstance(ty.base, RecordType) and not ty.dims else {}
            if value is not None and inner:
                inner = {n: inner.get(n, make.field(value, n)) for n, _ in ty.base.fields}  # type: ignore[union-attr]
            if inner or value is not None:
                given[name] = inner or value  # type: ignore[assignment]
        return given

    def _single(self, sub: Spec, ty: Type, inside: Ctx) -> Expr | None:
        """The value that one modification gives a field, or room for it."""
        if sub.binding is not None:
            return coerce(self.elaborator.expr(sub.binding, inside), ty)
        new = sub.redeclare.element if sub.redeclare is not None else None
        if not isinstance(new, tree.Component):
            return None
        if new.modification is not None and new.modification.binding is not None:
            return coerce(self.elaborator.expr(new.modification.binding, inside), ty)
        if not new.dims or len(new.dims) != len(ty.dims) or any(isinstance(d, tree.Colon) for d in new.dims):
            return None
        return self._room(ty, new.dims, inside)

    def _room(self, ty: Type, dims: tuple[tree.Expr, ...], inside: Ctx) -> Expr:
        sizes = [self.elaborator.expr(d, inside) for d in dims]
        known = Type(ty.base, tuple(n.value if isinstance(n, Int) else None for n in sizes))
        room = Builtin("fill", (_blank(ty.scalar()), *sizes), known)
        self._made.add(room)
        return room

    def _known(self, record: ClassNode, given: _Given, element: Element) -> Expr | _Given:
        """A whole record where all fields have a value, else those that have one."""
        records, at = self.elaborator.calls.records, Ctx(element.view)
        values = {name: one for name, one in given.items() if isinstance(one, Expr)}
        nested = frozenset(given) - values.keys()
        partly: _Given = {}
        if nested:
            around = records.known_fields(record, values, nested, element.component, at)
            for name in given:
                if name in nested:
                    one = self._inner(record, name, given[name], around, element)  # type: ignore[arg-type]
                    (values if isinstance(one, Expr) else partly)[name] = one  # type: ignore[assignment]
        if not partly:
            try:
                return records.construct(record, [], values, element.component, at)
            except ModelError:
                pass  # some fields have no value yet: the body sets them
        known = records.known_fields(record, values, frozenset(partly), element.component, at)
        return {**known, **self._rooms(record, known, partly), **partly}

    def _inner(
        self, record: ClassNode, name: str, given: _Given, around: dict[str, Expr], element: Element
    ) -> Expr | _Given:
        """A record in a record: what the function says of it goes before what the outer record's declaration says."""
        field = record.table[name]
        base = dict(self.elaborator.types.record(record).fields)[name].base
        assert isinstance(base, RecordType)
        said: _Said = [(m.spec, m.ctx) for m in field.chain]
        own = field.component.modification
        if own is not None:
            spec = spec_of(own, field.view, field.view.definition.file)
            said.append((spec, Ctx(field.view, None, None, around)))
        return self._known(
            self.elaborator.types.record_nodes[base.name], _merged(given, self._given(base, said)), element
        )

    def _rooms(self, record: ClassNode, known: dict[str, Expr], partly: _Given) -> dict[str, Expr]:
        """Room for arrays without a value whose sizes are told by other fields: `Integer n; Real x[n]`."""
        rooms: dict[str, Expr] = {}
        for name, ty in self.elaborator.types.record(record).fields:
            field = record.table[name]
            if name in known or name in partly or None not in ty.dims or len(field.component.dims) != len(ty.dims):
                continue
            refs = [r.names[0] for dim in field.component.dims for r in tree.refs(dim)]
            colon = any(isinstance(d, tree.Colon) for d in field.component.dims)
            if not colon and all(n in known for n in refs if n in record.table):
                rooms[name] = self._room(ty, field.component.dims, Ctx(field.view, None, None, known))
        return rooms

    def _has_defaults(self, record: ClassNode, base: RecordType) -> bool:
        for name, ty in base.fields:
            if _has_binding(record.table[name]):
                return True
            inner = self.elaborator.types.record_nodes.get(ty.base.name) if isinstance(ty.base, RecordType) else None
            if inner is not None and isinstance(ty.base, RecordType) and self._has_defaults(inner, ty.base):
                return True
        return False


def _leaves(known: Expr | _Given, above: _Path) -> Iterator[tuple[_Path, Expr]]:
    """Values of fields, and of those of records in records."""
    if isinstance(known, Record):
        assert isinstance(known.ty.base, RecordType)
        known = {n: e for (n, _), e in zip(known.ty.base.fields, known.fields, strict=True)}
    if isinstance(known, Expr):
        yield above, known
        return
    for name, one in known.items():
        yield from _leaves(one, (*above, name))


def _with_blanks(ty: Type, known: _Given) -> Expr:
    """A whole record: what is known, and blanks for the body to set."""
    assert isinstance(ty.base, RecordType)
    fields = []
    for name, field in ty.base.fields:
        value = known.get(name)
        if value is None:
            value = _blank_field(field)
        fields.append(value if isinstance(value, Expr) else _with_blanks(field, value))
    return Record(tuple(fields), ty)


def _assignments(target: Expr, known: _Given, origin: Origin) -> list[Assign]:
    found: list[Assign] = []
    for name, value in known.items():
        field = make.field(target, name)
        if isinstance(value, Expr):
            found.append(Assign(field, value, origin))
        else:
            found += _assignments(field, value, origin)
    return found


def _merged(strong: _Given, weak: _Given) -> _Given:
    """What both say; where both do, the first."""
    merged: _Given = {**weak, **strong}
    for name, one in strong.items():
        other = weak.get(name)
        if not isinstance(one, Expr) and other is not None and not isinstance(other, Expr):
            merged[name] = _merged(one, other)
    return merged


def _has_binding(element: Element) -> bool:
    modification = element.component.modification
    return (modification is not None and modification.binding is not None) or any(
        m.spec.binding is not None for m in element.chain
    )


def _blank(ty: Type) -> Expr:
    """One element of an array that the body of a function sets."""
    if isinstance(ty.base, RecordType):
        return Record(tuple(_blank_field(t) for _, t in ty.base.fields), ty)
    if isinstance(ty.base, EnumType):
        return Enum(ty.base, 1)
    return {STRING: Str(""), BOOLEAN: Bool(False), INTEGER: Int(0)}.get(ty, make.ZERO)


def _blank_field(ty: Type) -> Expr:
    if not ty.dims:
        return _blank(ty)
    return Builtin("fill", (_blank(ty.scalar()), *(Int(n or 0) for n in ty.dims)), ty)

"""Record constructors: fields by position and name, the rest from the record's own declarations (MLS 12.6)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.ir import make
from kilohertz.ir.expr import Builtin, Comprehension, Expr, Int, Record, Ref
from kilohertz.ir.types import INTEGER, RecordType, Type
from kilohertz.semantics.classes import ClassNode, Ctx, Element, spec_of
from kilohertz.semantics.conversion import coerce, fits
from kilohertz.semantics.instances import Comp
from kilohertz.semantics.wording import counted

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Records:
    """Builds record values."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def construct(self, record: ClassNode, args: list[Any], named: dict[str, Any], node: Any, ctx: Ctx) -> Expr:
        """`R(a, b, field=c)`: defaults come from the record's own declarations, in terms of the other fields."""
        ty = self.elaborator.types.record(record)
        inputs = self.inputs(record)
        if len(args) > len(inputs):
            raise self.elaborator.error(
                "S273", f"`{record.written_name}` has only {counted(len(inputs), 'field')} to give", node, ctx
            )
        for name in named:
            if name not in dict(ty.fields):
                raise self.elaborator.error("S273", f"`{record.written_name}` has no field `{name}`", node, ctx)
            if name not in inputs:
                text = f"field `{name}` of `{record.written_name}` is constant or final and has its value already"
                raise self.elaborator.error("S273", text, node, ctx)
            if name in inputs[: len(args)]:
                raise self.elaborator.error("S273", f"`{record.written_name}` gets `{name}` twice", node, ctx)
        return self._with_fields(record, dict(zip(inputs, args, strict=False)) | named, node, ctx)

    def inputs(self, record: ClassNode) -> list[str]:
        """The fields that a constructor takes, in order (MLS 12.6)."""
        return [n for n, _ in self.elaborator.types.record(record).fields if not self._is_fixed(record.table[n])]

    def _with_fields(self, record: ClassNode, given: dict[str, Any], node: Any, ctx: Ctx) -> Expr:
        """A record of fields that are given; arrays of them make an array of records (MLS 12.4.6)."""
        ty = self.elaborator.types.record(record)
        values: dict[str, Expr] = {}
        for name, field_ty in ty.fields:
            if name in given:
                arg = given[name]
                value = coerce(arg if isinstance(arg, Expr) else self.elaborator.expr(arg, ctx), field_ty)
                if not fits(value.ty, field_ty):
                    self.elaborator.check_type(value, field_ty, node, ctx, f"field `{name}` of `{record.written_name}`")
                values[name] = value
        over = [n for n, t in ty.fields if n in values and len(values[n].ty.dims) > len(t.dims)]
        if over:
            return self._over_elements(record, values, over, node, ctx)
        self._default_fields(record, ty, values, node, ctx)
        fields = tuple(values[n] for n, _ in ty.fields)
        with_sizes = RecordType(ty.name, tuple((n, values[n].ty) for n, _ in ty.fields))
        return Record(fields, Type(with_sizes))

    def _over_elements(self, record: ClassNode, values: dict[str, Expr], over: list[str], node: Any, ctx: Ctx) -> Expr:
        """Along the first of the dimensions that some fields have beyond what the record takes."""
        fields = dict(self.elaborator.types.record(record).fields)
        extra = {values[n].ty.dims[: len(values[n].ty.dims) - len(fields[n].dims)] for n in over}
        if len(extra) > 1:
            text = f"`{record.written_name}` gets arrays of different sizes to run over"
            raise self.elaborator.error("S273", text, node, ctx)
        (dims,) = extra
        if dims[0] is None:
            at = Ref(self.elaborator.functions.fresh("i"), INTEGER)
            body = self._with_fields(record, _at(values, over, at), node, ctx)
            run = make.range_(Int(1), None, Builtin("size", (values[over[0]], Int(1)), INTEGER))
            return Comprehension("", body, ((at.name, run),), body.ty.array_of(None))
        parts = [self._with_fields(record, _at(values, over, Int(i)), node, ctx) for i in range(1, dims[0] + 1)]
        return make.array(parts) if parts else make.zeros(Type(self.elaborator.types.record(record), dims))

    def known_fields(
        self, record: ClassNode, known: dict[str, Expr], partly: frozenset[str], node: Any, ctx: Ctx
    ) -> dict[str, Expr]:
        """Those fields that are given or have a value by their declaration; the others are left out.

        So are those that are `partly` given, and whose value depends on such.
        """
        ty = self.elaborator.types.record(record)
        values = {n: coerce(known[n], t) for n, t in ty.fields if n in known}
        fill = self._filler(record, ty, values, node, ctx, partly)
        for name, _ in ty.fields:
            if name not in values:
                with suppress(ModelError):
                    fill(name)
        return values

    def _is_fixed(self, element: Element) -> bool:
        """Constants and final fields that have a value are no inputs of the constructor (MLS 12.6)."""
        decl = element.component
        bound = decl.modification is not None and decl.modification.binding is not None
        return (decl.variability == "constant" or decl.final) and (
            bound or any(mod.spec.binding is not None for mod in element.chain)
        )

    def _default_fields(self, record: ClassNode, ty: RecordType, values: dict[str, Expr], node: Any, ctx: Ctx) -> None:
        missing = [n for n, _ in ty.fields if n not in values]
        fill = self._filler(record, ty, values, node, ctx)
        for name in missing:
            fill(name)

    def _filler(
        self,
        record: ClassNode,
        ty: RecordType,
        values: dict[str, Expr],
        node: Any,
        ctx: Ctx,
        without: frozenset[str] = frozenset(),
    ) -> Callable[[str], Expr]:
        """A function that finds one field's default and puts it into `values`; fields `without` one have none."""
        busy: set[str] = set(without)
        lazy = _LazyFields(values)

        def fill(name: str) -> Expr:
            if name in values:
                return values[name]
            if name in busy:
                raise self.elaborator.error("S234", f"field `{name}` depends on itself", node, ctx)
            busy.add(name)
            values[name] = self._default_field(record, name, dict(ty.fields)[name], lazy, node, ctx)
            return values[name]

        lazy.fill, lazy.names = fill, {n for n, _ in ty.fields}
        return fill

    def _default_field(
        self, record: ClassNode, name: str, ty: Type, values: dict[str, Expr], node: Any, ctx: Ctx
    ) -> Expr:
        element = record.table[name]
        elaborator = self.elaborator
        for mod in element.chain:
            if mod.spec.binding is not None:
                inner = Ctx(mod.ctx.view, None, None, values) if mod.ctx.view.root is record else mod.ctx
                return coerce(elaborator.expr(mod.spec.binding, inner), ty)
        modification = element.component.modification
        if modification is not None and modification.binding is not None:
            inner = Ctx(element.view, None, None, values)
            return coerce(elaborator.expr(modification.binding, inner), ty)
        if isinstance(ty.base, RecordType):
            return self._nested(element, ty, values, node, ctx)
        start = elaborator.world.package_instance(record).child(name)
        if isinstance(start, Comp) and start.is_primitive:
            value = elaborator.bindings.attribute(start, "start")
            if value is not None and element.component.variability == "parameter":
                return coerce(value, ty)
        if 0 in ty.dims:
            return make.zeros(ty)
        raise elaborator.error("S274", f"`{record.written_name}` needs a value for its field `{name}`", node, ctx)

    def _nested(self, element: Element, ty: Type, values: dict[str, Expr], node: Any, ctx: Ctx) -> Expr:
        """A record inside a record (or an array of them): its fields as the declaration modifies them."""
        cls = element.view.lookup_class(element.component.type)
        specs = [(mod.spec, mod.ctx) for mod in element.chain]
        if element.component.modification is not None:
            file = element.view.definition.file
            specs.append(
                (spec_of(element.component.modification, element.view, file), Ctx(element.view, None, None, values))
            )
        modified: dict[str, tuple[Expr, bool]] = {}
        for spec, inside in specs:
            for name, sub in spec.subs.items():
                if sub.binding is not None and name not in modified:
                    modified[name] = (self.elaborator.expr(sub.binding, inside), sub.each)
        return self._elements(cls, modified, ty.dims, (), node, ctx)

    def _elements(
        self,
        cls: ClassNode,
        modified: dict[str, tuple[Expr, bool]],
        dims: tuple[int | None, ...],
        index: tuple[int, ...],
        node: Any,
        ctx: Ctx,
    ) -> Expr:
        if not dims:
            subs = tuple(Int(i) for i in index)
            named = {n: e if each or not subs else make.index(e, subs) for n, (e, each) in modified.items()}
            return self._with_fields(cls, named, node, ctx)
        if dims[0] is None:
            raise self.elaborator.error("S232", f"the size of a field of `{cls.written_name}` is not known", node, ctx)
        parts = [self._elements(cls, modified, dims[1:], (*index, i), node, ctx) for i in range(1, dims[0] + 1)]
        return make.array(parts) if parts else make.zeros(Type(self.elaborator.types.record(cls), dims))


def _at(values: dict[str, Expr], over: list[str], at: Expr) -> dict[str, Expr]:
    return {n: make.index(e, (at,)) if n in over else e for n, e in values.items()}


class _LazyFields(dict[str, Expr]):
    """Fields of a record under construction: asked by name, defaults filled in when needed."""

    def __init__(self, values: dict[str, Expr]) -> None:
        super().__init__()
        self.values_ = values
        self.fill: Any = None
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Expr:
        result: Expr = self.fill(name)
        return result

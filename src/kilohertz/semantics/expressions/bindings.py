"""Bindings and attributes of components, from the modifications that reached them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Note, Severity
from kilohertz.ir import make
from kilohertz.ir.expr import (
    Array,
    Call,
    Expr,
    Field,
    Int,
)
from kilohertz.ir.types import (
    BOOLEAN,
    STRING,
    Primitive,
    RecordType,
    Type,
)
from kilohertz.semantics.classes import ClassNode, Mod, Selection
from kilohertz.semantics.conversion import coerce, compatible
from kilohertz.semantics.instances import Comp
from kilohertz.semantics.wording import counted
from kilohertz.syntax import same_tree, tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Bindings:
    """What modifications give a component: its binding and its attributes."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._warned: set[int] = set()

    def binding_of(self, mod: Mod) -> Expr:
        """The binding a modification carries, narrowed to the element it has reached."""
        key = id(mod.spec)
        whole = mod.cache.get(key)
        if whole is None:
            assert mod.spec.binding is not None
            n_early = self.elaborator.graph.n_early
            try:
                whole = self.elaborator.expr(mod.spec.binding, mod.ctx)
            except ModelError as error:
                parts = {"S245": _element, "S234": self._argument}
                code = error.diagnostics[0].code
                element = parts[code](mod) if code in parts else None
                if element is None:
                    raise
                return self._selected(self.elaborator.expr(element, mod.ctx), mod, mod.select[1:])
            if self.elaborator.graph.n_early == n_early:
                mod.cache[key] = whole
        if not mod.select:
            return whole
        return self._selected(whole, mod, mod.select)

    def _argument(self, mod: Mod) -> tree.Expr | None:
        """What `R(a, w = r.u)` gives the one field of `r` that a modification has reached.

        Arguments may speak of other fields of the same component, whose values and sizes are known without them.
        """
        match mod.spec.binding, mod.select:
            case tree.Call() as call, (str(name), *_) if not call.function.subs:
                record = mod.ctx.view.lookup_path(call.function)
            case _:
                return None
        if not isinstance(record, ClassNode) or record.kind != "record":
            return None
        given = dict(zip(self.elaborator.calls.records.inputs(record), call.args, strict=False)) | dict(call.named)
        return given.get(name)

    def _selected(self, expr: Expr, mod: Mod, select: Selection) -> Expr:
        pending: list[Expr] = []
        for step in select:
            if isinstance(step, tuple):
                index, size = step
                if len(pending) >= len(expr.ty.dims):
                    # a scalar given to all elements of an array: `each` is missing, accepted like other tools do
                    self._warn_each(mod)
                    continue
                if (n := expr.ty.dims[len(pending)]) is not None and n != size:
                    raise self.elaborator.error(
                        "S241", f"the binding has {counted(n, 'element')}, the array has {size}", mod.spec, mod.ctx
                    )
                pending.append(Int(index))
                continue
            if pending:
                expr, pending = make.index(expr, tuple(pending)), []
            if not isinstance(expr.ty.base, RecordType) or step not in dict(expr.ty.base.fields):
                raise self.elaborator.error("S239", f"the binding has no element `{step}`", mod.spec, mod.ctx)
            expr = make.field(expr, step)
        return make.index(expr, tuple(pending)) if pending else expr

    def _warn_each(self, mod: Mod) -> None:
        if id(mod.spec) not in self._warned:
            self._warned.add(id(mod.spec))
            self.elaborator.world.warn(
                "S293", "one value is given to all elements of an array without `each`", mod.span
            )

    def binding(self, comp: Comp) -> Expr | None:
        """The binding of a primitive component, of its own type."""
        if comp.binding_expr is False:
            comp.binding_expr = self._binding(comp)
        return comp.binding_expr  # type: ignore[return-value]

    def _binding(self, comp: Comp) -> Expr | None:
        for mod in comp.env:
            if mod.spec.binding is None:
                continue
            if isinstance(mod.spec.binding, tree.Ref) and mod.spec.binding.names == ("break",):
                return None
            assert comp.ty is not None
            expr = coerce(self.binding_of(mod), comp.ty)
            self.elaborator.check_type(expr, comp.ty, mod.spec, mod.ctx, f"the binding of `{comp.path}`")
            return expr
        return None

    def sized_binding(self, comp: Comp) -> Expr | None:
        """The binding with all sizes known: those of a record that a function returns, from the record's component."""
        expr = self.binding(comp)
        if expr is None or not isinstance(expr, Field):
            return expr
        owner: Comp | None = comp
        names: list[str] = []
        call: Expr = expr
        while isinstance(call, Field) and owner is not None:
            names.insert(0, call.name)
            call, owner = call.base, owner.parent
        base = call.ty.base
        if not isinstance(call, Call) or not isinstance(base, RecordType) or call.ty.dims or owner is None:
            return expr
        if _is_sized(call.ty):
            return expr
        whole = self.elaborator.names.record_value(owner).ty
        assert isinstance(whole.base, RecordType)
        if not compatible(whole, call.ty):
            return expr
        types = dict(whole.base.fields)
        sized = RecordType(base.name, tuple((n, types[n]) for n, _ in base.fields))
        result: Expr = Call(call.function, call.args, Type(sized))
        for name in names:
            result = make.field(result, name)
        return result

    def attribute_names(self, comp: Comp) -> set[str]:
        """Names among which are all attributes that anybody gave."""
        node = comp.node
        known = node.memo.get("attributes")
        if known is None:
            known = node.memo["attributes"] = {name for mod in node.attribute_chain for name in mod.spec.subs}
        assert isinstance(known, set)
        specs = [mod.spec.subs for mod in comp.env if mod.spec.subs]
        return known.union(*specs) if specs else known

    def attribute_mod(self, comp: Comp, name: str) -> Mod | None:
        """The strongest modification of an attribute; weaker ones must not be final (MLS 7.2.6)."""
        said = [sub for mod in comp.env if (sub := mod.sub(name)) is not None and sub.spec.binding is not None]
        n_of_component = len(said)
        said += [
            sub
            for mod in comp.node.attribute_chain
            if (sub := mod.sub(name)) is not None and sub.spec.binding is not None
        ]
        for weaker in said[1:]:
            # declarations inherited twice say the same twice
            if weaker.spec.final and not same_tree(weaker.spec.binding, said[0].spec.binding):
                note = Note("which is here", weaker.span)
                text = f"`{name}` of `{comp.path}` was set by a final modification"
                raise self.elaborator.error("S222", text, said[0].spec, said[0].ctx, note)
        if not said:
            return None
        return said[0] if n_of_component or comp.parent is None else said[0].bound(comp.parent)

    def attribute(self, comp: Comp, name: str) -> Expr | None:
        """start, fixed, unit, ...: as modified, or as the type says; None where nobody says."""
        if name not in comp._attributes:
            mod = self.attribute_mod(comp, name)
            comp._attributes[name] = None if mod is None else self._attribute_expr(comp, name, mod)
        return comp._attributes[name]

    def is_of_type(self, comp: Comp, name: str) -> bool:
        """Whether only the type of a component says an attribute, not anybody who declares or modifies it."""
        said = [sub for mod in comp.env if (sub := mod.sub(name)) is not None and sub.spec.binding is not None]
        return not said and self.attribute(comp, name) is not None

    def is_handed_on(self, comp: Comp) -> bool:
        """Whether a component was given its value by names or calls, of which a structural one keeps the number."""
        written = next((mod.spec.binding for mod in comp.env if mod.spec.binding is not None), None)
        return written is not None and not is_of_digits(written)

    def _is_of_type(self, comp: Comp, mod: Mod) -> bool:
        """Whether the type of a component says it, not the component."""
        return any(spec is mod.spec for m in comp.node.attribute_chain for spec in m.spec.subs.values())

    def _attribute_expr(self, comp: Comp, name: str, mod: Mod) -> Expr | None:
        if isinstance(mod.spec.binding, tree.Ref) and mod.spec.binding.names == ("break",):
            return None
        expr = self.binding_of(mod)
        assert comp.ty is not None
        wanted = _ATTRIBUTE_TYPES.get(name, comp.ty.scalar())
        if name != "stateSelect" and not compatible(coerce(expr, wanted.array_of(*expr.ty.dims)).ty.scalar(), wanted):
            text = f"`{name}` of `{comp.path}` has type {expr.ty}, needed {wanted}"
            raise self.elaborator.error("S240", text, mod.spec, mod.ctx)
        if (
            name in ("start", "min", "max", "nominal")
            and isinstance(comp.ty.base, Primitive)
            and comp.ty.base.name == "Real"
        ):
            expr = make.to_real(expr)
        n = len(expr.ty.dims)
        spread = mod.spec.each or self._is_of_type(comp, mod)
        if mod.spec.each and n and expr.ty.dims == comp.ty.dims:
            text = (
                f"`each` gives one value to all elements of `{comp.path}`, but `{name}` has dimensions {_dims(expr.ty)}"
            )
            self.elaborator.world.record(Diagnostic("S338", text, mod.ctx.span(mod.spec), severity=Severity.WARNING))
        if n and n < len(comp.ty.dims) and comp.ty.dims[-n:] == expr.ty.dims and spread:
            # `type T = Real[3](start=...)` and `T x[2]`: the same for all x
            return _repeated(expr, comp.ty.dims[:-n])
        if n and expr.ty.dims != comp.ty.dims and None not in expr.ty.dims:
            raise self.elaborator.error(
                "S242",
                f"`{name}` of `{comp.path}` has dimensions {_dims(expr.ty)}, needed {_dims(comp.ty)}",
                mod.spec,
                mod.ctx,
            )
        return expr


_ATTRIBUTE_TYPES = {  # of the others it is that of the variable
    **dict.fromkeys(("unit", "displayUnit", "quantity"), STRING),
    **dict.fromkeys(("fixed", "unbounded"), BOOLEAN),
}


def _element(mod: Mod) -> tree.Expr | None:
    """What `{a, b}` gives the one element of an array that a modification has reached.

    Records with arrays of different sizes do not stand in one array, but each in a component of its own.
    """
    match mod.spec.binding, mod.select:
        case tree.Array(elements=elements), ((int(index), int(size)), *_) if len(elements) == size:
            return elements[index - 1]
    return None


def _is_sized(ty: Type) -> bool:
    """All dimensions are known, those of record fields too."""
    if None in ty.dims:
        return False
    return not isinstance(ty.base, RecordType) or all(_is_sized(t) for _, t in ty.base.fields)


def _repeated(expr: Expr, dims: tuple[int | None, ...]) -> Expr:
    for size in reversed(dims):
        expr = make.array([expr] * size) if size else Array((), expr.ty.array_of(0))
    return expr


def _dims(ty: Type) -> str:
    return "[" + ", ".join(":" if d is None else str(d) for d in ty.dims) + "]"


def is_of_digits(written: tree.Expr) -> bool:
    """Whether numbers were written without the name of a constant, which may have a unit."""
    stack = [written]
    while stack:
        match stack.pop():
            case tree.Number():
                continue
            case tree.Unary(operand=operand):
                stack.append(operand)
            case tree.Binary(left=left, right=right):
                stack += (left, right)
            case tree.Array(elements=elements):
                stack += elements
            case _:
                return False
    return True

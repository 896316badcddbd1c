"""Calls: of Modelica functions (arguments, defaults, vectorisation, sizes of results) and of record constructors.

Built-in operators and functions are in `builtins.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, Severity
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Array, Builtin, Call, Comprehension, Expr, Int, Ref
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.types import INTEGER, REAL, EnumType, ExternalObjectType, FunctionType, RecordType, TupleType, Type
from kilohertz.semantics.behaviour.functions import FUNCTION_KINDS
from kilohertz.semantics.classes import inner_class
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.classes.nodes import ClassNode, Element
from kilohertz.semantics.conversion import coerce, fits
from kilohertz.semantics.expressions.builtin_calls import Builtins
from kilohertz.semantics.expressions.constructors import first_fitting
from kilohertz.semantics.expressions.enumerations import enum_value
from kilohertz.semantics.expressions.function_values import FunctionValues
from kilohertz.semantics.expressions.operators import operator_functions
from kilohertz.semantics.expressions.records import Records
from kilohertz.semantics.expressions.results import Results
from kilohertz.semantics.instances import Comp
from kilohertz.semantics.wording import are_given, as_written, counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Calls:
    """Elaborates calls."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self.builtins = Builtins(elaborator, self)
        self.records = Records(elaborator)
        self.results = Results(elaborator, self)
        self.function_values = FunctionValues(elaborator)

    def call(self, node: tree.Call, ctx: Ctx) -> Expr:
        ref = node.function
        if ctx.locals is not None and ref.names[0] in ctx.locals and not ref.absolute:
            return self.function_values.call(ctx.locals[ref.names[0]], node, ctx)
        through = self._through_component(ref, ctx) if len(ref.names) > 1 and not ref.absolute else None
        if through is not None:
            if ref.subs:
                ctx.view.not_through_component(ref)
            return self.class_call(inner_class(through[0], ctx.inst), node, ctx, through[1])
        called = None if ref.subs else ctx.view.lookup_path(ref)
        if isinstance(called, ClassNode):
            if len(ref.names) > 1 and not ref.absolute and isinstance(ctx.view.lookup(ref.names[0]), Element):
                ctx.view.not_through_component(ref)
            return self.class_call(inner_class(called, ctx.inst), node, ctx)
        return self.builtins.call(".".join(ref.names), node, ctx)

    def _through_component(self, ref: tree.Ref, ctx: Ctx) -> tuple[ClassNode, Comp] | None:
        """`component.Package.function(...)`: the component's own class says which package.  With the component."""
        if ctx.inst is None or not ctx.inst.has(ref.names[0]) or ref.names[0] not in ctx.view.names:
            return None
        comp = ctx.inst.child(ref.names[0])
        for k, name in enumerate(ref.names[1:], 1):
            if comp is None:
                return None
            node = comp.node
            element = node.table.get(name)
            if element is None:
                return None
            if element.is_class:
                self.elaborator.names.check_visible(node, name, ref, ctx)
                if not isinstance(comp, Comp):
                    ctx.view.not_through_component(ref)
                named: Element | ClassNode | None = element.node()
                for rest in ref.names[k + 1 :]:
                    named = named.member(rest) if isinstance(named, ClassNode) else None
                owner = comp if isinstance(comp, Comp) else comp.proto
                return (named, owner) if isinstance(named, ClassNode) else None
            comp = comp.child(name) if isinstance(comp, Comp) else None
        return None

    def class_call(self, cls: ClassNode, node: tree.Call, ctx: Ctx, owner: Comp | None = None) -> Expr:
        """A class called like a function: function, record or type constructor, external object.

        `owner` is the component it was reached through, where there is one.
        """
        primitive = self.elaborator.types.primitive(cls)
        if isinstance(primitive, ExternalObjectType):
            return self._external_object(cls, primitive, node, ctx)
        if isinstance(primitive, EnumType):
            return enum_value(self.elaborator, primitive, node, ctx)
        if primitive is not None:
            return self.builtins.call(cls.builtin, node, ctx)
        args = [self._argument(a, ctx) for a in node.args]
        named = {name: self._argument(a, ctx) for name, a in node.named}
        if cls.kind in FUNCTION_KINDS:
            if cls.definition.partial and ctx.locals is None:
                raise self.elaborator.error("S285", f"`{cls.written_name}` is partial and cannot be called", node, ctx)
            if cls.parent is not None and cls.parent.root.is_external_object:
                text = f"`{cls.written_name}` is called when the object is made or destroyed, and not otherwise"
                raise self.elaborator.error("S275", text, node, ctx)
            builtin = self._as_builtin(cls, node, ctx)
            return builtin if builtin is not None else self.apply(cls, args, named, node, ctx, owner)
        if cls.kind == "operator":
            return first_fitting(self, self._functions_in(cls), args, named, node, ctx)
        constructors = operator_functions(cls, "constructor")
        inside = any(ctx.view.root is c for c in constructors)  # a constructor of the record sets its fields
        if constructors and not inside:
            return first_fitting(self, constructors, args, named, node, ctx, cls)
        return self.records.construct(cls, args, named, node, ctx)

    def _functions_in(self, node: ClassNode) -> list[ClassNode]:
        return [inner for n, e in node.table.items() if e.is_class and isinstance(inner := node.member(n), ClassNode)]

    def _as_builtin(self, function: ClassNode, node: tree.Call, ctx: Ctx) -> Expr | None:
        """A function with `external "builtin"` (or by the name of a URI operator) is the built-in one."""
        function.table  # noqa: B018
        if function.definition.name == "loadResource":
            return self.builtins.call("loadResource", node, ctx)
        if function.external is not None and function.external[0].language == "builtin":
            return self.builtins.call(function.external[0].name or function.definition.name, node, ctx)
        return None

    def _argument(self, node: tree.Expr, ctx: Ctx) -> Expr | tree.Expr:
        """Elaborated, except where it may name a function."""
        if isinstance(node, tree.PartialCall):
            return node
        if isinstance(node, tree.Ref) and not node.subs:
            if ctx.locals is not None and node.names[0] in ctx.locals:
                return self.elaborator.expr(node, ctx)
            if ctx.iterators is not None and node.names[0] in ctx.iterators:
                return self.elaborator.expr(node, ctx)
            meaning = ctx.view.lookup_path(node) if node.names[0] != "time" else None
            if isinstance(meaning, ClassNode) and meaning.kind in FUNCTION_KINDS:
                return node
        return self.elaborator.expr(node, ctx)

    # --------------------------------------------------------------------------------------------------- binding args

    def apply(
        self,
        function: ClassNode,
        args: list[Any],
        named: dict[str, Any],
        node: Any,
        ctx: Ctx,
        owner: Comp | None = None,
    ) -> Expr:
        """A call with arguments given (expressions, or names of functions as tree nodes)."""
        header = self.elaborator.functions.header(function)
        values = self._bind(header, args, named, node, ctx, owner or ctx.inst)
        if ctx.locals is None and _loads(function):
            values = [self.builtins.resource(v) for v in values]
        extra = self._vector_dims(header, values, node, ctx)
        if not extra:
            return self._single(header, values, node, ctx)
        return self._vectorised(header, values, extra, node, ctx)

    def _bind(
        self, header: Function, args: list[Any], named: dict[str, Any], node: Any, ctx: Ctx, owner: Comp | None
    ) -> list[Expr]:
        if len(args) > len(header.inputs):
            raise self.wrong(
                header, f"takes {counted(len(header.inputs), 'argument')}, {are_given(len(args))}", node, ctx
            )
        arguments: dict[str, Any] = {x.name: a for x, a in zip(header.inputs, args, strict=False)}
        for name, value in named.items():
            if name in arguments:
                raise self.wrong(header, f"gets `{name}` twice", node, ctx)
            if all(x.name != name for x in header.inputs):
                raise self.wrong(header, f"has no input `{name}`", node, ctx)
            arguments[name] = value
        values: dict[str, Expr] = {}
        pending: list[Local] = []
        for x in header.inputs:
            if x.name not in arguments:
                if x.default is None:
                    raise self.wrong(header, f"needs a value for `{x.name}`", node, ctx)
                pending.append(x)
                continue
            values[x.name] = self._value(x, arguments[x.name], header, node, ctx)
        self._fill_defaults(header, pending, values, node, ctx, owner)
        return [values[x.name] for x in header.inputs]

    def _fill_defaults(
        self,
        header: Function,
        pending: list[Local],
        values: dict[str, Expr],
        node: Any,
        ctx: Ctx,
        owner: Comp | None,
    ) -> None:
        """Defaults in the order of what they need; they may use other inputs, not in circles (MLS 12.4.1)."""
        open_ = {x.name: x for x in pending}
        busy: set[str] = set()

        def fill(x: Local) -> None:
            assert x.default is not None
            if x.name in busy:
                raise self.wrong(header, f"has a default for `{x.name}` that depends on itself", node, ctx)
            busy.add(x.name)
            for ref in traverse.refs(x.default):
                if ref.name in open_ and ref.name not in values:
                    fill(open_[ref.name])
            default = self._default_in_model(header, x, owner) or self._default_again(header, x, values)
            values[x.name] = make.substitute(x.default, values) if default is None else default

        for x in pending:
            if x.name not in values:
                fill(x)

    def _default_in_model(self, header: Function, x: Local, owner: Comp | None) -> Expr | None:
        """`redeclare function f = g(k=parameterOfTheModel)`: the parameter of this instance of the model."""
        mod = self.elaborator.functions.defaults_of_models.get((header.id, x.name))
        if mod is None:
            return None
        bound = mod if owner is None else mod.bound(owner)
        return coerce(self.elaborator.bindings.binding_of(bound), x.ty)

    def _default_again(self, header: Function, x: Local, values: dict[str, Expr]) -> Expr | None:
        """A default in terms of other inputs, whose sizes are known by now."""
        text = self.elaborator.functions.default_texts.get((header.id, x.name))
        if text is None or any(r.name not in values for r in traverse.refs(x.default or Int(0))):
            return None
        return coerce(self.elaborator.expr(text[0], Ctx(text[1], None, None, values)), x.ty)

    def _value(self, x: Local, arg: Any, header: Function, node: Any, ctx: Ctx) -> Expr:
        if not isinstance(arg, Expr):
            function = self.function_values.argument(x, arg, ctx)
            if isinstance(function, str):
                raise self.wrong(header, function, node, ctx)
            return function
        expr = coerce(arg, x.ty)
        if isinstance(x.ty.base, FunctionType):
            return expr
        if not fits(expr.ty, x.ty):
            converted = self._converted(expr, x.ty, node, ctx)
            if converted is None:
                what = f"needs {x.ty} for `{x.name}`, this is {expr.ty}"
                if not self._is_unread(header, x, expr):
                    raise self.wrong(header, what, node, ctx)
                text = f"`{as_written(header.id)}` {what}; it never reads it"
                self.elaborator.world.record(Diagnostic("S270", text, ctx.span(node), severity=Severity.WARNING))
                return make.zeros(x.ty)
            return converted
        return expr

    def _is_unread(self, header: Function, x: Local, expr: Expr) -> bool:
        """An array of another size for an input that the function never reads: media of one substance get no mass
        fractions at all where one is declared (MSL 4.0.0)."""
        differs_in_size = expr.ty.base == x.ty.base == REAL.base and len(expr.ty.dims) == len(x.ty.dims) > 0
        return differs_in_size and None not in x.ty.dims and self.elaborator.functions.never_reads(header.id, x.name)

    def _converted(self, expr: Expr, ty: Type, node: Any, ctx: Ctx) -> Expr | None:
        """An operator record wanted where a number is given: its constructor converts."""
        if isinstance(ty.base, RecordType) and not isinstance(expr.ty.base, RecordType) and not expr.ty.dims:
            return self.elaborator.operators._converted(ty, expr, node, ctx)
        return None

    def wrong(self, header: Function, what: str, node: Any, ctx: Ctx) -> ModelError:
        """S270, with the place of the function."""
        span = header.origin.spans[0] if header.origin.spans else None
        return self.elaborator.error(
            "S270", f"`{as_written(header.id)}` {what}", node, ctx, Note("declared here", span)
        )

    # --------------------------------------------------------------------------------------------------------- results

    def _single(self, header: Function, values: list[Expr], node: Any, ctx: Ctx) -> Expr:
        return Call(header.id, tuple(values), self.results.type_of(header, values, node, ctx))

    # ---------------------------------------------------------------------------------------------------- vectorisation

    def _one(self, header: Function, values: list[Expr], node: Any, ctx: Ctx) -> Expr:
        """An element of a call that runs over arrays: of several results the first."""
        call = self._single(header, values, node, ctx)
        return make.item(call, 0) if isinstance(call.ty.base, TupleType) and call.ty.base.elements else call

    def _vector_dims(self, header: Function, values: list[Expr], node: Any, ctx: Ctx) -> tuple[int | None, ...]:
        """Dimensions that arguments have beyond what the function takes (MLS 12.4.6); all must agree."""
        extra: tuple[int | None, ...] = ()
        for x, value in zip(header.inputs, values, strict=True):
            if isinstance(x.ty.base, FunctionType):
                continue
            more = value.ty.dims[: len(value.ty.dims) - len(x.ty.dims)]
            if more and extra and more != extra:
                raise self.wrong(header, "gets arrays of different sizes to run over", node, ctx)
            extra = more or extra
        return extra

    def _vectorised(
        self, header: Function, values: list[Expr], extra: tuple[int | None, ...], node: Any, ctx: Ctx
    ) -> Expr:
        if None in extra:
            return self._vectorised_loop(header, values, node, ctx)
        n = extra[0]
        assert n is not None
        parts = []
        for i in range(1, n + 1):
            row = [
                make.index(v, (Int(i),)) if len(v.ty.dims) > len(x.ty.dims) else v
                for x, v in zip(header.inputs, values, strict=True)
            ]
            inner = extra[1:]
            one = self._vectorised(header, row, inner, node, ctx) if inner else self._one(header, row, node, ctx)
            parts.append(one)
        if parts:
            return make.array(parts)
        return Array((), header.outputs[0].ty.array_of(*extra))

    def _vectorised_loop(self, header: Function, values: list[Expr], node: Any, ctx: Ctx) -> Expr:
        """Inside a function, sizes unknown: a comprehension over the first extra dimension."""
        name = self.elaborator.functions.fresh("i")
        at = Ref(name, INTEGER)
        row, over = [], None
        for x, v in zip(header.inputs, values, strict=True):
            if len(v.ty.dims) > len(x.ty.dims):
                row.append(make.index(v, (at,)))
                over = make.range_(Int(1), None, Builtin("size", (v, Int(1)), INTEGER))
            else:
                row.append(v)
        assert over is not None
        extra = self._vector_dims(header, row, node, ctx)
        body = self._vectorised(header, row, extra, node, ctx) if extra else self._one(header, row, node, ctx)
        return Comprehension("", body, ((name, over),), body.ty.array_of(None))

    def _external_object(self, cls: ClassNode, ty: ExternalObjectType, node: tree.Call, ctx: Ctx) -> Expr:
        constructor = cls.member("constructor")
        if not isinstance(constructor, ClassNode):
            raise self.elaborator.error("S275", f"`{cls.written_name}` has no constructor", node, ctx)
        args = [self._argument(a, ctx) for a in node.args]
        named = {name: self._argument(a, ctx) for name, a in node.named}
        destructor = cls.member("destructor")
        if isinstance(destructor, ClassNode):
            self.elaborator.functions.header(destructor)
        return _objects(self.apply(constructor, args, named, node, ctx), ty)

    # ------------------------------------------------------------------------------------------------------- arrays

    def cat(self, axis: int, parts: list[Expr], node: Any, ctx: Ctx) -> Expr:
        """`cat(k, a, b)`: of arrays whose elements are at hand, put together; otherwise kept."""
        dims = list(parts[0].ty.dims)
        total: int | None = 0
        for part in parts:
            if len(part.ty.dims) != len(dims):
                raise self.elaborator.error(
                    "S276", "arrays to be joined differ in their number of dimensions", node, ctx
                )
            for k, (a, b) in enumerate(zip(part.ty.dims, dims, strict=True)):
                if k != axis - 1 and a is not None and b is not None and a != b:
                    raise self.elaborator.error("S276", "arrays to be joined differ in size", node, ctx)
                if k != axis - 1 and dims[k] is None:
                    dims[k] = a
            size = part.ty.dims[axis - 1]
            total = None if total is None or size is None else total + size
        dims[axis - 1] = total
        ty = Type(parts[0].ty.base, tuple(dims))
        if axis == 1 and all(isinstance(p, Array) for p in parts) and total:
            return make.array([e for p in parts for e in p.elements])  # type: ignore[attr-defined]
        if None not in dims and total and _count(ty) <= 400 and all(n for n in dims):
            return self._joined(axis, parts, ty)
        return Builtin("cat", (Int(axis), *parts), ty)

    def _joined(self, axis: int, parts: list[Expr], ty: Type) -> Expr:
        def element(index: tuple[int, ...]) -> Expr:
            at = index[axis - 1]
            for part in parts:
                size = part.ty.dims[axis - 1]
                assert size is not None
                if at <= size:
                    inner = (*index[: axis - 1], at, *index[axis:])
                    return make.index(part, tuple(Int(i) for i in inner))
                at -= size
            raise AssertionError

        def level(prefix: tuple[int, ...]) -> Expr:
            if len(prefix) == len(ty.dims):
                return element(prefix)
            n = ty.dims[len(prefix)]
            assert n is not None
            return make.array([level((*prefix, i)) for i in range(1, n + 1)])

        return level(())

    def reduced(self, op: str, array: Expr, node: Any, ctx: Ctx) -> Expr:
        """A reduction over an unrolled comprehension."""
        return array if not op else self.builtins.arrays.reduction(op, array, node, ctx)


def _objects(call: Expr, ty: ExternalObjectType) -> Expr:
    """The object that a constructor's call makes; an array of them where its arguments are arrays (MLS 12.4.6)."""
    if isinstance(call, Array):
        return make.array([_objects(e, ty) for e in call.elements]) if call.elements else Array((), Type(ty, (0,)))
    assert isinstance(call, Call)
    return Call(call.function, call.args, Type(ty))


def _count(ty: Type) -> int:
    n = 1
    for d in ty.dims:
        n *= d or 0
    return n


def _loads(function: ClassNode) -> bool:
    """Whether its statements ask for the path of a resource: that is found here, where the model gives the URI."""
    known = function.memo.get("loads")
    if known is None:
        asked = (r for section, _ in function.sections for r in tree.refs(section.items))
        known = function.memo["loads"] = any(r.names[-1] == "loadResource" for r in asked)
    return bool(known)

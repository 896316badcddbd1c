"""Functions: headers (what a call needs) first, bodies when they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, Origin, Span
from kilohertz.base.outside import the_outside
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Builtin, Expr, Field, Int, Ref
from kilohertz.ir.flat import Assign, ExternalCall, Function, Local
from kilohertz.ir.types import INTEGER, REAL, ExternalObjectType
from kilohertz.semantics.behaviour.first_records import FirstRecords
from kilohertz.semantics.behaviour.first_values import order_values
from kilohertz.semantics.behaviour.linked_functions import derivatives, inverses
from kilohertz.semantics.behaviour.reach import called_functions
from kilohertz.semantics.classes import Ctx, Mod, View, spec_of
from kilohertz.semantics.classes.nodes import ClassNode, Element
from kilohertz.semantics.conversion import coerce
from kilohertz.semantics.own_sizes import own_size
from kilohertz.semantics.rules import check_function
from kilohertz.syntax import annotation_args, annotation_value, tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator

FUNCTION_KINDS = ("function", "operator function")


class Functions:
    """All functions met so far, by id."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._first_records = FirstRecords(elaborator)
        self._by_id: dict[str, Function] = {}
        self._nodes: dict[str, ClassNode] = {}
        self._contexts: dict[str, Ctx] = {}
        self._done: set[str] = set()
        self._open: set[str] = set()  # of those: whose bodies are being read
        self._iterators: dict[str, str] = {}  # as they are written, by the names they have here
        # defaults that a model's local function takes from the model's own components, by function and input
        self.defaults_of_models: dict[tuple[str, str], Mod] = {}
        # of records some of whose fields have a value from the start: assignments before the body, by function
        self._preludes: dict[str, list[Assign]] = {}
        # room that records begin with, by function and variable: by the names on the way to a field
        self.rooms = self._first_records.rooms
        # defaults that depend on other inputs, to be elaborated again where these are known
        self.default_texts: dict[tuple[str, str], tuple[tree.Expr, View]] = {}
        self.units: dict[tuple[str, str], str] = {}  # of inputs, outputs and locals, by function and name
        self._links: list[ClassNode] = []  # functions named by derivative and inverse annotations

    def fresh(self, name: str) -> str:
        """A name no variable has, for an iterator."""
        fresh = f"{name}${len(self._iterators) + 1}"
        self._iterators[fresh] = name
        return fresh

    def by_id(self, id: str) -> Function:
        """A complete function, body included; KeyError where there is none."""
        if id not in self._by_id:
            raise KeyError(id)
        self._complete(id)
        return self._by_id[id]

    def never_reads(self, id: str, name: str) -> bool:
        """Whether nothing in a function speaks of an input; not said of one whose body is being read."""
        function = self.by_id(id)
        return id not in self._open and all(
            ref.name != name for e in traverse.function_expressions(function) for ref in traverse.refs(e)
        )

    def header(self, node: ClassNode) -> Function:
        """Inputs and outputs of a function class."""
        known = node.memo.get("function")
        if known is None:
            known = self._header(node)
        return known  # type: ignore[return-value]

    def _header(self, node: ClassNode) -> Function:
        if node.derivative_of is None:
            node.table  # noqa: B018
        if node.derivative_of is not None:
            return self._partial_derivative(node, *node.derivative_of)
        function = Function(node.full_name, [], [], [], [], origin=_origin(node))
        node.memo["function"] = function
        locals_: dict[str, Expr] = {}
        ctx = Ctx(node.view, None, None, locals_)
        self._by_id[function.id], self._nodes[function.id], self._contexts[function.id] = function, node, ctx
        for element in node.table.values():
            if not element.is_class:
                self._declare(function, node, element, ctx, locals_)
        for local, element in list(zip(self._all(function), self._elements(node, locals_), strict=True)):
            self._finish(local, element, ctx)
        fields = self._first_records.finish(function)
        self._preludes[function.id] = fields + order_values(function, node.external is None)
        self._annotations(function, node)
        return function

    def _partial_derivative(self, node: ClassNode, body: tree.DerBody, view: View) -> Function:
        """`function f_x = der(f, x)` (MLS 12.7.2): inputs and Real outputs of f; its body is a matter of the passes."""
        of = view.lookup_class(body.function, "function")
        header = self.header(of)
        inputs = {x.name: x for x in header.inputs}
        for name in body.variables:
            if name not in inputs or inputs[name].ty != REAL:
                span = Span(node.definition.file, node.definition.name_start, node.definition.end)
                raise ModelError(
                    Diagnostic(
                        "S279", f"`{node.written_name}`: `{name}` is no scalar Real input of `{header.id}`", span
                    )
                )
        outputs = [x for x in header.outputs if x.ty.base == REAL.base]
        function = Function(node.full_name, list(header.inputs), outputs, [], [], origin=_origin(node))
        function.partial_of = (header.id, *body.variables)
        node.memo["function"] = function
        self._by_id[function.id], self._nodes[function.id] = function, node
        return function

    def _all(self, function: Function) -> list[Local]:
        by_name = {x.name: x for x in (*function.inputs, *function.outputs, *function.locals)}
        return list(by_name.values())

    def _elements(self, node: ClassNode, locals_: dict[str, Expr]) -> list[Element]:
        order = self._all(node.memo["function"])  # type: ignore[arg-type]
        return [node.table[x.name] for x in order]

    def _declare(
        self, function: Function, node: ClassNode, element: Element, ctx: Ctx, locals_: dict[str, Expr]
    ) -> None:
        decl, view = element.component, element.view
        for mod in element.chain:
            if mod.spec.redeclare is not None and isinstance(mod.spec.redeclare.element, tree.Component):
                decl, view = mod.spec.redeclare.element, mod.ctx.view
                break
        if decl.variability == "constant" and not decl.causality:
            if not _varies(element, node):
                return
            text = f"the constant `{element.name}` depends on variables of the function: it is worked out in each call"
            self.elaborator.world.warn("S223", text, element.span)
        cls = view.lookup_class(decl.type)
        types = self.elaborator.types
        ty = types.of_class(cls)
        dims = decl.dims or element.component.dims
        sizes = [types.size(d, ctx) if self._is_constant(d, node) else None for d in dims]
        ty = ty.array_of(*sizes)
        causality = decl.causality or element.component.causality or cls.causality
        local = Local(element.name, ty, (), None, decl.comment)
        if unit := _unit(element, cls):
            self.units[function.id, local.name] = unit
        locals_[element.name] = Ref(element.name, ty)
        if causality == "input":
            function.inputs.append(local)
        elif causality == "output":
            function.outputs.append(local)
            owner = node.parent.root if node.parent is not None else None
            if isinstance(ty.base, ExternalObjectType) and (owner is None or not owner.is_external_object):
                text = f"`{element.name}` is an external object, which only its constructor gives back"
                self.elaborator.world.refuse("S303", text, element.span)
        else:
            self._check_local(element, cls)
            function.locals.append(local)

    def _check_local(self, element: Element, cls: ClassNode) -> None:
        """Variables of a function are protected, and no models or blocks (MLS 12.2)."""
        world = self.elaborator.world
        if not element.protected and element.component.variability != "constant":
            text = f"`{element.name}` is neither input nor output; such variables of a function are protected"
            # libraries in use have public parameters, which mean what protected ones do
            tell = world.warn if element.component.variability == "parameter" else world.refuse
            tell("S303", text, element.span)
        if cls.kind in ("model", "block"):
            world.refuse("S303", f"`{element.name}` is a {cls.kind}, which cannot stand in a function", element.span)

    def _is_constant(self, dim: tree.Expr, node: ClassNode) -> bool:
        """Whether a dimension uses no variable of the function."""
        if isinstance(dim, tree.Colon):
            return False
        elements = [node.table.get(ref.names[0]) for ref in tree.refs(dim)]
        return all(e is None or e.is_class or not _varies(e, node) for e in elements)

    def _finish(self, local: Local, element: Element, ctx: Ctx) -> None:
        """Dimensions and default as expressions, now that all names of the function are known."""
        elaborator = self.elaborator
        decl = element.component
        dims: list[Expr | None] = []
        for k, dim in enumerate(decl.dims):
            known = local.ty.dims[k]
            if isinstance(dim, tree.Colon):
                dims.append(None)
            elif known is not None:
                dims.append(Int(known))
            else:
                dims.append(elaborator.expr(own_size(local.name, dim, decl.dims), ctx))
        dims += [None if n is None else Int(n) for n in local.ty.dims[len(decl.dims) :]]
        local.dims = tuple(dims)
        local.default = self._default(local, element, ctx)

    def _default(self, local: Local, element: Element, ctx: Ctx) -> Expr | None:
        elaborator = self.elaborator
        for mod in element.chain:
            if mod.spec.binding is not None and mod.spec.redeclare is None:
                inner = ctx if mod.ctx.view.root is ctx.view.root else mod.ctx
                known = None if inner.inst is None else coerce(elaborator.expr(mod.spec.binding, inner), local.ty)
                if known is not None and (inner is ctx or not traverse.refs(known)):
                    return known
                if inner is not ctx and (known is not None or _is_of_model(inner.view.root)):
                    self.defaults_of_models[ctx.view.root.full_name, local.name] = mod
                    return Ref(f"{ctx.view.root.full_name}.{local.name}", local.ty)  # stands for it until a call
                return coerce(elaborator.expr(mod.spec.binding, inner), local.ty)
        modification = element.component.modification
        if modification is None or modification.binding is None:
            return self._first_records.value(local, element, ctx)
        inside = Ctx(element.view, None, None, ctx.locals)
        value = coerce(elaborator.expr(modification.binding, inside), local.ty)
        if not make.is_literal(value):
            self.default_texts[ctx.view.root.full_name, local.name] = (modification.binding, element.view)
        elaborator.check_type(value, local.ty, modification.binding, inside, f"the default of `{local.name}`")
        return value

    # ------------------------------------------------------------------------------------------------------------ body

    def _complete(self, id: str) -> None:
        if id in self._done:
            return
        self._done.add(id)
        self._open.add(id)
        try:
            self._read_body(id)
        finally:
            self._open.discard(id)

    def _read_body(self, id: str) -> None:
        function, node = self._by_id[id], self._nodes[id]
        if function.is_record_constructor or function.partial_of:
            return
        locals_ = self._contexts[id].locals
        outside = {x.name for x in function.inputs}
        self._check_sections(node)
        function.body += [a for a in self._preludes.get(id, []) if _root(a.target) not in outside]
        for section, view in node.sections:
            if not section.algorithm:
                span = Span(view.definition.file, section.start, section.end)
                raise ModelError(Diagnostic("S289", "a function cannot have equations", span))
            function.body += self.elaborator.statements.section(section.items, Ctx(view, None, None, locals_))
        check_function(function, self._iterators)
        if node.external is not None:
            function.external = self._external(node, function, locals_)

    def _check_sections(self, node: ClassNode) -> None:
        """One algorithm or an external function, inherited or not (MLS 12.2)."""
        views = [*([node.external[1]] if node.external is not None else []), *(view for _, view in node.sections)]
        if len({id(view.definition) for view in views}) > 1:
            text = f"`{node.written_name}` inherits an algorithm or external function, and has one of its own"
            self.elaborator.world.refuse("S303", text, _origin(node).spans[0])

    def _external(self, node: ClassNode, function: Function, locals_: dict[str, Expr] | None) -> ExternalCall:
        external, view = node.external  # type: ignore[misc]
        ctx = Ctx(view, None, None, locals_)
        elaborator = self.elaborator
        name = external.name or node.definition.name
        result = None if external.result is None else elaborator.expr(external.result, ctx)
        if result is not None and result.ty.dims:
            text = f"an external function gives back a scalar, not {result.ty}; hand the array over as an argument"
            raise elaborator.error("S303", text, external.result, ctx)
        for arg in external.args:
            if isinstance(arg, tree.Array | tree.Matrix):
                text = "an external function takes variables, scalar numbers and sizes, not arrays made for it"
                raise elaborator.error("S303", text, arg, ctx)
        args = [elaborator.expr(a, ctx) for a in external.args]
        if external.name is None:
            args, result = self._implied_arguments(function)
        call = ExternalCall(external.language, name, tuple(args), result)
        call.declared_pure = node.definition.purity == "pure"
        definition = view.definition
        entries = list(annotation_args(external.annotation, definition)) + list(
            annotation_args(definition.annotation, definition)
        )
        self._resources(call, tuple(entries), definition)
        return call

    def _implied_arguments(self, function: Function) -> tuple[list[Expr], Expr | None]:
        """`external "C";` alone: inputs, then further outputs; a single output is the result (MLS 12.9)."""
        args: list[Expr] = []
        outputs = [Ref(x.name, x.ty) for x in function.outputs]
        single = len(outputs) == 1 and not outputs[0].ty.dims
        for expr in [Ref(x.name, x.ty) for x in function.inputs] + ([] if single else outputs):
            args.append(expr)
            args += [Builtin("size", (expr, Int(k + 1)), INTEGER) for k in range(len(expr.ty.dims))]
        return args, outputs[0] if single else None

    def _resources(self, call: ExternalCall, entries: tuple[tree.Argument, ...], definition: tree.ClassDef) -> None:
        """Include, Library and the directories beside them (MLS 13.5, 12.9.4)."""
        top = definition.within[0] if definition.within else definition.name
        call.includes = tuple(_strings(annotation_value(entries, "Include")))
        call.libraries = tuple(_strings(annotation_value(entries, "Library")))
        world = self.elaborator.world
        for key, default, attribute in (
            ("IncludeDirectory", f"modelica://{top}/Resources/Include", "include_directories"),
            ("LibraryDirectory", f"modelica://{top}/Resources/Library", "library_directories"),
            ("SourceDirectory", f"modelica://{top}/Resources/Source", "source_directories"),
        ):
            written = annotation_value(entries, key)
            if isinstance(written, tree.Boolean | tree.Number):
                world.refuse("S303", f"`{key}` of `{definition.name}` is no String", definition.name_span)
            uris = _strings(written) or [default]
            setattr(call, attribute, tuple(p for uri in uris if (p := world.resource(uri)) is not None))
        package = world.libraries.find((top,))
        used = world.libraries.uses(package) if package is not None and call.libraries else ()
        for library in (top, *(name for name, _ in used)):  # ModelicaExternalC of MSL is linked by others, too
            sources = world.resource(f"modelica://{library}/Resources/C-Sources")
            if sources is not None and the_outside().kind(sources) == "folder":
                call.source_directories += (sources,)

    # ------------------------------------------------------------------------------------------------------ annotations

    def _annotations(self, function: Function, node: ClassNode) -> None:
        function.pure = node.definition.purity != "impure"
        latest = node.definition
        for annotation, definition in reversed(node.annotations):
            entries = annotation_args(annotation, definition)
            inline = _boolean(annotation_value(entries, "Inline"))
            function.inline = function.inline if inline is None else inline
            function.late_inline = _boolean(annotation_value(entries, "LateInline")) or function.late_inline
            function.generate_events = _boolean(annotation_value(entries, "GenerateEvents")) or function.generate_events
            order = annotation_value(entries, "smoothOrder")
            if isinstance(order, tree.Number):
                function.smooth_order = int(order.value)
            if definition is latest:
                linked = list(derivatives(function, node, entries))
                function.derivatives += [d for _, d in linked]
                named = list(inverses(function, node, entries, self.header))
                function.inverses += [i for _, i in named]
                self._links += [*(target for target, _ in linked), *(target for target, _ in named)]

    def closure(self, ids: list[str]) -> dict[str, Function]:
        """Those functions and all that they call or name as derivative or inverse, complete."""
        reached: dict[str, Function] = {}
        stack = list(reversed(ids))
        while stack:
            id = stack.pop()
            if id in reached or id not in self._by_id:
                continue
            function = self.by_id(id)
            reached[id] = function
            links = [d.function for d in function.derivatives] + [i[1] for i in function.inverses]
            links += function.partial_of[:1]
            for node in self._links:
                if node.full_name in links and node.full_name not in self._by_id:
                    self.header(node)
            stack.extend(reversed([*called_functions(function), *links]))
        for id, name in self.defaults_of_models:
            for x in reached[id].inputs if id in reached else ():
                if x.name == name:
                    x.default = None  # every call in the model has its own value by now
        return reached


def _unit(element: Element, cls: ClassNode) -> str:
    """The unit of a variable of a function as it is written; empty where it has none."""
    own = element.component.modification
    of_component = [spec_of(own, element.view, element.view.definition.file)] if own is not None else []
    specs = (*(m.spec for m in element.chain), *of_component, *(m.spec for m in cls.attribute_chain))
    said = (spec.subs["unit"].binding for spec in specs if "unit" in spec.subs)
    return next((text.value for text in said if isinstance(text, tree.String)), "")


def _origin(node: ClassNode) -> Origin:
    return Origin((node.definition.name_span,))


def _varies(element: Element, node: ClassNode, above: frozenset[str] = frozenset()) -> bool:
    """Whether it is a variable of the function, or a constant that is bound to such, against MLS 3.8."""
    decl = element.component
    if decl.variability != "constant" or decl.causality:
        return True
    if element.name in above or decl.modification is None or decl.modification.binding is None or element.chain:
        return False
    refs = [r for r in tree.refs(decl.modification.binding) if not r.absolute]
    asks_size = any(r.names == ("size",) for r in refs)
    inner = above | {element.name}
    used = [e for r in refs if (e := node.table.get(r.names[0])) is not None and not e.is_class]
    return any(_varies(e, node, inner) and not (asks_size and _has_fixed_size(e, node, inner)) for e in used)


def _has_fixed_size(element: Element, node: ClassNode, above: frozenset[str]) -> bool:
    """`size(x, 1)` of an x[3] is known before the function is called."""
    dims = element.component.dims
    used = [node.table.get(r.names[0]) for d in dims for r in tree.refs(d)]
    varying = any(e is not None and not e.is_class and _varies(e, node, above) for e in used)
    return not varying and not any(isinstance(d, tree.Colon) for d in dims)


def _root(target: object) -> str:
    while isinstance(target, Field):
        target = target.base
    return target.name if isinstance(target, Ref) else ""


def _strings(expr: tree.Expr | None) -> list[str]:
    match expr:
        case tree.String(_, _, value):
            return [value]
        case tree.Array(_, _, elements):
            return [s for e in elements for s in _strings(e)]
        case tree.Binary(_, _, "+", left, right):
            return ["".join(_strings(left) + _strings(right))]
    return []


def _boolean(expr: tree.Expr | None) -> bool | None:
    return expr.value if isinstance(expr, tree.Boolean) else None


def _is_of_model(node: ClassNode) -> bool:
    return node.kind not in ("package", *FUNCTION_KINDS)

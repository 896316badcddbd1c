"""Names: from a reference in a context to the value of a component, constant or enumeration literal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note, Severity, closest
from kilohertz.interp import ArrayValue, EvaluationError, NotAssigned, NotConstant
from kilohertz.ir import make
from kilohertz.ir.expr import (
    TIME,
    Array,
    Colon,
    Enum,
    Expr,
    Index,
    Int,
    Record,
    Ref,
)
from kilohertz.ir.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    ExternalObjectType,
    RecordType,
    Type,
)
from kilohertz.semantics.classes import ClassNode, Ctx, Element, View
from kilohertz.semantics.classes.nodes import not_found
from kilohertz.semantics.instances import Comp, CompArray, inner_component
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Names:
    """Component references and the values they stand for."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def ref(self, node: tree.Ref, ctx: Ctx) -> Expr:
        names = node.names
        first = names[0]
        if not node.absolute:
            if ctx.iterators is not None and first in ctx.iterators:
                return self.elaborator.subscripts.parts(ctx.iterators[first], node, 0, ctx)
            if ctx.locals is not None and first in ctx.locals:
                return self.elaborator.subscripts.parts(ctx.locals[first], node, 0, ctx)
        named = self.elaborator.world.top(first) if node.absolute else ctx.view.lookup(first)
        if named is None:
            if first == "time" and len(names) == 1:
                self._check_time(node, ctx)
                return self.elaborator.subscripts.parts(TIME, node, 0, ctx)
            literal = self._imported_literal(first, ctx.view) if len(names) == 1 else None
            if literal is not None:
                return literal
            raise self._unknown(node, ctx)
        k = 0
        while isinstance(named, ClassNode):
            k += 1
            if k == len(names):
                raise self.elaborator.error(
                    "S204", f"`{'.'.join(names)}` is a class, a value is needed here", node, ctx
                )
            literal = self.enum_literal(named, names[k])
            if literal is not None:
                return self.elaborator.subscripts.parts(literal, node, k, ctx)
            inner = named.member(names[k])
            self.check_visible(named, names[k], node, ctx)
            if isinstance(inner, Element) and named.kind in ("model", "block", "class") and not named.is_like_package:
                text = f"`{named.written_name}` is no package: `{names[k]}` cannot be used from outside"
                self.elaborator.world.refuse("S320", text, ctx.span(node), Note("declared here", inner.span))
            if inner is None:
                literals = self.elaborator.types.enum(named.enum).literals if named.enum is not None else ()
                raise self.no_member(named.full_name, names[k], [*named.table, *literals], node, ctx)
            named = inner
        if named.component.outer and k + 1 < len(names):
            self._check_outer(named, node, k, ctx)
        inst = ctx.inst
        if inst is None or inst.node is not named.view.root:
            if inst is not None and named.component.outer:
                stands_for = inner_component(inst, named.name)
                if stands_for is not None:
                    return self._in_component(stands_for, node, k, ctx)
            inst = named.view.root.instance()
            # without an instance the text of a modification is read before its model is there
            is_known = k > 0 or ctx.inst is not None or ctx.locals is not None
            if is_known and named.component.variability != "constant" and not named.component.outer:
                self._not_constant(named, node, k, ctx)
        # an import may have given it another name
        return self._in_component(inst.child(named.name), node, k, ctx)

    def check_visible(
        self, owner: ClassNode, name: str, node: tree.Ref, ctx: Ctx, severity: Severity = Severity.ERROR
    ) -> None:
        """Protected elements are not reached from outside by a dot (MLS 4.1)."""
        element = owner.table.get(name)
        if element is not None and element.protected:
            text = f"`{name}` is protected in `{owner.written_name}`"
            notes = (Note("declared here", element.span),)
            self.elaborator.world.record(Diagnostic("S314", text, ctx.span(node), notes=notes, severity=severity))

    def _check_outer(self, outer: Element, node: tree.Ref, k: int, ctx: Ctx) -> None:
        """Of an outer component only what its own declaration has is seen (MLS 5.4)."""
        declared = self.elaborator.world.component_type(outer)
        if node.names[k + 1] not in declared.table and not declared.is_expandable:
            text = (
                f"the outer `{outer.name}` is declared as `{declared.written_name}`, which has no `{node.names[k + 1]}`"
            )
            self.elaborator.world.refuse("S312", text, ctx.span(node), Note("declared here", outer.span))

    def _check_time(self, node: tree.Ref, ctx: Ctx) -> None:
        """`time` is there in models and blocks (MLS 3.6.7)."""
        kind = ctx.view.definition.kind
        if kind in ("function", "operator function", "record", "operator record", "connector", "package"):
            self.elaborator.world.refuse("S316", f"`time` cannot be used in a {kind}", ctx.span(node))

    def _not_constant(self, component: Element, node: tree.Ref, k: int, ctx: Ctx) -> None:
        """Of another class, only constants have a value (MLS 5.3.1, 5.3.2)."""
        where = "an enclosing class" if k == 0 else "a class"
        text = f"`{'.'.join(node.names[: k + 1])}` is a variable of {where}, of which only constants can be used"
        self.elaborator.world.refuse("S315", text, ctx.span(node), Note("declared here", component.span))

    def enum_literal(self, node: ClassNode, name: str) -> Expr | None:
        node.table  # noqa: B018
        if node.enum is None:
            return None
        enum = self.elaborator.types.enum(node.enum)
        return Enum(enum, enum.literals.index(name) + 1) if name in enum.literals else None

    def _imported_literal(self, name: str, view: View) -> Expr | None:
        """`import P.E.*` or `import P.E.literal` of an enumeration E."""
        world = self.elaborator.world
        at: View | None = view
        while at is not None:
            path = at.imports().get(name)
            for package in [path[:-1]] if path is not None else at.stars:
                enumeration = world.absolute(package) if package else None
                literal = (
                    self.enum_literal(enumeration, name if path is None else path[-1])
                    if isinstance(enumeration, ClassNode)
                    else None
                )
                if literal is not None:
                    return literal
            at = None if at.definition.encapsulated else at.parent
        return None

    def _unknown(self, node: tree.Ref, ctx: Ctx) -> ModelError:
        notes = not_found(node.names[0], ctx.view, frozenset(ctx.locals or ()) | frozenset(ctx.iterators or ()))
        return self.elaborator.error("S201", f"there is no `{node.names[0]}` here", node, ctx, *notes)

    def no_member(self, where: str, name: str, names: list[str], node: Any, ctx: Ctx) -> ModelError:
        near = closest(name, names, 1)
        notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
        return self.elaborator.error("S205", f"there is no `{name}` in `{where}`", node, ctx, *notes)

    def _component(self, inst: Comp, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """The value of `inst.names[k]...` with all its subscripts."""
        name = node.names[k]
        if not inst.has(name):
            if name in inst.node.table:
                return self._class_in_component(inst, node, k, ctx)
            names = [n for n, e in inst.node.table.items() if not e.is_class]
            raise self.no_member(inst.path or inst.name, name, names, node, ctx)
        self.check_visible(inst.node, name, node, ctx)
        return self._in_component(inst.child(name), node, k, ctx)

    def _class_in_component(self, inst: Comp, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """`component.Package.constant`: through the component's class."""
        named = inst.node.member(node.names[k])
        while isinstance(named, ClassNode) and k + 1 < len(node.names):
            k += 1
            literal = self.enum_literal(named, node.names[k])
            if literal is not None:
                return literal
            named = named.member(node.names[k])
        if not isinstance(named, Element):
            raise self.elaborator.error(
                "S204", f"`{'.'.join(node.names)}` is a class, a value is needed here", node, ctx
            )
        return self._component(named.view.root.instance(), node, k, ctx)

    def _in_component(self, comp: Comp | CompArray | None, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        if comp is None:
            name = ".".join(node.names[: k + 1])
            raise self.elaborator.error("S206", f"`{name}` is not there: its condition is false", node, ctx)
        subs = node.subs[k] if node.subs is not None else ()
        if isinstance(comp, CompArray):
            return self._in_array(comp, subs, node, k, ctx)
        if comp.is_primitive:
            expr = self.variable(comp)
            if subs:
                self._check_index_types(comp, subs, node, ctx)
                expr = self.elaborator.subscripts.indexed(expr, subs, node, ctx)
            if k + 1 < len(node.names):
                raise self.elaborator.error(
                    "S205", f"`{comp.path}` is of type {expr.ty} and has no `{node.names[k + 1]}`", node, ctx
                )
            return expr
        if subs:
            raise self.elaborator.error("S249", f"`{comp.path}` is not an array", node, ctx)
        if k + 1 < len(node.names):
            return self._component(comp, node, k + 1, ctx)
        return self.record_value(comp)

    def _check_index_types(self, comp: Comp, subs: tuple[tree.Expr, ...], node: tree.Ref, ctx: Ctx) -> None:
        """S251: a dimension that is an enumeration or Boolean is indexed by its values (MLS 10.1.1)."""
        element, decl = comp.element, comp.decl
        if element is None or decl is None:
            return
        for sub, dim in zip(subs, decl.dims, strict=False):
            indexed_by = element.view.lookup_path(dim) if isinstance(dim, tree.Ref) else None
            if not isinstance(indexed_by, ClassNode) or isinstance(sub, tree.Colon):
                continue
            try:
                given = self.elaborator.expr(sub, ctx).ty
            except ModelError:  # of `end`, which is the last value; else it is told when it is used
                continue
            if given.base == INTEGER.base:
                text = f"`{comp.path}` is indexed by `{indexed_by.written_name}`, this is {given}"
                self.elaborator.world.refuse("S251", text, ctx.span(sub))

    def _in_array(self, array: CompArray, subs: tuple[tree.Expr, ...], node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        sizes = [Int(n) for n in array.dims]
        exprs = self.elaborator.subscripts.subscripts(subs, sizes, node, ctx)
        exprs += [Colon()] * (len(array.dims) - len(exprs))
        choices: list[list[int]] = []
        dynamic = False
        for sub, n in zip(exprs, array.dims, strict=True):
            positions = self.positions(sub, n)
            if positions is None:
                dynamic = True
                positions = list(range(1, n + 1))
            for p in positions:
                if not 1 <= p <= n:
                    raise self.elaborator.error("S250", f"subscript {p} is outside 1..{n} of `{array.path}`", node, ctx)
            choices.append(positions)
        fixed = [dynamic is False and not sub.ty.dims for sub in exprs]
        rest = lambda comp: self._in_component(comp, _without_subs(node, k), k, ctx)  # noqa: E731
        gathered = self._gather(array, choices, fixed, (), rest)
        return make.index(gathered, tuple(exprs)) if dynamic else gathered

    def _gather(
        self,
        array: CompArray,
        choices: list[list[int]],
        fixed: list[bool],
        index: tuple[int, ...],
        rest: Callable[[Comp], Expr],
    ) -> Expr:
        depth = len(index)
        if depth == len(choices):
            return rest(array.at(index))
        parts = [self._gather(array, choices, fixed, (*index, i), rest) for i in choices[depth]]
        if fixed[depth]:
            return parts[0]
        if parts:
            return make.array(parts)
        element = rest(array.proto).ty
        open_dims = [len(c) for c, f in zip(choices[depth + 1 :], fixed[depth + 1 :], strict=True) if not f]
        return Array((), element.array_of(0, *open_dims))

    def positions(self, sub: Expr, n: int) -> list[int] | None:
        if isinstance(sub, Colon):
            return list(range(1, n + 1))
        if isinstance(sub, Int):
            return [sub.value]
        if isinstance(sub, Index) and isinstance(sub.base, Ref) and sub.base.name in self.elaborator.graph.indices:
            sub = make.index(self.elaborator.graph.indices[sub.base.name], sub.subs)
        value = self.elaborator.evaluation.try_value(sub) if not self.elaborator.evaluation.varies(sub) else None
        if value is None:
            return None
        return [int(v) for v in value.data] if isinstance(value, ArrayValue) else [int(value)]

    def variable(self, comp: Comp) -> Expr:
        """The reference to a primitive component; a constant's value."""
        if comp._ref is None:
            assert comp.ty is not None
            self.elaborator.evaluation.variables[comp.path] = comp
            comp._ref = Ref(comp.path, comp.ty)
            if comp.variability == "constant" and not isinstance(comp.ty.base, ExternalObjectType):
                comp._ref = self._constant_literal(comp)
        return comp._ref

    def _constant_literal(self, comp: Comp) -> Expr:
        assert comp.ty is not None
        try:
            return make.literal(self.elaborator.evaluation.component_value(comp), comp.ty)
        except NotConstant:
            return Ref(comp.path, comp.ty)
        except EvaluationError as problem:
            if self._is_left_open(comp, problem):
                message = f"`{comp.path}` gets no value from the function that makes its record; zero is taken"
                self.elaborator.world.warn("S296", message, comp.span)
                return make.zeros(comp.ty)
            raise ModelError(
                Diagnostic("S236", f"the constant `{comp.path}` cannot be evaluated: {problem.message}", comp.span)
            ) from None

    def _is_left_open(self, comp: Comp, problem: EvaluationError) -> bool:
        """A field that the function which made its record never assigns: its value is not defined (MLS 12.4.4)."""
        assert comp.ty is not None
        binding = next((m for m in comp.env if m.spec.binding is not None), None)
        return (
            isinstance(problem, NotAssigned)
            and binding is not None
            and binding.implied
            and comp.ty.base in (REAL.base, INTEGER.base, BOOLEAN.base)
        )

    def record_value(self, comp: Comp) -> Expr:
        """A composite as a value: a record of its components' values."""
        if comp._ref is None:
            fields: list[tuple[str, Expr]] = []
            for child in comp.components():
                value = self.array_value(child) if isinstance(child, CompArray) else self.whole(child)
                fields.append((child.name, value))
            ty = RecordType(comp.node.full_name, tuple((n, e.ty) for n, e in fields))
            self.elaborator.types.record_nodes.setdefault(comp.node.full_name, comp.node)
            comp._ref = Record(tuple(e for _, e in fields), Type(ty))
        return comp._ref

    def whole(self, comp: Comp) -> Expr:
        return self.variable(comp) if comp.is_primitive else self.record_value(comp)

    def array_value(self, array: CompArray) -> Expr:
        everything = [list(range(1, n + 1)) for n in array.dims]
        return self._gather(array, everything, [False] * len(array.dims), (), self.whole)


def _without_subs(node: tree.Ref, k: int) -> tree.Ref:
    if node.subs is None or not node.subs[k]:
        return node
    subs = (*node.subs[:k], (), *node.subs[k + 1 :])
    return tree.Ref(node.start, node.end, node.names, subs, node.absolute)

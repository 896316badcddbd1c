"""Evaluation while compiling: dimensions, conditions, constants.  A parameter that is asked becomes structural."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError
from kilohertz.interp import EvaluationError, Evaluator, NotConstant, Value
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import (
    Bool,
    Enum,
    Expr,
    Int,
    Real,
    Str,
)
from kilohertz.ir.types import (
    EnumType,
    Primitive,
)
from kilohertz.semantics.classes import ClassNode, Ctx
from kilohertz.semantics.conversion import coerce
from kilohertz.semantics.instances import Comp
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Evaluation:
    """Values of constants and parameters, from their bindings."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self.variables: dict[str, Comp] = {}  # primitive components by flat name
        self.evaluator = Evaluator(elaborator.functions.by_id)

    def value(self, expr: Expr) -> Value:
        """The value of an expression of constants and parameters; marks those parameters structural."""
        match expr:
            case Int(v) | Bool(v) | Str(v):
                return v
            case Real(v):
                return v
            case Enum():
                return expr.index
        return self.evaluator.evaluate(expr, self._value_by_name)

    def _value_by_name(self, name: str) -> Value:
        comp = self.variables.get(name)
        if comp is None:
            raise NotConstant(name)
        return self.component_value(comp)

    def component_value(self, comp: Comp) -> Value:
        """The value of a parameter or constant from its binding."""
        if comp.value is not None:
            return comp.value
        if comp.variability not in ("parameter", "constant"):
            raise NotConstant(comp.path)
        if comp.busy:
            raise ModelError(Diagnostic("S234", f"the value of `{comp.path}` depends on itself", comp.span))
        comp.busy = True
        try:
            binding = self.elaborator.bindings.binding(comp)
            if binding is None:
                binding = self._value_from_start(comp)
            comp.value = self.evaluator.evaluate(binding, self._value_by_name)
        finally:
            comp.busy = False
        comp.structural = True
        return comp.value

    def _value_from_start(self, comp: Comp) -> Expr:
        start = self.elaborator.bindings.attribute(comp, "start")
        fixed = self.elaborator.bindings.attribute(comp, "fixed")
        if start is None or (fixed is not None and fixed is Bool(False)) or comp.variability == "constant":
            raise NotConstant(comp.path)
        self.elaborator.world.warn(
            "S291", f"`{comp.path}` has no value; its start value is used while compiling", comp.span
        )
        assert comp.ty is not None
        expr = coerce(start, comp.ty)
        return expr if expr.ty.dims == comp.ty.dims else make.fill(expr, [d for d in comp.ty.dims if d is not None])

    def constant(self, node: tree.Expr, ctx: Ctx, what: str) -> Value:
        """The value of an expression that must be known while compiling."""
        expr = self.elaborator.expr(node, ctx)
        return self.known(expr, node, ctx, what)

    def known(self, expr: Expr, node: Any, ctx: Ctx, what: str) -> Value:
        try:
            return self.value(expr)
        except NotConstant as problem:
            asked = self.variables.get(problem.name)
            if asked is not None and asked.variability == "parameter":
                raise self.elaborator.error(
                    "S230",
                    f"{what} must be known when the model is compiled, but `{problem.name}` has no value",
                    node,
                    ctx,
                ) from None
            raise self.elaborator.error(
                "S235", f"{what} must be known when the model is compiled, but depends on `{problem.name}`", node, ctx
            ) from None
        except EvaluationError as problem:
            raise self.elaborator.error("S236", f"{what} cannot be evaluated: {problem.message}", node, ctx) from None

    def try_value(self, expr: Expr) -> Value | None:
        """The value if there is one (then its parameters are structural), else None."""
        try:
            return self.value(expr)
        except (NotConstant, EvaluationError):
            return None
        except ModelError:
            return None

    def dimension(self, node: tree.Expr, ctx: Ctx) -> int:
        """A dimension: an Integer, or an enumeration or Boolean type that indexes it."""
        if isinstance(node, tree.Number) and isinstance(node.value, int):
            return node.value
        if isinstance(node, tree.Ref):
            count = self._type_dimension(node, ctx)
            if count is not None:
                return count
        value = self.constant(node, ctx, "a dimension")
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.elaborator.error("S237", "a dimension must be an Integer", node, ctx)
        if value < 0:
            raise self.elaborator.error("S238", f"a dimension is negative: {value}", node, ctx)
        return value

    def _type_dimension(self, node: tree.Ref, ctx: Ctx) -> int | None:
        if (ctx.locals and node.names[0] in ctx.locals) or (ctx.iterators and node.names[0] in ctx.iterators):
            return None
        meaning = ctx.view.lookup_path(node) if not node.subs else None
        if not isinstance(meaning, ClassNode):
            return None
        match self.elaborator.types.primitive(meaning):
            case EnumType(_, literals):
                return len(literals)
            case Primitive("Boolean"):
                return 2
        return None

    def varies(self, expr: Expr) -> bool:
        for ref in traverse.refs(expr):
            comp = self.variables.get(ref.name)
            if comp is None or comp.variability not in ("parameter", "constant"):
                return True
        return False

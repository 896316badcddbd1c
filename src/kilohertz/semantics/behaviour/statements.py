"""Statements of functions and algorithm sections: Tree → ir.  Loops of a model's algorithms are unrolled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError, Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Array, Bool, Builtin, Expr, Index, Int, Record, Ref, Str
from kilohertz.ir.flat import (
    Assert,
    Assign,
    Break,
    CallEquation,
    ForStatement,
    IfStatement,
    Reinit,
    Return,
    Statement,
    Terminate,
    TupleTarget,
    WhenStatement,
    WhileStatement,
)
from kilohertz.ir.types import BOOLEAN, CLOCK, REAL, STRING, EnumType, RecordType, TupleType, Type
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import coerce, compatible
from kilohertz.semantics.wording import counted
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Statements:
    """Elaborates statements; `ctx.locals` tells a function from a model."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator
        self._conditions = 0  # around the statement being elaborated

    def body(self, items: Any, ctx: Ctx) -> list[Statement]:
        """The statements of a function, or of a section of a model."""
        outside, self._conditions = self._conditions, 0
        try:
            return self.block(items, ctx)
        finally:
            self._conditions = outside

    def section(self, items: Any, ctx: Ctx) -> list[Statement]:
        """A whole algorithm section: what stands only inside a when is not outside of it (MLS 8.3.6, 11.2.7)."""
        for item in items:
            self._check_place(item, "", False, ctx)
        return self.body(items, ctx)

    def _check_place(self, item: Any, within: str, in_loop: bool, ctx: Ctx) -> None:
        """`within`: the when, or else an if, while or for around it."""
        inside: list[Any] = []
        match item:
            case tree.Break() if not in_loop:
                raise self.elaborator.error("S286", "break stands only inside a loop", item, ctx)
            case tree.Return() if ctx.locals is None:
                raise self.elaborator.error("S286", "return stands only in a function", item, ctx)
            case tree.CallStatement() if item.call.function.names == ("reinit",) and within != "when":
                raise self.elaborator.error("S286", "reinit stands only inside a when", item, ctx)
            case tree.CallStatement() if item.call.function.names == ("reinit",):  # what it means is clear
                text = "reinit stands in a when of an algorithm, where the language has it in equations alone"
                self.elaborator.world.warn("S286", text, ctx.span(item))
            case tree.WhenStatement():
                if within == "for":  # models in use do it, and what it means is clear
                    text = "a when stands inside for in an algorithm, which the language does not allow"
                    self.elaborator.world.warn("S287", text, ctx.span(item))
                elif within:
                    where = "a when" if within == "when" else f"{within} in an algorithm"
                    raise self.elaborator.error("S287", f"a when cannot stand inside {where}", item, ctx)
                inside = [i for _, body in item.branches for i in body]
                within = "when"
            case tree.IfStatement():
                inside = [i for _, body in item.branches for i in body] + list(item.otherwise)
                within = within if within not in ("", "for") else "if"
            case tree.WhileStatement():
                inside = list(item.body)
                within = within if within not in ("", "for") else "while"
                in_loop = True
            case tree.ForStatement():
                inside = list(item.body)
                within = within or "for"
                in_loop = True
        for inner in inside:
            self._check_place(inner, within, in_loop, ctx)

    def block(self, items: Any, ctx: Ctx) -> list[Statement]:
        out: list[Statement] = []
        for item in items:
            try:
                self._statement(item, ctx, out)
            except ModelError as error:
                if not self._conditions or any(d.code != "S250" for d in error.diagnostics):
                    raise
                # a subscript that no element has: wrong only if the statement is reached
                out.append(Assert(Bool(False), Str(error.diagnostics[0].message), None, self._origin(item, ctx)))
        return out

    def _under_condition(self, items: Any, ctx: Ctx) -> list[Statement]:
        self._conditions += 1
        try:
            return self.block(items, ctx)
        finally:
            self._conditions -= 1

    def _origin(self, item: Any, ctx: Ctx) -> Origin:
        return Origin((ctx.span(item),), ctx.inst.path if ctx.inst is not None else "")

    def _statement(self, item: Any, ctx: Ctx, out: list[Statement]) -> None:
        origin = self._origin(item, ctx)
        match item:
            case tree.Assignment():
                self._assignment(item, ctx, out, origin)
            case tree.CallStatement():
                out.extend(self.call(item.call, ctx, origin))
            case tree.IfStatement():
                self._if(item, ctx, out, origin)
            case tree.ForStatement():
                self._for(list(item.iterators), item, ctx, out, origin)
            case tree.WhileStatement():
                condition = self.condition(item.condition, ctx)
                out.append(WhileStatement(condition, self._under_condition(item.body, ctx), origin))
            case tree.WhenStatement():
                if ctx.locals is not None:
                    raise self.elaborator.error("S287", "a when cannot stand in a function", item, ctx)
                branches = [
                    (self.when_condition(c, ctx), self._under_condition(body, ctx)) for c, body in item.branches
                ]
                if any(c.ty == CLOCK for c, _ in branches):
                    text = "a when at a clock is an equation, and cannot stand in an algorithm"
                    raise self.elaborator.error("S287", text, item, ctx)
                out.append(WhenStatement(branches, origin))
            case tree.Break():
                out.append(Break(origin))
            case tree.Return():
                out.append(Return(origin))

    def condition(self, node: tree.Expr, ctx: Ctx) -> Expr:
        expr = self.elaborator.expr(node, ctx)
        if expr.ty != BOOLEAN:
            raise self.elaborator.error("S244", f"a condition must be Boolean, this is {expr.ty}", node, ctx)
        return expr

    def when_condition(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """Boolean, a vector of Booleans, or a Clock."""
        expr = self.elaborator.expr(node, ctx)
        if expr.ty.base != BOOLEAN.base and str(expr.ty) != "Clock":
            raise self.elaborator.error("S244", f"a when needs a Boolean or a Clock, this is {expr.ty}", node, ctx)
        if isinstance(expr, Builtin) and expr.name == "noEvent" and self.elaborator.evaluation.varies(expr):
            text = "a when needs a condition that changes at events, and `noEvent` makes none"
            raise self.elaborator.error("S244", text, node, ctx)
        return expr

    # ------------------------------------------------------------------------------------------------------ assignments

    def _assignment(self, item: tree.Assignment, ctx: Ctx, out: list[Statement], origin: Origin) -> None:
        elaborator = self.elaborator
        if isinstance(item.target, tree.Tuple):
            value = elaborator.results(item.value, ctx)
            out.append(Assign(self.tuple_target(item.target, value, ctx), value, origin))
            return
        value = elaborator.expr(item.value, ctx)
        root = item.target.names[0] if isinstance(item.target, tree.Ref) else ""
        if ctx.iterators and root in ctx.iterators:
            raise elaborator.error("S288", f"`{root}` is an iterator, which cannot be assigned", item, ctx)
        target = elaborator.expr(item.target, ctx)
        if make.is_literal(target) and 0 not in target.ty.dims:
            raise elaborator.error("S288", f"`{root}` is a constant, which cannot be assigned", item, ctx)
        if value.ty.dims == (0,) and isinstance(value, Array) and len(target.ty.dims) >= 1:
            value = Array((), Type(target.ty.base, value.ty.dims if len(target.ty.dims) == 1 else target.ty.dims))
        value = coerce(value, target.ty)
        elaborator.check_type(value, target.ty, item, ctx, "the value assigned")
        self._assign(target, value, origin, out)

    def _assign(self, target: Expr, value: Expr, origin: Origin, out: list[Statement]) -> None:
        """A record of a model is assigned field by field (its fields are variables of their own)."""
        if isinstance(target, Record):
            base = target.ty.base
            assert isinstance(base, RecordType)
            for (name, _), field in zip(base.fields, target.fields, strict=True):
                self._assign(field, make.field(value, name), origin, out)
            return
        if isinstance(target, Array):
            for i, element in enumerate(target.elements, 1):
                self._assign(element, make.index(value, (Int(i),)), origin, out)
            return
        out.append(Assign(target, value, origin))

    def tuple_target(self, target: tree.Tuple, value: Expr, ctx: Ctx) -> TupleTarget:
        elaborator = self.elaborator
        base = value.ty.base
        types = base.elements if isinstance(base, TupleType) and not value.ty.dims else (value.ty,)
        if len(target.elements) > len(types):
            raise elaborator.error(
                "S282", f"{counted(len(target.elements), 'target')} for {counted(len(types), 'result')}", target, ctx
            )
        elements: list[Expr | None] = []
        for node, ty in zip(target.elements, types, strict=False):
            if node is None:
                elements.append(None)
                continue
            if not isinstance(node, tree.Ref):
                raise elaborator.error("S246", "left of a function call, a list names variables", node, ctx)
            expr = elaborator.expr(node, ctx)
            if not self._assignable(ty, expr.ty):
                raise elaborator.error("S240", f"a result of type {ty} for a target of type {expr.ty}", node, ctx)
            elements.append(expr)
        return TupleTarget(tuple(elements))

    def _assignable(self, have: Type, want: Type) -> bool:
        return compatible(have, want)

    # -------------------------------------------------------------------------------------------------------- structure

    def _if(self, item: tree.IfStatement, ctx: Ctx, out: list[Statement], origin: Origin) -> None:
        branches: list[tuple[Expr, list[Statement]]] = []
        otherwise = item.otherwise
        for condition, body in item.branches:
            test = self.condition(condition, ctx)
            if isinstance(test, Bool):
                if test.value:
                    otherwise = body
                    break
                continue
            branches.append((test, self._under_condition(body, ctx)))
        last = self._under_condition(otherwise, ctx) if branches else self.block(otherwise, ctx)
        if branches:
            out.append(IfStatement(branches, last, origin))
        else:
            out.extend(last)

    def _for(
        self, iterators: list[tree.Iterator], item: tree.ForStatement, ctx: Ctx, out: list[Statement], origin: Origin
    ) -> None:
        if not iterators:
            out.extend(self.block(item.body, ctx))
            return
        iterator, rest = iterators[0], iterators[1:]
        varying = None if ctx.locals is not None else self.elaborator.loops.varying_range(iterator, ctx)
        if ctx.locals is None and varying is None and not _leaves_loop(item.body):
            for value in self.elaborator.loops.iteration_values(iterator, item.body, ctx):
                self._for(rest, item, ctx.with_iterator(iterator.name, value), out, origin)
            return
        over = varying or self.elaborator.loops.iteration_range(iterator, item.body, ctx)
        name = self.elaborator.functions.fresh(iterator.name)
        body: list[Statement] = []
        self._conditions += 1
        try:
            self._for(rest, item, ctx.with_iterator(iterator.name, Ref(name, over.ty.element())), body, origin)
        finally:
            self._conditions -= 1
        out.append(ForStatement(name, over, body, origin))

    # ----------------------------------------------------------------------------------------------- calls for effect

    def call(self, node: tree.Call, ctx: Ctx, origin: Origin) -> list[Any]:
        """assert, terminate, reinit, or a function called for its effect: as a statement or an equation."""
        elaborator = self.elaborator
        name = ".".join(node.function.names)
        if name == "assert":
            return self._assert(node, ctx, origin)
        if name == "terminate":
            if ctx.locals is not None:
                raise elaborator.error("S303", "a function cannot end the run: `terminate` stands in it", node, ctx)
            if len(node.args) + len(node.named) != 1:
                raise elaborator.error("S283", "terminate needs a message", node, ctx)
            return [Terminate(self._message((*node.args, *(e for _, e in node.named))[0], ctx), origin)]
        if name == "reinit":
            return self._reinit(node, ctx, origin)
        return [CallEquation(elaborator.results(node, ctx), origin)]

    def _assert(self, node: tree.Call, ctx: Ctx, origin: Origin) -> list[Any]:
        elaborator = self.elaborator
        arguments = dict(zip(("condition", "message", "level"), node.args, strict=False)) | dict(node.named)
        if "condition" not in arguments or "message" not in arguments:
            raise elaborator.error("S283", "assert needs a condition and a message", node, ctx)
        condition = self.condition(arguments["condition"], ctx)
        if isinstance(condition, Bool) and condition.value:
            return []
        message = self._message(arguments["message"], ctx)
        level = elaborator.expr(arguments["level"], ctx) if "level" in arguments else None
        if level is not None and not isinstance(level.ty.base, EnumType):
            raise elaborator.error("S283", f"the level of assert is an AssertionLevel, not {level.ty}", node, ctx)
        if level is not None and ctx.locals is None and elaborator.evaluation.varies(level):
            raise elaborator.error("S283", "the level of assert varies, it must be a parameter", node, ctx)
        return [Assert(condition, message, level, origin)]

    def _message(self, node: tree.Expr, ctx: Ctx) -> Expr:
        message = self.elaborator.expr(node, ctx)
        if message.ty != STRING:
            raise self.elaborator.error("S283", f"a message is a String, this is {message.ty}", node, ctx)
        return message

    def _reinit(self, node: tree.Call, ctx: Ctx, origin: Origin) -> list[Any]:
        elaborator = self.elaborator
        if len(node.args) != 2:
            raise elaborator.error("S284", "reinit needs a state and its new value", node, ctx)
        target = elaborator.expr(node.args[0], ctx)
        self._check_state(target, node.args[0], ctx)
        value = coerce(elaborator.expr(node.args[1], ctx), target.ty)
        elaborator.check_type(value, target.ty, node, ctx, "the new value")
        if isinstance(target, Array):
            return [Reinit(e, make.index(value, (Int(i),)), origin) for i, e in enumerate(target.elements, 1)]
        return [Reinit(target, value, origin)]

    def _check_state(self, target: Expr, node: tree.Expr, ctx: Ctx) -> None:
        """Only what is integrated can be set anew (MLS 8.3.6)."""
        if make.is_literal(target):
            raise self.elaborator.error(
                "S284", "reinit sets a variable that is integrated, this is a constant", node, ctx
            )
        if target.ty.base != REAL.base:
            raise self.elaborator.error("S284", f"reinit sets a Real variable, this is {target.ty}", node, ctx)
        if not isinstance(node, tree.Ref):
            raise self.elaborator.error("S284", "reinit sets a variable, this is an expression", node, ctx)
        for ref in traverse.refs(target):
            comp = self.elaborator.evaluation.variables.get(ref.name)
            if comp is not None and comp.variability and not isinstance(target, Index):
                text = f"reinit sets a variable that is integrated, `{ref.name}` is a {comp.variability}"
                raise self.elaborator.error("S284", text, node, ctx)


def _leaves_loop(items: Any) -> bool:
    """Whether a loop body has a break or return (then it cannot be unrolled)."""
    for item in items:
        match item:
            case tree.Break() | tree.Return():
                return True
            case tree.IfStatement():
                if any(_leaves_loop(body) for _, body in item.branches) or _leaves_loop(item.otherwise):
                    return True
            case tree.ForStatement() | tree.WhileStatement():
                if _leaves_loop(item.body):
                    return True
    return False

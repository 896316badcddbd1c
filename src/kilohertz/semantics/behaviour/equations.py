"""Equations of a component: Tree → flat equations.  For-equations are unrolled, structural ifs decided (MLS 8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError, Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import Array, Bool, Expr, Int, Record
from kilohertz.ir.flat import (
    Assert,
    CallEquation,
    Equality,
    Equation,
    IfEquation,
    Reinit,
    Terminate,
    TupleTarget,
    WhenEquation,
)
from kilohertz.ir.types import CLOCK, REAL, RecordType, TupleType, Type
from kilohertz.semantics.classes.modifiers import Ctx
from kilohertz.semantics.conversion import coerce, compatible
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Equations:
    """Elaborates equation sections; connections are not its business (connections.py)."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def section(self, items: Any, ctx: Ctx) -> list[Equation]:
        """A whole equation section: what stands only inside a when is not outside of it (MLS 8.3.5, 8.3.6)."""
        for item in items:
            self._check_place(item, False, ctx)
        return self.block(items, ctx)

    def _check_place(self, item: Any, in_when: bool, ctx: Ctx) -> None:
        match item:
            case tree.CallEquation() if item.call.function.names == ("reinit",) and not in_when:
                raise self.elaborator.error("S286", "reinit stands only inside a when", item, ctx)
            case tree.CallEquation() if item.call.function.names[0] == "Connections" and in_when:
                raise self.elaborator.error("S286", "`Connections` speaks only outside of a when", item, ctx)
            case tree.Connect() if in_when:
                raise self.elaborator.error("S286", "connect stands only outside of a when", item, ctx)
            case tree.WhenEquation():
                if in_when:
                    raise self.elaborator.error("S287", "a when cannot stand inside a when", item, ctx)
                inside = [i for _, body in item.branches for i in body]
                in_when = True
            case tree.IfEquation():
                inside = [i for _, body in item.branches for i in body] + list(item.otherwise)
            case tree.ForEquation():
                inside = list(item.body)
            case _:
                return
        for inner in inside:
            self._check_place(inner, in_when, ctx)

    def block(self, items: Any, ctx: Ctx) -> list[Equation]:
        out: list[Equation] = []
        for item in items:
            self._equation(item, ctx, out)
        return out

    def _equation(self, item: Any, ctx: Ctx, out: list[Equation]) -> None:
        match item:
            case tree.Equality():
                self._equality(item, ctx, out)
            case tree.Connect():
                pass
            case tree.CallEquation() if self.elaborator.machines.says(item.call, ctx):
                self.elaborator.machines.statement(item.call, ctx, self._origin(item, ctx))
            case tree.CallEquation():
                if item.call.function.names[0] != "Connections":
                    origin = self._origin(item, ctx)
                    out.extend(self.elaborator.statements.call(item.call, ctx, origin))
            case tree.ForEquation():
                self._for(list(item.iterators), item, ctx, out)
            case tree.IfEquation():
                self._if(item, ctx, out)
            case tree.WhenEquation():
                conditions = self.elaborator.statements.when_condition
                branches = [(conditions(c, ctx), self.block(body, ctx)) for c, body in item.branches]
                if len(branches) > 1 and any(c.ty == CLOCK for c, _ in branches):
                    raise self.elaborator.error("S287", "a when at a clock has no elsewhen", item, ctx)
                out.append(WhenEquation(branches, self._origin(item, ctx)))

    def _origin(self, item: Any, ctx: Ctx) -> Origin:
        return Origin((ctx.span(item),), ctx.inst.path if ctx.inst is not None else "")

    # --------------------------------------------------------------------------------------------------------- equality

    def _equality(self, item: tree.Equality, ctx: Ctx, out: list[Equation]) -> None:
        elaborator = self.elaborator
        origin = self._origin(item, ctx)
        if isinstance(item.left, tree.Tuple):
            right = elaborator.results(item.right, ctx)
            out.append(Equality(elaborator.statements.tuple_target(item.left, right, ctx), right, origin))
            return
        left, right = elaborator.expr(item.left, ctx), elaborator.expr(item.right, ctx)
        self.equate(left, right, origin, out, item, ctx)

    def equate(self, left: Expr, right: Expr, origin: Origin, out: list[Equation], node: Any, ctx: Ctx) -> None:
        """`left = right`, records field by field where both sides show their fields."""
        elaborator = self.elaborator
        left, right = coerce(left, right.ty), coerce(right, left.ty)
        if not _agree(left.ty, right.ty):
            left, right = self._converted(left, right, node, ctx)
        if (0 in left.ty.dims or 0 in right.ty.dims) and len(left.ty.dims) == len(right.ty.dims):
            return
        if not _agree(left.ty, right.ty):
            raise elaborator.error("S280", f"the two sides differ in type: {left.ty} and {right.ty}", node, ctx)
        base = left.ty.base
        if isinstance(base, RecordType):
            self._equate_records(left, right, origin, out, node, ctx)
            return
        out.append(Equality(left, right, origin))

    def _converted(self, left: Expr, right: Expr, node: Any, ctx: Ctx) -> tuple[Expr, Expr]:
        """One side an operator record, the other a number: its constructor converts."""
        operators = self.elaborator.operators
        if isinstance(left.ty.base, RecordType) and not left.ty.dims:
            converted = operators._converted(left.ty, right, node, ctx)
            return left, right if converted is None else converted
        if isinstance(right.ty.base, RecordType) and not right.ty.dims:
            converted = operators._converted(right.ty, left, node, ctx)
            return left if converted is None else converted, right
        return left, right

    def _equate_records(
        self, left: Expr, right: Expr, origin: Origin, out: list[Equation], node: Any, ctx: Ctx
    ) -> None:
        if isinstance(left, Record) and isinstance(right, Record):
            assert isinstance(left.ty.base, RecordType)
            for name, _ in left.ty.base.fields:
                self.equate(make.field(left, name), make.field(right, name), origin, out, node, ctx)
            return
        if isinstance(left, Array) and isinstance(right, Array):
            for a, b in zip(left.elements, right.elements, strict=True):
                self.equate(a, b, origin, out, node, ctx)
            return
        if left.ty.dims and left.ty.dims[0] is not None and (isinstance(left, Array) or isinstance(right, Array)):
            for i in range(1, left.ty.dims[0] + 1):
                self.equate(make.index(left, (Int(i),)), make.index(right, (Int(i),)), origin, out, node, ctx)
            return
        out.append(Equality(left, right, origin))

    # -------------------------------------------------------------------------------------------------------- structure

    def _for(self, iterators: list[tree.Iterator], item: tree.ForEquation, ctx: Ctx, out: list[Equation]) -> None:
        if not iterators:
            for inner in item.body:
                self._equation(inner, ctx, out)
            return
        for value in self.elaborator.loops.iteration_values(iterators[0], item.body, ctx, known=True):
            self._for(iterators[1:], item, ctx.with_iterator(iterators[0].name, value), out)

    def _if(self, item: tree.IfEquation, ctx: Ctx, out: list[Equation]) -> None:
        """Decided now where the conditions are Boolean/Integer parameters or the branches do not balance."""
        open_: list[tuple[Expr, Any]] = []
        otherwise: Any = item.otherwise
        for condition, body in item.branches:
            test = self.elaborator.statements.condition(condition, ctx)
            value: Any = test.value if isinstance(test, Bool) else None
            if value is None and self.is_structural(test):
                value = self.elaborator.evaluation.try_value(test)
            if value is None:
                open_.append((test, body))
            elif value:
                otherwise = body
                break
        if not open_:
            for inner in otherwise:
                self._equation(inner, ctx, out)
            return
        self._open_if(open_, otherwise, item, ctx, out)

    def _open_if(
        self, open_: list[tuple[Expr, Any]], otherwise: Any, item: tree.IfEquation, ctx: Ctx, out: list[Equation]
    ) -> None:
        try:
            branches = [(test, self.block(body, ctx)) for test, body in open_]
            last = self.block(otherwise, ctx)
        except ModelError:
            chosen = self._chosen(open_, otherwise)
            if chosen is None:
                raise
            out.extend(self.block(chosen, ctx))
            return
        sizes = {n_scalars(b) for _, b in branches} | {n_scalars(last)}
        if len(sizes) > 1:
            chosen = self._chosen(open_, otherwise)
            if chosen is not None:
                out.extend(self.block(chosen, ctx))
                return
        out.append(IfEquation(branches, last, self._origin(item, ctx)))

    def _chosen(self, open_: list[tuple[Expr, Any]], otherwise: Any) -> Any:
        """The branch the parameters choose; None where they do not."""
        for test, body in open_:
            value = self.elaborator.evaluation.try_value(test)
            if value is None:
                return None
            if value:
                return body
        return otherwise

    def is_structural(self, test: Expr) -> bool:
        """A condition on Boolean, Integer, enumeration or String parameters only: it chooses between model variants."""
        for ref in traverse.refs(test):
            comp = self.elaborator.evaluation.variables.get(ref.name)
            if comp is None or comp.variability not in ("parameter", "constant"):
                return False
            if comp.variability == "parameter" and comp.ty is not None and comp.ty.base == REAL.base:
                return False
        return True


def _agree(a: Type, b: Type) -> bool:
    return compatible(a, b) or compatible(b, a)


def scalars(ty: Type) -> int:
    """How many scalars a value of a type has."""
    n = 1
    for d in ty.dims:
        n *= d or 0
    match ty.base:
        case RecordType(_, fields):
            return n * sum(scalars(t) for _, t in fields)
        case TupleType(elements):
            return n * sum(scalars(t) for t in elements)
    return n


def n_scalars(equations: list[Equation]) -> int:
    """The number of scalar equations."""
    total = 0
    for equation in equations:
        match equation:
            case Equality(TupleTarget(elements), right):
                types = right.ty.base.elements if isinstance(right.ty.base, TupleType) else (right.ty,)
                total += sum(scalars(t) for e, t in zip(elements, types, strict=False) if e is not None)
            case Equality(left):
                assert isinstance(left, Expr)
                total += scalars(left.ty)
            case IfEquation(branches, otherwise):
                total += max([n_scalars(b) for _, b in branches] + [n_scalars(otherwise)])
            case WhenEquation(branches):
                total += max(n_scalars(b) for _, b in branches)
            case Assert() | Terminate() | Reinit() | CallEquation():
                pass
    return total

"""Expressions: types known, operators made explicit; the hub that knows all that elaboration needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.interp import ArrayValue
from kilohertz.ir import make
from kilohertz.ir.expr import (
    Array,
    Bool,
    Builtin,
    Colon,
    Expr,
    IfExp,
    Int,
    Range,
    Real,
    Ref,
    Str,
)
from kilohertz.ir.rules.arithmetic import is_integer
from kilohertz.ir.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    RecordType,
    TupleType,
    Type,
)
from kilohertz.semantics.behaviour.functions import Functions
from kilohertz.semantics.behaviour.statements import Statements
from kilohertz.semantics.class_types import Types
from kilohertz.semantics.classes import Ctx
from kilohertz.semantics.connecting.connections import Graph
from kilohertz.semantics.conversion import coerce, compatible
from kilohertz.semantics.expressions.array_builtins import is_number
from kilohertz.semantics.expressions.bindings import Bindings
from kilohertz.semantics.expressions.calls import Calls
from kilohertz.semantics.expressions.evaluation import Evaluation
from kilohertz.semantics.expressions.loops import Loops
from kilohertz.semantics.expressions.names import Names
from kilohertz.semantics.expressions.operators import Operators
from kilohertz.semantics.expressions.subscripts import Subscripts
from kilohertz.semantics.instances import Maker
from kilohertz.semantics.machines.gather import Machines
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.world import World


class Elaborator:
    """Turns expressions of the tree into typed ones.  The parts know each other only through it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.types = Types(self)
        self.functions = Functions(self)
        self.evaluation = Evaluation(self)
        self.bindings = Bindings(self)
        self.names = Names(self)
        self.subscripts = Subscripts(self)
        self.loops = Loops(self)
        self.calls = Calls(self)
        self.operators = Operators(self)
        self.statements = Statements(self)
        self.graph = Graph(self)
        self.maker = Maker(world, self)
        self.machines = Machines(self)
        self._dispatch: dict[type, Callable[[Any, Ctx], Expr]] = {
            tree.Number: self._number,
            tree.String: lambda node, ctx: Str(node.value),
            tree.Boolean: lambda node, ctx: Bool(node.value),
            tree.Ref: self.names.ref,
            tree.Unary: self._unary,
            tree.Binary: self._binary,
            tree.IfExp: self._if,
            tree.Range: self._range,
            tree.Call: self.calls.call,
            tree.PartialCall: self.calls.function_values.value,
            tree.Array: self._array,
            tree.Comprehension: self.loops.plain,
            tree.Matrix: self._matrix,
            tree.Tuple: self._tuple,
            tree.Subscripted: self.subscripts.subscripted,
            tree.FieldOf: self.subscripts.field_node,
            tree.End: self.subscripts.end,
            tree.Colon: lambda node, ctx: Colon(),
        }

    def expr(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """One value; of a call with several results the first (MLS 12.4.3)."""
        expr = self._dispatch[type(node)](node, ctx)
        if isinstance(expr.ty.base, TupleType):
            if not expr.ty.base.elements:
                raise self.error("S281", "this function has no result", node, ctx)
            return make.item(expr, 0)
        return expr

    def results(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """All results of a call together."""
        return self._dispatch[type(node)](node, ctx)

    def error(self, code: str, message: str, node: Any, ctx: Ctx, *notes: Note) -> ModelError:
        if ctx.inst is not None and ctx.inst.path:
            notes = (*notes, Note(f"in component `{ctx.inst.path}` of class `{ctx.inst.node.written_name}`"))
        return ModelError(Diagnostic(code, message, ctx.span(node), notes=notes))

    def check_type(self, expr: Expr, ty: Type, node: Any, ctx: Ctx, what: str) -> None:
        """A diagnostic where an expression cannot stand for a value of a type."""
        if not compatible(expr.ty, ty):
            raise self.error("S240", f"{what} has type {expr.ty}, needed {ty}", node, ctx)

    def _number(self, node: tree.Number, ctx: Ctx) -> Expr:
        is_int = isinstance(node.value, int) and is_integer(node.value)  # larger ones are Reals
        return Int(int(node.value)) if is_int else Real(float(node.value))

    def _unary(self, node: tree.Unary, ctx: Ctx) -> Expr:
        return self.operators.unary(node.op, self.expr(node.operand, ctx), node, ctx)

    def _binary(self, node: tree.Binary, ctx: Ctx) -> Expr:
        # along the left spine by a loop: sums may have thousands of terms
        spine: list[tree.Binary] = []
        at: tree.Expr = node
        while isinstance(at, tree.Binary):
            spine.append(at)
            at = at.left
        left = self.expr(at, ctx)
        for op in reversed(spine):
            left = self.operators.binary(op.op, left, self.expr(op.right, ctx), op, ctx)
            if op.op == "*" and (_is_actual_stream(op.left) or _is_actual_stream(op.right)):
                # continuous since it is multiplied by the flow (MLS 15.3): no event needed
                left = Builtin("smooth", (Int(0), left), left.ty)
        return left

    def _if(self, node: tree.IfExp, ctx: Ctx) -> Expr:
        """Known conditions choose their branch; the others are not elaborated (they may use absent components)."""
        open_: list[tuple[Expr, tree.Expr]] = []
        last: tree.Expr | None = None
        for condition, value in node.branches:
            test = self.expr(condition, ctx)
            if test.ty != BOOLEAN:
                raise self.error("S244", f"a condition must be Boolean, this is {test.ty}", condition, ctx)
            if isinstance(test, Bool):
                if test.value:
                    last = value
                    break
                continue
            open_.append((test, value))
        last = node.otherwise if last is None else last
        if not open_:
            return self.expr(last, ctx)
        return self._open_if(open_, last, node, ctx)

    def _open_if(self, open_: list[tuple[Expr, tree.Expr]], last: tree.Expr, node: tree.IfExp, ctx: Ctx) -> Expr:
        try:
            values = [self.expr(v, ctx) for _, v in open_] + [self.expr(last, ctx)]
            ty = self.common(values, node, ctx)
        except ModelError as error:
            chosen = self._decided(open_, last)
            if chosen is None:
                raise error
            return self.expr(chosen, ctx)
        result = coerce(values[-1], ty)
        for (test, _), value in zip(reversed(open_), reversed(values[:-1]), strict=True):
            value = coerce(value, ty)
            # records of one class may still differ in what is known of their sizes
            is_record = isinstance(value.ty.base, RecordType)
            result = IfExp(test, value, result) if is_record else make.if_(test, value, result)
        return result

    def _decided(self, open_: list[tuple[Expr, tree.Expr]], last: tree.Expr) -> tree.Expr | None:
        """The branch that parameters choose, where branches cannot stand side by side."""
        for test, branch in open_:
            value = self.evaluation.try_value(test)
            if value is None:
                return None
            if value:
                return branch
        return last

    def common(self, values: list[Expr], node: Any, ctx: Ctx) -> Type:
        first = values[0].ty
        for value in values[1:]:
            if not (compatible(value.ty, first) or compatible(first, value.ty)):
                raise self.error("S245", f"types do not agree: {first} and {value.ty}", node, ctx)
            if first == INTEGER.array_of(*first.dims) and value.ty == REAL.array_of(*value.ty.dims):
                first = value.ty
        return first

    def _range(self, node: tree.Range, ctx: Ctx) -> Expr:
        first, last = self.expr(node.first, ctx), self.expr(node.last, ctx)
        step = None if node.step is None else self.expr(node.step, ctx)
        if any(e.ty.dims or e.ty.base == STRING.base for e in (first, last)):
            raise self.error("S260", f"`:` cannot be applied to {first.ty} and {last.ty}", node, ctx)
        if step is not None and not all(is_number(e) and not e.ty.dims for e in (first, step, last)):
            raise self.error("S260", f"a range of {first.ty} has no step of {step.ty}", node, ctx)
        range_ = make.range_(first, step, last)
        if range_.ty.dims == (None,) and ctx.locals is None and not (ctx.open and self.evaluation.varies(range_)):
            value = self.evaluation.known(range_, node, ctx, "the size of a range")
            assert isinstance(value, ArrayValue)
            range_ = (
                Range(range_.first, range_.step, range_.last, range_.ty.scalar().array_of(value.shape[0]))
                if isinstance(range_, Range)
                else range_
            )
        return range_

    def _array(self, node: tree.Array, ctx: Ctx) -> Expr:
        elements = [self.expr(e, ctx) for e in node.elements]
        if not elements:
            raise self.error("S247", "`{}` has no type; an empty array is `fill(1.0, 0)`, `zeros(0)`, ..", node, ctx)
        ty = self.common(elements, node, ctx)
        return make.array([coerce(e, ty) for e in elements])

    def _tuple(self, node: tree.Tuple, ctx: Ctx) -> Expr:
        if len(node.elements) == 1 and node.elements[0] is not None:
            return self.expr(node.elements[0], ctx)
        raise self.error("S246", "a list in parentheses stands only left of a function call", node, ctx)

    def _matrix(self, node: tree.Matrix, ctx: Ctx) -> Expr:
        rows = [[self.expr(e, ctx) for e in row] for row in node.rows]
        everything = [e for row in rows for e in row]
        scalar_types = [Array((), e.ty.scalar().array_of(0)) for e in everything]
        ty = self.common([Ref("_", s.ty.scalar()) for s in scalar_types], node, ctx)
        n = max(2, *(len(e.ty.dims) for e in everything))
        rows = [[coerce(e, ty) for e in row] for row in rows]
        if all(not e.ty.dims for row in rows for e in row):
            if any(len(row) != len(rows[0]) for row in rows):
                raise self.error("S276", "the rows of this matrix differ in length", node, ctx)
            return make.array([make.array(row) for row in rows])
        joined = [self._cat(2, [self.promoted(e, n) for e in row], node, ctx) for row in rows]
        return self._cat(1, joined, node, ctx)

    def promoted(self, expr: Expr, n: int) -> Expr:
        missing = n - len(expr.ty.dims)
        if missing <= 0:
            return expr
        if not expr.ty.dims:
            for _ in range(missing):
                expr = make.array([expr])
            return expr
        if isinstance(expr, Array) and len(expr.ty.dims) == 1:
            wrapped = [self.promoted(e, n - 1) for e in expr.elements]
            if wrapped:
                return make.array(wrapped)
        return Builtin("promote", (expr, Int(n)), expr.ty.scalar().array_of(*expr.ty.dims, *([1] * missing)))

    def _cat(self, axis: int, parts: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(parts) == 1:
            return parts[0]
        return self.calls.cat(axis, parts, node, ctx)


def _is_actual_stream(node: tree.Expr) -> bool:
    return isinstance(node, tree.Call) and node.function.names == ("actualStream",)

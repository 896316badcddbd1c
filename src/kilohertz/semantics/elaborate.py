"""Expressions: names resolved, types known, operators made explicit (Tree expressions in a context → ir expressions)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import product
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.interp import ArrayValue, EvaluationError, Evaluator, NotConstant, Value
from kilohertz.ir import build
from kilohertz.ir.expr import (
    TIME,
    Array,
    Bool,
    Builtin,
    Colon,
    Comprehension,
    Enum,
    Expr,
    IfExp,
    Int,
    Range,
    Real,
    Record,
    Ref,
    Str,
)
from kilohertz.ir.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    EnumType,
    ExternalObjectType,
    Primitive,
    RecordType,
    TupleType,
    Type,
)
from kilohertz.semantics.calls import Calls
from kilohertz.semantics.classes import ClassNode, Element
from kilohertz.semantics.functions import Functions
from kilohertz.semantics.instances import Comp, CompArray, Maker
from kilohertz.semantics.modifiers import Ctx, Mod
from kilohertz.semantics.operators import Operators
from kilohertz.semantics.types import Types
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.connections import Graph
    from kilohertz.semantics.statements import Statements
    from kilohertz.semantics.world import World


class AbsentComponent(ModelError):
    """A component whose condition is false was used."""


class Elaborator:
    """Turns expressions of the tree into typed ones; knows how to evaluate what must be constant."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.variables: dict[str, Comp] = {}  # primitive components by flat name
        self.types = Types(self)
        self.maker = Maker(world, self)
        self.functions = Functions(self)
        self.calls = Calls(self)
        self.operators = Operators(self)
        self.evaluator = Evaluator(self.functions.by_id)
        self._ends: list[Expr] = []
        self.statements: Statements
        self.graph: Graph
        self._dispatch: dict[type, Callable[[Any, Ctx], Expr]] = {
            tree.Number: self._number,
            tree.String: lambda node, ctx: Str(node.value),
            tree.Boolean: lambda node, ctx: Bool(node.value),
            tree.Ref: self._ref,
            tree.Unary: self._unary,
            tree.Binary: self._binary,
            tree.IfExp: self._if,
            tree.Range: self._range,
            tree.Call: self.calls.call,
            tree.PartialCall: self.calls.partial,
            tree.Array: self._array,
            tree.Comprehension: self._comprehension,
            tree.Matrix: self._matrix,
            tree.Tuple: self._tuple,
            tree.Subscripted: self._subscripted,
            tree.FieldOf: self._field_of,
            tree.End: self._end,
            tree.Colon: lambda node, ctx: Colon(),
        }

    # ------------------------------------------------------------------------------------------------------- evaluation

    def expr(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """One value; of a call with several results the first (MLS 12.4.3)."""
        expr = self._dispatch[type(node)](node, ctx)
        if isinstance(expr.ty.base, TupleType):
            if not expr.ty.base.elements:
                raise self.error("S281", "this function has no result", node, ctx)
            return build.item(expr, 0)
        return expr

    def results(self, node: tree.Expr, ctx: Ctx) -> Expr:
        """All results of a call together."""
        return self._dispatch[type(node)](node, ctx)

    def error(self, code: str, message: str, node: Any, ctx: Ctx, *notes: Note) -> ModelError:
        if ctx.inst is not None and ctx.inst.path:
            notes = (*notes, Note(f"in component `{ctx.inst.path}` of class `{ctx.inst.node.full_name}`"))
        return ModelError(Diagnostic(code, message, ctx.span(node), notes=notes))

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
            return comp.value  # type: ignore[return-value]
        if comp.variability not in ("parameter", "constant"):
            raise NotConstant(comp.path)
        if comp.busy:
            raise ModelError(Diagnostic("S234", f"the value of `{comp.path}` depends on itself", comp.span))
        comp.busy = True
        try:
            binding = self.binding(comp)
            if binding is None:
                binding = self._value_from_start(comp)
            comp.value = self.evaluator.evaluate(binding, self._value_by_name)
        finally:
            comp.busy = False
        comp.structural = True
        return comp.value

    def _value_from_start(self, comp: Comp) -> Expr:
        start = self.attribute(comp, "start")
        fixed = self.attribute(comp, "fixed")
        if start is None or (fixed is not None and fixed is Bool(False)) or comp.variability == "constant":
            raise NotConstant(comp.path)
        self.world.warn("S291", f"`{comp.path}` has no value; its start value is used while compiling", comp.span)
        assert comp.ty is not None
        expr = self.coerce(start, comp.ty)
        return expr if expr.ty.dims == comp.ty.dims else build.fill(expr, [d for d in comp.ty.dims if d is not None])

    def constant(self, node: tree.Expr, ctx: Ctx, what: str) -> Value:
        """The value of an expression that must be known while compiling."""
        expr = self.expr(node, ctx)
        return self.known(expr, node, ctx, what)

    def known(self, expr: Expr, node: Any, ctx: Ctx, what: str) -> Value:
        try:
            return self.value(expr)
        except NotConstant as problem:
            raise self.error(
                "S235", f"{what} must be known when the model is compiled, but depends on `{problem.name}`", node, ctx
            ) from None
        except EvaluationError as problem:
            raise self.error("S236", f"{what} cannot be evaluated: {problem.message}", node, ctx) from None

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
            raise self.error("S237", "a dimension must be an Integer", node, ctx)
        if value < 0:
            raise self.error("S238", f"a dimension is negative: {value}", node, ctx)
        return value

    def _type_dimension(self, node: tree.Ref, ctx: Ctx) -> int | None:
        if ctx.locals and node.names[0] in ctx.locals or ctx.iterators and node.names[0] in ctx.iterators:
            return None
        found = ctx.view.lookup_path(node) if not node.subs else None
        if not isinstance(found, ClassNode):
            return None
        match self.types.primitive(found):
            case EnumType(_, literals):
                return len(literals)
            case Primitive("Boolean"):
                return 2
        return None

    # ---------------------------------------------------------------------------------------- bindings and attributes

    def binding_of(self, mod: Mod) -> Expr:
        """The binding a modification carries, narrowed to the element it has reached."""
        key = id(mod.spec)
        whole = mod.cache.get(key)
        if whole is None:
            assert mod.spec.binding is not None
            whole = self.expr(mod.spec.binding, mod.ctx)
            mod.cache[key] = whole
        if not mod.select:
            return whole
        return self._selected(whole, mod)

    def _selected(self, expr: Expr, mod: Mod) -> Expr:
        pending: list[Expr] = []
        for step in mod.select:
            if isinstance(step, int):
                if len(pending) >= len(expr.ty.dims):
                    # a scalar given to all elements of an array: `each` is missing, accepted like other tools do
                    continue
                if (n := expr.ty.dims[len(pending)]) is not None and step > n:
                    raise self._too_few(mod, n)
                pending.append(Int(step))
                continue
            if pending:
                expr, pending = build.index(expr, tuple(pending)), []
            if not isinstance(expr.ty.base, RecordType) or step not in dict(expr.ty.base.fields):
                raise self.error("S239", f"the binding has no element `{step}`", mod.spec, mod.ctx)
            expr = build.field(expr, step)
        return build.index(expr, tuple(pending)) if pending else expr

    def _too_few(self, mod: Mod, n: int) -> ModelError:
        return self.error("S241", f"the binding has only {n} elements", mod.spec, mod.ctx)

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
            if mod.implied and not self._has_field(mod):
                continue
            assert comp.ty is not None
            expr = self.coerce(self.binding_of(mod), comp.ty)
            self.check_type(expr, comp.ty, mod.spec, mod.ctx, f"the binding of `{comp.path}`")
            return expr
        return None

    def _has_field(self, mod: Mod) -> bool:
        """Whether a record's whole binding has this field (a base record's value may bind a derived one)."""
        return True

    def attribute_mod(self, comp: Comp, name: str) -> Mod | None:
        for mod in comp.env:
            sub = mod.sub(name)
            if sub is not None and sub.spec.binding is not None:
                return sub
        for mod in comp.node.attribute_chain:
            sub = mod.sub(name)
            if sub is not None and sub.spec.binding is not None:
                return sub
        return None

    def attribute(self, comp: Comp, name: str) -> Expr | None:
        """start, fixed, unit, ...: as modified, or as the type says; None where nobody says."""
        if name not in comp._attributes:
            mod = self.attribute_mod(comp, name)
            comp._attributes[name] = None if mod is None else self._attribute_expr(comp, name, mod)
        return comp._attributes[name]

    def _attribute_expr(self, comp: Comp, name: str, mod: Mod) -> Expr | None:
        if isinstance(mod.spec.binding, tree.Ref) and mod.spec.binding.names == ("break",):
            return None
        expr = self.binding_of(mod)
        assert comp.ty is not None
        if name in ("start", "min", "max", "nominal") and isinstance(comp.ty.base, Primitive) and comp.ty.base.name == "Real":
            expr = build.to_real(expr)
        if expr.ty.dims and expr.ty.dims != comp.ty.dims and None not in expr.ty.dims:
            raise self.error(
                "S242", f"`{name}` of `{comp.path}` has dimensions {_dims(expr.ty)}, needed {_dims(comp.ty)}", mod.spec, mod.ctx
            )  # fmt: skip
        return expr

    # ------------------------------------------------------------------------------------------------------------ types

    def coerce(self, expr: Expr, ty: Type) -> Expr:
        """Integer to Real where a Real is wanted (also inside records and arrays of them)."""
        base, want = expr.ty.base, ty.base
        if base is want or base == want:
            return expr
        if isinstance(want, Primitive) and want.name == "Real" and isinstance(base, Primitive) and base.name == "Integer":
            return build.to_real(expr)
        if isinstance(want, RecordType) and isinstance(base, RecordType) and base.name != want.name:
            return self._coerce_record(expr, ty)
        if isinstance(want, RecordType) and isinstance(expr, Record):
            return self._coerce_record(expr, ty)
        return expr

    def _coerce_record(self, expr: Expr, ty: Type) -> Expr:
        want = ty.base
        assert isinstance(want, RecordType) and isinstance(expr.ty.base, RecordType)
        have = dict(expr.ty.base.fields)
        if isinstance(expr, Array):
            return build.array([self._coerce_record(e, ty.element()) for e in expr.elements], None) if expr.elements else expr
        if expr.ty.dims or not isinstance(expr, Record):
            return expr
        if not all(name in have for name, _ in want.fields):
            return expr
        fields = tuple(self.coerce(build.field(expr, name), t) for name, t in want.fields)
        made = RecordType(want.name, tuple((n, f.ty) for (n, _), f in zip(want.fields, fields, strict=True)))
        return Record(fields, Type(made))

    def check_type(self, expr: Expr, ty: Type, node: Any, ctx: Ctx, what: str) -> None:
        """A diagnostic where an expression cannot stand for a value of a type."""
        if not compatible(expr.ty, ty):
            raise self.error("S240", f"{what} has type {expr.ty}, needed {ty}", node, ctx)

    # ------------------------------------------------------------------------------------------------------- small nodes

    def _number(self, node: tree.Number, ctx: Ctx) -> Expr:
        return Int(node.value) if isinstance(node.value, int) else Real(node.value)

    def _end(self, node: tree.End, ctx: Ctx) -> Expr:
        if not self._ends:
            raise self.error("S243", "`end` stands only inside subscripts", node, ctx)
        return self._ends[-1]

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
            ty = self._common(values, node, ctx)
        except ModelError as error:
            chosen = self._decided(open_, last)
            if chosen is None:
                raise error
            return self.expr(chosen, ctx)
        result = self.coerce(values[-1], ty)
        for (test, _), value in zip(reversed(open_), reversed(values[:-1]), strict=True):
            value = self.coerce(value, ty)
            # records of one class may still differ in what is known of their sizes
            is_record = isinstance(value.ty.base, RecordType)
            result = IfExp(test, value, result) if is_record else build.if_(test, value, result)
        return result

    def _decided(self, open_: list[tuple[Expr, tree.Expr]], last: tree.Expr) -> tree.Expr | None:
        """The branch that parameters choose, where branches cannot stand side by side."""
        for test, branch in open_:
            value = self.try_value(test)
            if value is None:
                return None
            if value:
                return branch
        return last

    def _common(self, values: list[Expr], node: Any, ctx: Ctx) -> Type:
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
        made = build.range_(first, step, last)
        if made.ty.dims == (None,) and ctx.locals is None:
            value = self.known(made, node, ctx, "the size of a range")
            assert isinstance(value, ArrayValue)
            made = Range(made.first, made.step, made.last, made.ty.scalar().array_of(value.shape[0])) if isinstance(made, Range) else made
        return made

    def _array(self, node: tree.Array, ctx: Ctx) -> Expr:
        elements = [self.expr(e, ctx) for e in node.elements]
        if not elements:
            return Array((), REAL.array_of(0))
        ty = self._common(elements, node, ctx)
        return build.array([self.coerce(e, ty) for e in elements])

    def _tuple(self, node: tree.Tuple, ctx: Ctx) -> Expr:
        if len(node.elements) == 1 and node.elements[0] is not None:
            return self.expr(node.elements[0], ctx)
        raise self.error("S246", "a list in parentheses stands only left of a function call", node, ctx)

    def _matrix(self, node: tree.Matrix, ctx: Ctx) -> Expr:
        rows = [[self.expr(e, ctx) for e in row] for row in node.rows]
        everything = [e for row in rows for e in row]
        scalar_types = [Array((), e.ty.scalar().array_of(0)) for e in everything]
        ty = self._common([Ref("_", s.ty.scalar()) for s in scalar_types], node, ctx)
        n = max(2, *(len(e.ty.dims) for e in everything))
        rows = [[self.coerce(e, ty) for e in row] for row in rows]
        if all(not e.ty.dims for row in rows for e in row):
            return build.array([build.array(row) for row in rows])
        joined = [self._cat(2, [self._promoted(e, n) for e in row], node, ctx) for row in rows]
        return self._cat(1, joined, node, ctx)

    def _promoted(self, expr: Expr, n: int) -> Expr:
        missing = n - len(expr.ty.dims)
        if missing <= 0:
            return expr
        if not expr.ty.dims:
            for _ in range(missing):
                expr = build.array([expr])
            return expr
        if isinstance(expr, Array) and len(expr.ty.dims) == 1:
            wrapped = [self._promoted(e, n - 1) for e in expr.elements]
            if wrapped:
                return build.array(wrapped)
        return Builtin("promote", (expr, Int(n)), expr.ty.scalar().array_of(*expr.ty.dims, *([1] * missing)))

    def _cat(self, axis: int, parts: list[Expr], node: Any, ctx: Ctx) -> Expr:
        if len(parts) == 1:
            return parts[0]
        return self.calls.cat(axis, parts, node, ctx)

    # ---------------------------------------------------------------------------------------------------- comprehensions

    def _comprehension(self, node: tree.Comprehension, ctx: Ctx) -> Expr:
        return self.comprehension("", node, ctx)

    def comprehension(self, op: str, node: tree.Comprehension, ctx: Ctx) -> Expr:
        """`{e for i in r}` or a reduction over it: unrolled, or kept inside functions."""
        if ctx.locals is not None:
            return self._kept_comprehension(op, node, ctx)
        # the last iterator is the outermost dimension (MLS 10.4.1.1)
        return self.calls.reduced(op, self._unrolled(list(node.iterators), node.body, ctx, node), node, ctx)

    def _unrolled(self, iterators: list[tree.Iterator], body: tree.Expr, ctx: Ctx, node: Any) -> Expr:
        if not iterators:
            return self.expr(body, ctx)
        iterator, rest = iterators[-1], iterators[:-1]
        values = self.iteration_values(iterator, (body,), ctx)
        elements = [self._unrolled(rest, body, ctx.with_iterator(iterator.name, v), node) for v in values]
        if not elements:
            return Array((), REAL.array_of(*([0] * (len(rest) + 1))))
        ty = self._common(elements, node, ctx)
        return build.array([self.coerce(e, ty) for e in elements])

    def iteration_values(self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx) -> list[Expr]:
        """The values a for-index takes outside functions, as literals."""
        expr = self.iteration_range(iterator, body, ctx)
        if isinstance(expr, Range) and expr.step is None and isinstance(expr.first, Int) and isinstance(expr.last, Int):
            return [Int(i) for i in range(expr.first.value, expr.last.value + 1)]
        if isinstance(expr, Array) and all(build.is_literal(e) for e in expr.elements):
            return list(expr.elements)
        value = self.known(expr, iterator.range or iterator, ctx, "the range of a for")
        if not isinstance(value, ArrayValue):
            return [build.literal(value, expr.ty)]
        lit = build.literal(value, Type(expr.ty.base, value.shape))
        assert isinstance(lit, Array)
        return list(lit.elements)

    def iteration_range(self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx) -> Expr:
        """The vector an iterator runs over: as written, a type's values, or what the body's subscripts imply."""
        node = iterator.range
        if node is None:
            return self._implied_range(iterator, body, ctx)
        if isinstance(node, tree.Ref) and not (ctx.locals and node.names[0] in ctx.locals):
            found = ctx.view.lookup_path(node) if not node.subs else None
            if isinstance(found, ClassNode):
                return self._values_of_type(found, node, ctx)
        expr = self.expr(node, ctx)
        if len(expr.ty.dims) != 1:
            raise self.error("S247", f"a for needs a vector to run over, this is {expr.ty}", node, ctx)
        return expr

    def _values_of_type(self, node: ClassNode, at: Any, ctx: Ctx) -> Expr:
        match self.types.primitive(node):
            case EnumType() as enum:
                return build.array([Enum(enum, i + 1) for i in range(len(enum.literals))])
            case Primitive("Boolean"):
                return build.array([Bool(False), Bool(True)])
        raise self.error("S247", f"`{node.full_name}` is not something a for can run over", at, ctx)

    def _implied_range(self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx) -> Expr:
        """`for i loop ... x[i] ...`: over the dimension of x that i indexes (MLS 11.2.2.1)."""
        for ref in tree.refs(body):
            if not ref.subs:
                continue
            for k, subs in enumerate(ref.subs):
                for axis, sub in enumerate(subs):
                    if isinstance(sub, tree.Ref) and sub.names == (iterator.name,) and not sub.subs:
                        whole = tree.Ref(ref.start, ref.end, ref.names[: k + 1], ref.subs[:k] + ((),), ref.absolute)
                        base = self.expr(whole, ctx)
                        size = base.ty.dims[axis]
                        if size is not None:
                            return build.range_(Int(1), None, Int(size))
                        return build.range_(Int(1), None, Builtin("size", (base, Int(axis + 1)), INTEGER))
        raise self.error("S248", f"nothing is indexed by `{iterator.name}`: its range is not known", iterator, ctx)

    def _kept_comprehension(self, op: str, node: tree.Comprehension, ctx: Ctx) -> Expr:
        iterators: list[tuple[str, Expr]] = []
        dims: list[int | None] = []
        for iterator in node.iterators:
            over = self.iteration_range(iterator, (node.body,), ctx)
            name = self.functions.fresh(iterator.name)
            iterators.append((name, over))
            dims.insert(0, over.ty.dims[0])
            ctx = ctx.with_iterator(iterator.name, Ref(name, over.ty.element()))
        body = self.expr(node.body, ctx)
        ty = body.ty if op else body.ty.array_of(*dims)
        return Comprehension(op, body, tuple(iterators), ty)

    # -------------------------------------------------------------------------------------------------- names and values

    def _ref(self, node: tree.Ref, ctx: Ctx) -> Expr:
        names = node.names
        first = names[0]
        if not node.absolute:
            if ctx.iterators is not None and first in ctx.iterators:
                return self._parts(ctx.iterators[first], node, 0, ctx)
            if ctx.locals is not None and first in ctx.locals:
                return self._parts(ctx.locals[first], node, 0, ctx)
        found = self.world.top(first) if node.absolute else ctx.view.lookup(first)
        if found is None:
            if first == "time" and len(names) == 1:
                return TIME
            raise self._unknown(node, ctx)
        k = 0
        while isinstance(found, ClassNode):
            k += 1
            if k == len(names):
                raise self.error("S204", f"`{'.'.join(names)}` is a class, a value is needed here", node, ctx)
            literal = self._literal(found, names[k])
            if literal is not None:
                return literal
            inner = found.member(names[k])
            if inner is None:
                raise self._no_member(found.full_name, names[k], list(found.table), node, ctx)
            found = inner
        inst = ctx.inst
        if inst is None or inst.node is not found.view.root:
            inst = found.view.root.instance()
        # an import may have given it another name
        return self._in_component(inst.child(found.name), node, k, ctx)

    def _literal(self, node: ClassNode, name: str) -> Expr | None:
        node.table  # noqa: B018
        if node.enum is None:
            return None
        enum = self.types.enum(node.enum)
        return Enum(enum, enum.literals.index(name) + 1) if name in enum.literals else None

    def _unknown(self, node: tree.Ref, ctx: Ctx) -> ModelError:
        from kilohertz.semantics.world import _visible

        candidates = _visible(ctx.view) | set(ctx.locals or ()) | set(ctx.iterators or ())
        near = get_close_matches(node.names[0], sorted(candidates), 1)
        notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
        return self.error("S201", f"there is no `{node.names[0]}` here", node, ctx, *notes)

    def _no_member(self, where: str, name: str, names: list[str], node: Any, ctx: Ctx) -> ModelError:
        near = get_close_matches(name, names, 1)
        notes = (Note(f"did you mean `{near[0]}`?"),) if near else ()
        return self.error("S205", f"there is no `{name}` in `{where}`", node, ctx, *notes)

    def _component(self, inst: Comp, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """The value of `inst.names[k]...` with all its subscripts."""
        name = node.names[k]
        if not inst.has(name):
            if name in inst.node.table:
                return self._class_in_component(inst, node, k, ctx)
            names = [n for n, e in inst.node.table.items() if not e.is_class]
            raise self._no_member(inst.path or inst.name, name, names, node, ctx)
        return self._in_component(inst.child(name), node, k, ctx)

    def _class_in_component(self, inst: Comp, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """`component.Package.constant`: through the component's class."""
        found = inst.node.member(node.names[k])
        while isinstance(found, ClassNode) and k + 1 < len(node.names):
            k += 1
            literal = self._literal(found, node.names[k])
            if literal is not None:
                return literal
            found = found.member(node.names[k])
        if not isinstance(found, Element):
            raise self.error("S204", f"`{'.'.join(node.names)}` is a class, a value is needed here", node, ctx)
        return self._component(found.view.root.instance(), node, k, ctx)

    def _in_component(self, comp: Comp | CompArray | None, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        if comp is None:
            name = ".".join(node.names[: k + 1])
            problem = self.error("S206", f"`{name}` is not there: its condition is false", node, ctx)
            raise AbsentComponent(*problem.diagnostics)
        subs = node.subs[k] if node.subs is not None else ()
        if isinstance(comp, CompArray):
            return self._in_array(comp, subs, node, k, ctx)
        if comp.is_primitive:
            expr = self.variable(comp)
            if subs:
                expr = self.indexed(expr, subs, node, ctx)
            if k + 1 < len(node.names):
                raise self.error("S205", f"`{comp.path}` is of type {expr.ty} and has no `{node.names[k + 1]}`", node, ctx)
            return expr
        if subs:
            raise self.error("S249", f"`{comp.path}` is not an array", node, ctx)
        if k + 1 < len(node.names):
            return self._component(comp, node, k + 1, ctx)
        return self.record_value(comp)

    def _in_array(self, array: CompArray, subs: tuple[tree.Expr, ...], node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        sizes = [Int(n) for n in array.dims]
        exprs = self.subscripts(subs, sizes, node, ctx)
        exprs += [Colon()] * (len(array.dims) - len(exprs))
        choices: list[list[int]] = []
        dynamic = False
        for sub, n in zip(exprs, array.dims, strict=True):
            positions = self._positions(sub, n)
            if positions is None:
                dynamic = True
                positions = list(range(1, n + 1))
            for p in positions:
                if not 1 <= p <= n:
                    raise self.error("S250", f"subscript {p} is outside 1..{n} of `{array.path}`", node, ctx)
            choices.append(positions)
        fixed = [dynamic is False and not sub.ty.dims for sub in exprs]
        rest = lambda comp: self._in_component(comp, _without_subs(node, k), k, ctx)  # noqa: E731
        gathered = self._gather(array, choices, fixed, (), rest)
        return build.index(gathered, tuple(exprs)) if dynamic else gathered

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
            return build.array(parts)
        element = rest(array.proto).ty
        open_dims = [len(c) for c, f in zip(choices[depth + 1 :], fixed[depth + 1 :], strict=True) if not f]
        return Array((), element.array_of(0, *open_dims))

    def _positions(self, sub: Expr, n: int) -> list[int] | None:
        if isinstance(sub, Colon):
            return list(range(1, n + 1))
        if isinstance(sub, Int):
            return [sub.value]
        value = self.try_value(sub) if not self._varies(sub) else None
        if value is None:
            return None
        return [int(v) for v in value.data] if isinstance(value, ArrayValue) else [int(value)]  # type: ignore[arg-type]

    def _varies(self, expr: Expr) -> bool:
        for ref in build.refs(expr):
            comp = self.variables.get(ref.name)
            if comp is None or comp.variability not in ("parameter", "constant"):
                return True
        return False

    def variable(self, comp: Comp) -> Expr:
        """The reference to a primitive component; a constant's value."""
        if comp._ref is None:
            assert comp.ty is not None
            self.variables[comp.path] = comp
            comp._ref = Ref(comp.path, comp.ty)
            if comp.variability == "constant" and not isinstance(comp.ty.base, ExternalObjectType):
                comp._ref = self._constant_literal(comp)
        return comp._ref

    def _constant_literal(self, comp: Comp) -> Expr:
        assert comp.ty is not None
        try:
            return build.literal(self.component_value(comp), comp.ty)
        except NotConstant:
            return Ref(comp.path, comp.ty)
        except EvaluationError as problem:
            raise ModelError(
                Diagnostic("S236", f"the constant `{comp.path}` cannot be evaluated: {problem.message}", comp.span)
            ) from None

    def record_value(self, comp: Comp) -> Expr:
        """A composite as a value: a record of its components' values."""
        if comp._ref is None:
            fields: list[tuple[str, Expr]] = []
            for child in comp.components():
                value = self.array_value(child) if isinstance(child, CompArray) else self.whole(child)
                fields.append((child.name, value))
            ty = RecordType(comp.node.full_name, tuple((n, e.ty) for n, e in fields))
            self.types.record_nodes.setdefault(comp.node.full_name, comp.node)
            comp._ref = Record(tuple(e for _, e in fields), Type(ty))
        return comp._ref

    def whole(self, comp: Comp) -> Expr:
        return self.variable(comp) if comp.is_primitive else self.record_value(comp)

    def array_value(self, array: CompArray) -> Expr:
        everything = [list(range(1, n + 1)) for n in array.dims]
        return self._gather(array, everything, [False] * len(array.dims), (), self.whole)

    # ---------------------------------------------------------------------------------------------------- subscripts

    def _parts(self, expr: Expr, node: tree.Ref, k: int, ctx: Ctx) -> Expr:
        """Subscripts and fields applied to a value: a function's variable or an iterator."""
        while True:
            subs = node.subs[k] if node.subs is not None else ()
            if subs:
                expr = self.indexed(expr, subs, node, ctx)
            k += 1
            if k == len(node.names):
                return expr
            expr = self.field_of(expr, node.names[k], node, ctx)

    def field_of(self, expr: Expr, name: str, node: Any, ctx: Ctx) -> Expr:
        base = expr.ty.base
        if not isinstance(base, RecordType):
            raise self.error("S205", f"a value of type {expr.ty} has no `{name}`", node, ctx)
        if name not in dict(base.fields):
            raise self._no_member(base.name, name, [n for n, _ in base.fields], node, ctx)
        return build.field(expr, name)

    def indexed(self, expr: Expr, subs: tuple[tree.Expr, ...], node: Any, ctx: Ctx) -> Expr:
        dims = expr.ty.dims
        if len(subs) > len(dims):
            raise self.error("S249", f"{len(subs)} subscripts for a value of type {expr.ty}", node, ctx)
        sizes: list[Expr] = [
            Int(n) if n is not None else Builtin("size", (expr, Int(k + 1)), INTEGER) for k, n in enumerate(dims)
        ]
        exprs = self.subscripts(subs, sizes, node, ctx)
        for sub, n in zip(exprs, dims, strict=False):
            if n is not None and isinstance(sub, Int) and not 1 <= sub.value <= n:
                raise self.error("S250", f"subscript {sub.value} is outside 1..{n}", node, ctx)
        return build.index(expr, tuple(exprs))

    def subscripts(self, subs: tuple[tree.Expr, ...], sizes: list[Any], node: Any, ctx: Ctx) -> list[Expr]:
        exprs: list[Expr] = []
        if len(subs) > len(sizes):
            raise self.error("S249", f"{len(subs)} subscripts for an array of {len(sizes)} dimensions", node, ctx)
        for sub, size in zip(subs, sizes, strict=False):
            self._ends.append(size)
            try:
                exprs.append(self._subscript(self.expr(sub, ctx), sub, ctx))
            finally:
                self._ends.pop()
        return exprs

    def _subscript(self, expr: Expr, node: tree.Expr, ctx: Ctx) -> Expr:
        """An Integer position; Booleans and enumeration values count by their order."""
        match expr.ty.base:
            case Primitive("Integer"):
                if ctx.locals is None and not isinstance(expr, (Int, Colon)) and not self._varies(expr):
                    value = self.try_value(expr)
                    if value is not None:
                        return build.literal(value, _sized(expr.ty, value))
                return expr
            case Primitive("Boolean"):
                if isinstance(expr, Bool):
                    return Int(2 if expr.value else 1)
                return build.if_(expr, Int(2), Int(1)) if not expr.ty.dims else expr
            case EnumType():
                if isinstance(expr, Enum):
                    return Int(expr.index)
                if isinstance(expr, (Range, Array)):
                    value = self.try_value(expr)
                    if value is not None:
                        return build.literal(value, _sized(INTEGER.array_of(*expr.ty.dims), value))
                return Builtin("Integer", (expr,), INTEGER.array_of(*expr.ty.dims))
        raise self.error("S251", f"a subscript must be an Integer, this is {expr.ty}", node, ctx)

    def _subscripted(self, node: tree.Subscripted, ctx: Ctx) -> Expr:
        return self.indexed(self.expr(node.base, ctx), node.subs, node, ctx)

    def _field_of(self, node: tree.FieldOf, ctx: Ctx) -> Expr:
        return self.field_of(self.expr(node.base, ctx), node.name, node, ctx)


def _sized(ty: Type, value: Value) -> Type:
    return Type(ty.base, value.shape) if isinstance(value, ArrayValue) else ty.scalar()


def _dims(ty: Type) -> str:
    return "[" + ", ".join(":" if d is None else str(d) for d in ty.dims) + "]"


def _without_subs(node: tree.Ref, k: int) -> tree.Ref:
    if node.subs is None or not node.subs[k]:
        return node
    subs = (*node.subs[:k], (), *node.subs[k + 1 :])
    return tree.Ref(node.start, node.end, node.names, subs, node.absolute)


def compatible(have: Type, want: Type) -> bool:
    """Whether a value of one type can stand for another: equal dimensions where both are known, Integer for Real."""
    if len(have.dims) != len(want.dims):
        return False
    if any(a is not None and b is not None and a != b for a, b in zip(have.dims, want.dims, strict=True)):
        return False
    a, b = have.base, want.base
    if a == b:
        return True
    match a, b:
        case Primitive("Integer"), Primitive("Real"):
            return True
        case RecordType(name, fields), RecordType(other, others):
            if name == other:
                return True
            named = dict(fields)
            return all(n in named and compatible(named[n], t) for n, t in others)
        case TupleType(), TupleType():
            return True
        case EnumType(_, literals), EnumType(_, others):
            return literals == others
    return a == b


__all__ = ["BOOLEAN", "STRING", "AbsentComponent", "Elaborator", "compatible", "product"]

"""Iteration: ranges of for, comprehensions and reductions; unrolled outside functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kilohertz.base import ModelError
from kilohertz.interp import ArrayValue
from kilohertz.ir import make
from kilohertz.ir.expr import (
    Array,
    Bool,
    Builtin,
    Comprehension,
    Enum,
    Expr,
    Int,
    Range,
    Ref,
)
from kilohertz.ir.types import (
    INTEGER,
    REAL,
    EnumType,
    Primitive,
    Type,
)
from kilohertz.semantics.classes import ClassNode, Ctx, Element
from kilohertz.semantics.conversion import coerce
from kilohertz.syntax import tree

if TYPE_CHECKING:
    from kilohertz.semantics.expressions.elaborate import Elaborator


class Loops:
    """What a for runs over, and comprehensions."""

    def __init__(self, elaborator: Elaborator) -> None:
        self.elaborator = elaborator

    def plain(self, node: tree.Comprehension, ctx: Ctx) -> Expr:
        return self.comprehension("", node, ctx)

    def comprehension(self, op: str, node: tree.Comprehension, ctx: Ctx) -> Expr:
        """`{e for i in r}` or a reduction over it: unrolled, or kept inside functions."""
        if ctx.locals is not None or (ctx.open and any(self.varying_range(i, ctx) for i in node.iterators)):
            return self._kept_comprehension(op, node, ctx)
        # the last iterator is the outermost dimension (MLS 10.4.1.1)
        array = self._unrolled(list(node.iterators), node.body, ctx, node)
        if node.braces:  # `sum({e for i in r})`: of an array, all of whose elements count
            return self.elaborator.calls.reduced(op, array, node, ctx)
        if op == "sum" and len(array.ty.dims) > len(node.iterators):
            return self._total(array, len(node.iterators), node, ctx)
        if op and len(array.ty.dims) > len(node.iterators):
            raise self.elaborator.error("S278", f"`{op}` cannot be applied to values of {array.ty}", node, ctx)
        return self.elaborator.calls.reduced(op, array, node, ctx)

    def _total(self, array: Expr, depth: int, node: Any, ctx: Ctx) -> Expr:
        """The sum over the first dimensions, of arrays element by element."""
        if depth == 0:
            return array
        n = array.ty.dims[0]
        assert n is not None
        parts = [self._total(make.index(array, (Int(i),)), depth - 1, node, ctx) for i in range(1, n + 1)]
        if not parts:
            return make.zeros(Type(array.ty.base, array.ty.dims[depth:]))
        total = parts[0]
        for part in parts[1:]:
            total = self.elaborator.operators.binary("+", total, part, node, ctx)
        return total

    def _unrolled(self, iterators: list[tree.Iterator], body: tree.Expr, ctx: Ctx, node: Any) -> Expr:
        if not iterators:
            return self.elaborator.expr(body, ctx)
        iterator, rest = iterators[-1], iterators[:-1]
        values = self._elements(iterator, body, ctx)
        elements = [self._unrolled(rest, body, ctx.with_iterator(iterator.name, v), node) for v in values]
        if not elements:
            return Array((), self._element_type(iterator, rest, body, ctx, node).array_of(0))
        ty = self.elaborator.common(elements, node, ctx)
        return make.array([coerce(e, ty) for e in elements])

    def _elements(self, iterator: tree.Iterator, body: tree.Expr, ctx: Ctx) -> list[Expr]:
        """What an iterator of a comprehension takes: values, or the elements of a vector of variables."""
        over = self.iteration_range(iterator, (body,), ctx)
        n = over.ty.dims[0]
        if n is not None and self.elaborator.evaluation.varies(over):
            return [make.index(over, (Int(i),)) for i in range(1, n + 1)]
        return self.iteration_values(iterator, (body,), ctx)

    def _element_type(
        self, iterator: tree.Iterator, rest: list[tree.Iterator], body: tree.Expr, ctx: Ctx, node: Any
    ) -> Type:
        """The type of what a comprehension over nothing would be made of."""
        over = self.iteration_range(iterator, (body,), ctx)
        index = Ref(self.elaborator.functions.fresh(iterator.name), over.ty.element())
        try:
            return self._unrolled(rest, body, ctx.with_iterator(iterator.name, index), node).ty
        except ModelError:
            return REAL.array_of(*([0] * len(rest)))

    def iteration_values(
        self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx, known: bool = False
    ) -> list[Expr]:
        """The values a for-index takes outside functions, as literals; `known`: they must not vary (MLS 8.3.2)."""
        expr = self.iteration_range(iterator, body, ctx)
        if isinstance(expr, Range) and expr.step is None and isinstance(expr.first, Int) and isinstance(expr.last, Int):
            return [Int(i) for i in range(expr.first.value, expr.last.value + 1)]
        if isinstance(expr, Array) and all(make.is_literal(e) for e in expr.elements):
            return list(expr.elements)
        n = expr.ty.dims[0]
        if n is not None and not known and self.elaborator.evaluation.varies(expr):
            return [make.index(expr, (Int(i),)) for i in range(1, n + 1)]
        value = self.elaborator.evaluation.known(expr, iterator.range or iterator, ctx, "the range of a for")
        if not isinstance(value, ArrayValue):
            return [make.literal(value, expr.ty)]
        lit = make.literal(value, Type(expr.ty.base, value.shape))
        assert isinstance(lit, Array)
        return list(lit.elements)

    def varying_range(self, iterator: tree.Iterator, ctx: Ctx) -> Expr | None:
        """A range with bounds that vary, as an algorithm's loop may have; None where the bounds are known."""
        node = iterator.range
        if not isinstance(node, tree.Range):
            return None
        parts = [None if e is None else self.elaborator.expr(e, ctx) for e in (node.first, node.step, node.last)]
        if not any(e is not None and self.elaborator.evaluation.varies(e) for e in parts):
            return None
        first, step, last = parts
        assert first is not None and last is not None
        return make.range_(first, step, last)

    def iteration_range(self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx) -> Expr:
        """The vector an iterator runs over: as written, a type's values, or what the body's subscripts imply."""
        node = iterator.range
        if node is None:
            return self._implied_range(iterator, body, ctx)
        if isinstance(node, tree.Ref) and not (ctx.locals and node.names[0] in ctx.locals):
            meaning = ctx.view.lookup_path(node) if not node.subs else None
            if isinstance(meaning, ClassNode):
                return self._values_of_type(meaning, node, ctx)
        expr = self.elaborator.expr(node, ctx)
        if len(expr.ty.dims) != 1:
            raise self.elaborator.error("S247", f"a for needs a vector to run over, this is {expr.ty}", node, ctx)
        return expr

    def _values_of_type(self, node: ClassNode, at: Any, ctx: Ctx) -> Expr:
        match self.elaborator.types.primitive(node):
            case EnumType() as enum:
                return make.array([Enum(enum, i + 1) for i in range(len(enum.literals))])
            case Primitive("Boolean"):
                return make.array([Bool(False), Bool(True)])
        raise self.elaborator.error("S247", f"`{node.written_name}` is not something a for can run over", at, ctx)

    def _implied_range(self, iterator: tree.Iterator, body: tuple[Any, ...], ctx: Ctx) -> Expr:
        """`for i loop ... x[i] ...`: over the dimension of x that i indexes (MLS 11.2.2.1)."""
        implied: Expr | None = None
        for whole, axis in _indexed(iterator.name, body):
            over = self._dimension(whole, axis, ctx)
            if implied is None:
                implied = over
            elif None not in (*over.ty.dims, *implied.ty.dims) and over.ty.dims != implied.ty.dims:
                text = f"`{iterator.name}` indexes dimensions of {implied.ty.dims[0]} and of {over.ty.dims[0]} elements"
                raise self.elaborator.error("S248", text, iterator, ctx)
        if implied is not None:
            return implied
        raise self.elaborator.error(
            "S248", f"nothing is indexed by `{iterator.name}`: its range is not known", iterator, ctx
        )

    def _dimension(self, whole: tree.Ref, axis: int, ctx: Ctx) -> Expr:
        """What indexes an array along one dimension."""
        values = self._values_of_dimension(whole, axis, ctx)
        if values is not None:
            return values
        base = self.elaborator.expr(whole, ctx)
        size = base.ty.dims[axis]
        if size is not None:
            return make.range_(Int(1), None, Int(size))
        return make.range_(Int(1), None, Builtin("size", (base, Int(axis + 1)), INTEGER))

    def _values_of_dimension(self, ref: tree.Ref, axis: int, ctx: Ctx) -> Expr | None:
        """What indexes an array along a dimension that is declared by a type: `x[Boolean]`, `x[E]` (MLS 10.1)."""
        array = ctx.view.lookup_path(ref)
        dims = array.component.dims if isinstance(array, Element) else ()
        dim = dims[axis] if axis < len(dims) else None
        if not isinstance(array, Element) or not isinstance(dim, tree.Ref):
            return None
        of_type = array.view.lookup_path(dim)
        return self._values_of_type(of_type, dim, ctx) if isinstance(of_type, ClassNode) else None

    def _kept_comprehension(self, op: str, node: tree.Comprehension, ctx: Ctx) -> Expr:
        iterators: list[tuple[str, Expr]] = []
        dims: list[int | None] = []
        for iterator in node.iterators:
            over = self.iteration_range(iterator, (node.body,), ctx)
            name = self.elaborator.functions.fresh(iterator.name)
            iterators.append((name, over))
            dims.insert(0, over.ty.dims[0])
            ctx = ctx.with_iterator(iterator.name, Ref(name, over.ty.element()))
        body = self.elaborator.expr(node.body, ctx)
        if op and node.braces and body.ty.dims:
            array = Comprehension("", body, tuple(iterators), body.ty.array_of(*dims))
            return self.elaborator.calls.reduced(op, array, node, ctx)
        if op not in ("", "sum") and body.ty.dims:
            raise self.elaborator.error("S278", f"`{op}` cannot be applied to values of {body.ty}", node, ctx)
        ty = body.ty if op else body.ty.array_of(*dims)
        return Comprehension(op, body, tuple(iterators), ty)


def _indexed(name: str, body: tuple[Any, ...]) -> Iterator[tuple[tree.Ref, int]]:
    """The arrays that an iterator alone indexes, each with the dimension."""
    for ref in tree.refs(body):
        for k, subs in enumerate(ref.subs or ()):
            for axis, sub in enumerate(subs):
                if isinstance(sub, tree.Ref) and sub.names == (name,) and not sub.subs:
                    yield (
                        tree.Ref(ref.start, ref.end, ref.names[: k + 1], ((*(ref.subs or ())[:k], ())), ref.absolute),
                        axis,
                    )

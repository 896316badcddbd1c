"""Array-valued expressions as C: each is computed into a row-major temporary by loops or a kernel of the runtime."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from kilohertz.base import InternalError
from kilohertz.codegen.writing.array_comprehensions import stacked, summed
from kilohertz.codegen.writing.spelling import INTEGER_OPERATIONS
from kilohertz.codegen.writing.values import ArrayValue, is_real, product
from kilohertz.codegen.writing.writer import PRIMARY, SUM, UNARY, WriterCore
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type

_Sub: TypeAlias = "str | ArrayValue | tuple[str, str]"  # position from zero; vector of positions; (first, count)


class ArrayWriter(WriterCore):
    """Arrays and records; scalars come from the layer above."""

    def array(self, e: Expr) -> ArrayValue:
        value = self.known(e)
        if value is None:
            if self.is_shared(e) and not isinstance(e, x.Ref):
                self.at_home(e, lambda: self._remember(e))
            else:
                self._remember(e)
            value = self.known(e)
        assert isinstance(value, ArrayValue), e
        return value

    def _remember(self, e: Expr) -> None:
        self.scope.values[id(e)] = self._array(e)

    def _array(self, e: Expr) -> ArrayValue:
        match e:
            case x.Ref():
                value = self.reference(e)
                assert isinstance(value, ArrayValue), e.name
                return value
            case x.Array():
                return self._literal(e)
            case x.Unary(op, operand):
                if op == "-" and e.ty.base == INTEGER.base:
                    return self.map((operand,), INTEGER, lambda p: f"khz_neg_int({self.context}, {p[0]})")
                sign = "-" if op == "-" else "!"
                return self.map((operand,), e.ty.scalar(), lambda p: f"{sign}{p[0]}")
            case x.Binary():
                return self._binary_array(e)
            case x.IfExp():
                return self._if_array(e)
            case x.Builtin():
                return self._builtin_array(e)
            case x.Call() | x.Item():
                value = self.call_result(e)
                assert isinstance(value, ArrayValue)
                return value
            case x.Index(base, subs):
                return self._slice(self.array(base), subs)
            case x.Field(base, name):
                return self._field_array(base, name, e.ty)
            case x.Range():
                return self._range(e)
            case x.Comprehension():
                return self._comprehension(e)
            case _:
                raise InternalError(f"not an array: {type(e).__name__}")

    def reference(self, ref: x.Ref) -> str | ArrayValue:
        local = self.locals.get(ref.name)
        return self.host.variable(ref) if local is None else local

    @abstractmethod
    def call_result(self, e: Expr) -> str | ArrayValue: ...

    # ------------------------------------------------------------------------------------------------- construction

    def _literal(self, e: x.Array) -> ArrayValue:
        if not e.elements:
            return self.room(tuple("0" if d is None else str(d) for d in e.ty.dims), e.ty.scalar())
        leaves = _scalars(e)
        if leaves is not None:
            dims = tuple(str(d) for d in _shape(e))
            if all(isinstance(leaf, (x.Real, x.Int, x.Bool, x.Enum, x.Str)) for leaf in leaves):
                return self._constant(leaves, dims, e.ty.scalar())
            texts = [self.value(leaf) for leaf in leaves]
            room = self.room(dims, e.ty.scalar())
            self.put(*(f"{room.pointer}[{i}] = {text};" for i, text in enumerate(texts)))
            return room
        parts = [self.array(part) for part in e.elements]
        room = self.room((str(len(parts)), *parts[0].dims), e.ty.scalar())
        for i, part in enumerate(parts):
            self.must_fit(parts[0].dims, part.dims)
            self.copy(f"{room.pointer} + {i} * ({part.size})", part.pointer, part.size, part.element)
        return room

    def _constant(self, leaves: list[Expr], dims: tuple[str, ...], element: Type) -> ArrayValue:
        """Numbers alone: static const data."""
        name = self.fresh("k")
        texts = [self.text(leaf) for leaf in leaves]
        ctype = self.types.of(element)
        const = "static const char *const " if ctype.endswith("*") else f"static const {ctype} "
        self.put(f"{const}{name}[{len(texts)}] = {{", *wrapped(texts), "};")
        return ArrayValue(name, dims, element)

    def _range(self, e: x.Range) -> ArrayValue:
        if is_real(e.ty):
            first, last = self.text(e.first, SUM), self.text(e.last)
            step = "1.0" if e.step is None else self.text(e.step, UNARY)
            count = self.length(f"khz_range_count({self.context}, {first}, {step}, {last})")
            room = self.room((count,), REAL)
            self.loop(count, lambda i: f"{room.pointer}[{i}] = {first} + (double){i} * {step};")
            return room
        first, count, step = self.range_parts(e)
        room = self.room((count,), INTEGER)
        self.loop(count, lambda i: f"{room.pointer}[{i}] = {first} + {i} * {step};")
        return room

    def range_parts(self, e: x.Range) -> tuple[str, str, str]:
        """First value, count and step of an Integer range."""
        first, last = self.length(self.text(e.first, SUM)), self.length(self.text(e.last, SUM))
        if e.step is None:
            if first.isdigit() and last.isdigit():
                return first, str(max(0, int(last) - int(first) + 1)), "1"
            return first, self.length(f"khz_count({self.context}, {first}, 1, {last})"), "1"
        step = self.length(self.text(e.step, PRIMARY))
        return first, self.length(f"khz_count({self.context}, {first}, {step}, {last})"), step

    def _comprehension(self, e: x.Comprehension) -> ArrayValue:
        if e.body.ty.dims:
            return summed(self, e) if e.op == "sum" else stacked(self, e)
        ranges = [self.iterable(r) for _, r in e.iterators]
        # the last iterator is the outermost dimension, the first one varies fastest (MLS 10.4.1 as `ir.expr` has it)
        dims = tuple(count for count, _ in reversed(ranges))
        room = self.room(dims, e.ty.scalar())
        at = self.fresh("i")
        self.put(f"int32_t {at} = 0;")

        def body() -> None:
            text = self.value(e.body)
            self.put(f"{room.pointer}[{at}++] = {text};")

        self.iterate(list(reversed(list(zip(e.iterators, ranges, strict=True)))), body, e)
        return room

    def iterable(self, r: Expr) -> tuple[str, Callable[[str], str]]:
        """Count of a range and the text of its i-th value (i from zero)."""
        if isinstance(r, x.Range) and not is_real(r.ty):
            first, count, step = self.range_parts(r)
            return count, lambda i: f"{first} + {i}" if step == "1" else f"{first} + {i} * {step}"
        vector = self.array(r)
        return vector.dims[0], lambda i: f"{vector.pointer}[{i}]"

    def iterate(
        self,
        iterators: list[tuple[tuple[str, Expr], tuple[str, Callable[[str], str]]]],
        body: Callable[[], None],
        owner: x.Comprehension,
    ) -> None:
        """Nested loops around a body, outermost first."""
        if not iterators:
            lines = self.inside(body, self.inner_scope(owner, 0))
            self.put("{", *lines, "}")
            return
        ((name, r), (count, at)), inner_iterators = iterators[0], iterators[1:]
        index, local = self.fresh("i"), self.fresh("v")

        def inner() -> None:
            self.put(f"const {self.types.of(r.ty.scalar())} {local} = {at(index)};")
            self.locals[name] = local
            self.iterate(inner_iterators, body, owner)

        self.braces(f"for (int32_t {index} = 0; {index} < {count}; {index}++)", inner)

    def loop(self, count: str, line: Callable[[str], str]) -> None:
        i = self.fresh("i")
        if count == "0":
            return
        self.put(f"for (int32_t {i} = 0; {i} < {count}; {i}++) {{", "    " + line(i), "}")

    # ---------------------------------------------------------------------------------------------------- elementwise

    def map(self, operands: tuple[Expr, ...], element: Type, spell: Callable[[list[str]], str]) -> ArrayValue:
        """Elementwise over arrays and scalars; the first array gives the shape."""
        values = [self.array(o) if o.ty.dims else self.length_of_scalar(o) for o in operands]
        first, *others = [v for v in values if isinstance(v, ArrayValue)]
        for other in others:
            self.must_fit(first.dims, other.dims)
        room = self.room(first.dims, element)
        self.loop(
            product(first.dims),
            lambda i: (
                f"{room.pointer}[{i}] = "
                + spell([f"{v.pointer}[{i}]" if isinstance(v, ArrayValue) else v for v in values])
                + ";"
            ),
        )
        return room

    def must_fit(self, dims: tuple[str, ...], others: tuple[str, ...]) -> None:
        """Where it is not plain that two arrays have the same sizes, the function ends here if they have not."""
        for a, b in zip(dims, others, strict=True):
            if a != b:
                self.put(f"if (!khz_fits({self.context}, {a}, {b})) {{", f"    {self.leave}", "}")

    def must_be_size(self, n: str) -> None:
        """Below zero the function ends here."""
        self.put(f"if (!khz_is_size({self.context}, {n})) {{", f"    {self.leave}", "}")

    def length_of_scalar(self, e: Expr) -> str:
        text, binds = self.scalar(e)
        return text if binds >= PRIMARY else f"({text})"

    def _binary_array(self, e: x.Binary) -> ArrayValue:
        op, left, right = e.op, e.left, e.right
        if op == "*" and left.ty.dims and right.ty.dims:
            return self._matrix_product(left, right)
        if op == "^":
            return self._matrix_power(left, right)
        bare = op.lstrip(".")
        if bare == "^":
            return self.map((left, right), REAL, lambda p: f"pow({p[0]}, {p[1]})")
        if bare in ("and", "or"):
            sign = "&&" if bare == "and" else "||"
            return self.map((left, right), BOOLEAN, lambda p: f"{p[0]} {sign} {p[1]}")
        if e.ty.base == INTEGER.base and bare in INTEGER_OPERATIONS:
            checked = f"khz_{INTEGER_OPERATIONS[bare]}_int({self.context}, "
            return self.map((left, right), INTEGER, lambda p: f"{checked}{p[0]}, {p[1]})")
        if bare in ("+", "-", "*", "/"):
            return self.map((left, right), e.ty.scalar(), lambda p: f"{p[0]} {bare} {p[1]}")
        raise InternalError(f"operator {op} on arrays")

    def _matrix_product(self, left: Expr, right: Expr) -> ArrayValue:
        a, b = self.array(left), self.array(right)
        rows = a.dims[0] if len(a.dims) == 2 else "1"
        inner = a.dims[-1]
        self.must_fit(a.dims[-1:], b.dims[:1])
        columns = b.dims[1] if len(b.dims) == 2 else "1"
        dims = (*((a.dims[0],) if len(a.dims) == 2 else ()), *((b.dims[1],) if len(b.dims) == 2 else ()))
        room = self.room(dims, a.element)
        kernel = "khz_matrix_product(" if is_real(a.element) else f"khz_matrix_product_int({self.context}, "
        self.put(f"{kernel}{rows}, {inner}, {columns}, {a.pointer}, {b.pointer}, {room.pointer});")
        return room

    def _matrix_power(self, base: Expr, exponent: Expr) -> ArrayValue:
        a, n = self.array(base), self.text(exponent)
        self.must_fit(a.dims[:1], a.dims[1:])
        room, work = self.room(a.dims, REAL), self.room(a.dims, REAL)
        self.put(f"khz_matrix_power({a.dims[0]}, {a.pointer}, (int32_t)({n}), {room.pointer}, {work.pointer});")
        return room

    def dot(self, left: Expr, right: Expr) -> str:
        a, b = self.array(left), self.array(right)
        kernel = "khz_dot(" if is_real(a.element) else f"khz_dot_int({self.context}, "
        self.must_fit(a.dims, b.dims)
        return f"{kernel}{a.size}, {a.pointer}, {b.pointer})"

    def _if_array(self, e: x.IfExp) -> ArrayValue:
        condition = self.text(e.condition)
        if all(d is not None for d in e.ty.dims):
            room = self.room(tuple(str(d) for d in e.ty.dims), e.ty.scalar())
            dims: tuple[str, ...] = room.dims
        else:
            name = self.fresh("a")
            self.put(f"{self.types.declare(e.ty.scalar(), '*' + name)} = NULL;")
            dims = tuple(self.fresh("n") for _ in e.ty.dims)
            self.put(*(f"int32_t {d} = 0;" for d in dims))
            room = ArrayValue(name, dims, e.ty.scalar())

        def branch(part: Expr) -> Callable[[], None]:
            def write() -> None:
                value = self.array(part)
                if not room.is_fixed:
                    self.put(*(f"{d} = {v};" for d, v in zip(dims, value.dims, strict=True)))
                    self.take_room(room.pointer, room.pointer, value.size, room.element)
                else:
                    self.must_fit(dims, value.dims)
                self.copy(room.pointer, value.pointer, value.size, value.element)

            return write

        then = self.inside(branch(e.then), self.inner_scope(e, 1))
        otherwise = self.inside(branch(e.otherwise), self.inner_scope(e, 2))
        self.put(f"if ({condition}) {{", *then, "} else {", *otherwise, "}")
        return room

    # ------------------------------------------------------------------------------------------------ parts of arrays

    def _subs(self, base: ArrayValue, subs: tuple[Expr, ...]) -> list[_Sub]:
        out: list[_Sub] = []
        for k, dim in enumerate(base.dims):
            if k >= len(subs) or isinstance(subs[k], x.Colon):
                out.append(("0", dim))
            elif isinstance(sub := subs[k], x.Range) and sub.step is None:
                first, count, _ = self.range_parts(sub)
                out.append((self.position_of_first(first, count, dim), count))
            elif sub.ty.dims:
                out.append(self.array(sub))
            else:
                out.append(self.position(sub, dim))
        return out

    def position_of_first(self, first: str, count: str, dim: str) -> str:
        if first.isdigit() and count.isdigit() and dim.isdigit() and int(first) + int(count) - 1 <= int(dim):
            return str(int(first) - 1)
        return f"khz_slice({self.context}, {first}, {count}, {dim})"

    def position(self, sub: Expr, dim: str) -> str:
        """A subscript from zero, checked where it is not a number within the bounds."""
        if isinstance(sub, x.Int) and dim.isdigit() and 1 <= sub.value <= int(dim):
            return str(sub.value - 1)
        return f"khz_index({self.context}, {self.text(sub)}, {dim})"

    def offset(self, base: ArrayValue, positions: list[str]) -> str:
        """The row-major offset of an element (or sub-array) by leading positions."""
        text = ""
        for k, position in enumerate(positions):
            if k == 0 or text == "0":
                text = position
            else:
                left = f"({text})" if "+" in text else text
                text = f"{left} * {base.dims[k]}" + ("" if position == "0" else f" + {position}")
        tail = product(base.dims[len(positions) :])
        if tail != "1" and text != "0":
            text = f"({text}) * ({tail})"
        return fold(text)

    def _slice(self, base: ArrayValue, subs: tuple[Expr, ...]) -> ArrayValue:
        places = self._subs(base, subs)
        lead = 0
        while lead < len(places) and isinstance(places[lead], str):
            lead += 1
        trailing = places[lead:]
        if all(isinstance(p, tuple) and p == ("0", base.dims[lead + k]) for k, p in enumerate(trailing)):
            # whole trailing dimensions: a view
            offset = self.offset(base, [p for p in places[:lead] if isinstance(p, str)])
            pointer = base.pointer if offset == "0" else f"({base.pointer} + {offset})"
            return ArrayValue(pointer, base.dims[lead:], base.element)
        room = self.room(self.counts(places), base.element)
        at = self.fresh("i")
        self.put(f"int32_t {at} = 0;")
        self.each_place(base, places, lambda offset: f"{room.pointer}[{at}++] = {base.pointer}[{offset}];")
        return room

    def counts(self, places: list[_Sub]) -> tuple[str, ...]:
        """Sizes of what is selected."""
        several = (p for p in places if not isinstance(p, str))
        return tuple(self.length(p.dims[0]) if isinstance(p, ArrayValue) else p[1] for p in several)

    def each_place(self, base: ArrayValue, places: list[_Sub], line: Callable[[str], str]) -> None:
        """Loops over a selection; `line` gets the offset into the base."""
        positions: list[str] = []
        heads: list[str] = []
        for k, place in enumerate(places):
            if isinstance(place, str):
                positions.append(place)
                continue
            i = self.fresh("i")
            if isinstance(place, ArrayValue):
                heads.append(f"for (int32_t {i} = 0; {i} < {place.dims[0]}; {i}++) {{")
                positions.append(f"khz_index({self.context}, {place.pointer}[{i}], {base.dims[k]})")
            else:
                first, count = place
                heads.append(f"for (int32_t {i} = 0; {i} < {count}; {i}++) {{")
                positions.append(i if first == "0" else f"({first} + {i})")
        for depth, head in enumerate(heads):
            self.put("    " * depth + head)
        self.put("    " * len(heads) + line(self.offset(base, positions)))
        for depth in reversed(range(len(heads))):
            self.put("    " * depth + "}")

    def select(self, base: ArrayValue, subs: tuple[Expr, ...]) -> list[_Sub]:
        return self._subs(base, subs)

    def _field_array(self, base: Expr, name: str, ty: Type) -> ArrayValue:
        field = self.types.fields(name)
        if not base.ty.dims:
            return self.types.field_array(self.record(base), name, ty)
        source = self.array(base)
        dims_of_field = tuple(str(d) for d in ty.dims[len(base.ty.dims) :])
        room = self.room((*source.dims, *dims_of_field), ty.scalar())
        if not dims_of_field:
            self.loop(source.size, lambda i: f"{room.pointer}[{i}] = {source.pointer}[{i}].{field};")
            return room
        part, ctype = product(dims_of_field), self.types.of(ty.scalar())
        self.loop(
            source.size,
            lambda i: (
                f"memcpy({room.pointer} + {i} * {part}, {source.pointer}[{i}].{field}, sizeof({ctype}) * {part});"
            ),
        )
        return room

    # ------------------------------------------------------------------------------------------ from the layers above

    @abstractmethod
    def _builtin_array(self, e: x.Builtin) -> ArrayValue: ...


def fold(text: str) -> str:
    """Integer arithmetic of plain numbers, done now."""
    if text and all(c in "0123456789+* ()" for c in text):
        return str(eval(text, {"__builtins__": {}}))
    return text


def wrapped(texts: list[str], width: int = 110) -> list[str]:
    """Items of an initialiser, several on a line."""
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > width:
            lines.append(line)
            line = "   "
        line += f" {text},"
    return [*lines, line]


def _scalars(e: x.Array) -> list[Expr] | None:
    """The leaves of nested array constructors, or None where an element is an array of another make."""
    if all(not part.ty.dims for part in e.elements):
        return list(e.elements)
    out: list[Expr] = []
    for part in e.elements:
        if not isinstance(part, x.Array) or not part.elements:
            return None
        leaves = _scalars(part)
        if leaves is None:
            return None
        out += leaves
    return out


def _shape(e: x.Array) -> tuple[int, ...]:
    first = e.elements[0]
    return (len(e.elements), *(_shape(first) if isinstance(first, x.Array) and first.ty.dims else ()))

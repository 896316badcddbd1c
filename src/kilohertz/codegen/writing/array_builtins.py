"""Built-in functions with array results or array arguments as C loops and kernels of the runtime (MLS 10.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from kilohertz.codegen.writing.arrays import ArrayWriter
from kilohertz.codegen.writing.reductions import accumulate, of_none
from kilohertz.codegen.writing.values import ArrayValue, product
from kilohertz.codegen.writing.writer import PRIMARY, Text, unsupported
from kilohertz.ir import expr as x
from kilohertz.ir.builtins import same_as
from kilohertz.ir.expr import Expr
from kilohertz.ir.types import INTEGER, REAL, Type


class ArrayBuiltinWriter(ArrayWriter):
    """Arrays from built-in functions."""

    def _builtin_array(self, e: x.Builtin) -> ArrayValue:
        args, element = e.args, e.ty.scalar()
        match e.name:
            case "zeros" | "ones":
                return self._filled("1" if e.name == "ones" else "0", args, element)
            case "fill":
                return self._filled(self.length_of_scalar(args[0]), args[1:], element)
            case "linspace":
                return self._linspace(args)
            case "identity" | "diagonal" | "transpose" | "symmetric" | "outerProduct":
                return self._matrix(e)
            case "cross" | "skew":
                pointers = ", ".join(self.array(a).pointer for a in args)
                room = self.room(("3",) if e.name == "cross" else ("3", "3"), element)
                self.put(f"khz_{e.name}({pointers}, {room.pointer});")
                return room
            case "vector" | "matrix" | "promote":
                return self._reshaped(e)
            case "cat":
                return self._cat(e)
            case "size":
                return self._sizes(args[0])
            case "array":
                return self.array(x.Array(args, e.ty))
            case name:
                same = same_as(e)
                if same is not None:
                    return self.array(same)
                spelled = self.spelling(e)
                if spelled is None:
                    raise unsupported(f"`{name}` with an array result")
                return self.map(args, element, spelled)

    def _linspace(self, args: tuple[Expr, ...]) -> ArrayValue:
        a, b = self.length_of_scalar(args[0]), self.length_of_scalar(args[1])
        n = self.length(self.text(args[2]))
        room = self.room((n,), REAL)
        self.loop(n, lambda i: f"{room.pointer}[{i}] = {a} + ({b} - {a}) * {i} / ({n} - 1);")
        return room

    def _matrix(self, e: x.Builtin) -> ArrayValue:
        """A matrix whose elements follow from row `i / n` and column `i % n` of their position i."""
        element = e.ty.scalar()
        if e.name == "identity":
            n = self._wanted_size(e.args[0])
            return self._elements((n, n), element, lambda i: f"{i} / {n} == {i} % {n}")
        a = self.array(e.args[0])
        n = a.dims[0]
        if e.name == "diagonal":
            value = f"{a.pointer}[%s %% {n}] : 0"
            return self._elements((n, n), element, lambda i: f"{i} / {n} == {i} % {n} ? " + value % i)
        if e.name == "transpose":
            columns = a.dims[1]
            return self._elements((columns, n), element, lambda i: f"{a.pointer}[{i} % {n} * {columns} + {i} / {n}]")
        if e.name == "symmetric":
            mirrored = f"{a.pointer}[%s %% {n} * {n} + %s / {n}]"
            return self._elements(
                (n, n), element, lambda i: f"{i} / {n} > {i} % {n} ? {mirrored % (i, i)} : {a.pointer}[{i}]"
            )
        b = self.array(e.args[1])
        m = b.dims[0]
        return self._elements((n, m), element, lambda i: f"{a.pointer}[{i} / {m}] * {b.pointer}[{i} % {m}]")

    def _elements(self, dims: tuple[str, str], element: Type, value: Callable[[str], str]) -> ArrayValue:
        room = self.room(dims, element)
        self.loop(product(dims), lambda i: f"{room.pointer}[{i}] = {value(i)};")
        return room

    def _wanted_size(self, e: Expr) -> str:
        """A size that is asked for."""
        n = self.length(self.text(e))
        if not n.isdigit():
            self.must_be_size(n)
        return n

    @abstractmethod
    def spelling(self, e: x.Builtin) -> Callable[[list[str]], str] | None: ...

    def _filled(self, value: str, dims: tuple[Expr, ...], element: Type) -> ArrayValue:
        texts = tuple(self._wanted_size(d) for d in dims)
        room = self.room(texts, element)
        self.loop(product(texts), lambda i: f"{room.pointer}[{i}] = {value};")
        return room

    def _reshaped(self, e: x.Builtin) -> ArrayValue:
        source = e.args[0]
        if not source.ty.dims:
            room = self.room(("1",) * len(e.ty.dims), e.ty.scalar())
            self.put(f"{room.pointer}[0] = {self.value(source)};")
            return room
        a = self.array(source)
        if e.name == "vector":
            return ArrayValue(a.pointer, (self.length(a.size),), a.element)
        count = len(e.ty.dims)
        if len(a.dims) <= count:
            return ArrayValue(a.pointer, (*a.dims, *("1",) * (count - len(a.dims))), a.element)
        return ArrayValue(a.pointer, a.dims[:count], a.element)

    def _cat(self, e: x.Builtin) -> ArrayValue:
        along = e.args[0]
        if not isinstance(along, x.Int):
            raise unsupported("`cat` along a dimension that is not a number")
        k = along.value - 1
        parts = [self.array(a) for a in e.args[1:]]
        if all(p.dims[k].isdigit() for p in parts):
            total = str(sum(int(p.dims[k]) for p in parts))
        else:
            total = self.length(" + ".join(p.dims[k] for p in parts))
        first = parts[0]
        for p in parts[1:]:
            self.must_fit((*first.dims[:k], *first.dims[k + 1 :]), (*p.dims[:k], *p.dims[k + 1 :]))
        room = self.room((*first.dims[:k], total, *first.dims[k + 1 :]), e.ty.scalar())
        tail = product(first.dims[k + 1 :])
        outer = product(first.dims[:k])
        at, i = self.fresh("i"), self.fresh("i")
        ctype = self.types.of(e.ty.scalar())
        self.put(f"int32_t {at} = 0;", f"for (int32_t {i} = 0; {i} < {outer}; {i}++) {{")
        for p in parts:
            n = product((p.dims[k], tail))
            if n == "0":
                continue
            self.put(f"    memcpy({room.pointer} + {at}, {p.pointer} + {i} * {n}, sizeof({ctype}) * (size_t)({n}));")
            self.put(f"    {at} += {n};")
        self.put("}", f"(void){at};")
        return room

    def _sizes(self, e: Expr) -> ArrayValue:
        a = self.array(e)
        room = self.room((str(len(a.dims)),), INTEGER)
        self.put(*(f"{room.pointer}[{i}] = {d};" for i, d in enumerate(a.dims)))
        return room

    def fold_array(self, name: str, e: Expr, result: Type) -> Text:
        """sum, product, min, max over all elements."""
        a = self.array(e)
        total = self.fresh("s")
        self.put(f"{self.types.of(result)} {total} = {of_none(name, result)};")
        self.loop(a.size, lambda i: accumulate(name, total, f"{a.pointer}[{i}]", result, self.context))
        return total, PRIMARY

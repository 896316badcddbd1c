"""Statements of functions and algorithms as C.

Variables change from statement to statement, so nothing computed for one statement is remembered for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kilohertz.base import InternalError, Origin
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.placement import Placement, Scope
from kilohertz.codegen.writing.values import ArrayValue, needs_room
from kilohertz.codegen.writing.writer import unsupported
from kilohertz.ir import expr as x
from kilohertz.ir import flat
from kilohertz.ir.assigned import places_set
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Statement
from kilohertz.ir.types import RecordType

Places = Callable[[Origin], int]


class StatementWriter:
    """Writes statements through a `Writer`; `places` numbers the origins of asserts."""

    def __init__(self, writer: Writer, places: Places, growing: dict[str, tuple[str, ...]] | None = None) -> None:
        self.writer = writer
        self.places = places
        self.growing = (
            {} if growing is None else growing
        )  # arrays without a size of their own: C name and the names of their dimensions
        self.uses_end = False

    def body(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """One statement, in a scope that knows nothing of the values before."""
        w = self.writer
        outer, placement = w.scope, w.placement
        w.scope = Scope(None)
        self._statement(statement)
        lines = w.scope.lines
        w.scope, w.placement = outer, placement
        w.put(*lines)

    def _plan(self, *roots: Expr) -> None:
        self.writer.placement = Placement(roots, self.writer.scope)

    def _statement(self, statement: Statement) -> None:
        w = self.writer
        match statement:
            case flat.Assign(target, value):
                if isinstance(target, flat.TupleTarget):
                    self._plan(value, *(t for t in target.elements if t is not None))
                    self._assign_tuple(target, value)
                else:
                    self._plan(value, target)
                    self.assign(target, value)
            case flat.IfStatement(branches, otherwise):
                self._if(list(branches), otherwise)
            case flat.ForStatement():
                self._for(statement)
            case flat.WhileStatement(condition, body):
                self._while(condition, body)
            case flat.Break():
                w.put("break;")
            case flat.Return():
                self.uses_end = True
                w.put("goto end;")
            case flat.Assert(condition, message, level, origin):
                self._assert(condition, message, level, origin)
            case flat.Terminate(message, origin):
                self._plan(message)
                text = w.text(message)
                w.put(f"khz_terminate({w.context}, {self.places(origin)}, {text});")
            case flat.CallEquation(call):
                self._plan(call)
                self._effect(call)
            case flat.WhenStatement() | flat.Reinit():
                raise InternalError("a when-clause is left in an algorithm")

    def _effect(self, call: Expr) -> None:
        w = self.writer
        if isinstance(call, x.Call):
            for result in w.call_results(call):
                if isinstance(result, str):
                    w.put(f"(void){result};")
            return
        if isinstance(call, x.Builtin):
            w.put(f"(void)({w.text(call)});")

    def _assert(self, condition: Expr, message: Expr, level: Expr | None, origin: Origin) -> None:
        w = self.writer
        self._plan(condition)
        text = w.text(condition)
        kind = "1" if level is None else f"({w.text(level)}) == 2"  # AssertionLevel: warning = 1, error = 2

        def failed() -> None:
            self._plan(message)
            w.put(f"khz_assert({w.context}, {kind}, {self.places(origin)}, {w.text(message)});")

        w.braces(f"if (!({text}))", failed)

    # ------------------------------------------------------------------------------------------------- control flow

    def _if(self, branches: list[tuple[Expr, list[Statement]]], otherwise: Sequence[Statement]) -> None:
        w = self.writer
        (condition, body), further = branches[0], branches[1:]
        self._plan(condition)
        head = w.text(condition)
        then = w.inside(lambda: self.body(body))
        w.put(f"if ({head}) {{", *then)
        if further:
            tail = w.inside(lambda: self.statement(flat.IfStatement(further, list(otherwise))))
            w.put("} else {", *tail)
        elif otherwise:
            w.put("} else {", *w.inside(lambda: self.body(otherwise)))
        w.put("}")

    def _for(self, loop: flat.ForStatement) -> None:
        w = self.writer
        self._plan(loop.range)
        index, local = w.fresh("i"), w.fresh("v")
        count, at = w.iterable(loop.range)
        outer = w.locals.get(loop.name)
        w.locals[loop.name] = local

        turn = self._turn(loop.body)

        def body() -> None:
            w.put(f"const {w.types.of(loop.range.ty.scalar())} {local} = {at(index)};", f"(void){local};")
            turn()

        w.braces(f"for (int32_t {index} = 0; {index} < {count}; {index}++)", body)
        if outer is None:
            del w.locals[loop.name]
        else:
            w.locals[loop.name] = outer

    def _while(self, condition: Expr, body: Sequence[Statement]) -> None:
        w = self.writer
        turns = w.fresh("i")
        turn = self._turn(body)

        def inner() -> None:
            self._plan(condition)
            w.put(f"if (!({w.text(condition)})) {{", "    break;", "}")
            turn()

        w.braces(f"for (int32_t {turns} = 0; khz_goes_on({w.context}, {turns}); {turns}++)", inner)

    def _turn(self, body: Sequence[Statement]) -> Callable[[], None]:
        """Called before a loop is written; writes its body.  After each turn nothing of it is left in the arena but
        arrays that grew; where it sets texts, or records with either, all is left."""
        w = self.writer
        targets = list(places_set(body))
        if any(needs_room(t.ty.scalar()) or _is_growing_field(t) for t in targets):
            return lambda: self.body(body)
        grown = dict.fromkeys(t.name for t in targets if isinstance(t, x.Ref) and t.name in self.growing)
        if not grown:
            return lambda: self._released(body)
        mark = w.fresh("m")
        w.put(f"const size_t {mark} = {w.context}->arena_used;")
        arrays = [a for name in grown if isinstance(a := w.locals[name], ArrayValue)]

        def turn() -> None:
            self.body(body)
            w.put(*self.kept_alone(mark, arrays))

        return turn

    def _released(self, body: Sequence[Statement]) -> None:
        """A turn of a loop, after which the arena is as before."""
        w = self.writer
        mark, before = w.fresh("m"), w.n_taking
        lines = w.inside(lambda: self.body(body))
        lines = [line[4:] for line in lines]
        if w.n_taking > before:
            w.put(f"const size_t {mark} = {w.context}->arena_used;", *lines, f"{w.context}->arena_used = {mark};")
        else:
            w.put(*lines)

    def kept_alone(self, mark: str, arrays: Sequence[ArrayValue]) -> list[str]:
        """Lines that give back what was taken since `mark` but these arrays, which move."""
        w = self.writer
        pointers, bytes_of = w.fresh("k"), w.fresh("n")
        sizes = ", ".join(f"sizeof(*{a.pointer}) * (size_t)({a.size})" for a in arrays)
        return [
            f"void *{pointers}[] = {{{', '.join(a.pointer for a in arrays)}}};",
            f"const size_t {bytes_of}[] = {{{sizes}}};",
            f"khz_arena_keep({w.context}, {mark}, {len(arrays)}, {pointers}, {bytes_of});",
            *(f"{a.pointer} = ({w.types.of(a.element)} *){pointers}[{k}];" for k, a in enumerate(arrays)),
        ]

    # ---------------------------------------------------------------------------------------------------- assignment

    def _assign_tuple(self, target: flat.TupleTarget, call: Expr) -> None:
        if not isinstance(call, x.Call):
            raise unsupported("several targets without a call")
        results = self.writer.call_results(call)
        for element, result in zip(target.elements, results, strict=False):
            if element is not None:
                self._store(element, result)
            elif isinstance(result, str):
                self.writer.put(f"(void){result};")

    def assign(self, target: Expr, value: Expr) -> None:
        """`target := value`."""
        w = self.writer
        if value.ty.dims or target.ty.dims:
            self._store(target, w.array(value))
        elif isinstance(target.ty.base, RecordType) and w.types.of(target.ty) != w.types.of(value.ty):
            w.store_fields(self._lvalue(target), target.ty.base, value)
        else:
            self._store(target, w.value(value))

    def _store(self, target: Expr, value: str | ArrayValue) -> None:
        w = self.writer
        if isinstance(value, str):
            w.put(f"{self._lvalue(target)} = {value};")
            return
        if isinstance(target, x.Ref) and target.name in self.growing:
            self._grow(target.name, value)
        elif isinstance(target, x.Index):
            self._store_slice(target, value)
        elif _is_growing_field(target):
            assert isinstance(target, x.Field)
            self._grow_field(target, value)
        else:
            room = self._storage(target)
            w.must_fit(room.dims, value.dims)
            w.copy(room.pointer, value.pointer, value.size, value.element)

    def _grow(self, name: str, value: ArrayValue) -> None:
        w = self.writer
        array = w.locals[name]
        assert isinstance(array, ArrayValue)
        w.must_fit(value.dims, tuple(d if d.isdigit() else v for d, v in zip(array.dims, value.dims, strict=True)))
        fresh = w.fresh("g")
        w.take_room(w.types.declare(value.element, "*" + fresh), fresh, value.size, value.element)
        w.copy(fresh, value.pointer, value.size, value.element)
        w.put(f"{array.pointer} = {fresh};")
        w.put(*(f"{d} = {v};" for d, v in zip(array.dims, value.dims, strict=True) if not d.isdigit()))

    def _grow_field(self, target: x.Field, value: ArrayValue) -> None:
        w = self.writer
        array = self._storage(target)
        w.take_room(array.pointer, array.pointer, value.size, value.element)
        w.copy(array.pointer, value.pointer, value.size, value.element)
        w.put(*(f"{d} = {v};" for d, v in zip(array.dims, value.dims, strict=True) if not d.isdigit()))

    def _store_slice(self, target: x.Index, value: ArrayValue) -> None:
        w = self.writer
        base = self._storage(target.base)
        places = w.select(base, target.subs)
        w.must_fit(w.counts(places), value.dims)
        at = w.fresh("i")
        w.put(f"int32_t {at} = 0;")
        w.each_place(base, places, lambda offset: f"{base.pointer}[{offset}] = {value.pointer}[{at}++];")

    def _storage(self, e: Expr) -> ArrayValue:
        """An array variable's own memory."""
        w = self.writer
        match e:
            case x.Ref():
                value = w.reference(e)
                assert isinstance(value, ArrayValue), e.name
                return value
            case x.Field(base, name):
                if base.ty.dims:
                    raise unsupported("assignment to a field of an array of records")
                return w.types.field_array(self._lvalue(base), name, e.ty)
            case x.Index(base, subs):
                room = self._storage(base)
                lead = [w.position(s, d) for s, d in zip(subs, room.dims, strict=False) if not isinstance(s, x.Colon)]
                return ArrayValue(f"({room.pointer} + {w.offset(room, lead)})", room.dims[len(lead) :], room.element)
            case _:
                raise InternalError(f"assignment to {type(e).__name__}")

    def _lvalue(self, e: Expr) -> str:
        w = self.writer
        match e:
            case x.Ref():
                value = w.reference(e)
                assert isinstance(value, str), e.name
                return value
            case x.Field(base, name):
                return f"{self._lvalue(base)}.{w.types.fields(name)}"
            case x.Index(base, subs):
                room = self._storage(base)
                places = [w.position(s, d) for s, d in zip(subs, room.dims, strict=True)]
                return f"{room.pointer}[{w.offset(room, places)}]"
            case _:
                raise InternalError(f"assignment to {type(e).__name__}")


def _is_growing_field(target: Expr) -> bool:
    return isinstance(target, x.Field) and any(d is None for d in target.ty.dims)

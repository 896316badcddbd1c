"""Modelica functions as C functions.

Inputs by value, arrays as pointer and those dimensions that are not fixed, records as pointers to const structs.  A
single scalar output is the C result; other outputs go through pointers: arrays of known size into the caller's storage,
others into the arena of the instance, which the caller's caller gives back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kilohertz.base import InternalError, Origin
from kilohertz.codegen.expressions import Writer
from kilohertz.codegen.names import Names, comment
from kilohertz.codegen.statements import Places, StatementWriter
from kilohertz.codegen.values import ArrayValue, TypeTable, is_string
from kilohertz.codegen.writer import Callee, Text, WriterCore, unsupported
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Assign, ExternalCall, Function, Local
from kilohertz.ir.types import FunctionType

_MOST_ON_STACK = 2048
Where = Callable[[Origin], str]  # text `: file.mo:12` of an origin


@dataclass(frozen=True, slots=True)
class CFunction:
    """A written function."""

    id: str
    prototype: str
    lines: tuple[str, ...]
    external: ExternalCall | None


class FunctionTable:
    """Writes the functions that are called, each once, in the order of their first call."""

    def __init__(self, functions: dict[str, Function], types: TypeTable, places: Places, where: Where) -> None:
        self._functions = functions
        self.types = types
        self.places = places
        self._where = where
        self._names = Names("f_")
        self.written: list[CFunction] = []
        self._queue: list[str] = []
        self._known: set[str] = set()

    def callee(self, call: x.Call) -> Callee:
        """The C function of a call; it is written when `write_all` runs."""
        function = self.find(call.function)
        if any(isinstance(i.ty.base, FunctionType) for i in function.inputs):
            raise unsupported(f"a function as an argument (of {call.function})")
        inputs = tuple(i.ty for i in function.inputs)
        return Callee(
            self.request(function.id), inputs, tuple(o.ty for o in function.outputs), call.args, returns(function)
        )

    def request(self, function_id: str) -> str:
        """The C name of a function, which will be written."""
        if function_id not in self._known:
            self._known.add(function_id)
            self._queue.append(function_id)
        return self._names(function_id)

    def find(self, function_id: str) -> Function:
        function = self._functions.get(function_id)
        if function is None:
            raise InternalError(f"function {function_id} is called but not there")
        return function

    def write_all(self) -> None:
        while self._queue:
            self.written.append(self._write(self.find(self._queue.pop(0))))

    def _write(self, function: Function) -> CFunction:
        body = _FunctionBody(self, function)
        prototype = body.prototype(self._names(function.id))
        head = f"/* {comment(function.id)}{self._where(function.origin)} */"
        return CFunction(function.id, prototype, (head, prototype, "{", *body.lines(), "}", ""), function.external)


def returns(function: Function) -> bool:
    """Whether the C function returns its one output."""
    if len(function.outputs) != 1:
        return False
    ty = function.outputs[0].ty
    return not ty.dims and not TypeTable().is_record(ty)


class _FunctionBody:
    """One function being written; also the host of its writer."""

    def __init__(self, table: FunctionTable, function: Function) -> None:
        self.table, self.function, self.types = table, function, table.types
        self.names = Names("", "_")
        self.writer = Writer(self, "c")
        self.growing: dict[str, tuple[str, ...]] = {}
        self.statements = StatementWriter(self.writer, table.places, self.growing)
        self.by_pointer: set[str] = set()

    # -------------------------------------------------------------------------------------------------------- as host

    def variable(self, ref: x.Ref) -> str | ArrayValue:
        if ref.name == "time":
            return "c->time"
        raise InternalError(f"{self.function.id}: unknown variable {ref.name}")

    def callee(self, call: x.Call) -> Callee:
        return self.table.callee(call)

    def builtin(self, writer: WriterCore, e: x.Builtin) -> Text | None:
        if e.name == "homotopy":
            return writer.scalar(e.args[0])
        return None

    # ------------------------------------------------------------------------------------------------------ signature

    def prototype(self, name: str) -> str:
        f, types = self.function, self.types
        parameters = ["khz_context *c"]
        for local in f.inputs:
            parameters += self._input(local)
        result = "void"
        if returns(f):
            result = types.of(f.outputs[0].ty)
        else:
            for local in f.outputs:
                parameters += self._output_parameter(local)
        space = "" if result.endswith("*") else " "
        return f"{result}{space}{name}({', '.join(parameters)})"

    def _input(self, local: Local) -> list[str]:
        own, ty = self.names(local.name), local.ty
        if ty.dims:
            dims = tuple(str(d) if d is not None else f"{own}n{k}" for k, d in enumerate(ty.dims, 1))
            self.writer.locals[local.name] = ArrayValue(own, dims, ty.scalar())
            ctype = self.types.of(ty)
            pointer = f"{ctype}const *{own}" if ctype.endswith("*") else f"const {ctype} *{own}"
            return [pointer, *(f"int32_t {d}" for d in dims if not d.isdigit())]
        if self.types.is_record(ty):
            self.writer.locals[local.name] = f"(*{own})"
            return [f"const {self.types.of(ty)} *{own}"]
        self.writer.locals[local.name] = own
        return [self.types.declare(ty, own)]

    def _output_parameter(self, local: Local) -> list[str]:
        """Outputs are written through `<name>_out`; inside they are locals like any other."""
        own, ty = self.names(local.name) + "out", local.ty
        if ty.dims and any(d is None for d in ty.dims):
            sizes = [f"int32_t *{own}{k}" for k, d in enumerate(ty.dims, 1) if d is None]
            return [self.types.declare(ty.scalar(), f"**{own}"), *sizes]
        return [self.types.declare(ty.scalar(), f"*{own}")]

    # ------------------------------------------------------------------------------------------------------------ body

    def lines(self) -> list[str]:
        w, f = self.writer, self.function
        long_lived = [v for v in (*f.outputs, *f.locals) if is_string(v.ty) or (v.ty.dims and _is_free(v))]
        self.statements.keeps_arena = bool(long_lived)
        for local in f.outputs:
            self._declare(local)
        release = not any(is_string(v.ty) or _is_free(v) for v in f.outputs)
        if release:
            w.put("const size_t mark = c->arena_used;")
        for local in f.locals:
            self._declare(local)
        if f.external is not None:
            self._external(f.external)
        else:
            self.statements.body(f.body)
        body = list(w.scope.lines)
        if self.statements.uses_end:
            body.append("end:;")
        if release:
            if any("khz_" in line or "f_" in line for line in body[1:]):
                body.append("c->arena_used = mark;")
            else:
                body.remove("const size_t mark = c->arena_used;")
        w.scope.lines = []
        self._give_outputs()
        unused = [f"(void){self.names(i.name)};" for i in f.inputs]
        unused += [
            f"(void){d};"
            for i in f.inputs
            if isinstance(a := w.locals[i.name], ArrayValue)
            for d in a.dims
            if not d.isdigit()
        ]
        return ["    " + line for line in ["(void)c;", *unused, *body, *w.scope.lines]]

    def _declare(self, local: Local) -> None:
        w, own, ty = self.writer, self.names(local.name), local.ty
        if not ty.dims:
            w.locals[local.name] = own
            zero = "{0}" if self.types.is_record(ty) else '""' if is_string(ty) else "0"
            w.put(f"{self.types.declare(ty, own)} = {zero};")
        else:
            self._declare_array(local, own)
        if local.default is not None:
            self.statements.statement(Assign(x.Ref(local.name, local.ty), local.default))

    def _declare_array(self, local: Local, own: str) -> None:
        w, ty = self.writer, local.ty
        dims: list[str] = []
        free = False
        for k, d in enumerate(ty.dims):
            given = local.dims[k] if k < len(local.dims) else None
            if d is not None:
                dims.append(str(d))
            elif given is not None and not isinstance(given, x.Colon):
                dims.append(f"{own}n{k + 1}")
                w.put(f"const int32_t {dims[-1]} = {w.text(given)};")
            else:
                dims.append(f"{own}n{k + 1}")
                w.put(f"int32_t {dims[-1]} = 0;")
                free = True
        value = ArrayValue(own, tuple(dims), ty.scalar())
        w.locals[local.name] = value
        ctype = self.types.of(ty)
        if free:
            self.growing[local.name] = value.dims
            w.put(f"{self.types.declare(ty.scalar(), '*' + own)} = NULL;")
        elif value.size.isdigit() and int(value.size) <= _MOST_ON_STACK:
            w.put(f"{self.types.declare(ty.scalar(), own)}[{max(1, int(value.size))}] = {{0}};")
        else:
            size = f"sizeof({ctype.rstrip()}) * (size_t)({value.size})"
            cast = f"({ctype}*)" if ctype.endswith("*") else f"({ctype} *)"
            w.put(f"{self.types.declare(ty.scalar(), '*' + own)} = {cast}khz_arena(c, {size});")
            w.put(f"memset({own}, 0, {size});")

    def _give_outputs(self) -> None:
        w, f = self.writer, self.function
        if returns(f):
            w.put(f"return {self.names(f.outputs[0].name)};")
            return
        for local in f.outputs:
            own = self.names(local.name)
            out = own + "out"
            value = w.locals[local.name]
            if isinstance(value, str):
                w.put(f"*{out} = {own};")
            elif all(d is not None for d in local.ty.dims):
                w.copy(out, own, value.size, value.element)
            else:
                w.put(f"*{out} = {own};")
                for k, d in enumerate(local.ty.dims, 1):
                    if d is None:
                        w.put(f"*{out}{k} = {value.dims[k - 1]};")

    # -------------------------------------------------------------------------------------------------------- external

    def _external(self, call: ExternalCall) -> None:
        w = self.writer
        if call.language not in ("C", "builtin"):
            raise unsupported(f'external "{call.language}" ({call.symbol})')
        outputs = {o.name for o in (*self.function.outputs, *self.function.locals)}
        arguments: list[str] = []
        for argument in call.args:
            arguments.append(self._external_argument(argument, outputs))
        text = f"{call.symbol}({', '.join(arguments)})"
        if call.result is not None:
            assert isinstance(call.result, (x.Ref, x.Field))
            target = w.text(call.result) if not call.result.ty.dims else ""
            cast = "(void *)" if self.types.of(call.result.ty) == "void *" else ""
            text = f"{target} = {cast}{text}"
        w.put("jmp_buf *const outer = khz_guard;", "jmp_buf guard;", "khz_guard = &guard;", "khz_caller = c;")
        w.put("if (setjmp(guard) == 0) {", f"    {text};", "}", "khz_guard = outer;")

    def _external_argument(self, e: Expr, outputs: set[str]) -> str:
        w = self.writer
        if isinstance(e, x.Builtin) and e.name == "size":
            return f"(size_t)({w.text(e)})"
        if e.ty.dims:
            a = w.array(e)
            if isinstance(e, x.Ref) and e.name in outputs:
                return a.pointer
            return f"({self.types.of(a.element)}{'*' if is_string(a.element) else ' *'})(void *)(size_t)({a.pointer})"
        if self.types.is_record(e.ty):
            return f"(void *)(size_t)&{w.record(e)}"
        if isinstance(e, x.Ref) and e.name in outputs:
            return f"&{w.text(e)}"
        return w.text(e)


def prototype_of_external(function: Function, types: TypeTable) -> str:
    """A declaration for an external function that comes without an Include."""
    call = function.external
    assert call is not None
    outputs = {o.name for o in (*function.outputs, *function.locals)}
    result = "void" if call.result is None else types.of(call.result.ty)
    parameters = []
    for e in call.args:
        ctype = types.of(e.ty)
        if isinstance(e, x.Builtin) and e.name == "size":
            parameters.append("size_t")
        elif e.ty.dims or (isinstance(e, x.Ref) and e.name in outputs):
            parameters.append(ctype + "*" if ctype.endswith("*") else ctype + " *")
        elif types.is_record(e.ty):
            parameters.append("void *")
        else:
            parameters.append(ctype.rstrip())
    return f"extern {result} {call.symbol}({', '.join(parameters) or 'void'});"


def _is_free(local: Local) -> bool:
    """An array whose size is only known when it is assigned (or only at run time: it lives in the arena)."""
    return any(d is None for d in local.ty.dims)

"""Modelica functions as C functions.

Inputs by value, arrays as pointer and those dimensions that are not fixed, records as pointers to const structs.  A
single scalar output is the C result; other outputs go through pointers: arrays of known size into the caller's storage,
others into the arena of the instance, which the caller's caller gives back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kilohertz.base import InternalError, Origin
from kilohertz.codegen.external import write_external
from kilohertz.codegen.probes import Probes
from kilohertz.codegen.single_doors import SingleDoor, single_door
from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.recursion import circles
from kilohertz.codegen.writing.spelling import LONGEST_NAME, Names, comment, string
from kilohertz.codegen.writing.statements import Places, StatementWriter
from kilohertz.codegen.writing.values import ArrayValue, TypeTable, is_real, is_string, needs_room
from kilohertz.codegen.writing.writer import Callee, Text, WriterCore, unsupported
from kilohertz.ir import expr as x
from kilohertz.ir.assigned import set_in_parts, set_whole
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Assign, ExternalCall, Function, Local
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import FunctionType, RecordType, Type

_MOST_ON_STACK = 2048
Where = Callable[[Origin], str]  # text `: file.mo:12` of an origin


@dataclass(frozen=True, slots=True)
class CFunction:
    """A written function."""

    id: str
    symbol: str
    prototype: str
    lines: tuple[str, ...]
    function: Function
    door: SingleDoor | None = None  # of an external one that a model in singles can call

    @property
    def external(self) -> ExternalCall | None:
        return self.function.external


@dataclass(frozen=True, slots=True)
class Held:
    """A function given as an argument: its id, and the inputs already bound to values."""

    target: str
    bound: tuple[tuple[str, Expr], ...]

    def signature(self) -> str:
        """Which function, with which of its inputs bound: what C written for it depends on."""
        return f"{self.target}({', '.join(name for name, _ in self.bound)})" if self.bound else self.target

    def values(self) -> list[x.Ref]:
        """What is bound and no function: the C function that takes this one gets it as further inputs."""
        return [e for _, e in self.bound if isinstance(e, x.Ref) and not isinstance(e.ty.base, FunctionType)]


def _held(argument: Expr, held: Mapping[str, Held]) -> Held:
    match argument:
        case x.FunctionRef(function, bound):
            outer = held.get(function)
            return Held(function, bound) if outer is None else Held(outer.target, (*outer.bound, *bound))
        case x.Ref(name) if name in held:
            return held[name]
        case _:
            raise unsupported("a function as the value of an expression")


def _with_bound_functions(name: str, handed: Held, held: Mapping[str, Held]) -> list[tuple[str, Held]]:
    """A function under the name of the input it is given to, then those bound to its inputs, under dotted names."""
    found = [(name, handed)]
    for bound, e in handed.bound:
        if isinstance(e.ty.base, FunctionType):
            found += _with_bound_functions(f"{name}.{bound}", _held(e, held), held)
    return found


class FunctionTable:
    """Writes the functions that are called, each once, in the order of their first call."""

    def __init__(
        self,
        functions: dict[str, Function],
        types: TypeTable,
        places: Places,
        where: Where,
        prefix: str,
        probes: Probes,
    ) -> None:
        self._functions = functions
        self.probes = probes
        self.types = types
        self.places = places
        self._where = where
        self._names = Names(f"{prefix}f_", longest=LONGEST_NAME)
        self.circles = circles(functions)
        self.written: list[CFunction] = []
        self._queue: list[str] = []
        self._known: set[str] = set()
        self._special: dict[str, tuple[Function, dict[str, Held]]] = {}

    def callee(self, call: x.Call, held: Mapping[str, Held] = MappingProxyType({})) -> Callee:
        """The C function of a call; it is written when `write_all` runs.  `held`: functions the caller was given."""
        if call.function in held:
            holder = held[call.function]
            positional = iter(call.args)
            bound = dict(holder.bound)
            arguments = tuple(bound.get(i.name) or next(positional) for i in self.find(holder.target).inputs)
            return self.callee(x.Call(holder.target, arguments, call.ty), held)
        function = self.find(call.function)
        if any(isinstance(i.ty.base, FunctionType) for i in function.inputs):
            return self._special_callee(function, call, held)
        inputs = tuple(i.ty for i in function.inputs)
        return Callee(
            self.request(function.id), inputs, tuple(o.ty for o in function.outputs), call.args, returns(function)
        )

    def _special_callee(self, function: Function, call: x.Call, held: Mapping[str, Held]) -> Callee:
        """A function that takes functions is written anew for each it is given; values bound to those come last."""
        types, arguments, functions = [], [], {}
        more_types, more_arguments = [], []
        for local, argument in zip(function.inputs, call.args, strict=True):
            if not isinstance(local.ty.base, FunctionType):
                types.append(local.ty)
                arguments.append(argument)
                continue
            for name, handed in _with_bound_functions(local.name, _held(argument, held), held):
                functions[name] = Held(handed.target, tuple((n, x.Ref(f"{name}.{n}", e.ty)) for n, e in handed.bound))
                values = [e for _, e in handed.bound if not isinstance(e.ty.base, FunctionType)]
                more_types += [e.ty for e in values]
                more_arguments += values
        key = f"{function.id}({', '.join(f'{name}={h.signature()}' for name, h in functions.items())})"
        self._special[key] = (function, functions)
        inputs, all_arguments = (*types, *more_types), (*arguments, *more_arguments)
        return Callee(
            self.request(key), inputs, tuple(o.ty for o in function.outputs), all_arguments, returns(function)
        )

    def request(self, key: str) -> str:
        """The C name of a function, which will be written."""
        if key not in self._known:
            self._known.add(key)
            self._queue.append(key)
        return self._names(key)

    def find(self, function_id: str) -> Function:
        function = self._functions.get(function_id)
        if function is None:
            raise InternalError(f"function {function_id} is called but not there")
        return function

    def write_all(self) -> None:
        """Write what was asked for and what that asks for."""
        while self._queue:
            self.written.append(self._write(self._queue.pop(0)))

    def _write(self, key: str) -> CFunction:
        function, held = self._special.get(key) or (self.find(key), {})
        body = _FunctionBody(self, function, held)
        symbol = self._names(key)
        prototype = body.prototype(symbol)
        place = self._where(function.origin)
        head = f"/* {comment(key)}{f': {place}' if place else ''} */"
        lines = (head, prototype, "{", *body.lines(), "}", "")
        door = None
        if function.external is not None:
            door = single_door(function, symbol, prototype, lines, body.names, _no_result(function))
        return CFunction(function.id, symbol, prototype, lines, function, door)


def returns(function: Function) -> bool:
    """Whether the C function returns its one output."""
    if len(function.outputs) != 1:
        return False
    ty = function.outputs[0].ty
    return not ty.dims and not TypeTable().is_record(ty)


def _no_result(function: Function) -> str:
    """How a function ends that cannot go on: nobody reads what it gives."""
    if not returns(function):
        return "return;"
    return 'return "";' if is_string(function.outputs[0].ty) else "return 0;"


class _FunctionBody:
    """One function being written; also the host of its writer."""

    def __init__(self, table: FunctionTable, function: Function, held: dict[str, Held]) -> None:
        self.table, self.function, self.types, self.held = table, function, table.types, held
        self.inputs = [i for i in function.inputs if i.name not in held]
        self.inputs += [Local(r.name, r.ty) for h in held.values() for r in h.values()]
        self.names = Names("", "_")
        self.probe = table.probes.function(function)
        self.circle = table.circles.get(function.id, ())
        leave = self.probe.before(_no_result(function))
        self.writer = Writer(self, "c", f"khz_leaves(c); {leave}" if self.circle else leave)
        self.growing: dict[str, tuple[str, ...]] = {}
        self.in_parts = set_in_parts(function)
        self.resized = set_whole(function) | {o.name for o in function.outputs}
        self.statements = StatementWriter(self.writer, table.places, self.growing)

    # -------------------------------------------------------------------------------------------------------- as host

    def variable(self, ref: x.Ref) -> str | ArrayValue:
        if ref.name == "time":
            return "c->time"
        raise InternalError(f"{self.function.id}: unknown variable {ref.name}")

    def callee(self, call: x.Call) -> Callee:
        return self.table.callee(call, self.held)

    def builtin(self, writer: WriterCore, e: x.Builtin) -> Text | None:
        if e.name == "homotopy":
            return writer.scalar(e.args[0])
        return None

    # ------------------------------------------------------------------------------------------------------ signature

    def prototype(self, name: str) -> str:
        f, types = self.function, self.types
        parameters = ["khz_context *c"]
        for local in self.inputs:
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
        c_name, ty = self.names(local.name), local.ty
        if ty.dims:
            dims = tuple(str(d) if d is not None else f"{c_name}n{k}" for k, d in enumerate(ty.dims, 1))
            self.writer.locals[local.name] = ArrayValue(c_name, dims, ty.scalar())
            ctype = self.types.of(ty)
            pointer = f"{ctype}const *{c_name}" if ctype.endswith("*") else f"const {ctype} *{c_name}"
            return [pointer, *(f"int32_t {d}" for d in dims if not d.isdigit())]
        if self.types.is_record(ty):
            self.writer.locals[local.name] = f"(*{c_name})"
            return [f"const {self.types.of(ty)} *{c_name}"]
        self.writer.locals[local.name] = c_name
        return [self.types.declare(ty, c_name)]

    def _output_parameter(self, local: Local) -> list[str]:
        """Outputs are written through `<name>_out`; inside they are locals like any other."""
        c_name, ty = self.names(local.name) + "out", local.ty
        if ty.dims and any(d is None for d in ty.dims):
            sizes = [f"int32_t *{c_name}{k}" for k, d in enumerate(ty.dims, 1) if d is None]
            return [self.types.declare(ty.scalar(), f"**{c_name}"), *sizes]
        return [self.types.declare(ty.scalar(), f"*{c_name}")]

    # ------------------------------------------------------------------------------------------------------------ body

    def lines(self) -> list[str]:
        w, f = self.writer, self.function
        for local in _in_order([*f.outputs, *f.locals]):
            self._declare(local)
        if f.external is not None:
            write_external(w, f)
        elif f.is_record_constructor and not f.body:
            self._construct()
        else:
            self.statements.body(f.body)
        body = list(w.scope.lines)
        if self.statements.uses_end:
            body.append("end:;")
        body = self._giving_back(body)
        w.scope.lines = []
        if self.circle:
            names = ", ".join(f"`{name}`" for name in self.circle)
            text = (
                f"{names}: calls that do not end" if len(self.circle) == 1 else f"{names} call each other without end"
            )
            enters = f"khz_enters(c, {self.table.places(f.origin)}, {string(text)})"
            body = [f"if (!{enters}) {{", f"    {w.leave}", "}", *body, "khz_leaves(c);"]
        self._give_outputs()
        unused = [f"(void){self.names(i.name)};" for i in self.inputs]
        unused += [
            f"(void){d};"
            for i in self.inputs
            if isinstance(a := w.locals[i.name], ArrayValue)
            for d in a.dims
            if not d.isdigit()
        ]
        return ["    " + line for line in ["(void)c;", *unused, *self.probe.around(body), *w.scope.lines]]

    def _giving_back(self, body: list[str]) -> list[str]:
        """A body that leaves nothing in the arena but arrays it gives; texts, and records with either, keep it all."""
        kept = [v for v in self.function.outputs if needs_room(v.ty)]
        if self.writer.n_taking <= len(kept) or any(needs_room(v.ty.scalar()) for v in kept):
            return body
        values = [self.writer.locals[v.name] for v in kept]
        arrays = [v for v in values if isinstance(v, ArrayValue) and not v.size.isdigit()]
        after = self.statements.kept_alone("mark", arrays) if arrays else ["c->arena_used = mark;"]
        return ["const size_t mark = c->arena_used;", *body, *after]

    def _declare(self, local: Local) -> None:
        w, c_name, ty = self.writer, self.names(local.name), local.ty
        if not ty.dims:
            w.locals[local.name] = c_name
            zero = "{0}" if self.types.is_record(ty) else '""' if is_string(ty) else "0"
            zero = "(double)NAN" if is_real(ty) and self.function.body else zero  # until it is set (MLS 12.4.4)
            w.put(f"{self.types.declare(ty, c_name)} = {zero};")
        else:
            self._declare_array(local, c_name)
        if local.default is not None:
            self.statements.statement(Assign(x.Ref(local.name, local.ty), local.default))
        elif self._may_lack(local):
            value = w.locals[local.name]
            if isinstance(value, ArrayValue):
                w.put(*self._unset(value.pointer, value.size, value.element))
            elif self.types.is_record(ty):
                w.put(*self._unset(f"&{value}", "1", ty))

    def _may_lack(self, local: Local) -> bool:
        """An array or record that may be read before it has a value.  Where statements set parts of it, the others are
        0: libraries in wide use rely on that (decision 48)."""
        if local.name in self.growing or self.function.external is not None or not self.function.body:
            return False
        return local.name not in self.in_parts

    def _unset(self, pointer: str, count: str, ty: Type) -> list[str]:
        """What marks the Reals of an array or record until a statement sets it (MLS 12.4.4)."""
        if is_real(ty):
            return [f"khz_unset({pointer}, {count});"]
        if not isinstance(ty.base, RecordType):
            return []
        at = self.writer.fresh("i")
        element = f"({pointer})->" if count == "1" else f"({pointer})[{at}]."
        lines: list[str] = []
        for name, field_type in ty.base.fields:
            if all(d is not None for d in field_type.dims):
                member, size = element + self.types.fields(name), math.prod(d or 0 for d in field_type.dims)
                lines += self._unset(member if field_type.dims else f"&{member}", str(size), field_type.scalar())
        loop = f"for (int32_t {at} = 0; {at} < {count}; {at}++) {{"
        return [loop, *("    " + line for line in lines), "}"] if lines and count != "1" else lines

    def _declare_array(self, local: Local, c_name: str) -> None:
        w, ty = self.writer, local.ty
        dims: list[str] = []
        free = False
        for k, d in enumerate(ty.dims):
            declared = local.dims[k] if k < len(local.dims) else None
            known = local.default.ty.dims[k] if local.default is not None else None
            if d is not None:
                dims.append(str(d))
            elif declared is None and known is not None and local.name not in self.resized:
                dims.append(str(known))  # `Real a[:] = {1, 2, 3}`: the default decides
            elif declared is not None and not isinstance(declared, x.Colon):
                dims.append(f"{c_name}n{k + 1}")
                fixed = (
                    "const " if all(isinstance(n, x.Expr) and not isinstance(n, x.Colon) for n in local.dims) else ""
                )
                w.put(f"{fixed}int32_t {dims[-1]} = {w.text(declared)};")
                w.must_be_size(dims[-1])
            else:
                dims.append(f"{c_name}n{k + 1}")
                w.put(f"int32_t {dims[-1]} = 0;")
                free = True
        value = ArrayValue(c_name, tuple(dims), ty.scalar())
        w.locals[local.name] = value
        if free:
            self.growing[local.name] = value.dims
            w.put(f"{self.types.declare(ty.scalar(), '*' + c_name)} = NULL;")
        elif value.size.isdigit() and int(value.size) <= _MOST_ON_STACK:
            w.put(f"{self.types.declare(ty.scalar(), c_name)}[{max(1, int(value.size))}] = {{0}};")
        else:
            w.take_room(self.types.declare(ty.scalar(), "*" + c_name), c_name, value.size, value.element)
            w.put(f"memset({c_name}, 0, sizeof(*{c_name}) * (size_t)({value.size}));")

    def _construct(self) -> None:
        """A record constructor: each field from the input of its name."""
        out = self.function.outputs[0]
        for i in self.function.inputs:
            self.statements.statement(Assign(x.Field(x.Ref(out.name, out.ty), i.name), x.Ref(i.name, i.ty)))

    def _give_outputs(self) -> None:
        w, f = self.writer, self.function
        if returns(f):
            w.put(f"return {self.names(f.outputs[0].name)};")
            return
        for local in f.outputs:
            c_name = self.names(local.name)
            out = c_name + "out"
            value = w.locals[local.name]
            if isinstance(value, str):
                w.put(f"*{out} = {c_name};")
            elif all(d is not None for d in local.ty.dims):
                w.copy(out, c_name, value.size, value.element)
            else:
                w.put(f"*{out} = {c_name};")
                for k, d in enumerate(local.ty.dims, 1):
                    if d is None:
                        w.put(f"*{out}{k} = {value.dims[k - 1]};")


def _in_order(variables: list[Local]) -> list[Local]:
    """Declarations such that sizes and defaults find what they need (MLS 12.4.4); else as they stand."""
    by_name = {v.name: v for v in variables}
    out: dict[str, Local] = {}

    def visit(v: Local, above: frozenset[str]) -> None:
        if v.name in out or v.name in above:
            return
        for e in (*v.dims, v.default):
            for ref in refs(e) if e is not None else ():
                if ref.name in by_name:
                    visit(by_name[ref.name], above | {v.name})
        out[v.name] = v

    for v in variables:
        visit(v, frozenset())
    return list(out.values())

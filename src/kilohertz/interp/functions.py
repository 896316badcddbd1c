"""Functions: prepared at their first call, then run on a frame of their own (MLS 12.4)."""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.interp.compile import Code
from kilohertz.interp.context import Frame
from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.external_calls import external_body
from kilohertz.interp.statements import Run, Statements
from kilohertz.interp.values import Value, blank, copied
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.traverse import refs
from kilohertz.ir.types import FunctionType, RecordType, TupleType


class FunctionCode:
    """One function ready to be called with its inputs in order."""

    def __init__(self, function: Function, statements: Statements, globals: Callable[[str], Value]) -> None:
        self.function = function
        self.input_names = [x.name for x in function.inputs]
        self._globals = globals
        self._defaults = [None if x.default is None else statements.compiler.code(x.default) for x in function.inputs]
        declared = _ordered([*function.outputs, *function.locals])
        self._declarations = [(x.name, _initial(x, statements)) for x in declared]
        self._variables = {x.name for x in [*function.inputs, *function.outputs, *function.locals]}
        self._outputs = [x.name for x in function.outputs]
        self._body = self._compiled_body(statements)

    def _compiled_body(self, statements: Statements) -> Run:
        function = self.function
        if function.external is not None:
            return external_body(function, statements)
        if function.is_record_constructor and not function.body:
            return _constructor(function)
        return statements.block(function.body)

    def call(self, arguments: list[Value]) -> Value:
        """Run it: the output, or a tuple of them; a missing one is None in the tuple."""
        frame = Frame(self._missing)
        frame.update(zip(self.input_names, arguments, strict=False))
        for k in range(len(arguments), len(self.input_names)):
            self._default_input(frame, k)
        return self._run(frame)

    def call_by_name(self, bound: dict[str, Value], arguments: list[Value]) -> Value:
        """Run it with some inputs bound by name and the others in order."""
        frame = Frame(self._missing)
        frame.update(bound)
        waiting = iter(arguments)
        for k, name in enumerate(self.input_names):
            if name in bound:
                continue
            value = next(waiting, None)
            if value is None:
                self._default_input(frame, k)
            else:
                frame[name] = value
        return self._run(frame)

    def _run(self, frame: Frame) -> Value:
        for name, initial in self._declarations:
            if initial is not None:
                frame[name] = initial(frame)
        self._body(frame)
        outputs = self._outputs
        if len(outputs) != 1:
            return tuple([frame.get(name) for name in outputs])
        value = frame.get(outputs[0])
        if value is None:
            raise EvaluationError(f"the output `{outputs[0]}` is not assigned")
        return value

    def _default_input(self, frame: Frame, k: int) -> None:
        default = self._defaults[k]
        if default is None:
            raise EvaluationError(f"no value for the input `{self.input_names[k]}`")
        frame[self.input_names[k]] = default(frame)

    def _missing(self, name: str) -> Value:
        if name in self._variables:
            raise EvaluationError(f"`{name}` is used before it is assigned")
        return self._globals(name)


def _ordered(declared: list[Local]) -> list[Local]:
    """Each variable after those its sizes and default need; otherwise as declared.  A cycle stays as written."""
    by_name = {x.name: x for x in declared}
    order: dict[str, Local] = {}
    entered: set[str] = set()

    def place(x: Local) -> None:
        if x.name in entered:
            return
        entered.add(x.name)
        for e in (*x.dims, x.default):
            for name in _names(e):
                if name in by_name:
                    place(by_name[name])
        order[x.name] = x

    for x in declared:
        place(x)
    return list(order.values())


def _names(e: Expr | None) -> list[str]:
    return [] if e is None else [r.name for r in refs(e)]


def _initial(x: Local, statements: Statements) -> Code | None:
    """What a variable holds when the body starts: its default, or room for its elements; None for nothing at all."""
    if x.default is not None:
        return statements.owned(x.default)
    ty = x.ty
    if isinstance(ty.base, FunctionType | TupleType):
        return None
    if not ty.dims and not x.dims:
        return (lambda _: blank(ty, ())) if isinstance(ty.base, RecordType) else None
    codes: list[Code] = []
    for k, n in enumerate(ty.dims):
        size = x.dims[k] if k < len(x.dims) else None
        if size is not None:
            codes.append(statements.compiler.code(size))
        elif n is not None:
            codes.append(lambda _, n=n: n)  # type: ignore[misc]  # binds the loop's n
        else:
            codes.append(lambda _: 0)  # `x[:]` is empty until it is assigned (MLS 12.4.5)
    return lambda f: blank(ty, tuple([c(f) for c in codes]))


def _constructor(function: Function) -> Run:
    """A record from its inputs (and computed fields, which are locals)."""
    result = function.outputs[0]
    assert isinstance(result.ty.base, RecordType)
    names = [name for name, _ in result.ty.base.fields]

    def run(f: Frame) -> None:
        f[result.name] = {name: copied(f[name]) for name in names}

    return run

"""External functions: the call of a C or FORTRAN symbol, carried out by Python where `externals` knows the symbol."""

from __future__ import annotations

from collections.abc import Callable

from kilohertz.base import Dotted
from kilohertz.interp import array_builtins, externals
from kilohertz.interp.context import Frame
from kilohertz.interp.errors import NotConstant
from kilohertz.interp.statements import Run, Statements, Store
from kilohertz.interp.values import ArrayValue, Value
from kilohertz.ir.expr import Expr, Field, Index, Ref
from kilohertz.ir.flat import ExternalCall, Function
from kilohertz.ir.traverse import refs


def external_body(function: Function, statements: Statements) -> Run:
    """The body of an external function."""
    call = function.external
    assert call is not None
    if call.language == "builtin":
        return _builtin_body(function, call, statements)
    known = externals.find(call.symbol)
    if known is None:
        return _no_value(f"{function.id} (external {call.language} function {call.symbol})")
    written = {x.name for x in (*function.outputs, *function.locals)}
    arguments = [_argument(e, written, statements) for e in call.args]
    stores = {k: statements.store(e) for k, e in enumerate(call.args) if _is_target(e, written)}
    result = None if call.result is None else statements.store(call.result)
    return _body(known, arguments, stores, result, statements)


def _body(
    known: externals.Symbol,
    arguments: list[Callable[[Frame], Value]],
    stores: dict[int, Store],
    result: Store | None,
    statements: Statements,
) -> Run:
    def run(f: Frame) -> None:
        values = [a(f) for a in arguments]
        answer = known(values)
        if isinstance(answer, externals.Message):
            statements.warn(answer.text)
            return
        if isinstance(answer, externals.Outputs):
            for k, value in answer.written.items():
                if k in stores:
                    stores[k](f, _shaped_like(values[k], value))
            answer = answer.result
        if result is not None:
            result(f, answer)

    return run


def _is_target(e: Expr, written: set[str]) -> bool:
    """A variable of the function, or a part of one, that the call may write."""
    while isinstance(e, Index | Field):
        e = e.base
    return isinstance(e, Ref) and e.name in written


def _argument(e: Expr, written: set[str], statements: Statements) -> Callable[[Frame], Value]:
    """The value handed over; of an output not assigned yet None, or the room made for it."""
    code = statements.compiler.code(e)
    if isinstance(e, Ref) and e.name in written:
        name = e.name
        return lambda f: f.get(name)
    if any(r.name in written for r in refs(e)) and _is_target(e, written):
        return lambda f: None
    return code


def _shaped_like(room: Value, value: Value) -> Value:
    """A vector handed over as a one-column matrix comes back as a vector."""
    if isinstance(room, ArrayValue) and isinstance(value, ArrayValue) and len(room.data) == len(value.data):
        return ArrayValue(room.shape, value.data)
    return value


def _builtin_body(function: Function, call: ExternalCall, statements: Statements) -> Run:
    """`external "builtin" y = sin(u)`; without a call the function's own name and inputs count."""
    symbol = call.symbol or Dotted.read(function.id).last
    apply = array_builtins.by_name(symbol)
    if apply is None:
        return _no_value(f"{function.id} (built-in {symbol})")
    inputs: list[Callable[[Frame], Value]]
    inputs = [statements.compiler.code(e) for e in call.args]
    if not inputs:
        inputs = [lambda f, name=x.name: f[name] for x in function.inputs]  # type: ignore[misc]  # binds the loop's x
    output = function.outputs[0].name

    def run(f: Frame) -> None:
        f[output] = apply(*[i(f) for i in inputs])

    return run


def _no_value(what: str) -> Run:
    def run(_: Frame) -> None:
        raise NotConstant(what)

    return run

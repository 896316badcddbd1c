"""Algorithms as closures on a frame of names (MLS 11.2).

A statement's closure answers None to go on, `BREAK` or `RETURN`.  Assigned values are copied unless just made, so
element assignment may change arrays and records in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kilohertz import ir
from kilohertz.interp import subscripts
from kilohertz.interp.compile import Code, Compiler, iteration
from kilohertz.interp.context import Frame
from kilohertz.interp.errors import EvaluationError, NotConstant
from kilohertz.interp.values import ArrayValue, Value, copied
from kilohertz.ir import make
from kilohertz.ir.types import RecordType

BREAK, RETURN = 1, 2
Run: TypeAlias = Callable[[Frame], int | None]
Store: TypeAlias = Callable[[Frame, Value], None]
_FRESH = (ir.Binary, ir.Unary, ir.Comprehension, ir.Range, ir.Call)  # nodes that make a value nobody else holds


class Statements:
    """Compiles algorithms.  `warn` gets the message of a failed assert of level warning."""

    def __init__(self, compiler: Compiler, max_iterations: int, warn: Callable[[str], None]) -> None:
        self.compiler = compiler
        self.max_iterations = max_iterations
        self.warn = warn

    def block(self, statements: list[ir.Statement]) -> Run:
        """Statements in order."""
        runs = [_STATEMENTS[type(s)](self, s) for s in statements]
        if len(runs) == 1:
            return runs[0]

        def run(f: Frame) -> int | None:
            for step in runs:
                signal = step(f)
                if signal:
                    return signal
            return None

        return run

    def owned(self, e: ir.Expr) -> Code:
        """The value of an expression for a variable to keep and change."""
        code = self.compiler.code(e)
        if isinstance(e, _FRESH) or (not e.ty.dims and not isinstance(e.ty.base, RecordType)):
            return code
        return lambda f: copied(code(f))

    # ------------------------------------------------------------------------------------------------- assignment

    def store(self, target: ir.Expr) -> Store:
        """What puts a value into a variable or a part of one."""
        if isinstance(target, ir.Ref):
            name = target.name
            return lambda f, value: f.__setitem__(name, value)
        if isinstance(target, ir.Index):
            whole = make.index(target.base, target.subs)
            if isinstance(whole, ir.Field):
                return self.store(whole)
            return self._store_elements(target)
        if isinstance(target, ir.Field):
            return self._store_field(target)
        raise EvaluationError(f"cannot assign to {target!r}")

    def _store_elements(self, target: ir.Index) -> Store:
        place = self._place(target.base)
        subs = self.compiler.codes(target.subs)
        if len(subs) == 1 and not target.subs[0].ty.dims and len(target.base.ty.dims) == 1:
            only = subs[0]

            def put(f: Frame, value: Value) -> None:
                array, k = place(f), only(f)
                if not 1 <= k <= len(array.data):
                    raise EvaluationError(f"subscript {k} is out of range 1:{len(array.data)} in an assignment")
                array.data[k - 1] = value

            return put
        return lambda f, value: subscripts.write(place(f), [s(f) for s in subs], value)

    def _store_field(self, target: ir.Field) -> Store:
        place, name = self._place(target.base), target.name
        if not target.base.ty.dims:
            return lambda f, value: place(f).__setitem__(name, value)
        inner = len(target.base.ty.dims)

        def spread(f: Frame, value: ArrayValue) -> None:
            records = place(f).data
            width = len(value.data) // len(records) if records else 0
            for k, record in enumerate(records):
                part = value.data[k * width : (k + 1) * width]
                record[name] = ArrayValue(value.shape[inner:], part) if value.shape[inner:] else part[0]

        return spread

    def _place(self, e: ir.Expr) -> Code:
        """The array or record, owned by the frame, that an assignment changes."""
        if isinstance(e, ir.Ref):
            return self.compiler.code(e)
        if isinstance(e, ir.Field) and not e.base.ty.dims:
            record, name = self._place(e.base), e.name

            def part(f: Frame) -> Value:
                value = record(f)[name]
                if value is None:
                    raise EvaluationError(f"an element of `{name}` is assigned before its size is known")
                return value

            return part
        if isinstance(e, ir.Index) and not any(s.ty.dims for s in e.subs):
            array, subs = self._place(e.base), self.compiler.codes(e.subs)
            return lambda f: subscripts.read(array(f), [s(f) for s in subs])
        raise EvaluationError("an assignment through a slice of records")


# ---------------------------------------------------------------------------------------------------------- statements


def _assign(s: Statements, statement: ir.Assign) -> Run:
    if isinstance(statement.target, ir.TupleTarget):
        return _assign_outputs(s, statement.target, statement.value)
    value = s.owned(statement.value)
    if isinstance(statement.target, ir.Ref):
        return _assign_whole(statement.target, value)
    store = s.store(statement.target)
    return lambda f: store(f, value(f))


def _assign_whole(target: ir.Ref, value: Code) -> Run:
    name, dims = target.name, target.ty.dims

    def assign(f: Frame) -> None:
        f[name] = value(f)

    def assign_sized(f: Frame) -> None:
        given = value(f)
        if isinstance(given, ArrayValue) and given.shape[: len(dims)] != dims:
            raise EvaluationError(f"assignment of {list(given.shape)} to an array of size {list(dims)}")
        f[name] = given

    return assign_sized if dims and None not in dims else assign


def _assign_outputs(s: Statements, target: ir.TupleTarget, call: ir.Expr) -> Run:
    value = s.compiler.code(call)
    stores = [(k, s.store(e)) for k, e in enumerate(target.elements) if e is not None]

    def assign(f: Frame) -> None:
        outputs = value(f)
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        for k, store in stores:
            if outputs[k] is not None:
                store(f, outputs[k])

    return assign


def _if(s: Statements, statement: ir.IfStatement) -> Run:
    branches = [(s.compiler.code(c), s.block(body)) for c, body in statement.branches]
    otherwise = s.block(statement.otherwise)

    def run(f: Frame) -> int | None:
        for condition, body in branches:
            if condition(f):
                return body(f)
        return otherwise(f)

    return run


def _for(s: Statements, statement: ir.ForStatement) -> Run:
    name, body = statement.name, s.block(statement.body)
    over = iteration(s.compiler, statement.range)

    def run(f: Frame) -> int | None:
        for x in over(f):
            f[name] = x
            signal = body(f)
            if signal:
                return RETURN if signal == RETURN else None
        return None

    return run


def _while(s: Statements, statement: ir.WhileStatement) -> Run:
    condition, body, limit = s.compiler.code(statement.condition), s.block(statement.body), s.max_iterations

    def run(f: Frame) -> int | None:
        count = 0
        while condition(f):
            signal = body(f)
            if signal:
                return RETURN if signal == RETURN else None
            count += 1
            if count > limit:
                raise EvaluationError(f"a while loop did not end after {limit} rounds")
        return None

    return run


def _assert(s: Statements, statement: ir.Assert) -> Run:
    condition, message = s.compiler.code(statement.condition), s.compiler.code(statement.message)
    level = None if statement.level is None else s.compiler.code(statement.level)

    def run(f: Frame) -> None:
        if condition(f):
            return
        if level is not None and level(f) == 1:  # AssertionLevel.warning
            s.warn(message(f))
            return
        raise EvaluationError(message(f))

    return run


def _terminate(s: Statements, statement: ir.Terminate) -> Run:
    message = s.compiler.code(statement.message)

    def run(f: Frame) -> None:
        raise EvaluationError(f"terminate: {message(f)}")

    return run


def _call(s: Statements, statement: ir.CallEquation) -> Run:
    call = s.compiler.code(statement.call)

    def run(f: Frame) -> None:
        call(f)

    return run


def _unknown(what: str) -> Callable[[Statements, Any], Run]:
    def compiled(_: Statements, __: Any) -> Run:
        def run(_: Frame) -> None:
            raise NotConstant(what)

        return run

    return compiled


_STATEMENTS: dict[type, Callable[[Statements, Any], Run]] = {
    ir.Assign: _assign,
    ir.IfStatement: _if,
    ir.ForStatement: _for,
    ir.WhileStatement: _while,
    ir.Break: lambda _, __: lambda f: BREAK,
    ir.Return: lambda _, __: lambda f: RETURN,
    ir.Assert: _assert,
    ir.Terminate: _terminate,
    ir.CallEquation: _call,
    ir.WhenStatement: _unknown("when"),
    ir.Reinit: _unknown("reinit(...)"),
}

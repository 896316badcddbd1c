"""What is compared may be an expression over the signals of a result: `a.p - b.p`, `abs(load.w)`, `2*motor.phi`.

The syntax is Modelica's, with its functions of scalars (`ir/builtins.py`); values are taken instant by instant.  Names
may have subscripts that are numbers (`x[3]`), and `der(x)` is a name of its own where the result has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from kilohertz.base import Diagnostic, ModelError
from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.rules.arithmetic import EvaluationError
from kilohertz.results import Result
from kilohertz.results.result import Floats
from kilohertz.syntax import parse_expression, tree, unparse

_UNARY: Mapping[str, Callable[[Any], Any]] = {"-": np.negative, "+": np.positive, "not": np.logical_not}
_BINARY: Mapping[str, Callable[[Any, Any], Any]] = dict(
    zip(
        ("+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "<>", "and", "or"),
        (
            *(np.add, np.subtract, np.multiply, np.divide, np.power),
            *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
            *(np.logical_and, np.logical_or),
        ),
        strict=True,
    )
)
Node: TypeAlias = tree.Expr


def names_in(text: str) -> tuple[str, ...]:
    """The names that an expression reads, each once."""
    names: dict[str, None] = {}
    work = [_parsed(text)]
    while work:
        node = work.pop()
        name = _name(node)
        if name is not None:
            names[name] = None
        else:
            work += reversed(_below(node))
    return tuple(names)


def values_of(text: str, result: Result) -> Floats:
    """The expression at every instant of a result; R760 where it cannot be computed."""
    if text in result:
        return result[text]
    value = _value(_parsed(text), text, result)
    return np.broadcast_to(np.asarray(value, np.float64), result.time.shape)


def _is_function(name: str, n_arguments: int) -> bool:
    function = BUILTINS.get(name)
    return function is not None and function.value is not None and function.count == n_arguments


@cache
def _by_instant(name: str) -> Callable[..., Any]:
    """A function of scalars (`ir/builtins.py`) over arrays; where it has no value: not a number."""
    function = BUILTINS[name]

    def value(*numbers: float) -> float:
        assert function.value is not None
        try:
            return float(function.value(*numbers))
        except (EvaluationError, ArithmeticError, ValueError):
            return np.nan

    return np.frompyfunc(value, function.count, 1)


def _parsed(text: str) -> Node:
    return parse_expression(text, "<comparison>")


def _name(node: Node) -> str | None:
    match node:
        case tree.Ref():
            return unparse(node).replace(" ", "")
        case tree.Call(function=tree.Ref(names=("der",)), args=(tree.Ref() as inner,)):
            return f"der({unparse(inner)})".replace(" ", "")
    return None


def _below(node: Node) -> list[Node]:
    match node:
        case tree.Unary(operand=operand):
            return [operand]
        case tree.Binary(left=left, right=right):
            return [left, right]
        case tree.Call(args=args):
            return list(args)
        case tree.IfExp(branches=branches, otherwise=otherwise):
            return [*(part for branch in branches for part in branch), otherwise]
    return []


def _value(node: Node, text: str, result: Result) -> Any:
    name = _name(node)
    if name is not None:
        try:
            return result[name]
        except KeyError as error:
            raise ModelError(Diagnostic("R760", f"`{text}`: {error.args[0]}")) from error
    match node:
        case tree.Number(value=value) | tree.Boolean(value=value):
            return float(value)
        case tree.Unary(op=op, operand=operand) if op in _UNARY:
            return _UNARY[op](_value(operand, text, result))
        case tree.Binary(op=op, left=left, right=right) if op.removeprefix(".") in _BINARY:
            with np.errstate(all="ignore"):  # what is not a number is judged as such
                return _BINARY[op.removeprefix(".")](_value(left, text, result), _value(right, text, result))
        case tree.Call(function=tree.Ref(names=(name,)), args=args, named=()) if _is_function(name, len(args)):
            with np.errstate(all="ignore"):
                return np.asarray(_by_instant(name)(*(_value(a, text, result) for a in args)), np.float64)
        case tree.IfExp(branches=branches, otherwise=otherwise):
            value = _value(otherwise, text, result)
            for condition, then in reversed(branches):
                value = np.where(_value(condition, text, result), _value(then, text, result), value)
            return value
    part = unparse(node)
    raise ModelError(Diagnostic("R760", f"`{text}`: `{part}` cannot be computed from a result"))

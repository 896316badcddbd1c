"""What an evaluation may ask from outside: the frame of names, and operators that depend on the running simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kilohertz.interp.errors import NotConstant
from kilohertz.interp.values import Env, Value
from kilohertz.ir.expr import Builtin, Expr


class Context:
    """Answers operators such as der, pre, previous, edge, change, initial, terminal, sample, delay.

    Override `apply`; `value` evaluates an argument.  Without an answer there is no value.
    """

    def apply(self, node: Builtin, value: Callable[[Expr], Value]) -> Value:
        """The value of `node`, an operator that is no plain function of its arguments."""
        raise NotConstant(f"{node.name}(...)")


class Frame(dict[str, Any]):
    """Names with their values while something is evaluated; what is missing is looked up outside."""

    __slots__ = ("lookup",)

    def __init__(self, lookup: Callable[[str], Value]) -> None:
        self.lookup = lookup

    def __missing__(self, name: str) -> Value:
        return self.lookup(name)


def resolver(env: Env) -> Callable[[str], Value]:
    """An environment as a function that raises NotConstant for what it does not know."""
    get = env.__getitem__ if isinstance(env, Mapping) else env

    def lookup(name: str) -> Value:
        try:
            return get(name)
        except KeyError:
            raise NotConstant(name) from None

    return lookup

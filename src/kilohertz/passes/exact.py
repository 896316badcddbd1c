"""Exact numbers at compile time, to tell whether two expressions are equal: arithmetic modulo a large prime.

Every variable that nothing computes is a random number; sine and cosine of an angle are the two rational functions of a
random number whose squares add up to one; any other function is a random number for each list of arguments.  Two
expressions that are equal as rational functions of these have equal values, whatever the numbers are; two that are not
have equal values for one choice of numbers in about 10^30 (Schwartz 1980, Zippel 1979: degree over prime).  There is no
rounding, and nothing is taken for granted about what is not rational, so "equal" is never said of what is nearly equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from math import isfinite

from kilohertz.ir import print_expr
from kilohertz.ir.builtins import same_as
from kilohertz.ir.expr import Binary, Bool, Builtin, Expr, IfExp, Int, Real, Ref, Unary
from kilohertz.ir.traverse import bottom_up, refs

PRIME = 2**127 - 1
_MOST_POWER = 16


class Exact:
    """Values of expressions; `sources` are what variables are computed from.  ZeroDivisionError: there is no value."""

    def __init__(self, sources: Mapping[str, Expr], given: Mapping[str, int] | None = None) -> None:
        self._sources = sources
        self._values: dict[str, int] = dict(given or {})
        self._memo: dict[Expr, int] = {}

    def __call__(self, e: Expr) -> int:
        self._settle([r.name for r in refs(e)])
        return bottom_up(e, self._node, self._memo)

    def _settle(self, names: Iterable[str]) -> None:
        """Values of variables, those first that others are computed from."""
        stack = [(name, False) for name in names]
        while stack:
            name, is_ready = stack.pop()
            if name in self._values:
                continue
            source = self._sources.get(name)
            if source is None:
                self._values[name] = _number("name", name)
            elif is_ready:
                self._values[name] = bottom_up(source, self._node, self._memo)
            else:
                stack.append((name, True))
                stack += [(r.name, False) for r in refs(source)]

    def _node(self, e: Expr, v: list[int]) -> int:
        match e:
            case Ref(name):
                return self._values[name]
            case Real(value) if isfinite(value):
                top, bottom = value.as_integer_ratio()
                return top * pow(bottom, -1, PRIME) % PRIME
            case Int(value) | Bool(value):
                return int(value) % PRIME
            case Unary("-", _):
                return -v[0] % PRIME
            case Binary(op, _, right):
                return _binary(op, v[0], v[1], right)
            case Unary(op, _):
                return _number(op, v)
            case Builtin(name, args):
                same = same_as(e)
                return _function(name, v) if same is None else v[args.index(same)]
            case IfExp():
                return _number("if", v)
            case _:
                return _number(print_expr(e), v)


def _binary(op: str, a: int, b: int, right: Expr) -> int:
    match op:
        case "+":
            return (a + b) % PRIME
        case "-":
            return (a - b) % PRIME
        case "*":
            return a * b % PRIME
        case "/":
            return a * _inverse(b) % PRIME
        case "^" if isinstance(right, Real | Int) and right.value in range(_MOST_POWER):
            return pow(a, int(right.value), PRIME)
        case _:
            return _number(op, (a, b))


def _function(name: str, v: list[int]) -> int:
    if name not in ("sin", "cos"):
        return _number(name, v)
    t = _number("angle", v)
    below = _inverse(1 + t * t)
    return (2 * t if name == "sin" else 1 - t * t) * below % PRIME


def _inverse(a: int) -> int:
    if a % PRIME == 0:
        raise ZeroDivisionError
    return pow(a, -1, PRIME)


def _number(*key: object) -> int:
    """A random number of its own, the same in every process."""
    return int.from_bytes(sha256(repr(key).encode()).digest()) % PRIME

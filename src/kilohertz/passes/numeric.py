"""Numbers at compile time: the value of a scalar expression for given values of its variables, where it has one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from kilohertz.ir.builtins import BUILTINS
from kilohertz.ir.expr import Binary, Bool, Builtin, Enum, Expr, IfExp, Int, Real, Ref, Unary
from kilohertz.ir.flat import CONSTANT, PARAMETER, Flat
from kilohertz.ir.rules.arithmetic import OPERATORS, EvaluationError
from kilohertz.ir.traverse import bottom_up, refs


class Numeric:
    """Evaluates expressions; `values` may grow between calls only by names not asked for before."""

    def __init__(self, values: Mapping[str, float], default: Callable[[Ref], float | None] | None = None) -> None:
        self._values = values
        self._default = default
        self._memo: dict[Expr, float | None] = {}

    def __call__(self, e: Expr) -> float | None:
        """The value, or None where something in it is not known or has no finite value."""
        return bottom_up(e, self._node, self._memo)

    def _node(self, e: Expr, v: list[float | None]) -> float | None:
        match e:
            case Real(value) | Int(value) | Bool(value):
                return value
            case Enum(_, index):
                return index
            case Ref(name):
                known = self._values.get(name)
                return known if known is not None or self._default is None else self._default(e)
            case IfExp():
                if v[0] is None:
                    return None
                return v[1] if v[0] else v[2]
            case Unary(op, _):
                return None if v[0] is None else -v[0] if op == "-" else not v[0]
            case Binary(op, _, _) if op in OPERATORS:
                return _applied(OPERATORS[op], v)
            case Builtin(name, _):
                return _function(name, v)
            case _:
                return None


def _function(name: str, v: list[float | None]) -> float | None:
    function = BUILTINS.get(name)
    if function is None:
        return None
    if function.same_as is not None:
        return v[function.same_as]
    return None if function.value is None or len(v) != function.count else _applied(function.value, v)


def _applied(f: Callable[..., float], v: list[float | None]) -> float | None:
    if any(x is None for x in v):
        return None
    try:
        result = f(*v)
    except (EvaluationError, ArithmeticError):
        return None
    return result if math.isfinite(result) else None


def settled(sources: Mapping[str, Expr], known: Mapping[str, float] | None = None) -> dict[str, float]:
    """Values of named expressions over one another and over what is `known`, as far as they have any."""
    values: dict[str, float] = dict(known or {})
    waiting = dict(sources)
    while waiting:
        numeric = Numeric(values)  # anew in each round: it remembers what was not known when it was asked for
        left: dict[str, Expr] = {}
        for name, e in waiting.items():
            value = numeric(e)
            if value is None:
                left[name] = e
            else:
                values[name] = value
        if len(left) == len(waiting):
            break
        waiting = left
    return values


def known_values(flat: Flat) -> dict[str, float]:
    """Numbers for parameters and constants of a scalar Flat."""
    sources: dict[str, Expr] = {}
    for v in flat.variables.values():
        source = v.binding if v.binding is not None else v.attributes.get("start")
        if v.variability in (CONSTANT, PARAMETER) and source is not None:
            sources[v.name] = source
    return settled(sources)


def free_names(bindings: Mapping[str, Expr | None], roots: set[str]) -> set[str]:
    """Parameters that depend on those in `roots` (which are solved for at the start), and these."""
    if not roots:
        return set()
    readers: dict[str, list[str]] = {}
    for name, binding in bindings.items():
        for ref in refs(binding) if binding is not None else ():
            readers.setdefault(ref.name, []).append(name)
    free = set(roots)
    stack = sorted(roots)
    while stack:
        for name in readers.get(stack.pop(), ()):
            if name not in free:
                free.add(name)
                stack.append(name)
    return free

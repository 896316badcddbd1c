"""Parameters and constants whose own value is outside their `min` and `max`: S343 (MLS 4.8).

A limit that somebody wrote at the parameter refuses the model, with two exceptions that are warnings, for libraries in
wide use live with them: a limit that is only its type's, such as the range of a medium's temperatures, and the value
that a parameter inside a component gets from other parameters (handed on to a block that allows less, or worked out).
What has a value while compiling is looked at: bindings over constants and other parameters, short functions included.
What is set later is checked where it is set.  Cost: each binding of a variable with a limit, and what it needs, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kilohertz.base import Diagnostic, Note, Severity
from kilohertz.base.dotted import Dotted
from kilohertz.interp import ArrayValue, EvaluationError, Evaluator, NotConstant, Value
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import CONSTANT, PARAMETER, Flat, Purpose, Variable
from kilohertz.ir.traverse import refs

_SLACK = 1e-9  # of the limit: a conversion of units may round
_CALLS, _TURNS = 20, 1000  # of functions and their loops, in one binding


def check_limits(
    flat: Flat, is_of_type: Callable[[str, str], bool], is_handed_on: Callable[[str], bool]
) -> Iterator[Diagnostic]:
    """One for each variable; the first element that is outside is named.

    `is_of_type` (of a variable and `min` or `max`): only its type has this limit.  `is_handed_on`: its value was not
    written as a number, though it may be one by now.
    """
    values = _Values(flat)
    for v in flat.variables.values():
        if v.variability in (PARAMETER, CONSTANT) and v.binding is not None and v.purpose is Purpose.DECLARED:
            for name, sign in (("min", 1.0), ("max", -1.0)):
                limit = values.numbers(v.attributes.get(name))
                found = values.numbers(v.binding) if limit else []
                if limit and found and len(limit) in (1, len(found)):
                    for said in _outside(v, name, sign, found, limit * (len(found) if len(limit) == 1 else 1)):
                        yield _softened(said, v, is_of_type(v.name, name), is_handed_on(v.name))


def _outside(v: Variable, name: str, sign: float, found: list[float], limits: list[float]) -> Iterator[Diagnostic]:
    for value, limit in zip(found, limits, strict=True):
        if sign * (value - limit) < -_SLACK * abs(limit):
            whole = f"`{v.name}`" if len(found) == 1 else f"an element of `{v.name}`"
            text = f"{whole} is {value:g} although its {name} is {limit:g}"
            spans = v.origin.spans
            notes = (Note(f"`{v.name}` is declared here", spans[-1]),) if len(spans) > 1 else ()
            yield Diagnostic("S343", text, spans[0] if spans else None, notes=notes)
            return


def _softened(said: Diagnostic, v: Variable, is_of_type: bool, is_handed_on: bool) -> Diagnostic:
    """A warning where nobody wrote this value and this limit at one parameter."""
    if is_of_type:
        why = "the limit is one of its type"
    elif Dotted.read(v.name).owner.parts and v.binding is not None and (is_handed_on or refs(v.binding)):
        why = "the value comes from other parameters"
    else:
        return said
    return replace(said, severity=Severity.WARNING, notes=(*said.notes, Note(why)))


class _Values:
    """Values of parameters and constants, worked out where they are asked for."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._known: dict[str, Value] = {}
        self._open: list[str] = []
        self._evaluator = Evaluator(flat.functions, max_calls=_CALLS, max_iterations=_TURNS)

    def numbers(self, e: Expr | None) -> list[float]:
        """The elements of a value, row by row; none where it is not known while compiling, or no number."""
        if e is None:
            return []
        try:
            value = self._evaluator.evaluate(e, self._value)
        except (NotConstant, EvaluationError, RecursionError):
            return []
        elements = value.data if isinstance(value, ArrayValue) else [value]
        plain = all(isinstance(x, int | float) and not isinstance(x, bool) for x in elements)
        return [float(x) for x in elements] if plain else []

    def _value(self, name: str) -> Value:
        if name not in self._known:
            v = self._flat.variables.get(name)
            if v is None or v.binding is None or v.variability not in (PARAMETER, CONSTANT) or name in self._open:
                raise NotConstant(name)
            self._open.append(name)
            try:
                self._known[name] = self._evaluator.evaluate(v.binding, self._value)
            finally:
                self._open.pop()
        return self._known[name]

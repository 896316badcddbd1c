"""From the text of a stimulus to what the runtime evaluates (`runtime/inputs/khz_formula.h`), and what decides in it.

The text is an expression in Modelica's syntax over `time`: operators, `if`, the functions of `_FUNCTIONS`, and calls of
generators and of `table`.  Every `time` below a relation, a `floor` or a `ceil` decides; it is emitted as `when`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NoReturn, TypeAlias

from kilohertz.base import Diagnostic, ModelError, near
from kilohertz.runtime import constant, family
from kilohertz.stimuli.generators import GENERATORS, Generator
from kilohertz.syntax import parse_expression, tree, unparse

OPERATIONS = family("KHZ_OPERATION_")
_DEPTH = constant("KHZ_FORMULA_DEPTH")
_BINARY = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power", "and": "and", "or": "or"}
_ONE = (
    "abs",
    "sign",
    "sqrt",
    "exp",
    "log",
    "log10",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
)
_STEPS = ("floor", "ceil")  # and `sign`: their values jump, so they decide
_FUNCTIONS = (*_ONE, *_STEPS, "atan2", "min", "max", "mod", "table", *GENERATORS)
_INNER = {"bit": 3, "normal": 2, "uniform": 2}  # of formulas of generators only
Node: TypeAlias = tree.Expr
Code: TypeAlias = tuple[tuple[int, float], ...]  # operation, number


@dataclass(frozen=True, slots=True)
class Decision:
    """What the pieces of a formula depend on: the sign of a value, its whole part, or the rows of a table it passes.

    `line`: (slope, offset) where it is linear in time; else `code` gives it at an instant.
    """

    kind: str  # "sign", "whole", "rows"
    line: tuple[float, float] | None
    code: Code = ()
    rows: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """A stimulus ready to be evaluated."""

    text: str
    code: Code
    decisions: tuple[Decision, ...] = ()

    def lines(self) -> list[str]:
        """Each operation as a scenario for the executable has it."""
        words = {code: name for name, code in OPERATIONS.items()}
        out: list[str] = []
        left = 0  # rows of a table are numbers
        for operation, number in self.code:
            word = words[operation]
            is_number = left > 0 or word == "number"
            out.append(repr(number) if is_number else f"{word} {number!r}" if word in ("held", "lines") else word)
            left = 2 * int(number) if word in ("held", "lines") and not left else max(0, left - 1)
        return out


def formula_of(text: str | float, is_stair: bool = False) -> Formula:
    """R764 where it is no formula of time.

    `is_stair`: it decides wherever the nearest whole number changes, and rests between, for inputs that are no Reals.
    """
    return _formula_of(str(text), is_stair)


@lru_cache(maxsize=512)
def _formula_of(text: str, is_stair: bool) -> Formula:
    try:
        parsed = parse_expression(text, "<stimulus>")
    except ModelError as error:
        _wrong(text, error.diagnostics[0].message)
    writer = _Writer(text)
    writer.write(parsed, {}, decides=is_stair)
    if is_stair:
        writer.decide_on_halves(parsed)
    if writer.deepest > _DEPTH:
        _wrong(text, f"it needs more than {_DEPTH} values at a time")
    return Formula(text, tuple(writer.code), tuple(writer.decisions))


def _wrong(text: str, why: str) -> NoReturn:
    raise ModelError(Diagnostic("R764", f"`{text}` is no stimulus: {why}"))


Names: TypeAlias = Mapping[str, Node]  # what was given to a generator, within its formula


@dataclass(slots=True)
class _Writer:
    text: str
    code: list[tuple[int, float]] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    depth: int = 0
    deepest: int = 0

    def write(self, node: Node, names: Names, *, decides: bool) -> None:
        """Append what leaves the node's value on the stack."""
        match node:
            case tree.Number(value=value) | tree.Boolean(value=value):
                self._number(float(value))
            case tree.Ref(names=(name,), subs=None):
                self._name(name, names, decides)
            case tree.Unary(op=op, operand=operand):
                self.write(operand, names, decides=decides)
                if op.removeprefix(".") != "+":
                    self._put("not" if op == "not" else "negate", 1)
            case tree.Binary():
                self._binary(node, names, decides)
            case tree.IfExp(branches=branches, otherwise=otherwise):
                self._if(branches, otherwise, names, decides)
            case tree.Call(function=tree.Ref(names=(function,))):
                self._call(function, node, names, decides)
            case _:
                _wrong(self.text, f"`{unparse(node)}` has no value here")

    def decide_on_halves(self, node: Node) -> None:
        """The nearest whole number is another where the value passes a half."""
        self._decide("whole", _of("+", node, tree.Number(node.start, node.end, 0.5)), {})

    # -------------------------------------------------------------------------------------------------------- parts

    def _put(self, word: str, operands: int, number: float = 0.0) -> None:
        self.code.append((OPERATIONS[word], number))
        self.depth += 1 - operands
        self.deepest = max(self.deepest, self.depth)

    def _number(self, value: float) -> None:
        if not math.isfinite(value):
            _wrong(self.text, "a number in it is too large")
        self._put("number", 0, value)

    def _name(self, name: str, names: Names, decides: bool) -> None:
        if name in names:
            self.write(names[name], {}, decides=decides)
        elif name == "time":
            self._put("when" if decides else "time", 0)
        elif name == "pi":
            self._number(math.pi)
        else:
            forms = "`sine(frequency = 2)` or `sin(2*pi*time)`"
            _wrong(self.text, f"`{name}` is neither `time` nor `pi`; one with values is written {forms}")

    def _binary(self, node: tree.Binary, names: Names, decides: bool) -> None:
        op, left, right = node.op.removeprefix("."), node.left, node.right
        if op in _BINARY:
            self._both(left, right, names, decides)
            self._put(_BINARY[op], 2)
            return
        first, second = (right, left) if op in (">", ">=") else (left, right)
        self._decide("sign", tree.Binary(node.start, node.end, "-", first, second), names)
        self._both(first, second, names, True)
        self._put({"<": "less", ">": "less", "<=": "less_equal", ">=": "less_equal"}.get(op, "equal"), 2)
        if op == "<>":
            self._put("not", 1)

    def _both(self, left: Node, right: Node, names: Names, decides: bool) -> None:
        self.write(left, names, decides=decides)
        self.write(right, names, decides=decides)

    def _if(self, branches: tuple[tuple[Node, Node], ...], otherwise: Node, names: Names, decides: bool) -> None:
        for condition, value in branches:
            self.write(condition, names, decides=True)
            self.write(value, names, decides=decides)
        self.write(otherwise, names, decides=decides)
        for _ in branches:
            self._put("select", 3)

    def _decide(self, kind: str, node: Node, names: Names, rows: tuple[float, ...] = ()) -> None:
        line = _linear(node, names)
        if line is not None and line[0] == 0.0:
            return  # a constant decides once and for all
        inner = _Writer(self.text)
        if line is None:
            inner.write(node, names, decides=True)
        self.decisions.append(Decision(kind, line, tuple(inner.code), rows))

    # --------------------------------------------------------------------------------------------------------- calls

    def _call(self, function: str, call: tree.Call, names: Names, decides: bool) -> None:
        inside = bool(names)
        if inside and function in _INNER and not call.named:
            for argument in call.args:
                self.write(argument, names, decides=decides)
            self._put(function, _INNER[function])
        elif function in GENERATORS:
            self._generator(GENERATORS[function], call, decides)
        elif function == "table":
            self._table(call, decides)
        elif function not in _FUNCTIONS:
            _wrong(self.text, f"there is no function `{function}` here{near(function, _FUNCTIONS)}")
        else:
            self._function(function, call, names, decides)

    def _function(self, function: str, call: tree.Call, names: Names, decides: bool) -> None:
        count = 1 if function in (*_ONE, *_STEPS) else 2
        if len(call.args) != count or call.named:
            _wrong(self.text, f"`{function}` takes {count} value{'s' * (count > 1)}")
        if function == "mod":  # MLS 3.7.2: x - floor(x/y)*y
            x, y = call.args
            steps = tree.Call(call.start, call.end, tree.Ref(call.start, call.end, ("floor",)), (_of("/", x, y),))
            self.write(_of("-", x, _of("*", steps, y)), names, decides=decides)
            return
        jumps = function in _STEPS or function == "sign"
        if jumps:
            self._decide("sign" if function == "sign" else "whole", call.args[0], names)
        for argument in call.args:
            self.write(argument, names, decides=decides or jumps)
        self._put(function, count)

    def _generator(self, g: Generator, call: tree.Call, decides: bool) -> None:
        values = self._given(g, call)
        for name, value in values.items():
            low, high = g.limits.get(name, (-math.inf, math.inf))
            if (name in g.above_zero and not value > 0) or not low <= value <= high:
                allowed = "above zero" if name in g.above_zero else f"from {low:g} to {high:g}"
                _wrong(self.text, f"`{name}` of {g.name} is {value:g}, but must be {allowed}")
        names = {n: tree.Number(call.start, call.end, value) for n, value in values.items()}
        self.write(_template(g.name), names, decides=decides)

    def _given(self, g: Generator, call: tree.Call) -> dict[str, float]:
        values = dict(g.given)
        if len(call.args) > len(g.given):
            _wrong(self.text, f"{g.name} takes {', '.join(g.given)}")
        for name, node in (*zip(g.given, call.args, strict=False), *call.named):
            if name not in g.given:
                _wrong(self.text, f"{g.name} has no `{name}`{near(name, list(g.given))}; it takes {', '.join(g.given)}")
            line = _linear(node, {})
            if line is None or line[0] != 0.0:
                _wrong(self.text, f"`{name}` of {g.name} is `{unparse(node)}`, but must be a constant")
            values[name] = line[1]
        return values

    def _table(self, call: tree.Call, decides: bool) -> None:
        parts = dict((*zip(("times", "values", "linear"), call.args, strict=False), *call.named))
        unknown = [n for n in parts if n not in ("times", "values", "linear")]
        if unknown or len(call.args) > 3:
            _wrong(self.text, "table takes times, values and linear")
        times, values = (self._row(parts.get(key), key) for key in ("times", "values"))
        if len(times) != len(values) or any(b < a for a, b in pairwise(times)):
            _wrong(self.text, "a table has as many times as values, and times that never fall")
        flag = _linear(parts["linear"], {}) if "linear" in parts else (0.0, 0.0)
        clock = tree.Ref(call.start, call.end, ("time",))
        self._decide("rows", clock, {}, times)
        self.write(clock, {}, decides=True)
        self.write(clock, {}, decides=decides)
        self._put("lines" if flag is not None and flag[1] else "held", 2, float(len(times)))
        for pair in zip(times, values, strict=True):
            self.code += [(OPERATIONS["number"], v) for v in pair]

    def _row(self, node: Node | None, key: str) -> tuple[float, ...]:
        if not isinstance(node, tree.Array) or not node.elements:
            _wrong(self.text, f"table needs `{key} = {{...}}`, numbers in braces")
        lines = [_linear(e, {}) for e in node.elements]
        if any(line is None or line[0] != 0.0 for line in lines):
            _wrong(self.text, f"`{key}` of a table must be numbers")
        return tuple(line[1] for line in lines if line is not None)


@lru_cache(maxsize=len(GENERATORS))
def _template(name: str) -> Node:
    return parse_expression(GENERATORS[name].formula, f"<{name}>")


def _of(op: str, left: Node, right: Node) -> Node:
    return tree.Binary(left.start, right.end, op, left, right)


def _linear(node: Node, names: Names) -> tuple[float, float] | None:
    """(slope, offset) of what is linear in time; None where it is not seen to be."""
    match node:
        case tree.Number(value=value) | tree.Boolean(value=value):
            return 0.0, float(value)
        case tree.Ref(names=("time",), subs=None):
            return 1.0, 0.0
        case tree.Ref(names=("pi",), subs=None):
            return 0.0, math.pi
        case tree.Ref(names=(name,), subs=None) if name in names:
            return _linear(names[name], {})
        case tree.Unary(op="-" | ".-" | "+" | ".+" as op, operand=operand):
            line = _linear(operand, names)
            sign = -1.0 if op.endswith("-") else 1.0
            return None if line is None else (sign * line[0], sign * line[1])
        case tree.Binary(op=op, left=left, right=right):
            a, b = _linear(left, names), _linear(right, names)
            return None if a is None or b is None else _combined(op.removeprefix("."), a, b)
    return None


def _combined(op: str, a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float] | None:
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[0], a[1] - b[1]
        case "*" if a[0] == 0.0 or b[0] == 0.0:
            return a[0] * b[1] + b[0] * a[1], a[1] * b[1]
        case "/" if b[0] == 0.0 and b[1] != 0.0:
            return a[0] / b[1], a[1] / b[1]
        case "^" if a[0] == b[0] == 0.0 and (a[1] > 0.0 or (b[1].is_integer() and (a[1] != 0.0 or b[1] > 0))):
            return 0.0, a[1] ** b[1]
    return None

"""Units that cannot be right: S342, a warning (MLS 19 leaves the check to tools).

Every expression has a quantity, where it is known: the dimension, and how many SI units one of its own is.  What has no
unit, what a function gives and numbers that may carry a unit of their own are unknown and agree with everything, so a
warning needs two sides that were both declared.  Of a sum, a choice, a comparison, an equation and a binding both sides
must agree; products multiply.  A factor that is no simple number may convert units: the scale is unknown then.
Cost: every node once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from kilohertz.base import Diagnostic, Note, Origin, Severity, Span
from kilohertz.base.units import BASE, UnitError, parse_unit
from kilohertz.ir.expr import TIME, Array, Binary, Builtin, Call, Expr, IfExp, Index, Int, Real, Ref, Str, Unary
from kilohertz.ir.flat import Assign, Equality, Equation, Flat, Local, Statement, TupleTarget
from kilohertz.ir.text.expr_printer import print_expr
from kilohertz.semantics.balancing.equation_parts import bodies
from kilohertz.semantics.wording import counted

_SAME_SCALE = 1e-6  # relative: conversions are written with so many digits
_LONGEST = 60  # characters of an expression in a message
_SIMPLE = frozenset({0.25, 0.5, *map(float, range(1, 17))})  # numbers that count or halve; no conversion is among them
_SUMS = frozenset({"+", "-", ".+", ".-", "<", "<=", ">", ">=", "==", "<>"})
_PRODUCTS = {"*": 1, ".*": 1, "/": -1, "./": -1}
_POWERS = frozenset({"^", ".^"})
# Those whose result is what one of their arguments is: the position of that argument.
_PASSED_ON = {
    **dict.fromkeys(("abs", "noEvent", "pre", "previous", "hold", "sum", "transpose", "vector", "scalar", "real"), 0),
    **dict.fromkeys(("delay", "homotopy", "actualStream", "inStream", "subSample", "superSample", "shiftSample"), 0),
    "smooth": 1,
}
_ATTRIBUTES = ("start", "min", "max", "nominal")


@dataclass(frozen=True, slots=True)
class Quantity:
    """Exponents of the base units, SI units in one of its own (None: not known), and the text that was declared."""

    dimension: tuple[Fraction, ...]
    scale: float | None
    text: str = ""

    def agrees(self, other: Quantity) -> bool:
        if self.dimension != other.dimension:
            return False
        if self.scale is None or other.scale is None:
            return True
        return abs(self.scale - other.scale) <= _SAME_SCALE * abs(self.scale)

    def times(self, other: Quantity, power: int) -> Quantity:
        dimension = tuple(a + power * b for a, b in zip(self.dimension, other.dimension, strict=True))
        known = self.scale is not None and other.scale is not None
        return Quantity(dimension, self.scale * other.scale**power if known else None)  # type: ignore[operator]

    def to_the(self, power: Fraction) -> Quantity:
        scale = self.scale ** float(power) if self.scale is not None else None
        return Quantity(tuple(power * d for d in self.dimension), scale)

    def as_text(self) -> str:
        if self.text:
            return self.text
        below = [(b, -n) for b, n in zip(BASE, self.dimension, strict=True) if n < 0]
        above = ".".join(_factor(b, n) for b, n in zip(BASE, self.dimension, strict=True) if n > 0) or "1"
        under = ".".join(_factor(b, n) for b, n in below)
        return f"{above}/({under})" if len(below) > 1 else f"{above}/{under}" if below else above


def _factor(base: str, power: Fraction) -> str:
    return base if power == 1 else f"{base}{power}" if power.denominator == 1 else f"{base}({power})"


def declared(text: str) -> Quantity | None:
    """The quantity of a unit as it is written; None where it is none, or is left open.  So is `1`: it is what libraries
    write for the parameter of a curve, whose unit changes along it."""
    try:
        unit = parse_unit(text)
    except UnitError:
        return None
    if text.strip() in ("", "1"):
        return None
    scale = unit.factor if unit.offset == 0.0 else None
    return Quantity(tuple(map(Fraction, unit.dimension)), scale, text)


_NUMBER = Quantity((Fraction(0),) * len(BASE), 1.0)
_SECOND = declared("s")


def check_units(
    flat: Flat, open_ones: Collection[Expr] = (), of_functions: Mapping[tuple[str, str], str] | None = None
) -> Iterator[Diagnostic]:
    """A warning for each place with a clash, the first one in it; units of `open_ones` are not known.

    `of_functions`: units of their inputs, outputs and local variables, by function and name.
    """
    at: dict[Span | str, list[Diagnostic]] = {}
    for clash in _clashes(flat, open_ones, of_functions or {}):
        at.setdefault(clash.span or clash.message, []).append(clash)
    for first, *others in at.values():
        more = (Note(f"the same in {counted(len(others), 'other component')}"),) if others else ()
        yield replace(first, notes=(*first.notes, *more))


def _clashes(
    flat: Flat, open_ones: Collection[Expr], of_functions: Mapping[tuple[str, str], str]
) -> Iterator[Diagnostic]:
    """One for each equation, statement or binding."""
    units = _Units(flat, of_functions)
    checker = _Checker(units.of_variable, units, open_ones)
    for v in flat.variables.values():
        declared = units.of_variable(v.name)
        for e in (v.binding, *(v.attributes.get(name) for name in _ATTRIBUTES)):
            if e is not None:
                yield from checker.compared(Ref(v.name, v.ty), declared, e, v.origin)
    algorithms = [*flat.algorithms, *flat.initial_algorithms]
    statements = [statement for algorithm in algorithms for statement in algorithm.statements]
    yield from checker.parts([*flat.equations, *flat.initial_equations, *statements])
    for function in flat.functions.values():
        inside = _Checker(partial(units.of_local, function.id), units, open_ones)
        yield from inside.parts(function.body)


class _Units:
    """Units that were declared, each read once."""

    def __init__(self, flat: Flat, of_functions: Mapping[tuple[str, str], str]) -> None:
        self._variables, self.functions, self._of_functions = flat.variables, flat.functions, of_functions
        self._known: dict[str | tuple[str, str], Quantity | None] = {}

    def of_variable(self, name: str) -> Quantity | None:
        if name not in self._known:
            v = self._variables.get(name)
            unit = v.attributes.get("unit") if v is not None else None
            texts = {e.value for e in unit.elements if isinstance(e, Str)} if isinstance(unit, Array) else set()
            text = unit.value if isinstance(unit, Str) else texts.pop() if len(texts) == 1 else ""
            self._known[name] = declared(text)
        return self._known[name]

    def of_local(self, function: str, name: str) -> Quantity | None:
        key = function, name
        if key not in self._known:
            self._known[key] = declared(self._of_functions.get(key, ""))
        return self._known[key]


class _Checker:
    """Quantities of the expressions of a model, each found once; `clash` is the first pair that does not agree."""

    def __init__(self, of_name: Callable[[str], Quantity | None], units: _Units, open_ones: Collection[Expr]) -> None:
        self._of_name, self._all = of_name, units
        self._known: dict[Expr, Quantity | None] = {
            **dict.fromkeys(open_ones),
            TIME: None,
        }  # ramps are written as if a second were a number
        self._clash: tuple[Expr, Quantity, Expr, Quantity] | None = None

    def parts(self, parts: Iterable[Equation | Statement]) -> Iterator[Diagnostic]:
        stack = list(parts)[::-1]
        while stack:
            match stack.pop():
                case Equality(left, right, origin) | Assign(left, right, origin) if isinstance(left, Expr):
                    yield from self.compared(left, self.quantity(left), right, origin)
                case Equality(TupleTarget(targets), Call() as call, origin):
                    yield from self._compared_results(targets, call, origin)
                case Assign(TupleTarget(targets), Call() as call, origin):
                    yield from self._compared_results(targets, call, origin)
                case part:
                    stack += [*bodies(part)][::-1]

    def compared(self, left: Expr, of_left: Quantity | None, right: Expr, origin: Origin) -> Iterator[Diagnostic]:
        yield from self._compared(left, of_left, right, self.quantity(right), origin)

    def _compared_results(self, targets: Sequence[Expr | None], call: Call, origin: Origin) -> Iterator[Diagnostic]:
        """Results of a call with what they are handed to."""
        self.quantity(call)  # its arguments
        function = self._all.functions.get(call.function)  # none: an argument of the function around it
        for target, result in zip(targets, function.outputs if function is not None else (), strict=False):
            if target is not None:
                unit = self._result(call, result)
                yield from self._compared(target, self.quantity(target), _named(call, result), unit, origin)

    def _compared(
        self, left: Expr, of_left: Quantity | None, right: Expr, other: Quantity | None, origin: Origin
    ) -> Iterator[Diagnostic]:
        if self._clash is None and of_left is not None and other is not None and not of_left.agrees(other):
            self._clash = (left, of_left, right, other)
        if self._clash is None:
            return
        a, one, b, two = self._clash
        self._clash = None
        text = f"units do not agree: `{_short(a)}` is in {one.as_text()}, `{_short(b)}` in {two.as_text()}"
        where = f" in component `{origin.path}`" if origin.path else ""
        notes: tuple[Note, ...] = ()
        if one.dimension == two.dimension:
            notes = (Note("they measure the same in different units: a factor is missing"),)
        place = origin.spans[0] if origin.spans else None
        yield Diagnostic("S342", text + where, place, notes=notes, severity=Severity.WARNING)

    def quantity(self, root: Expr) -> Quantity | None:
        """On an explicit stack: sums are long."""
        stack = [root]
        while stack:
            e = stack[-1]
            if e in self._known:
                stack.pop()
                continue
            missing = [c for c in e.children() if c not in self._known]
            if missing:
                stack += missing
                continue
            self._known[e] = self._of(e)
            stack.pop()
        return self._known[root]

    def _of(self, e: Expr) -> Quantity | None:
        match e:
            case Ref(name):
                return self._of_name(name)
            case Unary("-" | "+", operand):
                return self._known[operand]
            case Index(base, _):
                return self._known[base]
            case Binary(op, left, right) if op in _SUMS:
                return self._agreed(left, right)
            case Binary(op, left, right) if op in _PRODUCTS:
                return self._product(left, right, _PRODUCTS[op])
            case Binary(op, base, exponent) if op in _POWERS:
                return self._power(base, exponent)
            case IfExp(_, then, otherwise):
                agreed = self._agreed(then, otherwise)
                return None if _literal(then) or _literal(otherwise) else agreed  # 1 or R: a factor without a unit
            case Builtin():
                return self._builtin(e)
            case Call():
                return self._call(e)
            case _:
                return None

    def _call(self, e: Call) -> Quantity | None:
        """Arguments agree with the inputs they are for; what a call is, its only result says.

        What has no dimension is taken for any input: times and lengths are scaled before tables and curves get them,
        voltages are given per unit.  What comes back is as scaled, and its unit not known.
        """
        function = self._all.functions.get(e.function)
        if function is None:
            return None
        for argument, x in zip(e.args, function.inputs, strict=False):
            known, wanted = self._known[argument], self._all.of_local(e.function, x.name)
            if known is None or wanted is None or _is_scaled(known, wanted):
                continue
            if not known.agrees(wanted):
                self._clash = self._clash or (argument, known, _named(e, x), wanted)
        return self._result(e, function.outputs[0]) if len(function.outputs) == 1 else None

    def _result(self, e: Call, output: Local) -> Quantity | None:
        """The unit of a result; None where something that it is computed from is scaled."""
        inputs = zip(e.args, self._all.functions[e.function].inputs, strict=False)
        pairs = [(self._known[a], self._all.of_local(e.function, x.name)) for a, x in inputs]
        is_scaled = any(a is not None and x is not None and _is_scaled(a, x) for a, x in pairs)
        return None if is_scaled else self._all.of_local(e.function, output.name)

    def _agreed(self, a: Expr, b: Expr) -> Quantity | None:
        one, two = self._known[a], self._known[b]
        if one is None or two is None:
            if _is_fitted(a, b) or _is_fitted(b, a):
                return None
            return one if _literal(b) is not None else two if _literal(a) is not None else None
        if not one.agrees(two):
            self._clash = self._clash or (a, one, b, two)
            return None
        return one if one.scale is not None else two

    def _product(self, a: Expr, b: Expr, power: int) -> Quantity | None:
        one, two = self._factor(a), self._factor(b)
        return one.times(two, power) if one is not None and two is not None else None

    def _factor(self, e: Expr) -> Quantity | None:
        number = _literal(e)
        if number is None:
            return self._known[e]
        return _NUMBER if abs(number) in _SIMPLE else None

    def _power(self, base: Expr, exponent: Expr) -> Quantity | None:
        one, power = self._known[base], _literal(exponent)
        if one is None or power is None:
            return None
        return one.to_the(Fraction(power).limit_denominator(12))

    def _builtin(self, e: Builtin) -> Quantity | None:
        if e.name in _PASSED_ON and len(e.args) > _PASSED_ON[e.name]:
            return self._known[e.args[_PASSED_ON[e.name]]]
        if e.name == "der":
            return _rate(self._known[e.args[0]])
        if e.name == "sqrt":
            root = self._known[e.args[0]]
            return root.to_the(Fraction(1, 2)) if root is not None else None
        if e.name in ("min", "max") and len(e.args) == 2:
            return self._agreed(*e.args)
        return None


def _is_scaled(given: Quantity, wanted: Quantity) -> bool:
    """Something without a dimension where one is asked for."""
    return given.dimension == _NUMBER.dimension != wanted.dimension


def _named(call: Call, x: Local) -> Expr:
    """A variable of the function that is called, as messages name it."""
    return Ref(f"{call.function}.{x.name}", x.ty)


def _rate(moved: Quantity | None) -> Quantity | None:
    if moved is None or _SECOND is None:
        return None
    rate = moved.times(_SECOND, -1)
    return replace(rate, text=f"{moved.text}/s") if moved.text and "/" not in moved.text else rate


def _is_fitted(number: Expr, e: Expr) -> bool:
    """`4 + 4*v`: a line through measurements, whose numbers have units of their own."""
    factors = (e.left, e.right) if isinstance(e, Binary) and e.op in _PRODUCTS else ()
    return bool(_literal(number)) and any(_literal(f) is not None for f in factors)


def _literal(e: Expr) -> float | None:
    match e:
        case Real(value) | Int(value):
            return float(value)
        case Unary("-", Real(value) | Int(value)):
            return -float(value)
        case Builtin("real", (Int(value),)):
            return float(value)
        case _:
            return None


def _short(e: Expr) -> str:
    text = re.sub(r"\$\d+", "", print_expr(e))  # iterators as they are written
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."

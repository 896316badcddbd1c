"""Units that cannot be right: S342, a warning (MLS 19 leaves the check to tools).

Every expression has a quantity, where it is known: the dimension, and how many SI units one of its own is.  What has no
unit, what a function gives and numbers that may carry a unit of their own are unknown and agree with everything, so a
warning needs two sides that were both declared.  Of a sum, a choice, a comparison, an equation and a binding both sides
must agree; products multiply.  A factor that is no simple number may convert units: the scale is unknown then.
Cost: every node once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from kilohertz.base import Diagnostic, Note, Origin, Severity
from kilohertz.base.units import BASE, UnitError, parse_unit
from kilohertz.ir.expr import TIME, Array, Binary, Builtin, Expr, IfExp, Index, Int, Real, Ref, Str, Unary
from kilohertz.ir.flat import Equality, Flat, IfEquation, Variable, WhenEquation
from kilohertz.ir.text.expr_printer import print_expr

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


def check_units(flat: Flat, open_ones: Collection[Expr] = ()) -> Iterator[Diagnostic]:
    """A warning for each equation or binding with a clash, the first one in it; units of `open_ones` are not known."""
    checker = _Checker(flat, open_ones)
    for v in flat.variables.values():
        declared = checker.of_variable(v)
        for e in (v.binding, *(v.attributes.get(name) for name in _ATTRIBUTES)):
            if e is not None:
                yield from checker.compared(Ref(v.name, v.ty), declared, e, v.origin)
    stack = [*flat.equations, *flat.initial_equations][::-1]
    while stack:
        match stack.pop():
            case Equality(left, right, origin) if isinstance(left, Expr):
                yield from checker.compared(left, checker.quantity(left), right, origin)
            case IfEquation(branches, otherwise):
                stack += [*(e for _, body in branches for e in body), *otherwise]
            case WhenEquation(branches):
                stack += [e for _, body in branches for e in body]
            case _:
                continue


class _Checker:
    """Quantities of the expressions of a model, each found once; `clash` is the first pair that does not agree."""

    def __init__(self, flat: Flat, open_ones: Collection[Expr]) -> None:
        self._variables = flat.variables
        self._known: dict[Expr, Quantity | None] = {
            **dict.fromkeys(open_ones),
            TIME: None,
        }  # ramps are written as if a second were a number
        self._units: dict[str, Quantity | None] = {}
        self._clash: tuple[Expr, Quantity, Expr, Quantity] | None = None

    def compared(self, left: Expr, of_left: Quantity | None, right: Expr, origin: Origin) -> Iterator[Diagnostic]:
        other = self.quantity(right)
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

    def of_variable(self, v: Variable) -> Quantity | None:
        if v.name not in self._units:
            unit = v.attributes.get("unit")
            texts = {e.value for e in unit.elements if isinstance(e, Str)} if isinstance(unit, Array) else set()
            text = unit.value if isinstance(unit, Str) else texts.pop() if len(texts) == 1 else ""
            self._units[v.name] = declared(text)
        return self._units[v.name]

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
                v = self._variables.get(name)
                return self.of_variable(v) if v is not None else None
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
            case _:
                return None

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
    text = print_expr(e)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."

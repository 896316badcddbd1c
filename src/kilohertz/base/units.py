"""Units as Modelica writes them (MLS 19): `N.m/rad`, `kg.m2/s2`, `1/K`, `degC`; their dimension, and conversion.

    unit        = numerator ["/" denominator]           numerator, denominator: "1" | factors | "(" unit ")"
    factors     = factor {"." factor}                   factor = symbol [["+" | "-"] digits]

A symbol is one of the tables below, or a prefix before one of them (`kW`, `mbar`).  A plane angle has no dimension
(rad = 1).  Differences of temperature and temperatures are not told apart by the dimension, but by the offset: `degC`
converts to `K` with it, and in a product (`J/degC`) without.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

BASE = ("m", "kg", "s", "A", "K", "mol", "cd")
Dimension = tuple[int, ...]  # exponents of the base units
_NONE: Dimension = (0,) * len(BASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """`value in SI base units = factor * value + offset`."""

    factor: float
    dimension: Dimension
    offset: float = 0.0

    def as_text(self) -> str:
        """The dimension in base units: `kg.m2/s3`."""
        above = [f"{b}{n if n > 1 else ''}" for b, n in zip(BASE, self.dimension, strict=True) if n > 0]
        below = [f"{b}{-n if n < -1 else ''}" for b, n in zip(BASE, self.dimension, strict=True) if n < 0]
        if not below:
            return ".".join(above) or "1"
        under = below[0] if len(below) == 1 else f"({'.'.join(below)})"
        return f"{'.'.join(above) or '1'}/{under}"


class UnitError(ValueError):
    """A text that is no unit."""


def _dimension(**exponents: int) -> Dimension:
    return tuple(exponents.get(b, 0) for b in BASE)


_FORCE = _dimension(kg=1, m=1, s=-2)
_PRESSURE = _dimension(kg=1, m=-1, s=-2)
_ENERGY = _dimension(kg=1, m=2, s=-2)
_POWER = _dimension(kg=1, m=2, s=-3)
_VOLTAGE = _dimension(kg=1, m=2, s=-3, A=-1)

# symbols that take prefixes
_WITH_PREFIX: dict[str, Unit] = {
    "m": Unit(1.0, _dimension(m=1)),
    "g": Unit(1e-3, _dimension(kg=1)),
    "s": Unit(1.0, _dimension(s=1)),
    "A": Unit(1.0, _dimension(A=1)),
    "K": Unit(1.0, _dimension(K=1)),
    "mol": Unit(1.0, _dimension(mol=1)),
    "cd": Unit(1.0, _dimension(cd=1)),
    "rad": Unit(1.0, _NONE),
    "sr": Unit(1.0, _NONE),
    "Hz": Unit(1.0, _dimension(s=-1)),
    "N": Unit(1.0, _FORCE),
    "Pa": Unit(1.0, _PRESSURE),
    "bar": Unit(1e5, _PRESSURE),
    "J": Unit(1.0, _ENERGY),
    "W": Unit(1.0, _POWER),
    "C": Unit(1.0, _dimension(A=1, s=1)),
    "V": Unit(1.0, _VOLTAGE),
    "F": Unit(1.0, _dimension(kg=-1, m=-2, s=4, A=2)),
    "Ohm": Unit(1.0, _dimension(kg=1, m=2, s=-3, A=-2)),
    "S": Unit(1.0, _dimension(kg=-1, m=-2, s=3, A=2)),
    "Wb": Unit(1.0, _dimension(kg=1, m=2, s=-2, A=-1)),
    "T": Unit(1.0, _dimension(kg=1, s=-2, A=-1)),
    "H": Unit(1.0, _dimension(kg=1, m=2, s=-2, A=-2)),
    "lm": Unit(1.0, _dimension(cd=1)),
    "lx": Unit(1.0, _dimension(cd=1, m=-2)),
    "Bq": Unit(1.0, _dimension(s=-1)),
    "Gy": Unit(1.0, _dimension(m=2, s=-2)),
    "Sv": Unit(1.0, _dimension(m=2, s=-2)),
    "kat": Unit(1.0, _dimension(mol=1, s=-1)),
    "l": Unit(1e-3, _dimension(m=3)),
    "L": Unit(1e-3, _dimension(m=3)),
    "eV": Unit(1.602176634e-19, _ENERGY),
    "var": Unit(1.0, _POWER),
    "VA": Unit(1.0, _POWER),
    "t": Unit(1e3, _dimension(kg=1)),
    "cal": Unit(4.184, _ENERGY),
    "Wh": Unit(3600.0, _ENERGY),
    "mho": Unit(1.0, _dimension(kg=-1, m=-2, s=3, A=2)),
}
_PLAIN: dict[str, Unit] = {
    "1": Unit(1.0, _NONE),
    "min": Unit(60.0, _dimension(s=1)),
    "h": Unit(3600.0, _dimension(s=1)),
    "d": Unit(86400.0, _dimension(s=1)),
    "day": Unit(86400.0, _dimension(s=1)),
    "yr": Unit(31557600.0, _dimension(s=1)),
    "deg": Unit(math.pi / 180, _NONE),
    "rev": Unit(2 * math.pi, _NONE),
    "rpm": Unit(2 * math.pi / 60, _dimension(s=-1)),
    "degC": Unit(1.0, _dimension(K=1), 273.15),
    "degF": Unit(5 / 9, _dimension(K=1), 459.67 * 5 / 9),
    "degRk": Unit(5 / 9, _dimension(K=1)),
    "%": Unit(1e-2, _NONE),
    "ppm": Unit(1e-6, _NONE),
    "dB": Unit(1.0, _NONE),
    "kn": Unit(1852.0 / 3600.0, _dimension(m=1, s=-1)),
    "atm": Unit(101325.0, _PRESSURE),
    "mmHg": Unit(133.322387415, _PRESSURE),
    "psi": Unit(6894.757293168, _PRESSURE),
    "ft": Unit(0.3048, _dimension(m=1)),
    "in": Unit(0.0254, _dimension(m=1)),
    "inch": Unit(0.0254, _dimension(m=1)),
    "mi": Unit(1609.344, _dimension(m=1)),
    "lb": Unit(0.45359237, _dimension(kg=1)),
    "lbf": Unit(4.4482216152605, _FORCE),
    "kp": Unit(9.80665, _FORCE),
    "hp": Unit(745.69987158227, _POWER),
    "btu": Unit(1055.05585262, _ENERGY),
    "u": Unit(1.66053906660e-27, _dimension(kg=1)),
}
_PREFIXES = {
    "Y": 1e24,
    "Z": 1e21,
    "E": 1e18,
    "P": 1e15,
    "T": 1e12,
    "G": 1e9,
    "M": 1e6,
    "k": 1e3,
    "h": 1e2,
    "da": 1e1,
    "d": 1e-1,
    "c": 1e-2,
    "m": 1e-3,
    "u": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
    "f": 1e-15,
    "a": 1e-18,
    "z": 1e-21,
    "y": 1e-24,
}
# how measuring tools spell units
_SPELLINGS = {"°C": "degC", "°F": "degF", "°": "deg", "Ω": "Ohm", "µ": "u", "μ": "u", "²": "2", "³": "3", "^": ""}
_SPELLINGS |= {"·": ".", "*": "."}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf|nan)(\s+\S.*|[^\d.eE\s].*|)", re.I)
_TOKEN = re.compile(r"\s*(?:([./()])|([A-Za-z%°Ωµ]+)|([+-]?\d+))")


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit:
    """The unit that a text means; an empty one has no dimension.  UnitError where it means none."""
    if not text.strip():
        return _PLAIN["1"]
    parser = _Parser(text)
    unit = parser.unit()
    if parser.at < len(parser.tokens):
        raise UnitError(f"`{text}` is no unit: `{parser.tokens[parser.at]}` is not expected there")
    return unit


def conversion(source: str, target: str) -> tuple[float, float]:
    """(factor, offset) with `value in target = factor * value in source + offset`; UnitError where there is none."""
    a, b = parse_unit(source), parse_unit(target)
    if a.dimension != b.dimension:
        raise UnitError(f"`{source}` ({a.as_text()}) does not convert to `{target}` ({b.as_text()})")
    return a.factor / b.factor, (a.offset - b.offset) / b.factor


def quantity(text: str, unit: str) -> float:
    """`5`, `5 kg` or `20 mm` as a number of a unit; UnitError where it is none, or a quantity of another kind."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        raise UnitError("it is not a number")
    number, given = float(found[1]), as_modelica(found[2].strip())
    if not given:
        return number
    if not unit:
        raise UnitError(f"it has no unit, and `{given}` is one")
    factor, offset = conversion(given, unit)
    return factor * number + offset


def as_modelica(text: str) -> str:
    """A unit as Modelica spells it, where another tool wrote `Nm`, `m/s²`, `kg*m^2`, `°C`, `µs`, `[m]` or `[-]`."""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
        text = "1" if text in ("", "-") else text
    for spelling, meant in _SPELLINGS.items():
        text = text.replace(spelling, meant)
    return re.sub(r"\bNm\b", "N.m", text)


class _Parser:
    """Recursive descent over the tokens of one unit."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens: list[str] = []
        place = 0
        while place < len(text.rstrip()):
            match = _TOKEN.match(text, place)
            if match is None:
                raise UnitError(f"`{text}` is no unit: `{text[place]}` is not expected there")
            self.tokens.append(match.group().strip())
            place = match.end()

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def unit(self) -> Unit:
        above = self._part()
        if self._next() != "/":
            return above
        self.at += 1
        below = self._part()
        return _product(above, below, -1)

    def _part(self) -> Unit:
        if self._next() == "(":
            self.at += 1
            inside = self.unit()
            if self._next() != ")":
                raise UnitError(f"`{self.text}` is no unit: a `)` is missing")
            self.at += 1
            return inside
        part = self._factor()
        while self._next() == ".":
            self.at += 1
            part = _product(part, self._factor(), 1)
        return part

    def _factor(self) -> Unit:
        symbol = self._next()
        self.at += 1
        if symbol == "1":
            return _PLAIN["1"]
        unit = _symbol(symbol)
        if unit is None:
            raise UnitError(
                f"`{self.text}` is no unit: nothing is called `{symbol}`" if symbol else f"`{self.text}` is cut short"
            )
        exponent = self._next()
        if not re.fullmatch(r"[+-]?\d+", exponent):
            return unit
        self.at += 1
        n = int(exponent)
        return Unit(unit.factor**n, tuple(n * d for d in unit.dimension))


def _symbol(text: str) -> Unit | None:
    if text in _WITH_PREFIX or text in _PLAIN:
        return _WITH_PREFIX.get(text) or _PLAIN[text]
    for prefix, factor in _PREFIXES.items():
        rest = _WITH_PREFIX.get(text.removeprefix(prefix)) if text.startswith(prefix) else None
        if rest is not None:
            return Unit(factor * rest.factor, rest.dimension)
    return None


def _product(a: Unit, b: Unit, sign: int) -> Unit:
    dimension = tuple(x + sign * y for x, y in zip(a.dimension, b.dimension, strict=True))
    return Unit(a.factor * b.factor**sign, dimension)

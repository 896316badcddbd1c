"""Spelling: C identifiers for Modelica names, exact constants, string literals, comments."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from fractions import Fraction
from functools import lru_cache

from kilohertz.base import Dotted

_LONGEST_PLAIN = 10
_LONGEST_PREFIX = 24
LONGEST_NAME = 36
_WIDTH = 120
INTEGER_OPERATIONS = {"+": "add", "-": "sub", "*": "mul"}  # checked: beyond 32 bits there is no Integer
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+|\s+')  # of a line: texts, words, spaces
_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9]+")
_SPECIAL = re.compile(r"""[^ !#->@-[\]-~]""")  # in a C text: all but plain ASCII, quotes, backslash, question mark


class Names:
    """Hands out C identifiers: the Modelica name with `_` for what C does not allow, numbered where that clashes.

    With `longest`, of a longer name the last parts that fit.
    """

    def __init__(self, prefix: str = "", suffix: str = "", longest: int | None = None) -> None:
        self._prefix, self._suffix, self._longest = prefix, suffix, longest
        self._symbol_of: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        """The identifier of a name, the same at every call."""
        symbol = self._symbol_of.get(name)
        if symbol is None:
            symbol = self._symbol_of[name] = self.another(name)
        return symbol

    def another(self, name: str, before: str = "") -> str:
        """A new identifier made of a name, with `before` in front of it."""
        base = before + identifier(name, self._longest)
        if not self._prefix and base[0].isdigit():
            base = "n" + base
        symbol, count = self._prefix + base + self._suffix, 1
        while symbol in self._taken:
            count += 1
            symbol = f"{self._prefix}{base}_{count}{self._suffix}"
        self._taken.add(symbol)
        return symbol


def identifier(name: str, longest: int | None = None) -> str:
    """Letters, digits and `_` in place of a name's own characters; of a name that is too long the last parts."""
    base = _NOT_IDENTIFIER.sub("_", name).strip("_") or "x"
    if longest is None or len(base) <= longest:
        return base
    tail = base[-longest:]
    return (tail.partition("_")[2] or tail).strip("_")


def model_prefix(name: str, taken: Collection[str] = ()) -> str:
    """What every external symbol of a model begins with: the last part of its name, numbered where that is taken."""
    stem = identifier(Dotted.read(name).last, _LONGEST_PREFIX)
    if stem[0].isdigit() or stem.partition("_")[0] == "khz":  # khz_ is the runtime's own
        stem = "model_" + stem
    prefix, count = stem + "_", 1
    while prefix in taken:
        count += 1
        prefix = f"{stem}_{count}_"
    return prefix


def real(value: float) -> str:
    """A double that reads back exactly: plain where the decimal is exact and short, else hexadecimal with a comment."""
    return _other_than_zero(value) if value else repr(float(value))  # the zeros are equal, not the same


@lru_cache(maxsize=1 << 14)
def _other_than_zero(value: float) -> str:
    if math.isnan(value):
        return "(double)NAN"
    if math.isinf(value):
        return "(double)INFINITY" if value > 0 else "-(double)INFINITY"
    text = repr(value)
    if len(text) <= _LONGEST_PLAIN and Fraction(text) == Fraction(value):
        return text if any(c in text for c in ".e") else text + ".0"
    return f"{short_hex(value)} /* {text} */"


def short_hex(value: float) -> str:
    """A number in hexadecimal, without zeros at its end."""
    text = value.hex()
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


def integer(value: int) -> str:
    """An int32 constant."""
    if value == -(2**31):
        return "INT32_MIN"
    return str(value)


def string(text: str) -> str:
    """A C string literal; anything but plain ASCII as octal bytes, so that trigraphs and encodings do not matter."""
    return '"' + _SPECIAL.sub(_escaped, text) + '"'


def _escaped(special: re.Match[str]) -> str:
    char = special.group()
    return "\\" + char if char in '"\\' else "".join(f"\\{byte:03o}" for byte in char.encode())


def comment(text: str) -> str:
    """Text that can stand inside a C comment."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\n", " ")


def wrapped(line: str) -> list[str]:
    """A line of C as lines that are not too long, broken at spaces outside of texts."""
    if len(line) <= _WIDTH or line.startswith("#"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines, present, space = [], "", ""
    for word in _words(line):
        if present.strip() and len(present) + len(space) + len(word) > _WIDTH:
            lines.append(present)
            present = indent + word
        else:
            present += space + word
        space = " "
    return [*lines, present]


def _words(line: str) -> list[str]:
    """What stands between spaces outside of texts; the first with its indentation."""
    if '"' not in line:
        plain = line.split()
        return [line[: len(line) - len(line.lstrip())] + plain[0], *plain[1:]]
    words = [""]
    for piece in _PIECE.findall(line):
        if piece.isspace() and words[0].strip():
            words.append("")
        else:
            words[-1] += piece
    return [word for word in words if word]

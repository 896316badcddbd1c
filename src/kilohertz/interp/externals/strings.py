"""ModelicaStrings.c: as in the standard library's C sources; characters are bytes there, code points here."""

from __future__ import annotations

import re

from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.externals.protocol import Message, Outputs, Symbol
from kilohertz.interp.values import Value

_SPACE = " \t\n\v\f\r"
_REAL = re.compile(r"[0-9]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DIGITS = re.compile(r"[0-9]+")


def _length(args: list[Value]) -> int:
    return len(args[0])


def _compare(args: list[Value]) -> int:
    """Compare.Less, .Equal, .Greater."""
    a, b, case = args
    if not case:
        a, b = a.lower(), b.lower()
    return 1 if a < b else 2 if a == b else 3


def _substring(args: list[Value]) -> str:
    text, first, last = args
    if first < 1 or last < first or last > len(text):
        raise EvaluationError(f'substring("{text}", {first}, {last}): the indices are wrong')
    return str(text[first - 1 : last])


def _skip(text: str, at: int) -> int:
    while at <= len(text) and text[at - 1] in _SPACE:
        at += 1
    return at


def _skip_white_space(args: list[Value]) -> int:
    return _skip(args[0], args[1])


def _scan_identifier(args: list[Value]) -> Outputs:
    text, start = args[:2]
    match = _IDENTIFIER.match(text, _skip(text, start) - 1)
    if match is None:
        return Outputs({2: start, 3: ""})
    return Outputs({2: match.end() + 1, 3: match.group()})


def _signed(text: str, start: int, unsigned: bool) -> tuple[int, str] | None:
    """Where a number's digits begin (from zero) and its sign; None where a sign is not allowed."""
    at = _skip(text, start) - 1
    sign = text[at : at + 1] if text[at : at + 1] in ("+", "-") else ""
    return None if sign and unsigned else (at + len(sign), sign)


def _scan_integer(args: list[Value]) -> Outputs:
    text, start, unsigned = args[:3]
    begin = _signed(text, start, unsigned)
    match = None if begin is None else _DIGITS.match(text, begin[0])
    if begin is None or match is None or text[match.end() : match.end() + 1] in (".", "e", "E"):
        return Outputs({3: start, 4: 0})
    return Outputs({3: match.end() + 1, 4: int(begin[1] + match.group())})


def _scan_real(args: list[Value]) -> Outputs:
    text, start, unsigned = args[:3]
    begin = _signed(text, start, unsigned)
    match = None if begin is None else _REAL.match(text, begin[0])
    if begin is not None and match is not None and text[match.end() : match.end() + 1] not in ("e", "E"):
        try:
            return Outputs({3: match.end() + 1, 4: float(begin[1] + match.group())})
        except ValueError:
            pass
    return Outputs({3: start, 4: 0.0})


def _scan_string(args: list[Value]) -> Outputs:
    text, start = args[:2]
    begin = _skip(text, start)
    end = begin + 1
    if text[begin - 1 : begin] != '"':
        return Outputs({2: start, 3: ""})
    while end <= len(text) and not (text[end - 1] == '"' and text[end - 2] != "\\"):
        end += 1
    if end > len(text) or end == begin + 1:
        return Outputs({2: start, 3: ""})
    return Outputs({2: end + 1, 3: text[begin : end - 1]})


def _hash(args: list[Value]) -> int:
    """The AP hash of the C sources, as a signed 32-bit number."""
    mask = 0xFFFFFFFF
    value = 0xAAAAAAAA
    for i, byte in enumerate(args[0].encode()):
        if i & 1 == 0:
            value ^= ((value << 7) ^ (byte * (value >> 3))) & mask
        else:
            value ^= ~((value << 11) + (byte ^ (value >> 5))) & mask
    return value - (1 << 32) if value & 0x80000000 else value


def _error(args: list[Value]) -> Value:
    raise EvaluationError(str(args[0]))


def _message(args: list[Value]) -> Message:
    return Message(str(args[0]))


SYMBOLS: dict[str, Symbol] = {
    "ModelicaStrings_length": _length,
    "ModelicaStrings_compare": _compare,
    "ModelicaStrings_substring": _substring,
    "ModelicaStrings_skipWhiteSpace": _skip_white_space,
    "ModelicaStrings_scanIdentifier": _scan_identifier,
    "ModelicaStrings_scanInteger": _scan_integer,
    "ModelicaStrings_scanReal": _scan_real,
    "ModelicaStrings_scanString": _scan_string,
    "ModelicaStrings_hashString": _hash,
    "ModelicaError": _error,
    "ModelicaMessage": _message,
    "ModelicaWarning": _message,
}

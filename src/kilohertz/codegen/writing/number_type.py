"""The number type of a step: what C calls it, how its text is spelled, how an instance keeps it.

C is generated once, in doubles.  In single precision its text is spelled anew, token by token: `double` becomes
`khz_real` (khz_number.h), numbers get an `f`; functions of <math.h> are those of their argument's type (<tgmath.h>).
Time stays a double: a statement that reads time, or says when something is due, keeps its numbers and its scalar locals
as they are, until the result is stored.  Where rates of two directions stand side by side (`khz_lanes`) time is rounded
before it is used: a Jacobian needs no more.
"""

from __future__ import annotations

import ctypes
import re
import struct
from dataclasses import dataclass, replace
from functools import lru_cache

from kilohertz.codegen.writing.c_program import CFile, CProgram
from kilohertz.codegen.writing.spelling import short_hex
from kilohertz.runtime import words

_TOKEN = re.compile(
    r"""(?P<plain>/\*.*?\*/|"(?:[^"\\]|\\.)*"|^\#[^\n]*)                             # comments, texts, directives
      | (?P<number>\b0[xX][0-9a-fA-F.]+[pP][+-]?\d+|(?:\b\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\b\d+[eE][+-]?\d+)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<end>[;{}])""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_TIME = re.compile(
    r"\bc(?:\.|->)time\b|\bat\[|\*at\b|\bsample_(?:start|interval)\b|\bkhz_delay_(?:value|part|pace|held|since)\b"
)
_KEPT = re.compile(r"\bdouble(?= \w+ = )|\bdouble(?= \*at\b)|\bdouble(?= sample_(?:start|interval)\[)")
LEAST, LARGEST = 2.0**-126, 2.0**128 - 2.0**104  # normal singles
_LANES = re.compile(r"\b(?:khz_lanes|khz_spread|seed|xd_dir|dir)\b")
_TIME_READ = re.compile(r"(?<!\w)(\(?&?\w+(?:->|\.)c\.time|\w+->time)\b")


@dataclass(frozen=True, slots=True)
class NumberType:
    """What a step computes in."""

    name: str  # as the setting `number` has it
    word: str  # after the method, where a step is spoken of; "": it goes without saying
    width: int  # bytes of a number in an instance
    ctype: type[ctypes.c_double] | type[ctypes.c_float]
    flags: tuple[str, ...]  # of all C that sees an instance

    @property
    def is_double(self) -> bool:
        """Whether generated C is taken as it is."""
        return self.width == 8

    def spelled(self, code: CProgram) -> CProgram:
        """Generated C in this number type."""
        if self.is_double:
            return code
        header, files = _header(code), tuple(map(_spelled, code.files))
        external = code.in_singles.file if code.external is not None else None
        return replace(code, header=header, files=files, external=external)


NUMBER_TYPES = {
    n.name: n
    for n in (
        NumberType("double", "", 8, ctypes.c_double, ()),
        NumberType("single", ", single precision", 4, ctypes.c_float, ("-DKHZ_SINGLE",)),
    )
}
assert tuple(NUMBER_TYPES) == words("KHZ_NUMBER_")
DOUBLE = NUMBER_TYPES["double"]


def _spelled(file: CFile) -> CFile:
    return replace(file, text=in_single(file.text))


def _header(code: CProgram) -> CFile:
    """The header, in which doors of external functions keep doubles for scalars."""
    text = code.header.text
    doors = code.in_singles.prototypes
    for k, (of_doubles, _) in enumerate(doors):
        text = text.replace(f"\n{of_doubles}", f"\nKHZ_DOOR_{k}_\n", 1)
    text = in_single(text)
    for k, (_, of_singles) in enumerate(doors):
        text = text.replace(f"\nKHZ_DOOR_{k}_\n", f"\n{of_singles}", 1)
    return replace(code.header, text=text)


def in_single(text: str) -> str:
    """C in doubles as C in `khz_real`, which is single."""
    out: list[str] = []
    first = 0
    for match in _TOKEN.finditer(text):
        if match["end"] is not None:
            out.append(_statement(text[first : match.end()]))
            first = match.end()
    out.append(_statement(text[first:]))
    return "".join(out)


def _statement(text: str) -> str:
    """What stands between two ends, comments before it included."""
    if _TIME.search(text) is None:
        return _TOKEN.sub(_token, text)
    if _LANES.search(text) is not None:
        return _TIME_READ.sub(r"(khz_real)\1", _TOKEN.sub(_token, text))
    kept = {m.start() for m in _KEPT.finditer(text)}
    return re.sub(r"\bdouble\b", lambda m: m[0] if m.start() in kept else "khz_real", text)


def _token(match: re.Match[str]) -> str:
    if match["number"] is not None:
        return single(match["number"])
    return "khz_real" if match["word"] == "double" else match[0]


@lru_cache(maxsize=1 << 14)
def single(text: str) -> str:
    """A number of C as the nearest single; beyond the largest one that, and what is not zero stays so."""
    is_hexadecimal = text[:2] in ("0x", "0X")
    value = float.fromhex(text) if is_hexadecimal else float(text)
    if value and not LEAST <= value <= LARGEST:
        return f"{LEAST if value < LEAST else LARGEST:.9g}f"
    rounded = struct.unpack("f", struct.pack("f", value))[0]
    return f"{short_hex(rounded) if is_hexadecimal else text}f"

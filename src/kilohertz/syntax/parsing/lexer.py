"""The lexer: one regular expression cuts a whole file at once.

`re.split` with two groups (blanks and comments, then the token) returns everything as one list at C speed; offsets are
the running sum of the lengths.  There are no token objects, only four parallel lists.  Two things keep them short: a
dotted name (`a.b.c`) is one token, and so is a whole `annotation(...)` clause, skipped by a pattern unrolled to
`_ANNOTATION_DEPTH` parentheses (a deeper or unbalanced one is cut into ordinary tokens and parsed).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from sys import intern
from typing import TypeAlias

_WORDS = """algorithm and annotation block break class connect connector constant constrainedby der discrete each else
    elseif elsewhen encapsulated end enumeration equation expandable extends external false final flow for function if
    import impure in initial inner input loop model not operator or outer output package parameter partial protected
    public pure record redeclare replaceable return stream then true type when while within"""
_SIGNS = "( ) [ ] { } ; : , . = := == <> < <= > >= + - * / ^ .+ .- .* ./ .^"
KEYWORDS = frozenset(_WORDS.split())
PUNCTUATION = frozenset(_SIGNS.split())

# What the parser knows of a token beside its text: the names of an identifier, the value of a literal, the kind of a
# string, annotation or error, None for keywords, punctuation and the end of the file (text "").
Value: TypeAlias = tuple[str, ...] | int | float | bool | str | None
STRING, ANNOTATION, BAD_STRING, BAD_NAME, BAD_NUMBER, BAD_CHARACTER = (
    "string",
    "annotation",
    "bad string",
    "bad name",
    "bad number",
    "bad character",
)
BAD = frozenset({BAD_STRING, BAD_NAME, BAD_NUMBER, BAD_CHARACTER})

_ANNOTATION_DEPTH = 12
# Only single characters are repeated possessively: of groups, Python 3.11.0 to 3.11.4 forget the way back.
# So alternatives begin with different characters, and any text can be read in one way only.
COMMENT = r"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z)"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_QUOTED = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'"
_IDENT = rf"(?:[A-Za-z_][A-Za-z0-9_]*+|{_QUOTED})"


def _balanced(depth: int) -> str:
    """A pattern for a parenthesis with at most `depth` levels in it."""
    pattern = r"(?!)"
    for _ in range(depth):
        pattern = rf"""\((?:[^()"'/]++|{pattern}|{_STRING}|{COMMENT}|/(?![/*])|{_QUOTED})*\)"""
    return pattern


_TOKEN = re.compile(
    rf"((?:[ \t\r\n\f\v\ufeff]++|{COMMENT})*)"
    rf"(annotation\s*+{_balanced(_ANNOTATION_DEPTH)}"
    rf"|{_IDENT}(?:\.{_IDENT})*"
    r"|[();,{}\[\]]|==?"
    r"|[0-9]++(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]++)?"
    rf"|{_STRING}"
    r"|\.[0-9]++(?:[eE][+-]?[0-9]++)?"
    r"|\.[-+*/^]|:=|<[=>]|>=|[-+*/^.:<>]"
    r'|"[^"\\]*+(?:\\.[^"\\]*+)*\\?\Z'  # a string that is never closed
    r"|\S|\Z)",
    re.ASCII | re.DOTALL,
)
_PARTS = re.compile(_IDENT)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED = "\"'?\\"
_KNOWN: dict[str, Value] = dict.fromkeys((*KEYWORDS, *PUNCTUATION, "")) | {"true": True, "false": False}


class Tokens:
    """A file cut into tokens: `texts[i]` means `values[i]` and stands at [`starts[i]`, `ends[i]`).

    Three empty texts close the lists, so that looking ahead needs no check.
    """

    __slots__ = ("ends", "starts", "tail", "texts", "values")

    def __init__(self, text: str, offset: int = 0) -> None:
        parts = _TOKEN.split(text)
        marks = list(accumulate(map(len, parts), initial=offset))
        texts = parts[2::3]
        while texts and not texts[-1]:  # the end of the text matches too, behind its last comments
            texts.pop()
        n, end = len(texts), marks[-1]
        self.texts: list[str] = [*texts, "", "", ""]
        self.starts = [*marks[2 : 3 * n + 2 : 3], end, end, end]
        self.ends = [*marks[3 : 3 * n + 3 : 3], end, end, end]
        self.tail: str = parts[3 * n + 1]  # blanks and comments behind the last token
        self.values: list[Value] = list(map(_MEANINGS.__getitem__, self.texts))


class _Meanings(dict[str, Value]):
    """What names and numbers mean, kept over files: each is classified once, and equal names are one object."""

    def __missing__(self, text: str) -> Value:
        if text[0] == '"':
            return STRING if len(text) > 1 and _closed(text) else BAD_STRING
        if text[-1] == ")" and text.startswith("annotation"):
            return ANNOTATION
        if len(self) > _MAX_MEANINGS:
            self.clear()
            self.update(_KNOWN)
        value = self[text] = _classify(text)
        return value


_MAX_MEANINGS = 200_000  # some 30 MB; all of the Modelica Standard Library has 90 000
_MEANINGS = _Meanings(_KNOWN)


def _classify(text: str) -> Value:
    first = text[0]
    if not first.isascii() or text == "'":
        return BAD_CHARACTER
    if first.isalpha() or first in "_'":
        return _names(text)
    return _number(text) if first.isdigit() or first == "." else BAD_CHARACTER


def _closed(text: str) -> bool:
    body = text[1:-1]
    return text[-1] == '"' and (len(body) - len(body.rstrip("\\"))) % 2 == 0


def _names(text: str) -> Value:
    if "." not in text:
        return (intern(text),)
    names = tuple(map(intern, _PARTS.findall(text) if "'" in text else text.split(".")))
    return names if KEYWORDS.isdisjoint(names) else BAD_NAME


def _number(text: str) -> Value:
    if text.isdecimal():
        return int(text) if len(text) < 1000 else BAD_NUMBER
    value = float(text)
    return value if value != float("inf") else BAD_NUMBER


def unescape(token: str) -> str:
    """The value of a string token (MLS 2.4.6); an unknown escape stands for itself."""
    body = token[1:-1]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1] if m[1] in _ESCAPED else m[0]), body)


def unknown_escapes(token: str) -> Iterator[int]:
    """Where in a string token a backslash stands before what MLS 2.4.6 does not know."""
    if "\\" in token:
        for found in _ESCAPE.finditer(token, 1, len(token) - 1):
            if found[1] not in _ESCAPES and found[1] not in _ESCAPED:
                yield found.start()

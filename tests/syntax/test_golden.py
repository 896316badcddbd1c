"""Golden cases: text in, messages out (errors.case), and the printed form (print.case).

`KHZ_UPDATE_GOLDEN=1 pytest tests/syntax/test_golden.py` rewrites the expectations.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from kilohertz.base import SourceMap, render
from kilohertz.syntax import parse_text, unparse

HERE = Path(__file__).parent
CASE = re.compile(r"\[case (?P<name>[^\]]*)\]\n(?P<text>.*?)\[expect\]\n(?P<expected>.*?)(?=\n\[case |\Z)", re.DOTALL)


def messages(text: str) -> str:
    """All diagnostics of a text as the user sees them."""
    sources = SourceMap()
    sources.add("case.mo", text)
    _, diagnostics = parse_text(text, "case.mo")
    return "".join(render(d, sources) + "\n" for d in diagnostics)


def printed(text: str) -> str:
    """The text parsed and printed again."""
    stored, diagnostics = parse_text(text, "case.mo")
    assert not diagnostics
    return unparse(stored, text)


FILES = {"errors.case": messages, "print.case": printed}
CASES = [
    (file, match["name"], match["text"], match["expected"].strip("\n"))
    for file in FILES
    for match in CASE.finditer((HERE / file).read_text(encoding="utf-8"))
]


@pytest.mark.skipif("KHZ_UPDATE_GOLDEN" in os.environ, reason="the expectations are being rewritten")
@pytest.mark.parametrize(("file", "name", "text", "expected"), CASES, ids=[f"{c[0]}: {c[1]}" for c in CASES])
def test_golden(file: str, name: str, text: str, expected: str) -> None:
    assert FILES[file](text).strip("\n") == expected


@pytest.mark.skipif("KHZ_UPDATE_GOLDEN" not in os.environ, reason="rewrites the expectations only when told to")
@pytest.mark.parametrize("file", FILES)
def test_update(file: str) -> None:
    blocks = [
        f"[case {name}]\n{text}[expect]\n{FILES[file](text).strip(chr(10))}\n"
        for f, name, text, _ in CASES
        if f == file
    ]
    (HERE / file).write_text("\n".join(blocks), encoding="utf-8")

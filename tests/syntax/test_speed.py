"""Parsing the whole Standard Library takes at most six times as long as cutting it into tokens with a bare `re`."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kilohertz.syntax import parse_text

MODELICAPATH = os.environ.get("MODELICAPATH", "")  # when the tests are collected: they run without it
BARE = re.compile(
    r'[A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|//[^\n]*|/\*.*?\*/|\s+'
    r"|:=|==|<>|<=|>=|\.[-+*/^]|[-+*/^()\[\]{},;:.=<>]",
    re.DOTALL,
)


def seconds(run: Callable[[], None]) -> float:
    """The processor time of the faster of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def test_parsing_against_bare_re() -> None:
    roots = [Path(entry) for entry in MODELICAPATH.split(os.pathsep) if entry]
    files = [file for root in roots for file in sorted((root / "Modelica").rglob("*.mo"))]
    if not files:
        pytest.skip("MODELICAPATH holds no Modelica Standard Library")
    texts = [file.read_bytes().decode("utf-8-sig") for file in files]

    def bare() -> None:
        for text in texts:
            for _ in BARE.finditer(text):
                pass

    def parse() -> None:
        kept = [parse_text(text, "a.mo") for text in texts]
        assert all(not diagnostics for _, diagnostics in kept)

    assert seconds(parse) < 6 * seconds(bare)

"""Whole-library parse time against a bare `re` tokenisation of the same files.

    python benchmarks/parse_speed.py LIBRARY_DIR [--runs 5]

The yardstick splits each text into tokens with one compiled regular expression (`findall`), which is the least that any
parser in Python must do.  Both sides are interleaved in one process; files are read beforehand; no cache is used.
"""

from __future__ import annotations

import argparse
import gc
import re
import time
from collections.abc import Callable
from pathlib import Path

from kilohertz.syntax import parse_text
from tables import machine, spread

TOKEN = re.compile(
    r"""[ \t\r\n]+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[A-Za-z_]\w*"""
    r"""|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|:=|<=|>=|==|<>|\.[+\-*/^]|[-+*/^<>=()\[\]{},;:.]""",
    re.DOTALL,
)


def timed(job: Callable[[], object]) -> float:
    gc.collect()
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    files = sorted(arguments.library.rglob("*.mo"))
    texts = [(p.read_text(encoding="utf-8-sig", errors="replace"), str(p)) for p in files]
    size = sum(len(t) for t, _ in texts)
    print(f"{len(texts)} files, {size / 1e6:.1f} million characters; {machine()}")

    def tokenise() -> None:
        for text, _ in texts:
            TOKEN.findall(text)

    def parse() -> None:
        for text, file in texts:
            parse_text(text, file)

    bare, full = [], []
    for _ in range(arguments.runs):
        bare.append(timed(tokenise))
        full.append(timed(parse))
    n_diagnostics = sum(len(parse_text(t, f)[1]) for t, f in texts)
    print(f"bare tokenisation [s]  {spread(bare)}")
    print(f"parse [s]              {spread(full)}")
    print(f"ratio                  {spread([f / b for f, b in zip(full, bare, strict=True)])}")
    print(f"diagnostics            {n_diagnostics}")


if __name__ == "__main__":
    main()

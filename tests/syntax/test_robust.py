"""No text whatever makes the parser raise, hang or lose its way."""

from __future__ import annotations

import random
import re
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kilohertz.base import SourceMap, render
from kilohertz.syntax import parse_text, same_tree, unparse
from kilohertz.syntax.parsing.lexer import KEYWORDS, PUNCTUATION

SOURCE = Path(__file__).with_name("everything.mo").read_text(encoding="utf-8")
TOKENS = re.findall(r'"(?:[^"\\]|\\.)*"|\w+|\s+|.', SOURCE)
ODD = ["x", "1", '"', "'", "/*", "*/", "//", "\\", "\n", "$", "é", "annotation(", "\x00"]
WORDS = [*sorted(KEYWORDS | PUNCTUATION), *ODD]


def check(text: str) -> None:
    """Parses without an exception; spans lie in the text; a text without errors survives printing."""
    stored, diagnostics = parse_text(text, "a.mo")
    sources = SourceMap()
    sources.add("a.mo", text)
    for diagnostic in diagnostics:
        assert diagnostic.span is not None
        assert 0 <= diagnostic.span.start < diagnostic.span.end <= len(text) + 1
        assert render(diagnostic, sources)
    if not diagnostics:
        printed = unparse(stored, text)
        again, errors = parse_text(printed, "b.mo")
        assert not errors
        assert same_tree(stored, again)


@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), count=st.integers(1, 8))
def test_mutations_of_a_source(seed: int, count: int) -> None:
    dice = random.Random(seed)
    tokens = list(TOKENS)
    for _ in range(count):
        at = dice.randrange(len(tokens))
        match dice.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, dice.choice(WORDS))
            case 2:
                tokens[at] = dice.choice(WORDS)
            case 3:
                other = dice.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                del tokens[at : at + dice.randrange(200)]
    check("".join(tokens))


@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=60))
def test_random_words(words: list[str]) -> None:
    check(" ".join(words))
    check("model A " + " ".join(words) + " end A;")
    check("model A equation " + " ".join(words) + " end A;")


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=200))
@example("")
@example("\ufeff")
@example('"')
@example("'")
@example("/*")
@example("a" * 100_000)
@example("9" * 10_000)
@example("annotation" + "(" * 50_000)
@example("end " * 20_000)
@example("model A equation " + "end if; " * 5_000)
def test_random_text(text: str) -> None:
    check(text)


@settings(max_examples=100, deadline=None)
@given(at=st.integers(0, len(SOURCE)))
def test_a_text_cut_off_anywhere(at: int) -> None:
    check(SOURCE[:at])

"""Every code block of every page runs, prints what the page shows, and makes the pictures that it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blocks import PICTURES, PROSE, ROOT, Output, blocks, made, missing, pages, pictures, run_page

PHOTOGRAPHED = ("profile_", "measured_", "diagrams")  # docs/make/profile_pictures.py; plots of benchmarks; diagrams.py
NOT_RUN = 16  # blocks that no test runs; `python docs/make/blocks.py --list` has the reasons
MOST_BYTES = 150_000  # of a picture


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in pages() if any(b.language not in PROSE for b in blocks(p))], ids=name_of)
def test_a_page_runs(page: Path, tmp_path: Path) -> None:
    left_out = run_page(page, tmp_path)
    by_page = [name for name in pictures(page) if not name.startswith(PHOTOGRAPHED)]
    assert left_out or [name for name in by_page if made(name, tmp_path) is None] == []
    if left_out:
        pytest.skip("; ".join(left_out))


def test_what_is_not_run_is_counted() -> None:
    assert len([b for p in pages() for b in blocks(p) if b.not_run]) == NOT_RUN


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_commands_stand_in_fences(page: Path) -> None:
    """A command in an indented block would be run by nobody."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^    (?:khz|python|pip|export|cc) .*", text, flags=re.MULTILINE) == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_formulas_are_whole(page: Path) -> None:
    """GitHub eats backslashes between double dollars: displayed formulas stand in `math` fences."""
    assert "$$" not in page.read_text(encoding="utf-8")
    for formula in (b.text for b in blocks(page) if b.language == "math"):
        assert formula.count("{") == formula.count("}"), formula
        assert sorted(re.findall(r"\\begin{(\w+)}", formula)) == sorted(re.findall(r"\\end{(\w+)}", formula)), formula


def test_pictures_are_small_and_shown() -> None:
    shown = {name for page in pages() for name in pictures(page)}
    assert shown == {file.name for file in PICTURES.iterdir()}
    assert [file.name for file in PICTURES.iterdir() if file.stat().st_size > MOST_BYTES] == []


def test_an_output_is_compared_line_by_line() -> None:
    printed = "a  b 12\nnoise\nlast 3.5e-2 s\n"
    assert missing(Output(1, "a b 12\nlast ... s\n"), printed) is None
    assert missing(Output(1, "last ...\na b 12\n"), printed) == "a b 12"
    assert missing(Output(1, "a b 13\n"), printed) == "a b 13"
    assert missing(Output(1, "a b 13\nlast 0 s\n", any_numbers=True), printed) is None

"""Every diagnostic code of the source has its line in the reference, and the reference invents none."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r'"([PLSBCR]\d{3})"')


def test_every_code_is_documented() -> None:
    used = {code for file in (ROOT / "src").rglob("*.py") for code in CODE.findall(file.read_text(encoding="utf-8"))}
    page = (ROOT / "docs" / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ([PLSBCR]\d{3}) \|", page, re.MULTILINE)
    assert sorted(used - set(listed)) == []
    assert sorted(set(listed) - used) == []
    assert len(listed) == len(set(listed))


def test_the_architecture_page_points_to_what_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| to change |") :]
    for name in re.findall(r"`(\w+/[\w./]*)`", table):
        assert (ROOT / name).exists() or (ROOT / "src" / "kilohertz" / name).exists(), name

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


# Codes that no test provokes yet.  The list may only become shorter.
NOT_PROVOKED = """
B102 B104 B106 B204 B207 B208 C603 C611 R711 R715 R716 R717 R718 R722 R724 R725 R726 R746
"""


def test_every_code_is_in_a_test() -> None:
    own = Path(__file__).name
    files = [f for e in ("py", "case", "toml", "mo") for f in (ROOT / "tests").rglob(f"*.{e}") if f.name != own]
    texts = "\n".join(f.read_text(encoding="utf-8", errors="replace") for f in files)
    used = {code for file in (ROOT / "src").rglob("*.py") for code in CODE.findall(file.read_text(encoding="utf-8"))}
    assert sorted(used - set(re.findall(r"\b[PLSBCR]\d{3}\b", texts))) == sorted(NOT_PROVOKED.split())


def test_the_architecture_page_points_to_what_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| to change |") :]
    for name in re.findall(r"`(\w+/[\w./]*)`", table):
        assert (ROOT / name).exists() or (ROOT / "src" / "kilohertz" / name).exists(), name

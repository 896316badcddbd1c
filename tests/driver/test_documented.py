"""Every diagnostic code of the source has its line in the reference, and the reference invents none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = re.compile(r'"([PLSBCR]\d{3})"')
EXPECTED = re.compile(r"^\[expect\]$(.*?)(?=^\[case |\Z)", re.MULTILINE | re.DOTALL)
ANY_CODE = re.compile(r"\b([PLSBCR]\d{3})\b")


def test_every_code_is_documented() -> None:
    used = {code for file in (ROOT / "src").rglob("*.py") for code in CODE.findall(file.read_text(encoding="utf-8"))}
    page = (ROOT / "docs" / "reference" / "diagnostics.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| ([PLSBCR]\d{3}) \|", page, re.MULTILINE)
    assert sorted(used - set(listed)) == []
    assert sorted(set(listed) - used) == []
    assert len(listed) == len(set(listed))


def claimed(file: Path) -> set[str]:
    """Codes that a test asks for: in an assertion or comparison, in what `pytest.raises` or a table of the test has.

    Those in comments, docstrings and the texts of models prove nothing.
    """
    proofs: list[ast.AST] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assert | ast.Compare) or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("raises", "parametrize")
        ):
            proofs.append(node)
    texts = [n.value for p in proofs for n in ast.walk(p) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return {code for text in texts for code in ANY_CODE.findall(text)}


def printed(file: Path) -> set[str]:
    """Codes in what golden cases expect, which is compared with what is printed."""
    return {code for text in EXPECTED.findall(file.read_text(encoding="utf-8")) for code in ANY_CODE.findall(text)}


def test_every_code_is_provoked() -> None:
    used = {code for file in (ROOT / "src").rglob("*.py") for code in CODE.findall(file.read_text(encoding="utf-8"))}
    seen = {c for file in (ROOT / "tests").rglob("*.py") for c in claimed(file)}
    seen |= {c for file in (ROOT / "tests").rglob("*.case") for c in printed(file)}
    assert sorted(used - seen) == []


def test_the_architecture_page_points_to_what_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page[page.index("| to change |") :]
    for name in re.findall(r"`(\w+/[\w./]*)`", table):
        assert (ROOT / name).exists() or (ROOT / "src" / "kilohertz" / name).exists(), name

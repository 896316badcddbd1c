"""Every file that a page names or links to exists, and every heading that it links to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from blocks import ROOT, blocks, pages

PACKAGE = ROOT / "src" / "kilohertz"
BASES = (ROOT, ROOT / "src", PACKAGE, PACKAGE / "runtime", ROOT / "docs")
SOURCE = (".py", ".c", ".h", ".mo", ".md", ".toml", ".case")
# files of others, of a built model, and names that stand for any
ELSEWHERE = {"Complex.mo", "math.h", "signals.c", "src/build.sh", "file.mo", "*.case", "docs/decisions/NNNN-title.md"}
_SPAN = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    heads = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def named_files(page: Path) -> list[str]:
    """Files and folders between backticks: those with a slash whose first part is ours, and names of sources."""
    found, rooms = [], {p.name for base in BASES for p in base.iterdir()}
    for text in _SPAN.findall(prose(page)):
        word = text.split()[0]
        if _PATH.fullmatch(word) is None:
            continue
        is_path = "/" in word and word.split("/")[0] in rooms
        if is_path or (word.endswith(SOURCE) and len(word.split(".")) == 2 and word[0] != "."):
            found.append(word)
    return found


FILES = {p.name for folder in ("src", "tests", "benchmarks", "examples", "docs") for p in (ROOT / folder).rglob("*")}
FILES |= {p.name for p in ROOT.iterdir()}


def exists(word: str, page: Path) -> bool:
    if "/" in word:
        return any(any(base.glob(word.rstrip("/"))) for base in (*BASES, page.parent))
    return word in FILES


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_files_that_a_page_names_exist(page: Path) -> None:
    made = {block.file for block in blocks(page)}
    for block in blocks(page):
        made.update(re.findall(r"[\w./-]+\.\w+", block.text))
    assert [word for word in named_files(page) if word not in made | ELSEWHERE and not exists(word, page)] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    wrong = []
    for link in _LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in _LINK.findall(index)}
    missing = [p for p in pages() if p.is_relative_to(ROOT / "docs") and p not in listed and "decisions" not in p.parts]
    assert [name_of(p) for p in missing] == ["docs/README.md"]


def test_every_room_is_in_the_architecture_table() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page[page.index("| to change |") :]
    rooms = [p.name for p in PACKAGE.iterdir() if (p / "__init__.py").is_file()]
    assert [room for room in rooms if not re.search(rf"`{room}/", rows)] == []


def test_a_bare_name_in_the_architecture_table_is_in_the_folder_named_before_it() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    cells = [cell for row in page[page.index("| to change |") :].splitlines()[2:] for cell in row.split("|")[2:4]]
    wrong = []
    for cell in cells:
        folder = ROOT
        for span in _SPAN.findall(cell):
            word = span.split()[0]
            if not word.endswith((*SOURCE, "/")) or "<" in word:
                continue
            here = [p for base in (*BASES, folder) for p in base.glob(word.rstrip("/"))]
            wrong += [] if here else [word]
            folder = (here[0] if here[0].is_dir() else here[0].parent) if here else folder
    assert wrong == []

"""The code blocks of a page: found, and run as a reader would run them.

    python docs/make/blocks.py docs/tutorials/first-model.md      run pages, show what they print
    python docs/make/blocks.py --pictures docs/tutorials/*.md      and keep the pictures they make
    python docs/make/blocks.py --list                              what is not run, and why

A page is run from top to bottom in an empty folder that holds `examples/`; `khz` and `python` are those of this
checkout.  What a fence says after its three backticks:

    sh, python           run; a failure of any command is a failure of the page
    LANGUAGE file=NAME   written to NAME, for later blocks
    output               what the block before it printed: its lines are there, in this order.  `...` stands for
                         anything; `output numbers=any` also lets numbers differ (times of this machine)
    toml                 read, so that it is TOML at least
    text, math           no code

A comment above the fence makes an exception: `<!-- not run: REASON -->`, or `<!-- needs: msl -->` (the Modelica
Standard Library on MODELICAPATH).
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
RUN = ("sh", "python")
PROSE = ("text", "math", "")
SECONDS = 300  # of one block; a machine under load compiles slowly

_FENCE = re.compile(r"^```(\w*)[ \t]*([^\n`]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (not run|needs): ((?:(?!-->).)+?) -->\s*\Z", re.DOTALL)
_REAL_TIME = re.compile(r"khz (?:run|demo|watch|set|doctor)|\.run\(")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_PICTURE = re.compile(r"(?:\]\(|src=\")[^)\"]*pictures/([\w.-]+)")


@dataclass(frozen=True, slots=True)
class Output:
    """What a page shows as printed."""

    line: int
    text: str
    any_numbers: bool = False


@dataclass(slots=True)
class Block:
    """A fenced block: its first line in the page, what it is, what to do with it."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None = None
    not_run: str | None = None
    needs: str | None = None
    outputs: list[Output] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class BlockFailed(Exception):
    """A block that does not do what its page says."""


def pages() -> list[Path]:
    """Every page with text for people."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
    return [*found, *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").glob("*/README.md"))]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order; outputs hang on the block that printed them."""
    text, found = page.read_text(encoding="utf-8"), list[Block]()
    for fence in _FENCE.finditer(text):
        language, words, body = fence[1], fence[2].split(), fence[3]
        line = text.count("\n", 0, fence.start()) + 1
        if language == "output":
            if not found or found[-1].language not in RUN:
                raise BlockFailed(f"{page.relative_to(ROOT)}:{line}: output of nothing that runs")
            found[-1].outputs.append(Output(line, body, "numbers=any" in words))
            continue
        file = next((w.removeprefix("file=") for w in words if w.startswith("file=")), None)
        mark = _MARK.search(text, 0, fence.start())
        reason = {mark[1]: " ".join(mark[2].split())} if mark else {}
        found.append(Block(page, line, language, body, file, reason.get("not run"), reason.get("needs")))
    return found


def pictures(page: Path) -> list[str]:
    """File names of the pictures that a page shows out of docs/pictures."""
    return [m[1] for m in _PICTURE.finditer(page.read_text(encoding="utf-8"))]


def made(name: str, folder: Path) -> Path | None:
    """Where the blocks of a page left a picture; for NAME.png also the report NAME.html, which a browser draws."""
    report = Path(name).with_suffix(".html").name
    return next((found for n in (name, report) for found in sorted(folder.rglob(n))), None)


def drawn(report: Path, picture: Path) -> None:
    """A report in a browser, from the heading above its first plot on."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        sheet = browser.new_page(viewport={"width": 1000, "height": 640}, color_scheme="light")
        sheet.goto(report.resolve().as_uri())
        sheet.wait_for_selector("html[data-ready=yes]", timeout=120_000)
        heading = sheet.locator("xpath=(//*[@class='plot'])[1]/preceding::h2[1]")
        heading.evaluate("heading => heading.scrollIntoView()")
        sheet.wait_for_timeout(1000)
        sheet.screenshot(path=picture)
        browser.close()
    Image.open(picture).convert("RGB").quantize(256).save(picture, optimize=True)


def missing(expected: Output, printed: str) -> str | None:
    """The first line of an expected output that was not printed after those before it."""
    lines = iter([" ".join(line.split()) for line in printed.splitlines()])
    for wanted in expected.text.splitlines():
        words = " ".join(wanted.split())
        if words in ("", "..."):
            continue
        pattern = re.compile(_pattern(words, expected.any_numbers))
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


def _pattern(words: str, any_numbers: bool) -> str:
    pieces = []
    for piece in re.split(r" ?\.\.\. ?", words):
        texts = _NUMBER.split(piece) if any_numbers else [piece]
        pieces.append(_NUMBER.pattern.join(re.escape(t) for t in texts))
    return ".*".join(pieces)


def available(need: str) -> bool:
    """Whether this machine has what a block needs."""
    match need:
        case "msl":
            paths = filter(None, os.environ.get("MODELICAPATH", "").split(os.pathsep))
            return any(d.is_dir() for p in paths for d in Path(p).glob("Modelica*"))
        case _:
            raise BlockFailed(f"nobody knows whether `{need}` is there")


@contextmanager
def _alone() -> Iterator[None]:
    """One page at a time on this machine: running tasks have names, links have ports."""
    with open(Path(tempfile.gettempdir()) / f"khz-docs-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _environment(folder: Path) -> dict[str, str]:
    """What a reader has after the installation: `khz` and `python` on the path."""
    bin = folder / ".bin"
    bin.mkdir()
    for name, command in (("khz", f'"{sys.executable}" -m kilohertz'), ("python", f'"{sys.executable}"')):
        (bin / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (bin / name).chmod(0o755)
    path = os.pathsep.join((str(bin), os.environ["PATH"]))
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg", "COLUMNS": "100"}


def run_page(page: Path, folder: Path, show: bool = False) -> list[str]:
    """Run a page in an empty folder; returns what was left out because something is not there."""
    environment, left_out, found = _environment(folder), list[str](), blocks(page)
    shutil.copytree(ROOT / "examples", folder / "examples")  # what pages write beside them stays there
    with _alone() if any(_REAL_TIME.search(b.text) for b in found) else nullcontext():
        for block in found:
            if block.needs is not None and not available(block.needs):
                left_out.append(f"{block} needs {block.needs}")
            elif block.not_run is None:
                _run(block, folder, environment, show)
    return left_out


def _run(block: Block, folder: Path, environment: dict[str, str], show: bool) -> None:
    if block.file is not None:
        (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / block.file).write_text(block.text, encoding="utf-8")
    elif block.language in RUN:
        printed = _printed(block, folder, environment)
        if show:
            print(f"--- {block}\n{printed}", end="")
        for expected in block.outputs:
            line = missing(expected, printed)
            if line is not None:
                raise BlockFailed(f"{block}: `{line.strip()}` was not printed in\n{printed}")
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language not in PROSE:
        raise BlockFailed(f"{block}: `{block.language}` is neither run nor written (file=) nor marked `not run`")


def _printed(block: Block, folder: Path, environment: dict[str, str]) -> str:
    command = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
    try:
        done = subprocess.run(
            [*command, block.text],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as e:
        raise BlockFailed(f"{block}: still running after {SECONDS} s") from e
    if done.returncode != 0:
        raise BlockFailed(f"{block}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the code blocks of pages.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--pictures", action="store_true", help="copy the pictures that pages make to docs/pictures")
    parser.add_argument("--list", action="store_true", help="list what is not run")
    arguments = parser.parse_args()
    if arguments.list:
        for block in (b for page in pages() for b in blocks(page) if b.not_run):
            print(f"{block}: {block.not_run}")
        return 0
    for page in arguments.pages:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for reason in run_page(page.resolve(), Path(folder), show=True):
                    print(f"left out: {reason}")
            except BlockFailed as e:
                print(e, file=sys.stderr)
                return 1
            for name in pictures(page) if arguments.pictures else ():
                picture = made(name, Path(folder))
                assert picture is not None, f"{page} shows {name} and does not make it"
                if picture.suffix == ".html":
                    drawn(picture, PICTURES / name)
                else:
                    shutil.copy(picture, PICTURES / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())

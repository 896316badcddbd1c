"""Pictures of profile pages for docs/tutorials/where-the-time-goes.md, from the pages that its commands write.

    python docs/make/profile_pictures.py [--models FOLDER]

Chromium, driven by playwright, photographs parts of the pages.  `--models`: instead, the mean cycles of the pages
NAME.html in a folder (docs/guides/make-a-step-cheaper.md says how they are made): parts without source text.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from kilohertz.cli import main as khz

PICTURES = Path(__file__).parents[1] / "pictures"
EXAMPLES = "Kilohertz.Examples"
CASES = {
    "inductors": (f"{EXAMPLES}.SaturatingInductors", "WithCapacitor", ("100us", "10", "1000"), "v_B"),
    "resistors": (f"{EXAMPLES}.ThermalResistors", "WithCapacity", ("100ms", "100", "300"), "T_A"),
}
_WIDTH = 900
_BROWSERS = ("chromium-headless-shell", "chromium-shell", "chromium")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder with pages of other models")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    program = next(p for p in map(shutil.which, _BROWSERS) if p)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--use-angle=swiftshader"])
        sheet = browser.new_page(viewport={"width": _WIDTH, "height": 1200}, color_scheme="light")
        if arguments.models is not None:
            for page in sorted(arguments.models.glob("*.html")):
                open_page(sheet, page)
                keep(sheet, f"profile_{page.stem}", "Mean cycle", 1)
        else:
            for name, case in CASES.items():
                photograph(sheet, Path(folder), name, case)
        browser.close()


def photograph(sheet: Any, folder: Path, name: str, case: tuple[str, str, tuple[str, str, str], str]) -> None:
    """Both pages of a case."""
    package, variant, (step, parts, steps), signal = case
    one, two = folder / f"{name}.html", folder / f"{name}_variant.html"
    alone = ["--solver", "rk4", "--step", "10us" if name == "inductors" else "1ms", "--steps", "2000"]
    both = ["--solver", "euler", "--step", step, "--internal-steps", parts, "--steps", steps]
    assert khz(["profile", f"{package}.Original", *alone, "-q", "--page", str(one)]) == 0
    assert (
        khz(
            [
                "profile",
                f"{package}.Original",
                *both,
                "-q",
                "--against",
                f"{package}.{variant}",
                "--signals",
                signal,
                "--page",
                str(two),
            ]
        )
        == 0
    )
    open_page(sheet, one)
    if name == "inductors":  # one picture of a time line tells how they look
        keep(sheet, f"profile_{name}_cycles", "Cycles", 2)
    keep(sheet, f"profile_{name}_loop", "Loops", 1)
    open_page(sheet, two)
    keep(sheet, f"profile_{name}_both", "Where the time goes", 2)
    keep(sheet, f"profile_{name}_error", "What it costs in accuracy", 3)


def open_page(sheet: Any, page: Path) -> None:
    sheet.goto(page.resolve().as_uri())
    sheet.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    sheet.add_style_tag(content="nav { position: static !important; }")
    sheet.wait_for_timeout(1000)


def keep(sheet: Any, name: str, heading: str, n_parts: int) -> None:
    """The parts after a heading, as one small picture."""
    head = sheet.locator("h2", has_text=heading).first
    boxes = [head.locator(f"xpath=following-sibling::*[{i}]").bounding_box() for i in range(1, n_parts + 1)]
    top, bottom = boxes[0]["y"], boxes[-1]["y"] + boxes[-1]["height"]
    scroll = sheet.evaluate("window.scrollY")
    clip = {"x": 0, "y": top + scroll - 4, "width": _WIDTH, "height": bottom - top + 8}
    file = PICTURES / f"{name}.png"
    sheet.screenshot(path=str(file), full_page=True, clip=clip)
    Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)
    print(f"{file.name}: {file.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()

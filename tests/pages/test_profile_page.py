"""The page of a profile in a real browser: it draws, it leads from places to lines and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kilohertz
from kilohertz.pages import write_page
from kilohertz.profiler import profile_page, worst_causes
from kilohertz.profiler.profile_page import titles

MODEL = "Kilohertz.Examples.SaturatingInductors.WithCapacitor"


def test_the_page_of_a_profile(tmp_path: Path, sheet: Any) -> None:
    profile = kilohertz.load(MODEL).profile(solver="rk4", step=1e-5, steps=300)
    file = write_page(profile_page(profile, worst_causes(profile, 4)), tmp_path / "p.html")
    sheet.goto(file.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert sheet.locator(".plot canvas").count() >= 4  # cycles, histogram, iterations of both loops
    headings = [h.inner_text() for h in sheet.locator("h2").all()]
    assert headings[:3] == ["Cycles", "Worst cycles", "Mean cycle"]
    assert headings[-1] == "Source"

    # a place leads to its card, which opens
    card = next(f"#place-{i}" for i, p in enumerate(profile.places) if p.name == "solve first.i" and p.phase == "block")
    sheet.locator(f'.table a[href="{card}"]').first.click()
    assert sheet.locator(card).evaluate("e => e.open")
    # a line in it leads to the listing, whose margin leads back to a card
    sheet.locator(f"{card} .table a").first.click()
    assert sheet.evaluate("location.hash") == "#electrical-mo-55"
    assert sheet.locator("#electrical-mo-55").evaluate("e => e.closest('details').open")
    sheet.locator("#electrical-mo-55 .margin a").click()
    assert sheet.evaluate("location.hash").startswith("#place-")
    # a worst cycle opens as an icicle whose boxes can be opened
    first = worst_causes(profile, 4)[1].cycle
    sheet.locator(f'.table a[href="#cycle-{first}"]').click()
    assert sheet.locator(f"#cycle-{first} .box").count() >= 3


def test_files_of_one_name_are_told_apart() -> None:
    found = titles({"/a/b/package.mo", "/a/c/package.mo", "/a/c/Motor.mo"})
    assert sorted(found.values()) == ["Motor.mo", "b/package.mo", "c/package.mo"]

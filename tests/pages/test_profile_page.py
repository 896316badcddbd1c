"""The page of a profile in a real browser: it draws, it leads from places to lines and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.cli import main
from kilohertz.driver import Session
from kilohertz.pages import Page, write_page
from kilohertz.profiler import Advice, Tried, profile_page, worst_causes
from kilohertz.profiler.showing.ways import titles

MODEL = "Kilohertz.Examples.SaturatingInductors.WithCapacitor"
SOURCE = """
package Shown
  function f "In C"
    input Real u;
    output Real y;
    external "C" y = shown_f(u) annotation(Include="static double shown_f(double u) { return 0.9 * u; }");
  end f;
  model M
    Real x;
    Real z(start=0, fixed=true);
  equation
    x + 0.3*f(x) + x^3 = sin(time);
    der(z) = f(z) - x;
    annotation(experiment(StopTime=1, Interval=0.001));
  end M;
end Shown;
"""


def opened(sheet: Any, page: Page, folder: Path) -> None:
    file = write_page(page, folder / "p.html")
    sheet.goto(file.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]", timeout=60_000)


def comes(sheet: Any, condition: str) -> None:
    """What a link brings: the page hears of its new address after the click has returned."""
    sheet.wait_for_function(f"() => {condition}")


def test_the_page_of_a_profile(tmp_path: Path, sheet: Any) -> None:
    profile = kilohertz.load(MODEL).profile(solver="rk4", step=1e-5, steps=300)
    causes = worst_causes(profile, 4)
    tried = [Tried(Advice("a `method`", 0.3, {"solver": "rk3"}, (9,)), 0.2, 1e-4), Tried(Advice("a state", 0.5))]
    opened(sheet, profile_page(profile, causes, tried), tmp_path)
    assert sheet.locator(".plot canvas").count() >= 6  # cycles, histogram, iterations and time of both loops
    headings = [h.inner_text() for h in sheet.locator("h2").all()]
    assert headings[:4] == ["Cycles", "Worst cycles", "What to do about it", "Mean cycle"]
    assert headings[-3:] == ["Components", "Classes", "Source"]

    # a block leads to its card, which opens; it has what the loop is made of
    card = next(f"#place-{i}" for i, p in enumerate(profile.places) if p.name == "solve first.i" and p.phase == "block")
    sheet.locator(f'.table a[href="{card}"]').first.click()
    comes(sheet, f"document.querySelector('{card}').open")
    shown = sheet.locator(card).inner_text()
    for words in (
        "iterated on",
        "residual",
        "What makes it nonlinear: (first.i/first.I_half)^2.0",
        "iterations a call",
    ):
        assert words in shown
    # its line leads to the listing, whose margin leads back to a card
    sheet.locator(f"{card} .table a").first.click()
    comes(sheet, "location.hash === '#electrical-package-mo-65'")
    comes(sheet, "document.querySelector('#electrical-package-mo-65').closest('details').open")
    sheet.locator("#electrical-package-mo-65 .margin a").click()
    comes(sheet, "location.hash.startsWith('#place-')")
    # to its component and its class, whose rows lead back
    sheet.locator(f"{card} .links a", has_text="first").first.click()
    comes(sheet, "location.hash === '#component-first'")
    comes(sheet, "document.querySelector('#component-first').classList.contains('aim')")
    sheet.locator("#component-first a").first.click()
    comes(sheet, "location.hash.startsWith('#place-')")
    sheet.locator(f"{card} .links a", has_text="SaturatingInductor").first.click()
    comes(sheet, "location.hash === '#class-Kilohertz.Electrical.SaturatingInductor'")
    # advice leads to what it is about
    advice = sheet.locator("h2#what-to-do-about-it + .table")
    assert advice.locator("tbody tr").count() == 2
    assert "--solver rk3" in advice.inner_text()


def test_one_cycle_is_opened_by_a_link_a_number_or_a_click(tmp_path: Path, sheet: Any) -> None:
    profile = kilohertz.load(MODEL).profile(solver="rk4", step=1e-5, steps=300)
    causes = worst_causes(profile, 4)
    opened(sheet, profile_page(profile, causes), tmp_path)
    field = sheet.locator(".opened input")
    assert field.input_value() == f"{causes[0].cycle}"
    sheet.locator(f'.table a[href="#cycle-{causes[2].cycle}"]').first.click()
    comes(sheet, f"document.querySelector('.opened input').value === '{causes[2].cycle}'")
    assert sheet.locator(".opened .box").count() >= 3
    assert causes[2].kind in sheet.locator(".opened .said").inner_text()
    field.fill("150")
    field.press("Enter")
    sheet.locator(".opened .after").click()
    comes(sheet, "document.querySelector('.opened input').value === '151'")
    canvas = sheet.locator(".plot").first
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    comes(sheet, "document.querySelector('.opened input').value !== '151'")
    assert abs(float(field.input_value()) - 150) < 60
    marked = "Bokeh.documents.flatMap(d => [...d._all_models.values()]).filter(m => m.type === 'Span' && m.visible)"
    comes(sheet, f"{marked}[0].location === {float(field.input_value())}")
    sheet.locator(".opened .box", has_text="right-hand side").first.click()
    sheet.locator(".opened .box", has_text="solve first.i").first.click()
    sheet.locator(".opened .onward").click()
    comes(sheet, "location.hash.startsWith('#place-')")


def test_functions_lead_to_the_blocks_that_call_them(tmp_path: Path, sheet: Any) -> None:
    session = Session()
    session.libraries.load_text(SOURCE, "Shown.mo")
    profile = session.model("Shown.M").profile(solver="rk4", steps=200)
    opened(sheet, profile_page(profile, worst_causes(profile, 2)), tmp_path)
    table = sheet.locator("h2#functions + .table")
    cells = table.locator("tbody tr td").all_inner_texts()
    assert cells[:3] == ["Shown.f", "external", "4"]
    assert float(cells[3]) >= 4
    sheet.locator("h2#functions + .table a", has_text="solve x").click()
    number = next(i for i, p in enumerate(profile.places) if p.name == "solve x" and p.phase == "block")
    comes(sheet, f"location.hash === '#place-{number}'")
    sheet.locator(f"#place-{number} .links a", has_text="Shown.f").click()
    assert "external, in C" in sheet.locator("details:target summary").inner_text()


def test_the_page_of_two_variants(tmp_path: Path, sheet: Any, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "v.html"
    original = MODEL.replace("WithCapacitor", "Original")
    words = ["profile", original, "--against", MODEL, "--solver", "rk4", "--step", "10us", "--steps", "200"]
    assert main([*words, "--signals", "v_B", "--page", str(page)]) == 0
    capsys.readouterr()
    sheet.goto(page.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert "1 → 2" in sheet.inner_text(".facts")
    assert sheet.locator(".icicle").count() == 2
    assert sheet.locator("h2#loops + .table tbody tr").count() == 3
    assert sheet.locator(".plot canvas").count() >= 2
    assert "v_B deviates by" in sheet.inner_text("main")
    sheet.get_by_role("button", name="saved / µs").click()
    first, last = (sheet.locator("h2#blocks-functions-phases + .table tbody tr").nth(i) for i in (0, -1))
    saved = [float(r.locator("td").last.inner_text()) for r in (first, last)]
    assert saved[0] >= saved[1]


def test_files_of_one_name_are_told_apart() -> None:
    found = titles({"/a/b/package.mo", "/a/c/package.mo", "/a/c/Motor.mo"})
    assert sorted(found.values()) == ["Motor.mo", "b/package.mo", "c/package.mo"]

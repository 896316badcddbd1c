"""Pages as text, and in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from kilohertz.pages import (
    Bars,
    Cell,
    Column,
    Curve,
    Facts,
    Fold,
    Heading,
    Icicle,
    Listing,
    ListingLine,
    Mark,
    Node,
    Page,
    Plot,
    Prose,
    Stack,
    Table,
    Verdict,
    write_page,
)
from kilohertz.pages.page import Kit
from kilohertz.pages.plots import thinned


def _sample() -> Page:
    t = np.linspace(0.0, 10.0, 100_000)
    columns = (Column("block"), Column("cost / µs", is_number=True, bar=True))
    rows = [
        (Cell(f"block {i}", link="#motor-mo-2" if i == 0 else ""), Cell(f"{v}", v)) for i, v in enumerate((3, 10, 7))
    ]
    tree = Node("model", 10.0, (Node("motor", 7.0, (Node("shaft", 4.0),)), Node("load", 3.0)))
    return Page(
        "A <sample>",
        "every part once",
        (
            Verdict(True, "all `signals` are inside"),
            Facts((("median", "12 µs", "of all cycles"), ("missed", "0", "deadlines"))),
            Heading("Curves"),
            Stack(
                (
                    Plot(
                        "both",
                        (Curve("a", t, np.sin(t)), Curve("b", t, np.cos(t), dashed=True)),
                        marks=(Mark("limit", y=0.5),),
                    ),
                    Plot("error", (Curve("e", t, np.sin(t) - np.cos(t), steps=True),)),
                )
            ),
            Bars("histogram", np.arange(6.0), np.array([1, 0, 30, 200, 2])),
            Heading("Blocks"),
            Table(columns, rows),
            Heading("Components"),
            Icicle(tree, "µs"),
            Heading("Source"),
            Fold(
                "motor.mo",
                (Listing("motor.mo", [ListingLine(1, "model M"), ListingLine(2, "  a < b;", 0.7, "7 µs")]),),
                True,
            ),
            Prose("Two lines.\n\nSecond </script> one."),
        ),
    )


def test_a_page_needs_nothing_from_outside() -> None:
    text = _sample().html()
    own = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    assert "A &lt;sample&gt;" in own
    assert not re.findall(r'(?:src|href)="(?!#)', own)  # no other file, no network
    assert "</script> one" not in text  # nothing in the data can end a script


def test_lines_that_are_left_out_of_a_listing_are_marked() -> None:
    shown = Listing("motor.mo", [ListingLine(1, "a"), ListingLine(2, "b"), ListingLine(9, "c", 0.7)]).html(Kit())
    assert re.findall(r'<tr id="[^"]*-(\d+)"( class="[^"]*")?>', shown) == [
        ("1", ""),
        ("2", ""),
        ("9", ' class="hot gap"'),
    ]
    assert shown.startswith('<div class="code">')  # which scrolls, where a line is longer than the page


def test_numbers_that_json_does_not_have_are_null() -> None:
    page = Page("x", "", (Table((Column("a", is_number=True),), [(Cell("nan", float("nan")),)]),))
    assert "NaN" not in page.html().split('application/json" id=')[1]


def test_thinning_keeps_the_extremes() -> None:
    x = np.arange(1_000_000, dtype=np.float64)
    y = np.sin(x * 1e-3)
    y[123_456], y[654_321] = 7.0, -9.0
    y[5] = np.nan
    few_x, few_y = thinned(x, y, 4000)
    assert len(few_x) <= 4000
    assert {123_456.0, 654_321.0} <= set(few_x.tolist())
    assert np.nanmax(few_y) == 7.0
    assert np.nanmin(few_y) == -9.0


def test_in_a_browser(tmp_path: Path, sheet: Any) -> None:
    file = write_page(_sample(), tmp_path / "page.html")
    sheet.goto(file.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]", timeout=60_000)
    assert sheet.locator(".plot canvas").count() >= 3
    assert sheet.evaluate("document.documentElement.dataset.theme") == "light"

    # a click sorts numbers downwards first; a second one upwards
    first = sheet.locator(".table tbody tr:first-child td:nth-child(2)")
    assert first.inner_text() == "3"
    sheet.get_by_role("button", name="cost / µs").click()
    assert first.inner_text() == "10"
    sheet.get_by_role("button", name="cost / µs").click()
    assert first.inner_text() == "3"
    sheet.get_by_placeholder("filter").fill("block 2")
    assert sheet.locator(".table tbody tr").count() == 1

    # a box of the icicle opens, the path leads back
    assert sheet.locator(".icicle .box").count() == 4
    sheet.locator(".icicle .box", has_text="motor").click()
    assert sheet.locator(".icicle .box").count() == 2
    assert "motor: 7 µs, 70.0 %" in sheet.locator(".icicle .path").inner_text()
    sheet.locator(".icicle .path a").first.click()
    assert sheet.locator(".icicle .box").count() == 4

    # dark: the page and its plots
    sheet.locator("#theme").click()
    assert sheet.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 30)"
    figure = "[...Bokeh.documents[0]._all_models.values()].find(m => m.type === 'Figure')"
    assert sheet.evaluate(f"{figure}.background_fill_color") == "#14181e"

    # both plots over time move together
    figures = "Bokeh.documents.flatMap(d => [...d._all_models.values()]).filter(m => m.type === 'Figure')"
    ranges = sheet.evaluate(f"{figures}.map(m => m.x_range.id)")
    assert len(ranges) == 3
    assert len(set(ranges)) == 2

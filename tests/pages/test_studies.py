"""The pages of a series and of a tuning in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kilohertz
from kilohertz.pages import write_page
from kilohertz.solvers import StepSettings
from kilohertz.sweep import Measure
from kilohertz.sweep.series_page import page_of as series_page
from kilohertz.tuning import Goal, Point, Tuned
from kilohertz.tuning.front_page import page_of as tuning_page


def test_the_page_of_a_series_leads_to_its_exceptional_cases(sheet: Any, tmp_path: Path) -> None:
    model = kilohertz.load("Kilohertz.Examples.RCCircuit")
    values = np.linspace(100, 4000, 12).tolist()
    measures = [Measure("resistor.R", "max", above=2000, name="low"), Measure("capacitor.v", "final")]
    report = model.series({"resistor.R": values}, measures=measures, folder=tmp_path / "out")
    assert 2 <= len(report.exceeding) < 12
    sheet.goto(write_page(series_page(report), tmp_path / "series.html").as_uri())
    sheet.wait_for_selector("html[data-ready=yes]")
    assert f"{len(report.exceeding)} of 12 cases are exceptional" in sheet.inner_text(".verdict")
    worst, next_one = report.exceeding[:2]
    assert sheet.locator("details[open] summary").first.inner_text().startswith(f"case {worst}: exceeds low")
    sheet.click(f".table a:text-is('{next_one}')")
    sheet.wait_for_selector(f"#case-{next_one}[open] canvas")
    cases = sheet.locator(".table").nth(1)
    cases.locator("input").fill("exceeds")
    sheet.wait_for_function("() => document.querySelectorAll('.table')[1].querySelectorAll('tbody tr').length < 12")
    assert cases.locator("tbody tr").count() == len(report.exceeding)


def test_the_page_of_a_tuning_shows_the_front_and_the_choice(sheet: Any, tmp_path: Path) -> None:
    def point(solver: str, price: float, error: float) -> Point:
        return Point(StepSettings.of(solver=solver, step=1e-3), price, price / 1e3, price / 1e2, error, error, error)

    points = (point("euler", 1e6, 0.1), point("rk2", 2e6, 0.001), point("rk4", 4e6, 1e-6), point("lie", 5e6, 0.2))
    tuned = Tuned("M", Goal(0.005, None, 6e9), points[1], points, points[:3], (points[3],), True)
    sheet.goto(write_page(tuning_page(tuned), tmp_path / "tune.html").as_uri())
    sheet.wait_for_selector("html[data-ready=yes]")
    assert "rk2 is the cheapest" in sheet.inner_text(".verdict")
    words = sheet.locator(".table tbody tr td:last-child").all_inner_texts()
    assert words == ["front", "chosen", "front", "rejected"]
    assert sheet.evaluate("() => Bokeh.documents.flatMap(d => d.roots()).map(f => f.renderers.length)") == [3]

"""The report of a comparison in a real browser: the table, the plots that move together, the folds."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz.cli import main
from kilohertz.compare import Wanted
from kilohertz.driver.comparing import Side, definition_of_sides, run_definition
from kilohertz.driver.comparing.comparison_page import page_of
from kilohertz.pages import write_page
from kilohertz.results import Result, write


def test_the_worst_signal_is_open_and_the_table_leads_to_the_others(sheet: Any, tmp_path: Path) -> None:
    t = np.linspace(0, 10, 1001)
    write(
        tmp_path / "a.csv", Result.of_columns("a", t, {"good": t, "bad": np.sin(t) + (t > 4), "fair": np.cos(t) + 0.01})
    )
    write(tmp_path / "b.csv", Result.of_columns("b", t, {"good": t, "bad": np.sin(t), "fair": np.cos(t)}))
    sides = Side(str(tmp_path / "a.csv")), Side(str(tmp_path / "b.csv"))
    file = write_page(page_of(run_definition(definition_of_sides(*sides, Wanted()))), tmp_path / "report.html")
    sheet.goto(file.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]")
    assert "FAIL: 1 of 3 signals pass" in sheet.inner_text(".verdict")
    assert sheet.locator(".table tbody tr td:first-child").all_inner_texts() == ["bad", "fair", "good"]
    assert sheet.locator("details[open]").count() == 1
    assert "bad" in sheet.locator("details[open] summary").inner_text()
    sheet.click(".table a:has-text('fair')")
    sheet.wait_for_selector("#signal-1[open] canvas")
    box = sheet.locator("#signal-1 .plot").first.bounding_box()
    assert box["width"] > 500
    shared = "() => new Set(Bokeh.documents.flatMap(d => d.roots()).map(f => f.x_range.id)).size"
    assert sheet.evaluate(shared) == 1


def test_the_plot_of_the_error_has_the_number_of_the_table(sheet: Any, tmp_path: Path) -> None:
    """A recording on a grid and a reference with an event between two of its rows."""
    t, at = np.linspace(0, 1, 101), np.sort(np.concatenate([np.linspace(0, 1, 101), [0.505, 0.505]]))
    kink = 1e-4 + 5 * np.maximum(t - 0.505, 0)
    write(tmp_path / "a.csv", Result.of_columns("a", t, {"x": kink}))
    write(tmp_path / "b.csv", Result.of_columns("b", at, {"x": 5 * np.maximum(at - 0.505, 0)}))
    page, names = tmp_path / "p.html", [str(tmp_path / n) for n in ("a.csv", "b.csv")]
    assert main(["compare", *names, "--page", str(page)]) == 0
    sheet.goto(page.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]")
    assert sheet.locator(".table tbody tr td").nth(5).inner_text() == "4.04e-05"
    frames = "() => Bokeh.documents.flatMap(d => d.roots()).map(f => [f.title.text, f.renderers[0].data_source.data.y])"
    title, drawn = sheet.evaluate(frames)[1]
    assert title == "error: 0.0001 at most, 4.04e-05 of 2.48"
    values = drawn.values() if isinstance(drawn, dict) else drawn
    assert max(abs(v) for v in values) == pytest.approx(1e-4)


def test_signals_of_several_results_lie_in_one_frame(sheet: Any, tmp_path: Path) -> None:
    t = np.linspace(0, 1, 101)
    write(tmp_path / "a.csv", Result.of_columns("a", t, {"m.x": t, "m.v": 1 + t, "k": t}))
    write(tmp_path / "b.csv", Result.of_columns("b", t, {"m . x": 2 * t}))
    page, files = tmp_path / "p.html", [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert main(["plot", *files, "--signals", "m.*", "-o", str(page)]) == 0
    sheet.goto(page.as_uri())
    sheet.wait_for_selector("html[data-ready=yes]")
    curves = "() => Bokeh.documents.flatMap(d => d.roots()).map(f => f.renderers.length)"
    assert sheet.evaluate(curves) == [2, 1]
    assert "2 of 3 signals" in sheet.inner_text(".subtitle")


def test_what_cannot_be_plotted_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,1\n")
    assert main(["plot", str(tmp_path / "a.csv"), "--signals", "y", "-o", str(tmp_path / "p.html")]) == 1
    assert "error[R744]: no signal is called `y`" in capsys.readouterr().err
    assert main(["plot", str(tmp_path / "b.csv"), "-o", str(tmp_path / "p.html")]) == 1
    assert "R701" in capsys.readouterr().err
    assert main(["plot", str(tmp_path / "a.csv"), "-o", "/dev/full"]) == 1
    assert "R702" in capsys.readouterr().err


def test_half_a_page_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,1\n1,2\n")

    def full(self: Path, text: str, encoding: str) -> int:
        self.write_bytes(text[:100].encode(encoding))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert main(["plot", str(tmp_path / "a.csv"), "-o", str(tmp_path / "p.html")]) == 1
    assert not (tmp_path / "p.html").exists()

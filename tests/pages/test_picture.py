"""Reports as pictures: the plots of a page as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from kilohertz.cli import main
from kilohertz.results import Result, write


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    t = np.linspace(0, 1, 101)
    write(tmp_path / "a.csv", Result.of_columns("a", t, {"m.x": t, "m.v": 1 + t}))
    write(tmp_path / "b.csv", Result.of_columns("b", t, {"m.x": 1.1 * t, "m.v": 1 + t}))
    return [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]


def test_a_comparison_as_svg_has_both_sides_as_text(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "c.svg"
    assert main(["compare", *files, "--page", str(out)]) == 1
    first = out.read_bytes()
    text = " ".join(ElementTree.fromstring(first).itertext())
    for word in ("a.csv against b.csv", "m.x", "m.v", "error", "time / s"):
        assert word in text
    assert main(["compare", *files, "--page", str(out)]) == 1
    assert out.read_bytes() == first  # the same page, the same bytes


def test_signals_as_png(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import matplotlib.image

    out = tmp_path / "p.png"
    assert main(["plot", *files, "--signals", "m.*", "-o", str(out)]) == 0
    assert f"wrote {out}" in capsys.readouterr().out
    pixels = matplotlib.image.imread(out)
    assert pixels.shape[1] == 1000
    assert pixels.shape[0] > 400
    colours = {tuple(np.round(255 * p[:3]).astype(int)) for p in pixels.reshape(-1, pixels.shape[2])}
    assert {(0x3B, 0x7D, 0xD8), (0xD9, 0x66, 0x2B)} <= colours  # both curves are there

"""The folders of the bundled examples: each has its scenario, its page and what CVODE expects; the run keeps to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kilohertz.driver.demos import EXAMPLES, Example, demo_scenario
from kilohertz.driver.tasks import run
from kilohertz.results import read

FOLDERS = Path(__file__).parents[2] / "examples"
BOUNDS = {  # error of the first panel's curves in parts of their range, by the method of the scenario
    "hydraulic_axis": 1e-5,
    "robot_arm": 3e-3,
    "six_speeds": 1e-3,
    "y_drive": 1e-4,
    "saturating_inductors": 1e-2,
    "thermal_resistors": 1e-3,
    "bouncing_ball": 2e-3,
    "car": 2.5e-3,
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_a_folder_is_whole(example: Example) -> None:
    folder = FOLDERS / example.name
    assert (folder / "scenario.toml").resolve() == example.scenario.resolve()
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert f"khz demo {example.name}" in page and f"pictures/{example.name}.png" in page and "What to look at" in page
    assert set(read(folder / "expected.csv").names) >= {c.signal for c in example.panels[0].curves if c.compared}


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_the_run_is_what_the_folder_expects(example: Example, tmp_path: Path) -> None:
    expected = read(FOLDERS / example.name / "expected.csv")
    scenario = demo_scenario(tmp_path, example.name, float(expected.time[-1]), fast=True)
    result = run(replace(scenario, name=f"expected_{example.name}"), folder=tmp_path / "build", check=False).result
    rows = np.searchsorted(result.time, expected.time - 1e-9)
    assert np.abs(result.time[rows] - expected.time).max() < 1e-9
    for curve in example.panels[0].curves:
        if curve.compared is not None:
            apart = np.abs(result[curve.signal][rows] - expected[curve.signal]).max()
            assert apart < BOUNDS[example.name] * np.ptp(expected[curve.signal]), (curve.signal, apart)

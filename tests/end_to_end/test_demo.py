"""`khz demo`: the whole way from Modelica text to a real-time run that is held against CVODE."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kilohertz.cli import main
from kilohertz.realtime import read_scenario
from kilohertz.results import read


def test_the_demo_runs_reports_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("khz-demo")  # the default, relative to where the user stands
    assert main(["demo", "--duration", "1s"]) == 0
    out, err = capsys.readouterr()
    assert "1000 steps every 1 ms" in out
    assert "compiling Kilohertz.Examples.HydraulicAxis.Plant" in err  # progress
    found = re.search(r"position +off by at most (\S+) um, rms (\S+) um", out)
    assert found is not None
    assert 0.01 < float(found[1]) < 1.0  # the sampled controller alone makes a difference
    bound = re.search(
        r"cost bound of the plant.*?regular +(\d+) right-hand sides.*?seen +(\d+) right-hand", out, re.DOTALL
    )
    assert bound is not None and 0 < int(bound[2]) <= int(bound[1])
    assert (folder / "hydraulic_axis.png").read_bytes().startswith(b"\x89PNG")
    assert read_scenario(folder / "hydraulic_axis.toml").duration == 10  # ready to be run again
    recorded = read(folder / "hydraulic_axis.csv")
    assert len(recorded.time) == 1001
    assert (np.abs(recorded["controller.x_ref"] - recorded["plant.x"]) < 2.5e-3).all()
    # connected: what one model sends the other has received
    assert np.array_equal(recorded["plant.p_a"][1:], recorded["controller.p_a"][1:])
    assert np.array_equal(recorded["plant.u"][1:], recorded["controller.u"][:-1])


def test_a_folder_that_cannot_be_made_is_a_diagnostic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["demo", "--duration", "1s", "-o", str(tmp_path / "file" / "below")]) == 1
    assert "error[R702]" in capsys.readouterr().err

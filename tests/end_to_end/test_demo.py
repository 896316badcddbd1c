"""`khz demo`: the whole way from Modelica text to a real-time run that is held against CVODE."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from kilohertz.cli import main
from kilohertz.driver.demos import EXAMPLES, demo_scenario, find
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


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize("name", [e.name for e in EXAMPLES])
def test_every_example_runs_is_compared_and_drawn(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", name, "--duration", "0.3s", "--fast", "-o", "out"]) in (0, 1)  # 1: events that were cut short
    out = capsys.readouterr().out
    assert "the duration is over" in out and "off by at most" in out
    assert Path("out", f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert len(read(Path("out", f"{name}.csv")).time) > 10
    assert read_scenario(Path("out", f"{name}.toml")).name == name


def test_the_list_has_a_sentence_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [e.name for e in EXAMPLES]
    assert lines[0].startswith("hydraulic_axis") and all(line.endswith(".") for line in lines)


def test_an_unknown_example_is_told_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "clockwork", "-o", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "error[S202]: there is no bundled example `clockwork`; there are `hydraulic_axis`" in err


def test_levels_of_a_car_are_scenarios_of_their_own(tmp_path: Path) -> None:
    for level, method in enumerate(("euler", "euler", "ieuler", "ieuler"), start=1):
        scenario = demo_scenario(tmp_path, "car", level=level)
        assert find("car", level).model == scenario.tasks[0].model == f"Kilohertz.Examples.Handling.LaneChange{level}"
        assert scenario.tasks[0].stepping.solver == method and scenario.period_ns == 1_000_000
        assert Path(scenario.recording.file).name == ("car.csv" if level == 1 else f"car_{level}.csv")
        assert f"khz analyse Kilohertz.Examples.Handling.LaneChange{level}" in find("car", level).next


@pytest.mark.parametrize(
    ("name", "level", "there"), [("car", "5", "levels 1 to 4"), ("car", "0", "levels 1 to 4"), ("y_drive", "2", "one")]
)
def test_a_level_that_is_not_there_is_told(
    name: str, level: str, there: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", name, "--level", level, "-o", str(tmp_path)]) == 1
    assert f"error[S202]: the example `{name}` has no level {level}: it has {there}" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_a_diagnostic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["demo", "--duration", "1s", "-o", str(tmp_path / "file" / "below")]) == 1
    assert "error[R702]" in capsys.readouterr().err

"""Models of ours through every room: from text to trajectories, against answers known by hand."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import kilohertz
from kilohertz.cli import main
from kilohertz.compare import Bars, compare
from kilohertz.driver import Session
from kilohertz.ir.expr import Array, Str
from kilohertz.results import Result, read

ROOT = Path(__file__).parents[2]
SKELETON = ROOT / "examples" / "walking_skeleton"
EXAMPLES = Session().experiments(["Kilohertz"])


def simulated(model: str, **options: float) -> Result:
    return kilohertz.load(model).simulate(**options)  # type: ignore[arg-type]


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_bundled_example_is_balanced_and_runs_to_its_end(name: str) -> None:
    model = kilohertz.load(name)
    report = model.check()
    assert report.equations == report.unknowns
    assert report.ok, report.diagnostics
    result = model.simulate()
    bindings = {n: v.binding for n, v in model.flatten().variables.items()}
    texts = {
        n for n, b in bindings.items() if isinstance(b.elements[0] if isinstance(b, Array) and b.elements else b, Str)
    }
    numbers = [n for n in result.names if n.partition("[")[0] not in texts]  # texts are NaN in a result
    assert [n for n in numbers if not np.isfinite(result[n]).all()] == []
    assert (np.diff(result.time) >= 0).all()


def test_the_walking_skeleton_meets_its_exact_solution(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert main(["simulate", str(SKELETON / "model.mo"), "-q", "-o", str(out)]) == 0
    verdict = compare(read(out), read(SKELETON / "expected.csv"), bars=Bars(1e-4, rms=1e-5, symmetric=True))
    assert verdict.ok, verdict.failed


def test_the_divider_lies_at_20_volts() -> None:
    assert simulated("Kilohertz.Examples.TwoResistors").final("lower.v") == pytest.approx(20)


def test_the_capacitor_charges_once_the_switch_closes() -> None:
    result = simulated("Kilohertz.Examples.RCCircuit")
    t, v = result.time, result["capacitor.v"]
    opened, closed = 1e-4 * (1000 + 1e5), 1e-4 * (1000 + 1e-5)  # time constants: the open switch leaks
    at_closing = 10 * (1 - math.exp(-0.1 / opened))
    after = 10 + (at_closing - 10) * np.exp(-(t - 0.1) / closed)
    exact = np.where(t <= 0.1, 10 * (1 - np.exp(-t / opened)), after)
    assert np.abs(v - exact).max() < 1e-4


def test_the_drive_train_keeps_its_momentum() -> None:
    result = simulated("Kilohertz.Examples.DriveTrain")
    momentum = 0.1 * result["rotor.w"] * 5 + 0.5 * result["shaft.w"] + 5 * result["load.w"]
    impulse = 10 * 5 * np.maximum(result.time - 0.1, 0)  # through the gear
    assert np.abs(momentum - impulse).max() < 1e-3
    assert np.allclose(result["rotor.phi"], 5 * result["shaft.phi"])


def test_the_ball_bounces_at_the_right_instants() -> None:
    result = simulated("Kilohertz.Examples.BouncingBall")
    first = math.sqrt(2 / 9.81)
    bounces = result.time[1:][np.diff(result["v"]) > 1.0]
    assert bounces[0] == pytest.approx(first, abs=1e-5)
    assert bounces[1] == pytest.approx(first * (1 + 2 * 0.7), abs=1e-5)
    assert result["h"].min() > -1e-3


def test_a_parameter_can_be_set() -> None:
    result = kilohertz.load("Kilohertz.Examples.TwoResistors").simulate(settings={"lower.R": 100})
    assert result.final("lower.v") == pytest.approx(15)


def test_the_readme_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, {})
    commands = re.findall(r"^    khz (.+)$", text, re.MULTILINE)
    for words in (c.split() for c in commands if "Modelica." not in c):
        assert main([w.replace("examples/", f"{ROOT}/examples/") for w in words]) == 0, words
    assert capsys.readouterr().err == ""

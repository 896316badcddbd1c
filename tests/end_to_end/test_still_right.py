"""The comparisons of examples/still_right: they pass for the right reason, and find and place an error of 1 %."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import load

FILES = Path(__file__).parents[2] / "examples" / "still_right"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FILES, tmp_path / "still_right"))


def verdict(file: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    code = main(["compare", str(file), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] == (code == 0)
    return found


@pytest.mark.parametrize(
    ("name", "signal", "largest", "parameter"),
    [
        ("inductors", "v_B", 0.0088, "source.f = 50.5"),
        ("resistors", "first.Q", 0.00043, "cold.T_mean = 296.1"),
    ],
)
def test_a_variant_against_its_original(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, signal: str, largest: float, parameter: str
) -> None:
    file = folder / f"{name}.toml"
    found = verdict(file, capsys)
    assert found["ok"]
    assert found["signals"][signal]["largest"] == pytest.approx(largest, rel=0.05)
    key, value = parameter.split(" = ")
    file.write_text(file.read_text().replace("[reference]", f'set = {{ "{key}" = {value} }}\n\n[reference]'))
    found = verdict(file, capsys)
    assert not found["ok"]
    assert any(f"it depends on `{key}`: {value}" in line for line in found["why"])


PLANTED = [
    ("drive", "load.J", 5.05, "load"),
    ("drive", "spring.c", 2020, "spring"),
    ("axis", "mass.m", 505, "mass"),
    ("axis", "cylinder.d_piston", 0.06363, "cylinder"),
    ("clutches", "J3.J", 1.01, "J3"),
    ("clutches", "clutch2.cgeo", 1.01, "clutch2"),
]


@pytest.mark.parametrize(("name", "key", "value", "component"), PLANTED)
def test_a_recording_against_cvode(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, key: str, value: float, component: str
) -> None:
    if name == "clutches":
        try:
            load("Modelica.Mechanics.Rotational.Examples.CoupledClutches")
        except ModelError:
            pytest.skip("needs the Modelica Standard Library on MODELICAPATH")
    task = folder / f"{name}_{key.replace('.', '_')}_task.toml"
    text = (folder / f"{name}_task.toml").read_text()
    task.write_text(text.replace('name = "still-right', f'name = "t-{key}'))  # a rig of its own
    run = ["run", str(task), "--fast", "--no-check", "-q"]
    assert main(run) == 0
    assert verdict(folder / f"{name}.toml", capsys)["ok"]
    assert main([*run, "--set", f"{key}={value}"]) == 0
    found = verdict(folder / f"{name}.toml", capsys)
    assert not found["ok"]
    assert found["parameters"][key]["result"] == value
    assert found["why"][0].startswith("`")
    blamed = [line for line in found["why"] if line.startswith(f"it depends on `{key}`: {value:g}")]
    assert blamed, found["why"]
    assert any(f"component `{component}`" in line or f"`{component}." in line for line in found["why"])

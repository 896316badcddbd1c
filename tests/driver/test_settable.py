"""Whole arrays, start values and parameters that follow from others, set at every door."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli.main import main

TEXT = """model Settable
  type Gear = enumeration(low, high);
  parameter Real a = 1; parameter Real b(unit = "m") = 2*a; final parameter Real c = b + 1; constant Real k = 3;
  parameter Integer n = 2; parameter Real v[2] = {1, 2}; parameter Real w[n] = fill(a, n);
  parameter Real m[2, 2] = [1, 2; 3, 4];
  parameter Gear g = if a > 0 then Gear.low else Gear.high; parameter String law = if a > 0 then "up" else "down";
  parameter Boolean on = a > 0; parameter Real r[3] = fill(b, 3);
  Real x(start = 0, fixed = true); Real z[2](start = {1, 2}, each fixed = true);
  Real s = sum(v); Real sw = sum(w); Real sm = m[1, 2] - m[2, 1]; Real sr = sum(r); Real y = b;
  Real gear = if g == Gear.high then 10 else 20; Real up = if law == "up" then 1 else -1;
  Real q(start = 0, fixed = true); Real off = if on then 1 else 0;
equation
  der(x) = 1; der(q) = b; der(z) = {0, 0};
end Settable;
"""
# What is set, and the values at the start that show it.
SET: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "an array": ({"v": [3, 4]}, {"s": 7}),
    "an array as text": ({"v": "{3, 4}"}, {"s": 7}),
    "an array of NumPy": ({"v": numpy.array([3.0, 4.0])}, {"s": 7}),
    "a matrix": ({"m": "{{1, 5}, {2, 1}}"}, {"sm": 3}),
    "what follows from others": ({"b": 7}, {"y": 7, "sr": 21}),
    "with a unit": ({"b": "20 mm"}, {"y": 0.02}),
    "an array that follows": ({"r": [1, 2, 4]}, {"sr": 7}),
    "a size": ({"n": 3}, {"sw": 3}),
    "a start": ({"x.start": 5}, {"x": 5}),
    "starts": ({"z.start": "{8, 9}"}, {"z[1]": 8, "z[2]": 9}),
    "a literal": ({"g": "high"}, {"gear": 10}),
    "a text": ({"law": "down"}, {"up": -1}),
    "a Boolean": ({"on": False}, {"off": 0}),
    "all at once": ({"a": 2, "b": 7, "v": [1, 1], "x.start": 3}, {"y": 7, "s": 2, "x": 3, "sw": 4}),
}
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "final": ({"c": 4}, "R720", "it is final"),
    "constant": ({"k": 4}, "R720", "it is a constant"),
    "too many": ({"v": [1, 2, 3]}, "R720", "3 values for 2 elements"),
    "a scalar for an array": ({"r": 3}, "R720", "it is an array"),
    "an array for a scalar": ({"b": [1, 2]}, "R720", "it is no array"),
    "no number": ({"b": "much"}, "R720", "it is not a number"),
    "no literal": ({"g": "middle"}, "R720", "cannot be set to middle: it is one of "),
    "no Boolean": ({"on": "maybe"}, "R720", "cannot be set to maybe: it is true or false"),
    "a variable": ({"y": 1}, "R720", "it is computed from other values"),
    "nothing of that name": ({"none.start": 1}, "R719", "no parameter `none.start`"),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> kilohertz.Model:
    file = tmp_path_factory.mktemp("settable") / "Settable.mo"
    file.write_text(TEXT, encoding="utf-8")
    return kilohertz.load(file)


@pytest.mark.parametrize("what", SET)
def test_a_run_offline(model: kilohertz.Model, what: str) -> None:
    settings, expected = SET[what]
    result = model.simulate(stop=0.1, settings=settings)
    assert {name: result[name][0] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_set_says_why(model: kilohertz.Model, what: str) -> None:
    settings, code, text = REFUSED[what]
    with pytest.raises(ModelError) as caught:
        model.simulate(stop=0.1, settings=settings)
    assert caught.value.diagnostics[0].code == code and text in caught.value.diagnostics[0].message


def test_modifiers_are_added_to_those_there_are(model: kilohertz.Model) -> None:
    found = kilohertz.load(f"{model.session.libraries.given[0][0]}(a = 3)")
    result = found.simulate(stop=0.1, settings={"x.start": 2})
    assert (result["y"][0], result["x"][0]) == (6, 2)


def test_the_command(model: kilohertz.Model, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Settable.mo").write_text(TEXT, encoding="utf-8")
    output = tmp_path / "out.csv"
    given = ["--set", "v={3, 4}", "--set", "b=7", "--set", "x.start=5"]
    assert main(["simulate", str(tmp_path / "Settable.mo"), "--stop", "0.1", *given, "-o", str(output)]) == 0
    result = kilohertz.read(output)
    assert (result["s"][0], result["y"][0], result["x"][0]) == (7, 7, 5)
    assert "error" not in capsys.readouterr().err


def test_commands_that_run_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is set is compiled in."""
    (tmp_path / "Settable.mo").write_text(TEXT, encoding="utf-8")
    given = [str(tmp_path / "Settable.mo"), "--set", "v={3, 4}", "--set", "b=7", "--set", "x.start=5", "--set", "n=3"]
    assert main(["flatten", *given]) == 0
    flat = capsys.readouterr().out
    assert all(word in flat for word in ('b(unit = "m") = 7.0', "v = {3.0, 4.0}", "x(start = 5.0", "Real[3] w"))
    assert main(["check", *given]) == 0
    assert main(["analyse", *given]) == 0
    assert "Settable_modified" in capsys.readouterr().out
    assert main(["export", *given, "--solver", "rk4", "--no-sources", "-o", str(tmp_path / "s.fmu")]) == 0
    with zipfile.ZipFile(tmp_path / "s.fmu") as fmu:
        assert 'start="7.0"' in fmu.read("modelDescription.xml").decode()
    assert "not used" not in capsys.readouterr().out
    exchange = ["--kind", "me", "--solver", "rk4", "--step", "1ms", "--no-sources", "-o", str(tmp_path / "me.fmu")]
    assert main(["export", *given, *exchange]) == 0
    assert "Model Exchange makes no steps: --solver, --step not used" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("v[2]=3", "R720]: `v[2]` cannot be set alone: `v={...}` sets the array"),
        ("y=1", "R720]: `y` cannot be set: it is no parameter"),
        ("bb=1", "R719]: the model has no parameter `bb`; did you mean `b`?"),
        ("c=1", "R720]: `c` cannot be set: it is final"),
    ],
)
def test_what_cannot_be_compiled_in(tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str, said: str) -> None:
    (tmp_path / "Settable.mo").write_text(TEXT, encoding="utf-8")
    assert main(["check", str(tmp_path / "Settable.mo"), "--set", value]) == 1
    assert said in capsys.readouterr().err


def test_an_fmu_is_checked_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "some.fmu").touch()
    assert main(["check", str(tmp_path / "some.fmu"), "--set", "a=1"]) == 1
    assert "R723" in capsys.readouterr().err


def test_a_task_and_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "Settable.mo").write_text(TEXT, encoding="utf-8")
    scenario = tmp_path / "settable_door.toml"
    scenario.write_text(
        'model = "Settable.mo"\nsolver = "rk4"\nstep = 0.001\nduration = 0.02\n'
        '[record]\nsignals = "all"\nfile = "out.csv"\n'
        "[set]\nv = [3, 4]\nb = 7\n'x.start' = 5\n"
    )
    kilohertz.run(scenario, check=False)
    result = kilohertz.read(tmp_path / "out.csv")
    assert (result["s"][0], result["x"][0]) == (7, 5)
    assert result["q"][-1] == pytest.approx(7 * 0.02)


def test_a_series(tmp_path: Path) -> None:
    (tmp_path / "Settable.mo").write_text(TEXT, encoding="utf-8")
    report = kilohertz.load(tmp_path / "Settable.mo").series(
        {"a": [1, 2]},
        settings={"v": [3, 4], "b": 7, "x.start": 5},
        stop=0.1,
        record=["s", "y", "x"],
        keep="all",
        folder=tmp_path / "out",
        jobs=1,
    )
    assert report is not None


def test_a_state_has_a_start_to_be_set(model: kilohertz.Model) -> None:
    with pytest.raises(kilohertz.ModelError) as refused:
        model.simulate(settings={"x": 3})
    assert [n.text for n in refused.value.diagnostics[0].notes] == ["`x.start=...` sets its start value"]

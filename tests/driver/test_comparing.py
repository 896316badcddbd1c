"""Comparisons from a file: sides that are models and files, what is wrong with one, and where runs part."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver.comparing import Outcome, read_definition, run_definition
from kilohertz.results import Result, write

MODEL = """
model Bench "A mass on a spring that meets a stop"
  parameter Real m = 1 "mass";
  parameter Real c = 100 "stiffness";
  Real x(start = 0.2, fixed = true, unit = "m");
  Real v(start = 0, fixed = true, unit = "m/s");
  Real F(unit = "N");
  Boolean pressed(start = false, fixed = true);
equation
  der(x) = v;
  m*der(v) = -F;
  F = c*x + (if pressed then 50*x else 0);
  when x < -0.1 then
    pressed = true;
  end when;
end Bench;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bench.mo").write_text(MODEL)
    return tmp_path


def compared(folder: Path, text: str) -> Outcome:
    file = folder / "comparison.toml"
    file.write_text(text)
    return run_definition(read_definition(file))


def test_a_fixed_step_against_cvode(folder: Path) -> None:
    text = 'tolerance = 0.01\n[result]\nmodel = "bench.mo"\nsolver = "rk4"\nstep = "1ms"\nstop = 1\n'
    outcome = compared(folder, text + '[reference]\nmodel = "bench.mo"\n')
    assert outcome.verdict.ok
    assert {s.name for s in outcome.verdict.signals} >= {"x", "v", "F", "pressed"}
    assert outcome.why == ()
    assert outcome.reference.result.time[-1] == 1.0  # as on the other side


def test_a_planted_error_is_found_and_located(folder: Path) -> None:
    text = '[result]\nmodel = "bench.mo"\nset = { c = 101 }\nstop = 1\n[reference]\nmodel = "bench.mo"\n'
    outcome = compared(folder, text)
    assert not outcome.verdict.ok
    assert outcome.verdict.pairing.parameters == (("c", 101.0, 100.0),)
    first, block, parameter, *_ = outcome.why
    assert first.startswith("`F` parts first, at t = 0 s: 20.2, in the reference 20")
    assert "assignment for `F`" in block
    assert "bench.mo:12" in block
    assert parameter == "it depends on `c`: 101, in the reference 100"


def test_an_event_that_only_one_side_has_is_named(folder: Path) -> None:
    (folder / "late.mo").write_text(MODEL.replace("x < -0.1", "x < -0.19").replace("Bench", "Late"))
    text = '[result]\nmodel = "late.mo"\nstop = 0.3\n[reference]\nmodel = "bench.mo"\n'
    told = compared(folder, text).why
    assert any("`pressed` changes from 0 to 1 at t =" in line and "reference only" in line for line in told)


def test_a_file_against_a_model_with_other_names_and_units(folder: Path) -> None:
    t = np.linspace(0, 0.15, 301)
    x = 0.2 * np.cos(10 * t)
    write(folder / "measured.parquet", Result.of_columns("rig", t, {"rig.pos": -1e3 * x}, None, {"rig.pos": "mm"}))
    text = """
only = ["x"]
[result]
file = "measured.parquet"
[reference]
model = "bench.mo"
[[rename]]
result = "rig.pos"
reference = "x"
sign = -1
[[signal]]
name = "x"
tolerance = 0.005
"""
    outcome = compared(folder, text)
    assert outcome.verdict.ok
    assert outcome.definition.wanted.bars_of("x").tolerance == 0.005


def test_expressions_over_both_sides(folder: Path) -> None:
    text = 'only = ["F"]\n[result]\nmodel = "bench.mo"\nstop = 0.1\n[reference]\nmodel = "bench.mo"\n'
    outcome = compared(folder, text + '[[pair]]\nname = "spring"\nresult = "100*x"\nreference = "F"\n')
    assert [(s.name, s.ok) for s in outcome.verdict.signals] == [("spring", True)]


def test_a_model_with_inputs(folder: Path) -> None:
    (folder / "gain.mo").write_text("model Gain\n  input Real u;\n  output Real y = 2*u;\nend Gain;\n")
    (folder / "u.csv").write_text("time,u\n0,1\n1,3\n")
    (folder / "y.csv").write_text("time,y\n0,2\n1,6\n")
    text = '[result]\nmodel = "gain.mo"\ninput = "u.csv"\ninterpolation = "linear"\n[reference]\nfile = "y.csv"\n'
    assert compared(folder, text).verdict.ok
    assert not compared(folder, text.replace("linear", "hold")).verdict.ok


def test_a_recorded_run_passes_against_its_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = "input Real u; Real y(start = 0, fixed = true); constant Real c = 3;"
    (folder / "lag.mo").write_text(f"model Lag {declared} equation der(y) = c*(u - y); end Lag;")
    (folder / "u.csv").write_text("time,u\n0,1\n0.5,-1\n")
    lag, out = str(folder / "lag.mo"), str(folder / "run.csv")
    run = ["simulate", lag, "--solver", "rk4", "--step", "1ms", "--intervals", "1000", "--stop", "1", "-q", "-o", out]
    assert main([*run, "--input", str(folder / "u.csv")]) == 0
    driven = ["--input", out, "--interpolation", "recorded"]
    assert main(["compare", out, lag, *driven]) == 0
    assert main(["compare", out, lag]) == 1
    assert main(["compare", lag, "--solver", "rk4", "--step", "1ms", "--stop", "1", *driven]) == 0
    assert "PASS" in capsys.readouterr().out


def test_a_bench_that_was_switched_on_before(folder: Path) -> None:
    """Other names, other units, its clock began earlier, and it ran on."""
    t = np.arange(0, 20, 1e-3)
    x = 0.2 * np.cos(10 * np.maximum(t - 12.3, 0))
    bench = Result.of_columns("bench", t, {"pos": 1e3 * x, "load": 100 * x}, None, {"pos": "mm", "load": "N"})
    write(folder / "bench.mf4", bench)
    text = """
only = ["x", "F"]
[result]
file = "bench.mf4"
offset = -12.3
start = 0
stop = "0.15s"
[reference]
model = "bench.mo"
[[rename]]
result = "pos"
reference = "x"
[[rename]]
result = "load"
reference = "F"
"""
    outcome = compared(folder, text)
    assert outcome.verdict.ok, outcome.verdict.failed
    assert outcome.reference.result.time[-1] == pytest.approx(0.15)
    with pytest.raises(ModelError) as caught:
        compared(folder, text.replace("start = 0", "start = 30").replace("0.15s", "40s"))
    assert caught.value.diagnostics[0].code == "R765"
    assert "has no row from 30 to 40 s; it lasts from -12.3 to 7.699 s" in caught.value.diagnostics[0].message


def test_parameters_of_a_file_with_seven_digits_do_not_differ(folder: Path) -> None:
    write(folder / "a.mat", Result.of_columns("a", np.array([0.0, 1.0]), {"x": np.array([0.0, 1.0])}, {"c": 0.1}))
    close = Result.of_columns("b", np.array([0.0, 1.0]), {"x": np.array([0.0, 1.0])}, {"c": float(np.float32(0.1))})
    write(folder / "b.mat", close)
    outcome = compared(folder, '[result]\nfile = "a.mat"\n[reference]\nfile = "b.mat"\n')
    assert outcome.verdict.pairing.parameters == ()


SIDES = '[result]\nfile = "a.csv"\n[reference]\nfile = "b.csv"\n'


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("[result\n", "R740", "not a TOML file"),
        ("tolerence = 0.1\n" + SIDES, "R741", "did you mean `tolerance`"),
        ("tolerance = -1\n" + SIDES, "R742", "must not be negative"),
        ("tolerance = 'much'\n" + SIDES, "R742", "must be a number"),
        ('[result]\nfile = "a.csv"\n', "R743", "`[reference]` is missing"),
        ("[result]\nsolver = 'rk4'\n[reference]\nfile = 'b.csv'\n", "R743", "`model` is missing"),
        (SIDES.replace("a.csv", "a.xyz"), "R742", "must end with .csv"),
        (SIDES + "step = '1ms'\n", "R742", "is for a model, and this side is a file"),
        (SIDES + "model = 'M'\n", "R742", "a side is one of them"),
        (SIDES.replace('file = "a.csv"', "model = 'M'\noffset = 1"), "R742", "is for a file, and this side is a model"),
        (SIDES + "[[pair]]\nresult = 'x'\n", "R743", "`reference` is missing"),
        (SIDES + "[[pair]]\nresult = 'x'\nreference = 'x'\nsign = 2\n", "R742", "must be 1 or -1"),
        (SIDES + "[[pair]]\nresult = 'x'\nreference = 'x'\nresult_unit = 'furlong'\n", "R742", "nothing is called"),
        (SIDES + "[[rename]]\nresult = 'a.*'\nreference = 'x'\n", "R742", "as many `*`"),
        (SIDES + "[[signal]]\nname = 'x'\nrmse = 1\n", "R741", "there is no setting `rmse`"),
        (SIDES + "[[pair]]\nresult = 'x +'\nreference = 'x'\n", "P", ""),
        (SIDES + "[[pair]]\nresult = 'q + 1'\nreference = 'x'\n", "R760", "the result has no `q`"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, code: str, message: str) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("time,x\n0,0\n1,1\n")
    with pytest.raises(ModelError) as caught:
        compared(tmp_path, text)
    found = caught.value.diagnostics[0]
    assert found.code.startswith(code)
    assert message in found.message


GOOD = "time,x\n0,0\n1,1\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"", "R703"),
        ("a.csv", b"time,x\n", "the result has no rows"),
        ("a.csv", b"time,x\n0,0\n1,nan\n", "not a finite number at t = 1"),
        ("a.csv", b"time,x\n0,0\n1,1\n0.5,1\n", "time runs backwards after t = 1"),
        ("a.csv", b"time,y\n0,0\n1,1\n", "R762"),
        (
            "a.mat",
            b"\x00\x00\x00\x00\x04\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00Aclass\x00A",
            "R703",
        ),
        ("a.parquet", b"PAR1 no more", "R703"),
        ("a.recording", b"no recording", "R703"),
        ("gone/a.csv", None, "R701"),
    ],
)
def test_a_bad_file_is_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes | None, expected: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "b.csv").write_text(GOOD)
    assert main(["compare", str(tmp_path / name), str(tmp_path / "b.csv")]) == 1
    said = capsys.readouterr()
    assert expected in said.out + said.err
    assert "internal error" not in said.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_report_that_cannot_be_written_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text(GOOD)
    same = [str(tmp_path / "a.csv")] * 2
    assert main(["compare", *same, "--junit", "/dev/full"]) == 1
    assert "R702" in capsys.readouterr().err
    assert main(["compare", *same, "--page", str(tmp_path / "no" / "p.html")]) == 1
    assert "there is no such folder" in capsys.readouterr().err


def test_what_the_command_line_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text(GOOD)
    (tmp_path / "c.toml").write_text(SIDES)
    assert main(["compare", str(tmp_path / "a.csv")]) == 1
    assert "R743" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "a.csv"), "--solver", "rk4"]) == 1
    assert "is for a model" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "c.toml"), "--tolerance", "1"]) == 1
    assert "nothing is given beside it" in capsys.readouterr().err


CHAOS = """
model Chaos "After a while a rounding decides"
  Real x(start = 1, fixed = true);
  Real y(start = 1, fixed = true);
  Real z(start = 1, fixed = true);
equation
  der(x) = 10*(y - x);
  der(y) = x*(28 - z) - y;
  der(z) = x*y - 8/3*z;
end Chaos;
"""


def test_signals_on_which_the_reference_is_not_sure_are_told_apart(folder: Path) -> None:
    (folder / "chaos.mo").write_text(CHAOS)
    steps = 'solver = "rk4"\nstep = "2ms"\nstop = 60\n'
    outcome = compared(folder, f'[result]\nmodel = "chaos.mo"\n{steps}[reference]\nmodel = "chaos.mo"\n')
    assert {s.name for s in outcome.verdict.failed} >= {"x", "y", "z"} and set(outcome.doubtful) >= {"x", "y", "z"}
    assert "no sure reference" in outcome.why[0]
    wrong = '[result]\nmodel = "bench.mo"\nset = { c = 101 }\nstop = 1\n[reference]\nmodel = "bench.mo"\n'
    sure = compared(folder, wrong)
    assert sure.doubtful == () and "no sure reference" not in " ".join(sure.why)


def test_settings_are_those_of_the_side_that_is_a_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    steps = ["--solver", "rk4", "--step", "20ms", "--stop", "1"]
    assert main(["simulate", "bench.mo", *steps, "-o", "run.csv"]) == 0
    assert main(["compare", "run.csv", "bench.mo", *steps[:4], "--tolerance", "1e-9"]) == 0
    assert main(["compare", "run.csv", "run.csv", *steps[:4]]) == 1
    assert "both sides are files" in capsys.readouterr().err

"""`khz profile`: tables, files, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kilohertz.cli import main

MODEL = "Kilohertz.Examples.SaturatingInductors.Original"


def test_a_profile_is_shown_kept_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, kept = tmp_path / "r.json", tmp_path / "kept"
    words = ["profile", MODEL, "--solver", "rk4", "--steps", "300", "--json", str(report), "-o", str(kept)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{MODEL}: ")
    for words_there in ("solve first.i", "nonlinear 2", "Electrical/package.mo:65", "stepper itself", "worst cycles"):
        assert words_there in shown
    data = json.loads(report.read_text())
    assert data["format"] == "khz-profile-report 1"
    assert data["cycles"] == 300
    assert 0.0 < data["attributed"] <= 1.0  # how much: benchmarks/profile_overhead.py
    parts = sum(p["ns"]["mean"] for p in data["places"])
    assert parts == pytest.approx(data["cycle_ns"]["mean"])  # the parts sum to the whole
    worst = data["worst"][0]
    assert sum(p["ns"] for p in worst["places"]) == pytest.approx(worst["ns"], rel=0.01)
    assert main(["profile", str(kept / f"{MODEL}.json"), "--by", "lines"]) == 0
    assert "Electrical/package.mo:65" in capsys.readouterr().out


def test_without_a_step_or_a_method_it_says_which_it_took(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "decay.mo"
    text = "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; {}end Decay;"
    for annotation, every in (("", "1 ms"), ("annotation(experiment(StopTime = 1, Interval = 0.01)); ", "10 ms")):
        file.write_text(text.format(annotation))
        assert main(["profile", str(file)]) == 0
        shown = capsys.readouterr().out
        assert "auto takes rk3" in shown and f"stepped by rk3, every {every}" in shown
        assert main(["simulate", str(file), "--solver", "auto"]) == 0
        assert "R732" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--steps", "0"], "R793", "there must be a step to profile"),
        (["--steps", "10", "--stop", "1"], "R793", "one of them says how far"),
        (["--steps", "99999999999"], "R793", "are too many"),
        (["--solver", "cvode"], "R721", "no fixed-step method is called `cvode`"),
        (["--steps", "5", "--set", "nothing=1"], "R719", "no parameter `nothing`"),
        (["--steps", "5", "-o", "/dev/null/x"], "R702", "cannot write"),
        (["--steps", "5", "--json", "/dev/null/x"], "R702", "cannot write"),
    ],
)
def test_what_does_not_fit_is_refused(
    more: list[str], code: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["profile", MODEL, "--solver", "rk4", "-q", *more]) == 1
    shown = capsys.readouterr().err
    assert code in shown
    assert said in shown


def test_a_kept_profile_has_no_instructions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", str(tmp_path / "p.json"), "--instructions"]) == 1
    assert "are for a model, which they run again" in capsys.readouterr().err


def test_instructions_by_function(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["profile", MODEL, "--solver", "rk4", "--steps", "20", "--instructions", "--set", "first.L_zero=0.3"]
    code = main(words)
    shown = capsys.readouterr()
    if code != 0 and "not installed" in shown.err:
        pytest.skip("needs valgrind")
    assert code == 0
    assert "instructions a step, without probes" in shown.out
    assert "khz_newton" in shown.out


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("kilohertz.profiler.instructions.shutil.which", lambda name: None)
    assert main(["profile", MODEL, "--solver", "rk4", "--steps", "20", "--instructions", "-q"]) == 1
    assert "error[R794]" in capsys.readouterr().err


def test_a_model_without_a_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty := tmp_path / "empty.mo").write_text("\n")
    (nameless := tmp_path / "nameless.mo").write_text("model\nequation\nend ;\n")
    for argument, code in (("", "L309"), (str(empty), "L311"), (str(nameless), "P107")):
        assert main(["profile", argument, "--solver", "rk4"]) == 1
        assert code in capsys.readouterr().err

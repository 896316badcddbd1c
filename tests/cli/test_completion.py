"""Completion, as a real shell does it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kilohertz.cli import main as khz

BASH = shutil.which("bash")


def completed(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What bash offers at the end of a line; `khz` there is this one."""
    if BASH is None:
        pytest.skip("no bash")
    assert khz(["complete", "bash"]) == 0
    words = line.split(" ")
    (folder / "khz.sh").write_text(
        f'khz() {{ {sys.executable} -m kilohertz "$@"; }}\n{capsys.readouterr().out}\ncompopt() {{ :; }}\n'
        f"COMP_WORDS=({' '.join(repr(w) for w in words)})\nCOMP_CWORD={len(words) - 1}\n"
        f"COMP_LINE={line!r} COMP_POINT={len(line)}\n_khz\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    shell = subprocess.run([BASH, "khz.sh"], cwd=folder, capture_output=True, text=True, check=False)
    assert shell.returncode == 0, shell.stderr
    return shell.stdout.split()


def test_commands_options_choices_files_and_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plant.toml").touch()
    assert completed("khz si", tmp_path, capsys) == ["simulate"]
    assert "--tolerance" in completed("khz simulate M --to", tmp_path, capsys)
    assert "catch-up" in completed("khz run M --events ", tmp_path, capsys)
    assert completed("khz run pl", tmp_path, capsys) == ["plant.toml"]
    assert completed("khz library ins", tmp_path, capsys) == ["install"]
    assert "--mirror" in completed("khz library install --m", tmp_path, capsys)
    assert completed("khz check Kilohertz.Examples.RCC", tmp_path, capsys) == ["Kilohertz.Examples.RCCircuit"]
    assert completed("khz check Kilohertz.Exam", tmp_path, capsys) == ["Kilohertz.Examples."]


def test_parameters_of_the_model_after_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "Arm.mo").write_text(
        "model Arm model Joint parameter Real friction = 1; parameter Real k[2] = {1, 2}; end Joint; Joint joint;"
        " parameter Real mass = 2; Real x(start = 1, fixed = true);"
        " equation der(x) = -joint.friction*x/mass*(joint.k[1] + joint.k[2]); end Arm;"
    )
    asked = "khz simulate Arm.mo --stop 1 --set "
    assert completed(asked, tmp_path, capsys) == ["joint.", "mass="]
    assert completed(f"{asked}joint.f", tmp_path, capsys) == ["joint.friction="]
    assert completed(f"{asked}joint.k", tmp_path, capsys) == ["joint.k[1]=", "joint.k[2]="]
    assert completed("khz simulate Nothing.mo --set m", tmp_path, capsys) == []
    assert completed("khz simulate --set m", tmp_path, capsys) == []

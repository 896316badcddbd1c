"""What a model writes lands where the user said: in the folder of the call, in real time in that of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.cli import main

MODEL = r"""
model Writes
  impure function note
    input Real t;
    output Real y;
    external "C" y = khz_test_note(t) annotation (Include = "
      #include <stdio.h>
      static double khz_test_note(double t)
      {
        FILE *const f = fopen(\"note.txt\", \"w\");
        if (f != NULL) { fputs(\"written\", f); fclose(f); }
        return t;
      }");
  end note;
  Real x(start = 1, fixed = true);
  discrete Real n(start = 0, fixed = true);
equation
  der(x) = -x;
  when time > 0.005 then
    n = note(time);
  end when;
end Writes;
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The model in a folder of its own, called from another one."""
    for name in ("models", "here", "run"):
        (tmp_path / name).mkdir()
    (tmp_path / "models" / "writes.mo").write_text(MODEL)
    monkeypatch.chdir(tmp_path / "here")
    return str(tmp_path / "models" / "writes.mo")


def written(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("note.txt"))


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_off_line_in_the_folder_of_the_call(model: str, tmp_path: Path, solver: str) -> None:
    assert main(["simulate", model, "--solver", solver, "--stop", "0.01", "--quiet"]) == 0
    assert written(tmp_path) == ["here/note.txt"]


def test_in_real_time_in_the_folder_of_the_run(model: str, tmp_path: Path) -> None:
    load(model).run(duration=0.02, solver="rk4", folder=tmp_path / "run")
    assert written(tmp_path) == ["run/note.txt", "run/probe/note.txt"]  # the probe measures a cycle before the run


def test_looking_at_a_model_writes_nothing(model: str, tmp_path: Path) -> None:
    for command in ("check", "flatten", "analyse"):
        assert main([command, model]) == 0
    assert written(tmp_path) == []

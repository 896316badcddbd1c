"""What `khz simulate` warns of reaches Python, too."""

import warnings
from pathlib import Path

import pytest

import kilohertz
from kilohertz import ModelWarning
from kilohertz.cli.main import main

_TICKS = """
model Ticks
  parameter Integer n = 1;
  Integer k[n](each start = 0);
equation
  for i in 1:n loop
    k[i] = previous(k[i]) + 1;
  end for;
end Ticks;
"""
_WARNS = """
model Warns
  Real x = time;
equation
  assert(x < 0.5, "x is large", AssertionLevel.warning);
end Warns;
"""


def _said(model: kilohertz.Model, **keywords: object) -> list[str]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.simulate(**keywords)  # type: ignore[arg-type]
    assert all(w.category is ModelWarning and w.filename == __file__ for w in heard)
    return [str(w.message) for w in heard]


def test_what_passes_notice_of_a_model_is_told_by_its_first_run(tmp_path: Path) -> None:
    (file := tmp_path / "Ticks.mo").write_text(_TICKS)
    model = kilohertz.load(file)
    (said,) = _said(model)
    assert "Ticks.mo:4:11: warning[B210]: no clock is given for k[1]" in said
    assert [w.code for w in model.warnings] == ["B210"]
    assert _said(model) == []


def test_a_model_that_settings_shape_anew_tells_its_own(tmp_path: Path) -> None:
    (file := tmp_path / "Ticks.mo").write_text(_TICKS)
    (said,) = _said(kilohertz.load(file), settings={"n": 2})
    assert "k[1], k[2]" in said


def test_what_a_run_had_to_cope_with_is_told_by_each(tmp_path: Path) -> None:
    (file := tmp_path / "Warns.mo").write_text(_WARNS)
    model = kilohertz.load(file)
    for _ in range(2):
        (said,) = _said(model)
        assert "warning[R748]: the model warns: x is large" in said


def test_commands_print_it_as_a_diagnostic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file := tmp_path / "Ticks.mo").write_text(_TICKS)
    assert main(["compare", str(file), str(file)]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"{file}:4:11: warning[B210]: ") and "ModelWarning" not in said

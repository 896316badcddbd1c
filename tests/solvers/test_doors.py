"""Texts generated from `StepSettings` are as the files have them; `pytest --update-golden` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kilohertz.runtime import fields
from kilohertz.solvers.doors import between, c_settings, modelica_parameters, reference_table
from kilohertz.solvers.settings import C_FIELDS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kilohertz"
HEADER = SOURCE / "runtime" / "stepper" / "khz_stepper.h"
FILES: dict[Path, Callable[[], str]] = {
    SOURCE / "library" / "Kilohertz" / "RealTime.mo": modelica_parameters,
    ROOT / "docs" / "reference" / "settings.md": reference_table,
    HEADER: c_settings,
}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_generated_texts_are_up_to_date(file: Path, pytestconfig: pytest.Config) -> None:
    text = file.read_text(encoding="utf-8")
    wanted = between(text, FILES[file]())
    if pytestconfig.getoption("--update-golden"):
        file.write_text(wanted, encoding="utf-8")
    else:
        assert text == wanted


def test_the_structure_has_the_fields() -> None:
    assert [name for name, _ in fields("khz_step_settings")] == [s.c for s in C_FIELDS]

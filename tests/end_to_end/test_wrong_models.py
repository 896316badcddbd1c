"""Wrong models end with exit code 1 and a message that names component, line, time and values; never a traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kilohertz.cli import main

HERE = Path(__file__).parent


@pytest.mark.golden("wrong_models.case")
def test_a_wrong_model_is_explained(
    case: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(HERE)  # messages name files as the user does
    name, *options = case.text.split()
    assert main(["simulate", f"wrong_models.mo:WrongModels.{name}", "-q", *options]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert str(HERE) not in output.err
    case.check(output.err)

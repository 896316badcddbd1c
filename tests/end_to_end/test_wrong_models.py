"""Wrong models end with exit code 1 and a message that names component, line, time and values; never a traceback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kilohertz.cli import main

HERE = Path(__file__).parent
_TIME = re.compile(r"time = (\d+\.\d+(?:e[-+]\d+)?)")
_VALUE = re.compile(r"(= )-?\d+\.\d+(e[-+]\d+)?")


def _rounded(text: str) -> str:
    """Where CVODE gives up is not the same to the last digit everywhere: time to two digits, values by their place."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        lines[i] = _TIME.sub(lambda m: f"time = {float(m[1]):.2f}", line)
        if line.startswith("note:"):
            lines[i] = _VALUE.sub(r"\1#", line)
    return "\n".join(lines)


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
    case.check(_rounded(output.err) if "cvode" in options else output.err)

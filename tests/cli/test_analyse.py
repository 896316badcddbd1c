"""`khz analyse --after PASS` and `--verify`."""

from __future__ import annotations

import pytest

from kilohertz.cli import main
from kilohertz.ir.dae import Dae
from kilohertz.ir.text.forms import read_form

CIRCUIT = "Kilohertz.Examples.RCCircuit"


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("scalarise", "model "),
        ("eliminate-aliases", "dae "),
        ("eliminate-aliases{states-chosen}", "dae "),
        ("causalise", "ordered "),
        ("differentiate", "step "),
        ("inline-stage", "step "),
        ("open-loops", "step "),
    ],
)
def test_the_form_after_a_pass(name: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", CIRCUIT, "--after", name, "--verify"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(first + CIRCUIT) and out.endswith(f"end {CIRCUIT};\n")
    assert ("inlined\n" in out) == (name == "inline-stage")


def test_the_text_is_the_form(capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyse", CIRCUIT, "--after", "lower-events"])
    form = read_form(capsys.readouterr().out)
    assert isinstance(form, Dae) and form.equations


def test_a_wrong_name_is_answered_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", CIRCUIT, "--after", "assemble"]) == 1
    error = capsys.readouterr().err
    assert "R735" in error and "there is no pass `assemble`" in error
    assert "expand-partials, scalarise, settle-reversals" in error
    assert error.rstrip().endswith("inline-stage, open-loops")


def test_an_analysis_may_be_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", CIRCUIT, "--inline", "--verify"]) == 0
    assert "partition-blocks" in capsys.readouterr().out

"""The door: exit codes, messages, and no traceback on any way out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kilohertz import __version__
from kilohertz.base import Diagnostic, InternalError, ModelError
from kilohertz.cli import main
from kilohertz.cli.arguments import positive_seconds, seconds, setting
from kilohertz.cli.main import COMMANDS, guarded


def khz(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kilohertz", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kilohertz {__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: khz {command}" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["no-such-command"], ["check"], ["check", "A", "--no-such-option"]])
def test_wrong_usage_is_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr().err
    assert ("--help` " in said) == bool(words) and ("usage: khz" in said) != bool(words)


def test_without_words_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().err
    assert [command for command in COMMANDS if f"    {command} " not in shown] == []


def test_a_model_error_is_shown_and_gives_1(capsys: pytest.CaptureFixture[str]) -> None:
    def job() -> int:
        raise ModelError(Diagnostic("S1", "first"), Diagnostic("S2", "second"))

    assert guarded(job) == 1
    assert capsys.readouterr().err == "error[S1]: first\nerror[S2]: second\n2 errors\n"


def test_our_own_mistake_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    def job() -> int:
        raise InternalError("a broken contract")

    assert guarded(job) == 1
    shown = capsys.readouterr().err
    assert "internal error: InternalError: a broken contract" in shown
    assert "please report it" in shown
    assert "Traceback" not in shown


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def job() -> int:
        raise InternalError("a broken contract")

    monkeypatch.setenv("KHZ_DEBUG", "1")
    with pytest.raises(InternalError):
        guarded(job)


def test_what_was_wrong_is_not_hidden_by_a_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "M", "--no-such-option"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "khz check: error: unrecognized arguments: --no-such-option"
    assert said[-1] == "note: `khz check --help` tells how it is called"
    assert len(said) == 2


def test_a_usage_leaves_many_options_to_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    for command, usage in (("compare", "[options] A [B]"), ("doctor", "[-h] [--seconds T] [--json]")):
        assert main([command, "--help"]) == 0
        assert capsys.readouterr().out.startswith(f"usage: khz {command} {usage}\n")


def test_a_command_that_is_not_there_has_a_neighbour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chek", "M"]) == 2
    assert capsys.readouterr().err.splitlines()[0] == "khz: error: there is no command `chek`; did you mean `check`?"


def test_a_frequency_for_a_step_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "M", "--step", "1kHz"]) == 2
    assert "1 kHz is a step of 1ms" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["simulate", "P.mo", "P.Drive"], "note: a class in a file is `P.mo:P.Drive`"),
        (["simulate", "P.Drive", "--outptu=r.csv"], "note: did you mean `--output`?"),
    ],
)
def test_what_was_meant_is_told(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert meant in capsys.readouterr().err.splitlines()


def test_an_interrupt_is_130(capsys: pytest.CaptureFixture[str]) -> None:
    def job() -> int:
        raise KeyboardInterrupt

    assert guarded(job) == 130
    assert capsys.readouterr().err == "khz: interrupted\n"


def test_a_reader_that_leaves_early_hears_nothing() -> None:
    script = f"{sys.executable} -m kilohertz --help; {sys.executable} -m kilohertz compare --help | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ("1ms", 1e-3), ("250us", 250e-6), ("2min", 120.0), ("-1", -1)]
)
def test_times(text: str, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "fast", "1 parsec", "0", "-1ms", "inf", "nan"])
def test_what_is_not_a_step(text: str) -> None:
    with pytest.raises(Exception, match="is not"):
        positive_seconds(text)


def test_settings() -> None:
    assert setting("motor.J = 0.1") == ("motor.J", "0.1")
    with pytest.raises(Exception, match="name=value"):
        setting("motor.J")


def test_start_up_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'scipy', 'rich', 'matplotlib', 'typer', 'sksundae'}"
    code = f"import sys, kilohertz.driver, kilohertz.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_comparing_two_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,0\n1,1\n")
    (tmp_path / "b.csv").write_text("time,x\n0,0\n1,2\n")
    same = khz("compare", str(tmp_path / "a.csv"), str(tmp_path / "a.csv"))
    assert (same.returncode, same.stdout.splitlines()[-1]) == (0, "PASS: 1 of 1 signals pass")
    other = khz("compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    assert (other.returncode, other.stdout.splitlines()[-1]) == (1, "FAIL: 0 of 1 signals pass")
    gone = khz("compare", str(tmp_path / "a.csv"), str(tmp_path / "c.csv"))
    assert gone.returncode == 1
    assert "error[R701]: cannot read" in gone.stderr


def test_a_wrong_ending_is_refused_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "Kilohertz.Examples.Decay", "-o", "out.xyz"]) == 1
    assert "error[R704]: no result format is called `.xyz`" in capsys.readouterr().err


def test_record_may_be_repeated(tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    words = ["--record", "capacitor.v", "--record", "resistor.*", "-q", "-o", str(out)]
    assert main(["simulate", "Kilohertz.Examples.RCCircuit", *words]) == 0
    head = out.read_text().splitlines()[0]
    assert '"capacitor.v"' in head and '"resistor.i"' in head and '"source.' not in head

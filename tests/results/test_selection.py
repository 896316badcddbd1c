"""What is recorded: the same words off-line and in real time; a name that nothing has is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli.main import main
from kilohertz.driver import open_job
from kilohertz.results import Selection

MODEL = """
model M
  input Real u;
  output Real y = x;
  output Real z = 2*x + u;
  Real x(start=1, fixed=true);
  parameter Real k[2] = {1, 2};
equation
  der(x) = u - k[1]*x;
end M;
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "M.mo").write_text(MODEL)
    return str(tmp_path / "M.mo")


def test_names_patterns_and_words() -> None:
    s = Selection(["k[*]", "outputs", "x"])
    names = {"k[1]": False, "kk": False, "x": False, "y": True}
    assert [n for n, is_output in names.items() if s.takes(n, is_output=is_output)] == ["k[1]", "x", "y"]
    assert s.problems(names) == []
    assert not Selection("all").takes("k[1]", is_output=False, is_in_all=False)
    assert Selection("*").takes("k[1]", is_output=False, is_in_all=False)


def test_a_model_without_outputs_is_no_mistake() -> None:
    s = Selection("outputs")
    assert not s.takes("x", is_output=False) and s.problems(["x"]) == []


def test_what_names_nothing_is_told_with_what_is_close() -> None:
    s = Selection(["capacitr.*", "resistor.i"])
    known = ["capacitor.v", "resistor.i"]
    assert [s.takes(n, is_output=False) for n in known] == [False, True]
    (problem,) = s.problems(known)
    assert (problem.code, problem.message) == (
        "R744",
        "nothing to record is called `capacitr.*`; did you mean `capacitor.v`?",
    )


def test_outputs_are_the_same_off_line_and_in_real_time(model: str) -> None:
    """Declared so at the top of the model, under another name too (`y` is read from `x`); inputs are none."""
    offline = kilohertz.load(model).simulate(record="outputs", stop=0.01)
    assert set(offline.names) == {"y", "z"}
    job = open_job(model, solver="rk4", duration=0.01)
    recording = job.scenario.recording
    job = replace(job, scenario=replace(job.scenario, recording=replace(recording, signals=("outputs",)), scale=None))
    assert set(job.run(check=False).result.names) == {"y", "z"}


def test_the_same_diagnostic_off_line_and_in_a_scenario(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "error[R744]: nothing to record is called `outpts`"
    assert main(["simulate", model, "--record", "outpts"]) == 1
    assert said in capsys.readouterr().err
    (tmp_path / "s.toml").write_text("model = 'M.mo'\nsolver = 'rk4'\n[record]\nsignals = ['outpts']\n")
    assert main(["run", str(tmp_path / "s.toml")]) == 1
    assert said in capsys.readouterr().err
    with pytest.raises(ModelError, match="nothing to record"):
        kilohertz.load(model).simulate(record=["x", "outpts"])


def test_texts_are_no_signals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither variable nor constant ones, which were columns of NaN; who asks for one is told."""
    lines = ('constant String c = "q";', 'parameter String p = "a" + c;', "Real x = time;")
    (tmp_path / "T.mo").write_text("\n".join(("model T", *lines, "end T;")))
    model = str(tmp_path / "T.mo")
    assert set(kilohertz.load(model).simulate().names) == {"x"}
    for name in ("c", "p"):
        assert main(["simulate", model, "--record", name]) == 1
        assert f"error[R744]: `{name}` is no number: results hold numbers only" in capsys.readouterr().err

"""No silent wrong number: what a run could not do, or what the model leaves open, is said at every door."""

from __future__ import annotations

import os
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
from one_model import write

import kilohertz
from kilohertz.base import Diagnostic, ModelError, ModelWarning
from kilohertz.cli import main
from kilohertz.results import read
from kilohertz.simulate import RunFailed

ROOT_OF_NEGATIVE = """
model M
  Real x(start = 1.0005, fixed = true);
  Real y = sqrt(x);
equation
  der(x) = -1;
end M;
"""
NO_START = """
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = sqrt(x - 2);
end M;
"""
STIFF = """
model M
  Real x(start = 1, fixed = true);
equation
  der(x) = if x < 1e6 then -1e6*(x - 2) else sqrt(-x);
end M;
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Where `write` puts the model: rigs are called after it, and tests run side by side."""
    return str(tmp_path / f"m{os.environ.get('PYTEST_XDIST_WORKER', '')}.mo")


@pytest.mark.parametrize(("solver", "first"), [("cvode", 1.002), ("ida", 1.002), ("rk4", 1.001), ("rodas3", 1.001)])
def test_a_value_that_is_no_number_is_said_by_every_solver(model: str, solver: str, first: float) -> None:
    step: dict[str, Any] = {} if solver in ("cvode", "ida") else {"step": 1e-3}
    with pytest.warns(ModelWarning, match="y was not a number"):
        result = kilohertz.load(write(model, ROOT_OF_NEGATIVE)).simulate(solver=solver, stop=1.5, intervals=750, **step)
    assert not result.ok
    [problem] = result.problems
    assert problem.code == "R727"
    assert problem.span is not None
    assert problem.notes[0].text.startswith(f"first at time = {first:g}")
    assert "not ok" in repr(result)


def test_of_several_values_the_one_that_is_no_number_is_named(model: str) -> None:
    text = (
        "model M Real u; Real v; Real x(start = 0, fixed = true); equation der(x) = 1;"
        " algorithm u := 4; while u > 1 + x loop u := u/2; end while; v := log(0.5 - x); end M;"
    )
    with pytest.warns(ModelWarning, match=r"R727\]: v was not a number"):
        assert not kilohertz.load(write(model, text)).simulate(stop=1.0).ok


def test_a_discrete_value_that_is_no_number_is_said_too(model: str) -> None:
    text = (
        "model M discrete Real d(start=1, fixed=true); equation"
        " when sample(0.5, 1) then d = log(-time); end when; end M;"
    )
    with pytest.warns(ModelWarning, match="d was not a number"):
        assert not kilohertz.load(write(model, text)).simulate(stop=1.0).ok


def test_strict_raises_and_a_good_run_says_nothing(model: str) -> None:
    found = kilohertz.load(write(model, ROOT_OF_NEGATIVE))
    with pytest.raises(ModelError, match="y was not a number"):
        found.simulate(stop=1.5, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.simulate(stop=0.5, strict=True).ok


def test_steps_that_failed_are_no_secret_in_python(model: str) -> None:
    with pytest.warns(ModelWarning, match="steps failed"):
        result = kilohertz.load(write(model, STIFF)).simulate(solver="rk4", step=1e-3, stop=0.1)
    assert not result.ok
    assert "R729" in {p.code for p in result.problems}


def test_the_command_line_agrees(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", write(model, ROOT_OF_NEGATIVE), "--stop", "1.5"]) == 1
    assert "warning[R727]: y was not a number" in capsys.readouterr().err
    assert main(["simulate", model, "--stop", "0.5"]) == 0


def test_a_run_in_real_time_counts_them_and_ends_with_1(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--solver", "rk4", "--duration", "1.1s", "--fast", "--no-check"]
    assert main(["run", write(model, ROOT_OF_NEGATIVE), *words]) == 1
    said = capsys.readouterr().out
    assert "100 values that were not finite, first at 1.001 s, last at 1.1 s" in said
    assert f"y at {Path(model).name}:4" in said


def test_a_model_that_cannot_be_initialised_is_not_run(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write(model, NO_START), "--solver", "rk4", "--duration", "0.1s", "--no-check"]) == 1
    said = capsys.readouterr().err
    assert "R747" in said
    assert f"a value is not a number; der(x) at {Path(model).name}:5" in said
    for solver in ("cvode", "rk4"):
        with pytest.raises(ModelError, match="during initialisation, time = 0: a value is not a number"):
            kilohertz.load(model).simulate(solver=solver)


def test_what_was_recorded_before_a_failure_is_kept(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'model M Real x(start=0, fixed=true); equation der(x) = 1; assert(x < 0.75, "too large"); end M;'
    for solver in (["cvode"], ["rk4", "--step", "1ms"]):
        out = tmp_path / f"{solver[0]}.csv"
        assert main(["simulate", write(model, text), "-o", str(out), "--solver", *solver]) == 1
        said = capsys.readouterr().err
        assert "holds a part of the run" in said
        assert "R714" in said
        assert read(out).time[-1] == pytest.approx(0.75, abs=0.003)
    with pytest.raises(RunFailed) as caught:
        kilohertz.load(model).simulate()
    assert not caught.value.partial.ok
    assert caught.value.partial.final("x") == pytest.approx(0.75, abs=0.003)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model M Real x(start=1, fixed=true), y(start=3, fixed=true); equation der(x) = -x; y = x; end M;", "B209"),
        ("model M Real x(start=1, fixed=true), y(start=1, fixed=true); equation der(x) = -x; y = -x; end M;", "B209"),
        (
            "model M parameter Real a = 1; parameter Real b = 3; Real x(start=a, fixed=true), y(start=b, fixed=true);"
            " equation der(x) = -x; y = x; end M;",
            "R714",
        ),
    ],
)
def test_starts_that_contradict_each_other_are_refused(model: str, text: str, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        kilohertz.load(write(model, text)).simulate()
    [said] = caught.value.diagnostics
    assert said.code == code
    assert said.span is not None
    if code == "B209":
        assert "`x`" in said.message
        assert "`y`" in said.message
        assert said.notes[0].span is not None


def test_starts_that_agree_are_fine(model: str) -> None:
    text = (
        "model M parameter Real a = 2; parameter Real b = 2; Real x(start=a, fixed=true), y(start=b, fixed=true),"
        " z(start=-2, fixed=true); equation der(x) = -x; y = x; z = -x; end M;"
    )
    assert kilohertz.load(write(model, text)).simulate()["y"][0] == 2.0


def test_a_parameter_without_a_value_is_said_unless_it_is_set(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = "model M parameter Real k; Real x(start=1); equation der(x) = -k*x; end M;"
    assert main(["simulate", write(model, text)]) == 0
    assert "warning[B214]: parameter `k` has neither a value nor a start: 0" in capsys.readouterr().err
    assert main(["simulate", model, "--set", "k=2"]) == 0
    assert "B214" not in capsys.readouterr().err
    assert main(["run", model, "--solver", "rk4", "--duration", "10ms", "--fast", "--no-check"]) == 0
    assert "B214" in capsys.readouterr().err
    found = kilohertz.load(model)
    found.process()
    assert [w.code for w in found.warnings] == ["B214"]


def test_what_a_call_computes_is_not_a_parameter_without_a_value(model: str) -> None:
    text = (
        "model M record P Real a; Real b; end P; function f input Integer n; output P p; protected Integer i = 0;"
        " algorithm p.a := 1; p.b := 0; while i < n loop p.a := 2*p.a; i := i + 1; end while;"
        " annotation(Inline=false); end f; parameter Integer n = 3; parameter P p = f(n); Real x(start=0, fixed=true);"
        " equation der(x) = p.a; end M;"
    )
    loaded = kilohertz.load(write(model, text))
    assert loaded.simulate(stop=1.0).final("x") == pytest.approx(8.0)
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (
            "model M model C parameter Real k = 2; Real x = k; end C; C c[2](k = 1);"
            " Real y(start=1, fixed=true); equation der(y) = -y; end M;",
            {"S293"},
        ),
        ("model M Integer k(start=0); equation k = previous(k) + 1; end M;", {"B210"}),
        (
            'model M function f input Real u; algorithm assert(u > -1, "f"); end f; Real x(start=1, fixed=true);'
            " equation der(x) = -x; f(x); end M;",
            {"B212"},
        ),
        (
            "model M Real x(start=1, fixed=true, stateSelect=StateSelect.always), y(stateSelect=StateSelect.always);"
            " Real v, w; equation der(x) = v; der(y) = w; y = 2*x + sin(x); v + w = -x; end M;",
            {"B213"},
        ),
    ],
)
def test_warnings_of_check_and_analyse_show_at_every_door(
    model: str, text: str, codes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(model, text)
    for words in (["simulate"], ["run", "--solver", "rk4", "--duration", "10ms", "--fast", "--no-check"], ["analyse"]):
        assert main([words[0], model, *words[1:]]) == 0
        said = capsys.readouterr().err
        assert all(said.count(f"warning[{code}]") == 1 for code in codes), said
    found = kilohertz.load(model)
    found.process()
    assert {w.code for w in found.warnings} == codes
    assert all(w.span is not None for w in found.warnings)


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
@pytest.mark.parametrize(
    "declarations",
    [
        "Real x[3] = {1, 2, 3}; Real y = x[k];",
        "Real x[2, 3] = {{1, 2, 3}, {4, 5, 6}}; Real y = x[2, k];",
        "Real x[1] = {1}; Real y = if time < 0.72 then 3 else x[integer(1.01 + 4*time)];",
        "function f input Real x[3]; input Integer k; output Real y; algorithm y := x[k]; end f;"
        " Real y = f({1, 2, 3}, k);",
        "Real x[3] = {1, 2, 3}; Real y; algorithm y := x[k];",
    ],
)
def test_a_subscript_out_of_its_bounds_is_refused(model: str, declarations: str, solver: str) -> None:
    text = f"model M Real s(start=0, fixed=true); Integer k = integer(1.01 + 4*time); {declarations}"
    write(model, f"{text} equation der(s) = y; end M;")
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    found = kilohertz.load(model)
    assert found.simulate(stop=0.7, solver=solver, **step).ok
    with pytest.raises(ModelError) as caught:
        found.simulate(stop=1.0, solver=solver, **step)
    [said] = caught.value.diagnostics
    assert said.code == "R717"
    assert "an array subscript is out of bounds: subscript " in said.message
    if solver == "cvode":
        assert re.search("time = 0.7(475|2)", said.message)
        assert re.search("subscript (4 outside 1 to 3|3 outside 1 to 1)$", said.message)
    else:
        assert any(re.search("failed .* times; first at time = 0.7[25]", note.text) for note in said.notes)
    assert said.span is not None


def test_a_subscript_that_a_condition_keeps_in_its_bounds_is_fine(model: str) -> None:
    text = (
        "Real x[3] = {1, 2, 3}; Integer k = integer(1 + 4*time); Real y = if k <= 3 then x[k] else 7;"
        " Real z = if k <= 3 then 2*x[k] else 8; Real s = if time > 2 then 0 elseif k > 3 then 9 else 2*x[k];"
    )
    result = kilohertz.load(write(model, f"model M {text} end M;")).simulate(stop=1.0)
    assert result.ok
    assert [result.final(name) for name in "yzs"] == [7.0, 8.0, 9.0]
    assert [result[name][0] for name in "yzs"] == [1.0, 2.0, 2.0]


def test_a_subscript_counts_once_an_event_iteration_is_over(model: str) -> None:
    """In the first pass at the start `pre(k)` is 0 still."""
    text = (
        "model M Integer k(start=0); Real x[3] = {1, 2, 3}; Real y = x[pre(k)]; equation"
        " k = if time > 0.5 then 2 else 1; end M;"
    )
    result = kilohertz.load(write(model, text)).simulate(stop=1.0)
    assert result.ok
    assert (result["y"][0], result.final("y")) == (1.0, 2.0)


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
@pytest.mark.parametrize(
    "text",
    [
        "Real a, b; equation a + b = 1; 2*a + 2*b = 2 + 0*time;",
        "Real a, b, c; equation a + b + c = x; a - b = 1; 3*a + b + 2*c = 2*x + 1;",
        "Real a; equation (if x < 2 then 0 else 1)*a = 0*x;",
    ],
)
def test_equations_that_leave_values_open_are_said(model: str, text: str, solver: str) -> None:
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    found = kilohertz.load(write(model, f"model M Real x(start=1, fixed=true); {text} der(x) = -1; end M;"))
    result = found.simulate(stop=0.1, solver=solver, **step)
    [said] = [p for p in result.problems if p.code == "R736"]
    assert said.message.startswith("the equations do not determine a")
    assert said.span is not None
    assert said.notes[0].text == "first at time = 0"
    assert all(note.span is not None for note in said.notes[1:])


@pytest.mark.parametrize(
    "text",
    [
        "Real a, b; equation 7*a + 3*b = 1; 63*a + 27*b = 9 + 0*time;",
        "parameter Real k = 9; Real a, b; equation 7*a + 3*b = 1; k*7*a + k*3*b = k + 0*time;",
        "Real a, b, c; equation 7*a + 3*b + c = 1; 63*a + 27*b + 9*c = 9 + 0*time; a - b + 0.3*c = x;",
    ],
)
def test_equations_of_which_rounding_is_left_are_said(model: str, text: str) -> None:
    found = kilohertz.load(write(model, f"model M Real x(start=1, fixed=true); {text} der(x) = -1; end M;"))
    found.process()
    [said] = found.warnings
    assert said.code == "B221" and "of many values of" in said.message and said.span is not None


@pytest.mark.parametrize("solver", ["cvode", "rk4"])
def test_a_junction_of_shut_valves_has_some_pressure(model: str, solver: str) -> None:
    """The coefficient of p is made of variables that a mode decides, one of them through another."""
    text = (
        "model M Real a = if time < 0.5 then 0 else 1, b = 3*a, p, q[3]; equation"
        " q = {2*a*(5 - p), 2*b*(1 - p), 0.5*b*(3 - p)}; sum(q) = 0; end M;"
    )
    step: dict[str, Any] = {"step": 0.01} if solver == "rk4" else {}
    result = kilohertz.load(write(model, text)).simulate(stop=1.0, solver=solver, **step)
    assert {p.code for p in result.problems} == {"R736"}
    assert (result["p"][0], list(result["q[1]"][:3])) == (0.0, [0.0] * 3)
    assert result.final("p") == pytest.approx(20.5 / 9.5)


def test_a_task_says_what_its_equations_leave_open(tmp_path: Path) -> None:
    text = "Real x(start=1, fixed=true); Real a, b; equation a + b = x; 2*a + 2*b = 2*x + 0*time; der(x) = -1;"
    (tmp_path / "open_rt.mo").write_text(f"model open_rt {text} end open_rt;")
    scenario = tmp_path / "open_rt.toml"
    scenario.write_text('model = "open_rt.mo"\nsolver = "rk4"\nduration = "100ms"\ntime_scale = "max"\n')
    report = kilohertz.run(scenario, check=False)
    (task,) = report.data["tasks"]
    assert task["vague"]["n"] >= 1 and task["vague"]["first_time"] == 0.0 and task["unsettled"] is None
    assert ": not determined by the equations, of many solutions the smallest was taken" in report.as_text()


def test_equations_that_have_one_solution_are_fine(model: str) -> None:
    text = "model M Real x(start=1, fixed=true); Real a, b; equation a + b = 1; a + 2*b = x; der(x) = -1; end M;"
    assert kilohertz.load(write(model, text)).simulate().problems == ()


DECAY = "model M Real x(start=1, fixed=true); equation der(x) = -x; end M;"
FAST = ["--solver", "rk4", "--duration", "10ms", "--fast", "--no-check"]


def test_outputs_are_checked_before_a_run(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "s.toml"
    missing = tmp_path / "missing"
    scenario.write_text(
        f'model = "{write(model, DECAY)}"\nsolver = "rk4"\nduration = "1s"\n[record]\nfile = "{missing}/x.csv"\n'
    )
    for words in (
        [str(scenario)],
        [model, *FAST, "--json", f"{missing}/r.json"],
        [model, *FAST, "-o", f"{missing}/x.csv"],
    ):
        assert main(["run", *words]) == 1
        said = capsys.readouterr().err
        assert "R702" in said
        assert "running" not in said


def test_an_output_of_what_never_changes_is_not_written(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that was there before is not what this run gave."""
    (tmp_path / "x.csv").write_text("time,y\n0,1\n")
    write(model, "model M Real y = 2; end M;")
    assert main(["run", model, *FAST, "-o", str(tmp_path / "x.csv")]) == 1
    assert "nothing was recorded" in capsys.readouterr().err


def test_a_report_comes_though_the_recording_cannot_be_written(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise ModelError(Diagnostic("R702", "cannot write `x.csv`: no space left on the disk"))

    monkeypatch.setattr("kilohertz.realtime.launch.write", full)
    assert main(["run", write(model, DECAY), *FAST, "-o", str(tmp_path / "x.csv")]) == 1
    said = capsys.readouterr()
    assert "10 steps" in said.out
    assert "R702" in said.err
    kept = re.search(r"what was recorded stands in `(.*\.recording)`", said.err)
    assert kept is not None
    assert len(read(kept.group(1)).time) == 11


def test_a_built_executable_refuses_keys_it_does_not_know(model: str, tmp_path: Path) -> None:
    built = kilohertz.build(write(model, DECAY), folder=tmp_path / "out", solver="rk4")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(built.executable), *words], capture_output=True, text=True, timeout=60, check=False)

    wrong = run("cyles=100")
    assert wrong.returncode == 2
    assert "there is no key `cyles`" in wrong.stderr
    asked = run("--help")
    assert asked.returncode == 0
    assert "cycles=N" in asked.stdout
    good = run("cycles=100", "wall_num=0", "quiet=1", f"report={tmp_path / 'r.json'}")
    assert (good.returncode, good.stderr) == (0, "")


@pytest.mark.parametrize("words", [["--intervals", "-3"], ["--intervals", "0"], ["--stop", "inf"], ["--stop", "nan"]])
def test_experiments_that_make_no_sense_are_refused(
    model: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", write(model, DECAY), *words]) == 1
    assert "R723" in capsys.readouterr().err


@pytest.mark.parametrize("stepping", [{}, {"solver": "rk4", "step": 0.1}])
def test_a_variable_that_is_an_infinite_parameter_is_told(tmp_path: Path, stepping: dict[str, Any]) -> None:
    """No block computes it, so no block says so."""
    path = tmp_path / "Divided.mo"
    path.write_text(
        "model Divided parameter Real q = 0; parameter Real p = 1/q; Real y = p; Real x(start = 1, fixed = true);"
        " equation der(x) = -x; end Divided;"
    )
    model = kilohertz.load(path)
    with pytest.warns(ModelWarning, match="y is not a number"):
        result = model.simulate(**stepping)
    assert not result.ok and [d.code for d in result.problems] == ["R727"]
    assert model.simulate(settings={"q": 2}, **stepping).ok

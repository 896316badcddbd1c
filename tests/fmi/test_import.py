"""FMUs in: our own come back with the same bits, and hostile ones end with a clear message and all rows until then."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile_fmu import XML, hostile, packed

from kilohertz import ModelError, load
from kilohertz.cli.main import main
from kilohertz.driver import check_fmu, export, simulate_fmu
from kilohertz.fmi.importing.archive import Fmu
from kilohertz.fmi.importing.isolation import IsolationRefused, isolate
from kilohertz.fmi.importing.offline import failure
from kilohertz.simulate import RunFailed
from kilohertz.toolchain import find_compiler

STEP = 1e-3
MODEL = """\
model Driven
  parameter Real k = 2;
  parameter Integer n = 3;
  parameter Boolean on = true;
  input Real u(start = 0.25);
  input Boolean b(start = false);
  output Real y;
  Real x(start = 1, fixed = true);
equation
  der(x) = -k * x + (if on then n * u else 0) + (if b then 1 else 0);
  y = x + u;
end Driven;
"""


@pytest.fixture(scope="module", params=[2, 3])
def driven(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driven")
    (folder / "Driven.mo").write_text(MODEL, encoding="utf-8")
    export(load(folder / "Driven.mo"), folder / "Driven.fmu", fmi=request.param, solver="rk4", step=STEP)
    return folder / "Driven.fmu"


@pytest.mark.parametrize(("name", "value", "said"), [("on", "maybe", "true or false"), ("n", "1.5", "an Integer")])
def test_a_value_that_does_not_fit_is_told_what_does(driven: Path, name: str, value: str, said: str) -> None:
    with pytest.raises(ModelError) as refused:
        simulate_fmu(driven, settings={name: value})
    assert refused.value.diagnostics[0].message == f"`{name}` cannot be set to `{value}`: it is {said}"


def code_of(error: pytest.ExceptionInfo[ModelError]) -> str:
    return error.value.diagnostics[0].code


# ------------------------------------------------------------------------------------------------------------ our own


def test_our_own_come_back_with_the_same_bits(driven: Path) -> None:
    values = {"k": 3.5, "n": 2, "on": True}
    times = np.array([0.0, 0.1, 0.2, 0.5])
    drive: dict[str, Any] = {"u": (times, [0.0, 1.0, -1.0, 2.0]), "b": (times, [0.0, 1.0, 1.0, 0.0])}
    there = simulate_fmu(driven, stop=1.0, settings=values, inputs=drive)
    here = load(driven.with_suffix(".mo")).simulate(
        solver="rk4", step=STEP, stop=1.0, intervals=1000, settings=values, inputs=drive
    )
    rows = np.append(np.diff(here.time) > 1e-9, True)
    assert len(there.time) == 1001
    for name in ("x", "y", "u", "der(x)"):
        assert np.array_equal(here[name][rows], there[name]), name


def test_model_exchange_passes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "P.mo").write_text(
        "model P\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = exp(-((time - 50)/0.5)^2);\nend P;\n"
    )
    export(load(tmp_path / "P.mo"), tmp_path / "P.fmu", solver="rk4", step=STEP)
    for longest in (None, 0.01):
        result = simulate_fmu(tmp_path / "P.fmu", kind="me", stop=100.0, intervals=2, max_step=longest)
        assert result.final("x") == pytest.approx(0.5 * np.sqrt(np.pi), rel=1e-4)


def test_what_a_check_says(driven: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = check_fmu(driven)
    assert report.ok and report.diagnostics == ()
    assert report.counts()["states"] == 1
    assert main(["check", str(driven)]) == 0
    shown = capsys.readouterr()
    assert "(me, cs)" in shown.out and shown.err == ""
    assert main(["check", str(driven), "--json"]) == 0
    assert '"ok": true' in capsys.readouterr().out


def test_the_command(driven: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.csv"
    assert main(["simulate", str(driven), "--stop", "0.1", "--set", "k=4", "--intervals", "10", "-o", str(out)]) == 0
    assert "11 rows" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 12


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"settings": {"kk": 1.0}}, "R821"),
        ({"settings": {"x": 1.0}}, "R821"),
        ({"settings": {"n": 1.5}}, "R821"),
        ({"settings": {"k": "many"}}, "R821"),
        ({"solver": "rk4"}, "R815"),
        ({"newton": 3}, "R815"),
        ({"kind": "me", "step": 0.1}, "R815"),
        ({"inputs": {"u": "sine(frequency = 2)"}}, "R815"),
        ({"record": "zz*"}, "R744"),
        ({"stop": -1.0}, "R723"),
    ],
)
def test_wishes_that_an_fmu_cannot_fulfil(driven: Path, options: dict[str, Any], code: str) -> None:
    with pytest.raises(ModelError) as refused:
        simulate_fmu(driven, **options)
    assert code_of(refused) == code


# ------------------------------------------------------------------------------------------------------------- hostile


@pytest.mark.parametrize(
    ("case", "code", "words", "rows"),
    [
        (1, "R817", "makes no instance", 0),
        (2, "R816", "no function fmi2DoStep", 1),
        (3, "R818", "SIGSEGV) in fmi2DoStep at time = 0.005", 6),
        (4, "R819", "fmi2DoStep at time = 0.005 of `Hostile.fmu` has not returned", 6),
        (6, "R817", "fmi2DoStep of `Hostile.fmu` gives the status `error` at time = 0.005", 6),
        (7, "R818", "exit code 7) in fmi2DoStep", 6),
    ],
)
def test_a_hostile_fmu_ends_with_a_message(tmp_path: Path, case: int, code: str, words: str, rows: int) -> None:
    with pytest.raises(RunFailed) as failed:
        simulate_fmu(hostile(tmp_path, case), patience=5.0 if case == 4 else None)
    said = failed.value.diagnostics[0]
    assert (said.code, words in said.message) == (code, True), said.message
    assert len(failed.value.partial.time) == rows  # nothing recorded is lost
    if case == 1:
        assert "that is not my guid" in said.notes[0].text


def test_values_that_are_no_numbers_are_told(tmp_path: Path) -> None:
    result = simulate_fmu(hostile(tmp_path, 5))
    assert not result.ok
    assert [p.code for p in result.problems] == ["R820"]
    assert "first at time = 0.006" in result.problems[0].message


def test_an_fmu_may_end_the_run(tmp_path: Path) -> None:
    result = simulate_fmu(hostile(tmp_path, 8))
    assert result.ok and len(result.time) == 7


def test_a_missing_function_is_found_by_a_check(tmp_path: Path) -> None:
    report = check_fmu(hostile(tmp_path, 2))
    assert not report.ok
    assert "fmi2DoStep" in next(d for d in report.diagnostics if d.code == "R816" and "DoStep" in d.message).message


SCHEDULED = '<fmiModelDescription fmiVersion="3.0"><ScheduledExecution modelIdentifier="M"/></fmiModelDescription>'


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        ({"readme.txt": "nothing"}, "R811", "holds no modelDescription.xml"),
        ({"modelDescription.xml": "<fmi"}, "R811", "no XML"),
        ({"modelDescription.xml": "<other/>"}, "R811", "begins with <other>"),
        ({"modelDescription.xml": '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'}, "R811", "entities"),
        ({"modelDescription.xml": '<fmiModelDescription fmiVersion="4.0"/>'}, "R812", "FMI `4.0` is not read"),
        ({"modelDescription.xml": '<fmiModelDescription fmiVersion="1.0"/>'}, "R812", "FMI 1 with Model Exchange"),
        ({"modelDescription.xml": '<fmiModelDescription fmiVersion="2.0"/>'}, "R811", "neither Model Exchange"),
        ({"modelDescription.xml": SCHEDULED}, "R811", "neither Model Exchange nor Co-Simulation but Scheduled"),
        ({"modelDescription.xml": XML}, "R814", "no binary `Hostile.so`"),
        ({"modelDescription.xml": XML, "binaries/linux64/Hostile.so": "text"}, "R814", "cannot be loaded"),
        ({"../../evil.txt": "x"}, "L327", "outside of the folder"),
    ],
)
def test_files_that_are_no_fmus(tmp_path: Path, files: dict[str, str | bytes], code: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as refused:
        simulate_fmu(packed(tmp_path, files))
    assert code_of(refused) == code


def test_a_broken_zip_and_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "Broken.fmu"
    broken.write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(ModelError) as refused:
        check_fmu(broken)
    assert code_of(refused) == "L327"
    monkeypatch.setattr("kilohertz.packages.unpacking._MOST_BYTES", 1000)
    with pytest.raises(ModelError, match="unpacks to 1 files of 2000 bytes"):
        check_fmu(packed(tmp_path, {"modelDescription.xml": " " * 2000}))
    with pytest.raises(ModelError, match="no file"):
        check_fmu(tmp_path / "nowhere.fmu")


def test_a_lying_description_is_read_with_warnings(tmp_path: Path) -> None:
    lying = XML.replace("<ModelVariables>", LIES)
    report = check_fmu(hostile(tmp_path, 0, lying))
    told = [d.message for d in report.diagnostics if d.code == "R813"]
    assert told == [
        "`a` has the causality `boss`, which FMI does not know: taken as local",
        "`b` is Boolean and continuous",
        "the variable `c` has no type: it is left out",
        "a value reference is `seven`, which is no whole number",
        "the variable `d` has no name or value reference: it is left out",
        "the input `e` has no start value",
        "two variables are called `e`",
    ]
    assert simulate_fmu(tmp_path / "Hostile.fmu", record="x").ok


LIES = """<ModelVariables>
  <ScalarVariable name="a" valueReference="1" causality="boss"><Real/></ScalarVariable>
  <ScalarVariable name="b" valueReference="2" variability="continuous"><Boolean/></ScalarVariable>
  <ScalarVariable name="c" valueReference="3"/>
  <ScalarVariable name="d" valueReference="seven"><Real/></ScalarVariable>
  <ScalarVariable name="e" valueReference="4" causality="input"><Real/></ScalarVariable>
  <ScalarVariable name="e" valueReference="5"><Real/></ScalarVariable>
"""


# ------------------------------------------------------------------------------------------------------ Model Exchange

EXCHANGE = r"""
#include <math.h>
#include <stddef.h>
static double x = 1.0;
static int fails = CASE;
typedef struct { int again, terminate, nominals, states, has_next; double next; } info;
void *fmi2Instantiate(const char *n, int t, const char *g, const char *r, const void *c, int v, int l)
{
    (void)n; (void)t; (void)g; (void)r; (void)c; (void)v; (void)l;
    return &x;
}
#define PLAIN(name, ...) int name(void *c, ##__VA_ARGS__) { (void)c; return 0; }
PLAIN(fmi2EnterInitializationMode)
PLAIN(fmi2ExitInitializationMode)
PLAIN(fmi2EnterContinuousTimeMode)
PLAIN(fmi2EnterEventMode)
PLAIN(fmi2Terminate)
PLAIN(fmi2FreeInstance)
PLAIN(fmi2SetupExperiment)
PLAIN(fmi2SetTime)
int fmi2NewDiscreteStates(void *c, info *i) { (void)c; *i = (info){fails == 2, 0, 0, 0, 0, 0.0}; return 0; }
int fmi2CompletedIntegratorStep(void *c, int n, int *e, int *t) { (void)c; (void)n; *e = *t = 0; return 0; }
int fmi2SetContinuousStates(void *c, const double *v, size_t n) { (void)c; (void)n; x = v[0]; return 0; }
int fmi2GetContinuousStates(void *c, double *v, size_t n) { (void)c; (void)n; v[0] = x; return 0; }
int fmi2GetNominalsOfContinuousStates(void *c, double *v, size_t n) { (void)c; (void)n; v[0] = 1.0; return 0; }
int fmi2GetDerivatives(void *c, double *v, size_t n) { (void)c; (void)n; v[0] = fails == 1 ? NAN : -x; return 0; }
int fmi2GetReal(void *c, const unsigned *r, size_t n, double *v)
{
    (void)c;
    for (size_t i = 0; i < n; i++) v[i] = r[i] == 0 ? x : -x;
    return 0;
}
"""
EXCHANGE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Plain" guid="!">
  <ModelExchange modelIdentifier="Plain"/>
  <DefaultExperiment stopTime="1"/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Derivatives><Unknown index="2"/></Derivatives></ModelStructure>
</fmiModelDescription>
"""


def exchange(folder: Path, case: int) -> Path:
    source, library = folder / "plain.c", folder / "plain.so"
    source.write_text(EXCHANGE)
    command = [*find_compiler().command, f"-DCASE={case}", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    files: dict[str, str | bytes] = {"modelDescription.xml": EXCHANGE_XML}
    return packed(folder, {**files, "binaries/linux64/Plain.so": library.read_bytes()})


def test_model_exchange_with_our_solver(driven: Path) -> None:
    times = np.array([0.0, 0.3, 0.5])
    drive: dict[str, Any] = {"u": (times, [0.0, 1.0, -1.0]), "b": (times, [0.0, 1.0, 0.0])}
    there = simulate_fmu(driven, kind="me", stop=1.0, intervals=100, inputs=drive, tolerance=1e-9)
    here = load(driven.with_suffix(".mo")).simulate(stop=1.0, intervals=100, inputs=drive, tolerance=1e-9)
    rows = np.append(np.diff(here.time) > 1e-9, True)
    assert there.time == pytest.approx(here.time[rows])
    assert there["x"] == pytest.approx(here["x"][rows], abs=1e-6)


def test_events_of_model_exchange(tmp_path: Path) -> None:
    model = load("Kilohertz.Examples.BouncingBall")
    export(model, tmp_path / "Ball.fmu", solver="rk4", kinds=("me",))
    there = simulate_fmu(tmp_path / "Ball.fmu", stop=1.0, intervals=100, tolerance=1e-9, solver="cvode")
    here = model.simulate(stop=1.0, intervals=100, tolerance=1e-9)
    rows = np.append(np.diff(here.time) > 1e-9, True)
    assert len(there.time) == 101
    assert np.mean(np.abs(there["h"] - np.interp(there.time, here.time[rows], here["h"][rows]))) < 1e-3


def test_an_fmu_with_model_exchange_alone(tmp_path: Path) -> None:
    result = simulate_fmu(exchange(tmp_path, 0), intervals=10, tolerance=1e-7)
    assert result["x"][-1] == pytest.approx(np.exp(-1.0), rel=1e-4)
    with pytest.raises(ModelError, match="does not offer `cs`") as refused:
        simulate_fmu(tmp_path / "Hostile.fmu", kind="cs")
    assert code_of(refused) == "R815"


def test_events_that_chatter_are_left_behind_and_told(tmp_path: Path) -> None:
    """Each of two modes leads into the other from 0.25 s on; from 0.35 s on one of them leads away."""
    text = "model Slides\n  output Real x(start = 0.5, fixed = true);\nequation\n"
    text += "  der(x) = if x > 0 then -2 else if time < 0.35 then 2 else -1;\nend Slides;\n"
    (tmp_path / "Slides.mo").write_text(text, encoding="utf-8")
    export(load(tmp_path / "Slides.mo"), tmp_path / "Slides.fmu", solver="euler", kinds=("me",))
    result = simulate_fmu(tmp_path / "Slides.fmu", stop=0.5, intervals=5)
    (told,) = result.problems
    assert told.code == "R825" and "from 0.25" in told.message
    exact = np.where(result.time < 0.25, 0.5 - 2 * result.time, np.where(result.time < 0.35, 0.0, 0.35 - result.time))
    assert result["x"] == pytest.approx(exact, abs=5e-4)


@pytest.mark.parametrize(("case", "words"), [(1, "CVODE gives up"), (2, "events without end")])
def test_where_the_solver_gives_up(tmp_path: Path, case: int, words: str) -> None:
    with pytest.raises(RunFailed, match=words) as failed:
        simulate_fmu(exchange(tmp_path, case))
    assert failed.value.diagnostics[0].code == "R822"


def test_an_isolated_fmu_computes_and_reads_and_does_nothing_else(tmp_path: Path) -> None:
    fmu = hostile(tmp_path, 10)
    free, isolated = simulate_fmu(fmu, stop=0.002), simulate_fmu(fmu, stop=0.002, isolate=True)
    assert free["x"][-1] == 31  # a file, a socket, a process, a file that is read, a thread
    assert isolated["x"][-1] == 8 + 16
    assert main(["simulate", str(fmu), "--isolate", "-q"]) == 0
    assert main(["simulate", "Kilohertz.Examples.RCCircuit", "--isolate"]) == 1


def test_model_exchange_is_isolated_with_the_same_numbers(driven: Path) -> None:
    plain, isolated = (simulate_fmu(driven, stop=0.2, kind="me", isolate=flag) for flag in (False, True))
    assert plain["x"].tobytes() == isolated["x"].tobytes()


def test_a_machine_without_a_filter_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "vax")
    with pytest.raises(IsolationRefused, match="no filter for vax"):
        isolate()
    said = failure(Fmu(Path("M.fmu"), Path(), None), {"how": "open", "text": "no filter"})  # type: ignore[arg-type]
    assert said.code == "R824" and "no filter" in said.message

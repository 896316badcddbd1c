"""A model as an FMU: another tool finds nothing wrong with it, and it gives the same numbers there."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz import ModelError, load
from kilohertz.building.made_step import step_word
from kilohertz.driver import export, simulate_fmu
from kilohertz.fmi import Exported
from kilohertz.solvers import StepSettings
from kilohertz.toolchain import find_compiler

fmpy: Any = pytest.importorskip("fmpy", reason="FMPy is not installed")

VERSIONS = (2, 3)
STEP = 1e-3
RK4 = StepSettings.of(solver="rk4", step=STEP)
MODEL = """\
model Controlled "Every kind of variable that an FMU has"
  type Mode = enumeration(off "Rests", on "Moves");
  parameter Real k(unit = "1/s", min = 0) = 2 "Rate";
  parameter Integer n = 3;
  parameter Boolean fast = true;
  parameter String label = "a <text> & more";
  parameter Mode mode = Mode.on;
  final parameter Real kk = k * n;
  constant Real c = 4.5;
  input Real u(unit = "V", start = 0.5);
  input Integer iu(start = 2);
  input Boolean bu(start = true);
  output Real y(unit = "V", displayUnit = "mV");
  output Integer count(start = 0, fixed = true);
  output Boolean high;
  output Mode where;
  Real x(start = 1, fixed = true, nominal = 10, unit = "V");
  Real negative = -x;
  Real same = x;
equation
  der(x) = -k * x + u + (if bu then iu else 0) + c;
  y = x + u;
  high = x > 2;
  where = if high then Mode.on else mode;
  when {high, sample(0.1, 0.1)} then
    count = pre(count) + 1;
  end when;
  annotation(experiment(StopTime = 1));
end Controlled;
"""


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("fmu") / "Controlled.mo"
    file.write_text(MODEL, encoding="utf-8")
    return file


def exported(model: str | Path, folder: Path, version: int, **more: Any) -> Exported:
    given = {"solver": "rk4", "step": STEP, **more}
    return export(load(model), folder / f"of_fmi{version}.fmu", fmi=version, **given)


def problems(path: Path) -> list[str]:
    from fmpy.validation import validate_fmu

    found: list[str] = validate_fmu(str(path))
    return found


def reals(path: Path) -> list[str]:
    described = fmpy.read_model_description(str(path))
    return [v.name for v in described.modelVariables if v.type in ("Real", "Float64") and v.name != "time"]


def last_rows(time: Any) -> Any:
    """Of several rows at one instant the last: values after events."""
    return np.append(np.diff(time) > 1e-9, True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("model", "solver"),
    [("DriveTrain", "rk4"), ("BouncingBall", "rk4"), ("HydraulicAxis.Controlled", "ros34pw2"), ("RCCircuit", "euler")],
)
def test_co_simulation_has_the_bits_of_a_run(model: str, solver: str, version: int, tmp_path: Path) -> None:
    name = f"Kilohertz.Examples.{model}"
    made = exported(name, tmp_path, version, solver=solver)
    assert problems(made.path) == []
    known = reals(made.path)
    there = fmpy.simulate_fmu(
        str(made.path), fmi_type="CoSimulation", stop_time=0.5, output_interval=STEP, output=known
    )
    here = load(name).simulate(solver=solver, step=STEP, stop=0.5, intervals=500)
    rows = last_rows(here.time)
    assert len(there["time"]) == rows.sum() == 501
    compared = [n for n in known if n in here.names]
    assert len(compared) > len(known) / 2
    assert [n for n in compared if not np.array_equal(np.broadcast_to(here[n], rows.shape)[rows], there[n])] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("model", ["DriveTrain", "BouncingBall", "RCCircuit"])
def test_model_exchange_stays_near_our_own_run(model: str, version: int, tmp_path: Path) -> None:
    name = f"Kilohertz.Examples.{model}"
    made = exported(name, tmp_path, version)
    states = list(made.contents.variables.states)
    there = fmpy.simulate_fmu(
        str(made.path),
        fmi_type="ModelExchange",
        stop_time=1.0,
        output_interval=0.01,
        output=states,
        relative_tolerance=1e-8,
        record_events=False,
    )
    here = load(name).simulate(stop=1.0, intervals=100, tolerance=1e-8)
    for state in states:
        near = np.interp(there["time"], here.time, here[state])
        size = np.ptp(here[state])
        assert np.mean(np.abs(there[state] - near)) < 1e-3 * size, state


@pytest.mark.parametrize("version", VERSIONS)
def test_every_kind_of_variable(controlled: Path, version: int, tmp_path: Path) -> None:
    made = exported(controlled, tmp_path, version)
    assert problems(made.path) == []
    described = {v.name: v for v in fmpy.read_model_description(str(made.path)).modelVariables}
    roles = {name: (v.causality, v.variability) for name, v in described.items()}
    assert roles["k"] == roles["label"] == roles["mode"] == ("parameter", "tunable")
    assert roles["kk"] == ("calculatedParameter", "tunable")
    assert roles["u"] == ("input", "continuous")
    assert roles["iu"] == roles["bu"] == ("input", "discrete")
    assert roles["y"] == ("output", "continuous")
    assert roles["count"] == roles["high"] == roles["where"] == ("output", "discrete")
    assert roles["der(x)"] == roles["negative"] == ("local", "continuous")
    starts = {name: described[name].start for name in ("k", "n", "fast", "label", "mode", "u", "iu", "bu")}
    assert list(starts.values()) == ["2.0", "3", "true", "a <text> & more", "2", "0.5", "2", "true"]
    assert (described["k"].unit, described["k"].min, described["k"].description) == ("1/s", "0.0", "Rate")
    assert described["y"].displayUnit == "mV"
    assert described["where"].declaredType.name.endswith("Mode")
    assert described["der(x)"].derivative is described["x"]


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_set_counts(controlled: Path, version: int, tmp_path: Path) -> None:
    made = exported(controlled, tmp_path, version)
    values = {"k": 3.0, "u": 1.5, "bu": False, "mode": 1}
    names = ["x", "y", "kk", "count", "high", "where"]
    there = fmpy.simulate_fmu(
        str(made.path), fmi_type="CoSimulation", start_values=values, output=names, output_interval=STEP
    )
    here = load(controlled).simulate(solver="rk4", step=STEP, settings={**values, "mode": "off"}, intervals=1000)
    rows = last_rows(here.time)
    assert there["kk"][-1] == 9.0
    for name in ("x", "y", "count", "high", "where"):
        assert np.array_equal(here[name][rows], there[name]), name


def test_dependencies_come_from_the_equations(controlled: Path, tmp_path: Path) -> None:
    made = exported(controlled, tmp_path, 2)
    described = fmpy.read_model_description(str(made.path))
    known = {u.variable.name: {d.name for d in u.dependencies} for u in (*described.outputs, *described.derivatives)}
    assert known["y"] == {"x", "u"}
    assert known["der(x)"] == {"x", "u", "iu", "bu"}
    assert known["high"] == known["where"] == {"x"}
    assert known["count"] == {"x"}


@pytest.mark.parametrize("version", VERSIONS)
def test_inner_names_of_an_output_are_no_outputs(tmp_path: Path, version: int) -> None:
    text = "model Shown\n  output Real y;\n  Real z;\nequation\n  z = sin(time);\n  y = z;\nend Shown;\n"
    (tmp_path / "Shown.mo").write_text(text, encoding="utf-8")
    path = exported(tmp_path / "Shown.mo", tmp_path, version).path
    assert problems(path) == []
    causality = {v.name: v.causality for v in fmpy.read_model_description(str(path)).modelVariables}
    assert (causality["y"], causality["z"]) == ("output", "local")


def test_the_bound_of_a_step_is_inside(tmp_path: Path) -> None:
    made = exported("Kilohertz.Examples.DriveTrain", tmp_path, 2)
    bound = load("Kilohertz.Examples.DriveTrain").cost_bound("rk4", step=STEP)
    with zipfile.ZipFile(made.path) as packed:
        xml, page = packed.read("modelDescription.xml").decode(), packed.read("documentation/index.html").decode()
    assert f'case="worst" steps="1" rhs="{bound["worst"]["rhs"]}"' in xml
    assert f"<td>{bound['worst']['instructions']}</td>" in page


def test_the_same_model_gives_the_same_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    files = [exported("Kilohertz.Examples.RCCircuit", folder, 2).path.read_bytes() for folder in (first, second)]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fmi": 1}, "no version `FMI 1`"),
        ({"kinds": ("se",)}, "no kind `se`"),
        ({"kinds": ()}, "an FMU is of a kind"),
        ({"targets": ("x86_64-window",)}, "no binaries can be made for `x86_64-window`"),
    ],
)
def test_what_no_fmu_can_be(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words) as refused:
        export(load("Kilohertz.Examples.Decay"), tmp_path / "a.fmu", solver="rk4", **options)
    assert refused.value.diagnostics[0].code == "R801"


def test_an_fmu_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ModelError) as refused:
        exported("Kilohertz.Examples.Decay", tmp_path / "file", 2)
    assert refused.value.diagnostics[0].code == "R802"


def test_what_an_fmu_cannot_take_along_is_said(tmp_path: Path) -> None:
    table = tmp_path / "table.txt"
    table.write_text("#1\n")
    (tmp_path / "Reads.mo").write_text(
        f"""\
impure function size_of
  input String name;
  input Real t;
  output Real y;
external "C" y = size_of(name, t)
  annotation(Include="static double size_of(const char *n, double t) {{ return *n + t; }}");
end size_of;
model Reads
  parameter Real p = 2;
  input Real u(start = 2 * p);
  Real x = size_of("{table}", time) + u;
end Reads;
"""
    )
    codes = [w.code for w in exported(f"{tmp_path}/Reads.mo", tmp_path, 2).warnings]
    assert codes == ["R803", "R804"]


def test_a_table_named_by_a_relative_path_is_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is opened by the FMU's instance wherever that runs; where it is gone, the FMU's own words are shown."""
    (tmp_path / "Reads.mo").write_text(
        """\
impure function first_of
  input String name;
  output Real y;
external "C" y = first_of(name)
  annotation(Include="#include <stdio.h>
#include \\"ModelicaUtilities.h\\"
static double first_of(const char *n) { FILE *f = fopen(n, \\"r\\"); double y = 0;
if (f == NULL || fscanf(f, \\"%lf\\", &y) != 1) ModelicaFormatError(\\"cannot read %s\\", n);
fclose(f); return y; }");
end first_of;
model Reads
  parameter String file = "numbers.txt";
  parameter String word = "numbers";
  output Real y;
initial equation
  y = first_of(file);
equation
  when time > 100 then
    y = 0;
  end when;
end Reads;
""",
        encoding="utf-8",
    )
    (tmp_path / "numbers.txt").write_text("42.5\n", encoding="utf-8")
    (tmp_path / "numbers").write_text("1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    made = exported("Reads.mo", tmp_path, 2)
    (tmp_path / "numbers.txt").unlink()
    monkeypatch.chdir("/")
    assert simulate_fmu(made.path, stop=0.01)["y"][-1] == 42.5
    with pytest.raises(ModelError) as refused:
        simulate_fmu(made.path, stop=0.01, settings={"file": "/nowhere.txt"})
    assert "cannot read /nowhere.txt" in refused.value.diagnostics[0].notes[0].text


def test_external_c_is_linked_and_not_among_the_sources(tmp_path: Path) -> None:
    folder = tmp_path / "Lib" / "Resources" / "C-Sources"
    folder.mkdir(parents=True)
    (folder / "Tripled.c").write_text("double lib_tripled(double u) { return 3.0 * u; }\n")
    (tmp_path / "Lib" / "package.mo").write_text(
        """\
package Lib
  function tripled
    input Real u;
    output Real y;
    external "C" y = lib_tripled(u) annotation(Include = "double lib_tripled(double u);", Library = "Tripled",
      SourceDirectory = "modelica://Lib/Resources/C-Sources");
  end tripled;
  model Falls
    Real x(start = 1, fixed = true);
  equation
    der(x) = -tripled(x);
  end Falls;
end Lib;
"""
    )
    made = exported(f"{tmp_path}/Lib/package.mo:Lib.Falls", tmp_path, 2)
    assert [w.code for w in made.warnings] == ["R805"]
    assert problems(made.path) == []
    there = fmpy.simulate_fmu(str(made.path), fmi_type="CoSimulation", output_interval=STEP, output=["x"], stop_time=1)
    assert there["x"][-1] == pytest.approx(np.exp(-3.0), rel=1e-9)


def test_co_simulation_has_a_step_made_for_its_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the binary for this machine; its sources are for any compiler."""
    made = exported("Kilohertz.Examples.RCCircuit", tmp_path, 2)
    assert made.contents.own_step == step_word(
        load("Kilohertz.Examples.RCCircuit").compile().built, RK4, find_compiler()
    )
    with zipfile.ZipFile(made.path) as archive:
        page = archive.read("documentation/index.html").decode()
        table = archive.read("sources/RCCircuit_fmu.c").decode()
        assert "sources/made.c" not in archive.namelist() and "khz_made" not in table
    assert f"the step is\n{made.contents.own_step};" in page
    monkeypatch.setattr("kilohertz.building.made_step._MOST_LINES", 10)
    generic = exported("Kilohertz.Examples.RCCircuit", tmp_path, 3)
    assert generic.contents.own_step.startswith("generic: ")
    runs = [simulate_fmu(e.path, stop=0.1) for e in (made, generic)]
    assert all(np.array_equal(runs[0][n], runs[1][n]) for n in runs[0].names)
    assert exported("Kilohertz.Examples.RCCircuit", tmp_path, 2, kinds=("me",)).contents.own_step == ""

"""FMUs as tasks: the same numbers as off-line, accounted as any model, and safe outputs where they misbehave."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import numpy as np
import pytest
from hostile_fmu import hostile

from kilohertz import load
from kilohertz.cli.main import main
from kilohertz.driver import export, import_fmu, run, simulate_fmu
from kilohertz.realtime import Report

STEP = 1e-3
MODELS = """\
model Driven
  parameter Real k = 2;
  parameter Integer n = 3;
  parameter Boolean on = true;
  input Real u(start = 0.25);
  input Boolean b(start = false);
  output Real y(unit = "m");
  output Integer i;
  output Boolean high;
  Real x(start = 1, fixed = true);
equation
  der(x) = -k * x + (if on then n * u else 0) + (if b then 1 else 0);
  y = x + u;
  i = integer(4 * x);
  high = x > 0.6;
end Driven;

model Ball
  parameter Real e = 0.7;
  output Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
equation
  der(h) = v;
  der(v) = -9.81;
  when h < 0 then
    reinit(v, -e * pre(v));
  end when;
end Ball;
"""
SCENARIO = """\
name = "{name}"
duration = 0.3
time_scale = "max"

[[task]]
name = "plant"
model = "Driven.fmu"
set = {{ k = 3.5 }}

[[task]]
name = "ours"
model = "{source}:Driven"
solver = "rk4"
set = {{ k = 3.5 }}

[[connection]]
from = "ours.y"
to = "plant.u"

[[stimulus]]
formula = {{ "ours.u" = "sine(frequency = 5)" }}
"""


@pytest.fixture(scope="module", params=[2, 3])
def fmus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models and both of them as FMUs of a version."""
    folder = tmp_path_factory.mktemp(f"fmus{request.param}")
    (folder / "Models.mo").write_text(MODELS, encoding="utf-8")
    for name in ("Driven", "Ball"):
        model = load(f"{folder / 'Models.mo'}:{name}")
        export(model, folder / f"{name}.fmu", fmi=request.param, solver="rk4", step=STEP)
    return folder


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------------------------------- numbers


def test_a_task_has_the_bits_of_an_offline_run(fmus: Path) -> None:
    settings = {"k": 3.5, "n": 2.0, "on": 0.0}
    (fmus / "drive.csv").write_text("time,u\n0,0\n0.1,1\n0.2,-1\n", encoding="utf-8")
    drive = fmus / "drive.csv"
    there = simulate_fmu(fmus / "Driven.fmu", stop=0.3, step=STEP, settings={"k": 3.5, "n": 2, "on": False})
    report = run(fmus / "Driven.fmu", duration=0.3, settings=settings, check=False)
    assert report.ok and report.result["y"].shape == (301,)
    for name in ("y", "i", "high"):
        assert np.array_equal(report.result[name], there[name]), name
    assert report.result.signals["y"].unit == "m"
    driven = run(fmus / "Driven.fmu", duration=0.3, inputs=drive, check=False)
    assert np.array_equal(driven.result["y"], simulate_fmu(fmus / "Driven.fmu", stop=0.3, step=STEP, inputs=drive)["y"])


def test_an_fmu_beside_a_model_in_one_scenario(fmus: Path) -> None:
    """Both are the same plant; one drives the other, a period later."""
    name = f"beside{fmus.name}"
    report = run(written(fmus, name, SCENARIO.format(name=name, source="Models.mo")), check=False)
    assert report.ok, report.as_text()
    by_task = report._by_task()
    assert len(by_task) == 3 and "plant" in "".join(by_task) and "ours" in "".join(by_task)
    assert report.blame == ("external code of Driven.FMU",)
    given = report.result["ours.y"][:-1]
    assert np.array_equal(report.result["plant.u"][1:], given)


def test_model_exchange_under_a_bounded_method(fmus: Path, tmp_path: Path) -> None:
    """The FMU's derivatives, our steps: what the model itself gives with the same method."""
    wrapped = import_fmu(fmus / "Driven.fmu", tmp_path / "Exchanged.mo", kind="me")
    there = load(f"{wrapped.path}:{wrapped.class_name}").simulate(solver="rk4", step=STEP, stop=0.5)
    here = load(f"{fmus / 'Models.mo'}:Driven").simulate(solver="rk4", step=STEP, stop=0.5)
    ours = np.interp(there.time, here.time, here["y"])
    assert np.max(np.abs(there["y"] - ours)) < 1e-12
    assert set(np.unique(there["i"])) == set(np.unique(here["i"]))


@pytest.mark.parametrize("kind", ["cs", "me"])
def test_variables_may_be_called_as_functions_are(tmp_path: Path, kind: str) -> None:
    text = "model Names\n  parameter Real begin = 2;\n  input Real step(start = 1);\n  output Real sample;\n"
    text += "  output Real outputs(start = 0, fixed = true);\nequation\n  der(outputs) = step - outputs;\n"
    text += "  sample = begin * outputs;\nend Names;\n"
    (tmp_path / "Names.mo").write_text(text, encoding="utf-8")
    export(load(tmp_path / "Names.mo"), tmp_path / "Names.fmu", solver="rk4", step=STEP)
    wrapped = import_fmu(tmp_path / "Names.fmu", tmp_path / "Wrapped.mo", kind=kind)
    result = load(f"{wrapped.path}:{wrapped.class_name}").simulate(solver="rk4", step=STEP, stop=0.1)
    assert result["outputs"][-1] == pytest.approx(1 - np.exp(-0.1), rel=1e-9)
    assert np.array_equal(result["'sample'"], 2 * result["outputs"])


def test_events_of_model_exchange(fmus: Path, tmp_path: Path) -> None:
    wrapped = import_fmu(fmus / "Ball.fmu", tmp_path / "Bouncing.mo", kind="me", shown=["v"])
    there = load(f"{wrapped.path}:{wrapped.class_name}").simulate(stop=1.2, tolerance=1e-9)
    here = load(f"{fmus / 'Models.mo'}:Ball").simulate(stop=1.2, tolerance=1e-9)
    for name in ("h", "v"):
        assert there[name][-1] == pytest.approx(here[name][-1], abs=2e-5)
    stiff = load(f"{wrapped.path}:{wrapped.class_name}").simulate(solver="ros3prl", step=STEP, stop=0.4)
    assert stiff["h"][-1] == pytest.approx(1 - 9.81 * 0.4**2 / 2, abs=1e-6)


def test_a_package_is_connected_in_a_model(fmus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(fmus / "Driven.fmu"), "-o", str(tmp_path / "Plant.mo")]) == 0
    shown = capsys.readouterr()
    assert "Plant.FMU (Co-Simulation), 2 inputs, 3 outputs" in shown.out and shown.err == ""
    (tmp_path / "Loop.mo").write_text(
        "model Loop\n  Plant.FMU plant(k = 4);\n  Real s;\nequation\n  plant.u = sin(time);\n  plant.b = true;\n"
        "  s = 2 * plant.y;\nend Loop;\n",
        encoding="utf-8",
    )
    result = load(tmp_path / "Loop.mo", [tmp_path]).simulate(solver="euler", step=STEP, stop=0.1)
    assert np.array_equal(result["s"], 2 * result["plant.y"]) and np.ptp(result["s"]) > 0


def test_names_that_are_no_identifiers(tmp_path: Path) -> None:
    described = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Odd" guid="{guid}">
  <CoSimulation modelIdentifier="Hostile"/>
  <ModelVariables>
    <ScalarVariable name="a.b[2]" valueReference="0" causality="output"><Real unit="m"/></ScalarVariable>
    <ScalarVariable name="end" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="text" valueReference="2" causality="output"><String/></ScalarVariable>
    <ScalarVariable name="p" valueReference="3" causality="parameter" variability="fixed"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure/>
</fmiModelDescription>
"""
    wrapped = import_fmu(hostile(tmp_path, 0, described), tmp_path / "Odd.mo")
    assert [d.code for d in wrapped.ports.left_out] == ["R823", "R823"]
    result = load(f"{wrapped.path}:{wrapped.class_name}").simulate(solver="euler", step=STEP, stop=0.01)
    assert result["'a.b[2]'"][-1] == pytest.approx(0.99, abs=1e-3) and "'end'" in result.names


@pytest.mark.parametrize("target", ["Odd name.mo", "Odd.txt", "model.mo"])
def test_a_file_that_no_package_can_have(tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(hostile(tmp_path, 0)), "-o", str(tmp_path / target)]) == 1
    assert "R702" in capsys.readouterr().err


def test_a_kind_that_the_fmu_does_not_offer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(hostile(tmp_path, 0)), "--kind", "me", "-o", str(tmp_path / "A.mo")]) == 1
    assert "R815" in capsys.readouterr().err


def test_an_fmu_is_a_side_of_a_comparison(fmus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against the model that it was made from, by TOML, and against a file, by name."""
    text = (
        '[result]\nmodel = "Driven.fmu"\nstop = 0.3\nset = { k = 3.5 }\n'
        '[reference]\nmodel = "Models.mo:Driven"\nstop = 0.3\nsolver = "rk4"\nstep = "1ms"\nset = { k = 3.5 }\n'
    )
    assert main(["compare", str(written(fmus, "sides", text))]) == 0
    simulate = ["simulate", str(fmus / "Driven.fmu"), "--stop", "0.3", "-o", str(fmus / "other.csv"), "--set", "k=9"]
    assert main(simulate) == 0
    assert main(["compare", str(fmus / "Driven.fmu"), str(fmus / "other.csv")]) == 1
    assert "FAIL" in capsys.readouterr().out


def test_an_fmu_is_the_variant_of_a_series(fmus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each case sets a parameter of both; between rows the FMU's outputs are held."""
    text = (
        '[model]\nmodel = "Models.mo:Driven"\nsolver = "rk4"\nstep = "1ms"\nstop = 0.2\n'
        '[variant]\nmodel = "Driven.fmu"\nsolver = "euler"\nstep = "1ms"\nstop = 0.2\n'
        "[parameters]\nk = [1.0, 2.0, 3.0]\n"
        '[[measure]]\nsignal = "y"\nof = "error"\ntake = "largest"\nabove = 0.01\n'
    )
    code = main(["series", str(written(fmus, "cases", text))])
    shown = capsys.readouterr()
    assert code == 0, shown.out + shown.err


def test_foreign_code_has_no_bound(fmus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is said before the start: what a cycle took, and no promise."""
    assert main(["run", str(fmus / "Driven.fmu"), "--duration", "0.01"]) == 0
    said = capsys.readouterr().err
    assert "it has no bound: external function Driven.step" in said and "at most" not in said


# ------------------------------------------------------------------------------------------------------------- hostile


def misbehaving(folder: Path, case: int) -> tuple[Report, list[float]]:
    """Run an FMU that misbehaves in its sixth step; what its device was sent."""
    peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    peer.bind(("127.0.0.1", 0))
    peer.settimeout(20)
    local = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    local.bind(("127.0.0.1", 0))
    port = local.getsockname()[1]
    local.close()
    hostile(folder, case)
    text = (
        f'name = "hostile{case}"\nmodel = "Hostile.fmu"\nduration = 0.05\n[realtime]\npriority = 0\n'
        f'watchdog = "100ms"\nendless = "400ms"\n[[device]]\ndriver = "udp"\nlocal = ":{port}"\n'
        f'remote = ":{peer.getsockname()[1]}"\n[[device.send]]\nsignal = "x"\nsafe = -7\n'
    )
    report = run(written(folder, f"hostile{case}", text), check=False)
    sent = [struct.unpack_from("<d", peer.recv(100), 32)[0] for _ in range(report.data["devices"][0]["sent"])]
    peer.close()
    return report, sent


def test_what_an_fmu_calls_in_its_steps_is_told(tmp_path: Path) -> None:
    """It allocates, sleeps and prints: counted, named in the report, and nothing else changes."""
    hostile(tmp_path, 9)
    text = 'name = "khz_waiting"\nmodel = "Hostile.fmu"\nduration = 0.02\ntime_scale = "max"\n'
    report = run(written(tmp_path, "khz_waiting", text), check=False)
    (note,) = report.notes
    assert "`Hostile` calls in its steps" in note
    for call in ("malloc (20)", "free (20)", "usleep (20)", "printf (1)"):
        assert call in note
    assert report.ok and note in report.as_text() and report.result["x"][-1] == pytest.approx(0.999**20)
    hostile(tmp_path, 0)
    assert run(written(tmp_path, "khz_quiet", text.replace("waiting", "quiet")), check=False).notes == ()


@pytest.mark.parametrize(("case", "crash"), [(3, "SIGSEGV"), (7, "exit")])
def test_a_crash_in_a_step(tmp_path: Path, case: int, crash: str) -> None:
    """The thread goes no further: safe outputs, every row until then, and where it was."""
    report, sent = misbehaving(tmp_path, case)
    assert not report.ok and report.data["ended"] == "crash"
    assert report.counts["steps"] == 5 and report.result["x"].shape == (6,)
    assert report.data["threads"][0]["stuck"]["crash"] == crash
    assert sent[-1] == -7.0 and -7.0 not in sent[:-1]
    assert ("called exit()" if crash == "exit" else f"broke ({crash})") in report.as_text()
    assert "Hostile.mo" in report.as_text()


def test_a_step_without_an_end(tmp_path: Path) -> None:
    report, sent = misbehaving(tmp_path, 4)
    assert not report.ok and report.data["ended"] == "stuck" and report.result["x"].shape == (6,)
    assert sent[-1] == -7.0


def test_outputs_that_are_no_numbers(tmp_path: Path) -> None:
    report, sent = misbehaving(tmp_path, 5)
    assert not report.ok and report.data["ended"] == "duration"
    assert report.data["tasks"][0]["counts"]["not_finite"] == 45
    assert np.isfinite(sent).all()


def test_a_bad_status_is_counted_and_the_fmu_is_left_alone(tmp_path: Path) -> None:
    report, _ = misbehaving(tmp_path, 6)
    assert not report.ok and report.data["tasks"][0]["counts"]["failures"] == 45
    assert np.ptp(report.result["x"][6:]) == 0


def test_an_fmu_that_wants_to_end(tmp_path: Path) -> None:
    report, _ = misbehaving(tmp_path, 8)
    assert report.data["ended"] == "terminated" and report.counts["steps"] == 6


ISOLATED = """\
name = "{name}"
duration = 0.02
time_scale = "max"
[realtime]
isolate = true
[[task]]
name = "plant"
model = "Hostile.fmu"
thread = "plant"
[[task]]
name = "ours"
model = "Ours.mo"
solver = "euler"
thread = "ours"
[[thread]]
name = "plant"
process = "{process}"
[[thread]]
name = "ours"
[[connection]]
from = "plant.x"
to = "ours.u"
"""
OURS = "model Ours\n  input Real u;\n  output Real y = 2 * u;\nend Ours;\n"


@pytest.mark.parametrize("process", ["", "other"])
def test_an_isolated_task_may_compute_and_nothing_else(tmp_path: Path, process: str) -> None:
    """Its first system call ends it, with the name of the call; who computes notices nothing."""
    hostile(tmp_path, 10)
    (tmp_path / "Ours.mo").write_text(OURS, encoding="utf-8")
    name = f"khz_isolated{process}"
    report = run(written(tmp_path, name, ISOLATED.format(name=name, process=process)), check=False)
    assert not report.ok and report.data["ended"] == "crash" and report.data["ended_by"] == "plant"
    stuck = report.data["threads"][0]["stuck"]
    assert stuck["crash"] == "SIGSYS" and stuck["refused"] == "openat"
    assert "plant: step 0 called openat, which `isolate` refuses" in report.as_text()
    assert not (tmp_path / "written.txt").exists()
    hostile(tmp_path, 0)
    report = run(written(tmp_path, name, ISOLATED.format(name=name, process=process)), check=False)
    assert report.ok and report.result["plant.x"][-1] == pytest.approx(0.999**20)


def test_isolation_and_devices_exclude_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile(tmp_path, 0)
    text = 'name = "khz_apart"\nmodel = "Hostile.fmu"\nduration = 0.01\n[[device]]\nname = "wire"\ndriver = "udp"\n'
    text += 'local = ":0"\nremote = ":9"\n[[device.send]]\nsignal = "x"\n'
    assert main(["run", str(written(tmp_path, "khz_apart", text)), "--isolate", "--no-check", "-q"]) == 1
    shown = capsys.readouterr().err
    assert "R747" in shown and "thread main is isolated and has device wire" in shown


@pytest.mark.parametrize(
    ("case", "said"), [(1, "makes no instance"), (2, "fmi2DoStep of the FMU `Refused2` is missing")]
)
def test_what_cannot_start(tmp_path: Path, case: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    fmu = hostile(tmp_path, case).rename(tmp_path / f"Refused{case}.fmu")  # two rigs: each has a name of its own
    assert main(["run", str(fmu), "--duration", "0.01", "--no-check", "-q"]) == 1
    shown = capsys.readouterr().err
    assert "R747" in shown and said in shown

"""The periodic task from end to end: a model is built, runs, records and reports."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.cost import cost_bound
from kilohertz.driver import Session, load, open_job, run
from kilohertz.driver.job import job_of_model
from kilohertz.realtime import (
    Built,
    ModelCode,
    Scenario,
    Stimulus,
    build,
    executable,
    plain_scenario,
    predict,
    start,
)
from kilohertz.results import read_recording
from kilohertz.simulate.stepper import Stepper
from kilohertz.solvers import EXPLICIT, StepSettings
from kilohertz.toolchain import Unit, build_executable, build_objects

Build = Callable[[Scenario], Built]
FILE = Path(__file__).with_name("models.mo")
STEPPING = Path(__file__).parents[1] / "runtime" / "stepping.mo"


def test_a_run_takes_its_time_and_reports(make: Build, scenario: Scenario) -> None:
    report = start(make(scenario)).wait()
    assert report.ok
    assert report.counts["steps"] == 200
    # the last release is at 199 ms; nothing may end before that
    assert report.data["wall_ns"] >= 199_000_000
    assert report.counts["missed"] == sum(
        report.counts[k] for k in ("overruns", "off_core", "late_wakeups", "knock_on")
    )
    slack, late = report.data["times"]["slack"], report.data["times"]["lateness"]
    assert slack["n"] + report.missed == 190  # ten steps of grace
    assert 0 < late["n"] <= 190  # those that could begin on time
    assert late["min"] <= late["p50"] <= late["p99"] <= late["p99.9"] <= late["max"]
    assert {s["name"] for s in report.data["settings"]} >= {"priority", "locked memory", "denormals"}
    assert "deadlines missed" in report.as_text()


def test_the_table_of_signals_is_compiled_beside_the_trials_of_auto(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path))  # nothing is known from before
    ahead, linked = list[Unit](), list[Unit]()

    def compiled(units: Sequence[Unit]) -> tuple[Path, ...]:
        assert not linked
        ahead.extend(units)
        return build_objects(units)

    def built(units: Sequence[Unit], *others: Any) -> Path:
        linked.extend(units)
        return build_executable(units, *others)

    monkeypatch.setattr(executable, "build_objects", compiled)
    monkeypatch.setattr(executable, "build_executable", built)
    asked = StepSettings.of(solver="auto", step=1e-3)
    job_of_model(load("Kilohertz.Examples.RCCircuit")).changed(asked).build(folder=tmp_path / "out")
    assert [s.name for unit in ahead for s in unit.sources] == ["RCCircuit_signals.c"]
    assert ahead[0] in linked  # the same object


def test_the_recording_is_that_of_a_simulation(make: Build, scenario: Scenario) -> None:
    result = start(make(replace(scenario, scale=None))).wait().result
    assert len(result.time) == 201
    assert np.array_equal(result.time, np.arange(201) / 1000)
    reference = load("Kilohertz.Examples.RCCircuit").simulate(stop=0.2, tolerance=1e-10, intervals=200)
    ours = np.interp(reference.time, result.time, result["capacitor.v"])
    assert np.max(np.abs(ours - reference["capacitor.v"])) < 2e-3  # the switch closes between two steps


@pytest.mark.parametrize("flush", [True, False])
def test_numbers_below_the_smallest_normal_one_are_zero_as_off_line(make: Build, lag: Scenario, flush: bool) -> None:
    task = replace(lag.tasks[0], model="Fading", settings={})
    settings = replace(lag.realtime, flush_denormals=flush)
    result = start(make(replace(lag, tasks=(task,), scale=None, realtime=settings))).wait().result
    stepper = Stepper(load(f"{FILE}:Models.Fading").compile(), StepSettings("rk4", 1e-3))
    stepper.start(0.0)
    variables = stepper.program.step.variables
    names = [n for n in result.names if n in variables]
    assert {"x", "faint", "d", "y"} <= set(names)
    for row in range(len(result.time)):
        assert [result[n][row] for n in names] == [stepper.instance.read(variables[n]) for n in names], row
        stepper.step()
    for name in names:
        values = np.abs(result[name])
        assert not ((values > 0) & (values < np.finfo(float).tiny)).any()
    assert result["x"][-1] > 0 and (result["faint"][30:] == 0).all() and result["d"][-1] == 0


def test_the_executable_needs_no_python(make: Build, scenario: Scenario, tmp_path: Path) -> None:
    built = make(scenario)
    recording = tmp_path / "own.recording"
    words = [str(built.executable), f"record.file={recording}", "cycles=50", "wall_num=0"]
    done = subprocess.run(words, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "the duration is over after 50 steps" in done.stdout
    assert len(read_recording(recording).time) == 51


def test_the_c_source_builds_the_executable_again(make: Build, scenario: Scenario) -> None:
    built = make(scenario)
    built.executable.unlink()
    subprocess.run([built.folder / "src" / "build.sh"], check=True, env={**os.environ, "CFLAGS": "-O0"})
    assert start(built, {"wall_num": 0}).wait().counts["steps"] == 200


def test_what_the_executable_cannot_read_is_said(make: Build, scenario: Scenario) -> None:
    with pytest.raises(ModelError) as caught:
        start(make(scenario), {"period_ns": "soon"}).wait()
    (problem,) = caught.value.diagnostics
    assert problem.code == "R747"
    assert any("period_ns = soon" in note.text for note in problem.notes)


def test_the_prediction_names_blocks_with_their_lines(make: Build, scenario: Scenario) -> None:
    said = predict(make(replace(scenario, period_ns=1)))
    assert said.verdict == "cannot"
    assert "cannot keep its period" in said.as_text()
    assert ".mo:" in said.blame[0]
    assert predict(make(scenario)).threads[0].p50_us > 0


def test_the_prediction_tells_periods_with_events_from_the_worst(make: Build, scenario: Scenario) -> None:
    built = make(scenario)
    costed = [
        replace(m, cost=cost_bound(m.step, t.stepping)) for m, t in zip(built.models, scenario.tasks, strict=True)
    ]
    usual = predict(replace(built, models=tuple(costed))).threads[0]
    assert 0 < usual.p50_us <= usual.event_us <= usual.bound_us
    assert "a period with an event takes at most" in usual.as_text()


def test_the_command_runs_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rc.csv"
    words = ["run", "Kilohertz.Examples.RCCircuit", "--duration", "50ms", "--solver", "euler", "-o", str(out)]
    assert main(words) == 0
    assert "deadlines missed" in capsys.readouterr().out
    assert len(out.read_text().splitlines()) == 52


@pytest.mark.parametrize(("solver", "internal"), [("rk4", 1), ("ros3p", 1), ("sdirk2", 1), ("rk4", 4)])
def test_off_line_and_real_time_give_the_same_bits(
    make: Build, lag: Scenario, tmp_path: Path, solver: str, internal: int
) -> None:
    """Inputs are played back in real time and recorded; the stepper is fed with them off-line, in Python's process."""
    file = tmp_path / "u.csv"
    text = "time,u\n" + "".join(f"{k / 500!r},{float(np.sin(k))!r}\n" for k in range(60))
    file.write_text(text)
    task = replace(lag.tasks[0], stepping=StepSettings(solver, internal_steps=internal))
    s = replace(lag, tasks=(task,), stimuli=(Stimulus(file, "linear"),), cycles=100)
    recorded = start(make(s)).wait().result
    program = Session().model(f"{Path(__file__).with_name('models.mo')}:Models.Lag").compile()
    stepper = Stepper(program, StepSettings(solver, s.period_ns * 1e-9, internal_steps=internal))
    stepper.instance.set("u", 1.0)
    assert stepper.start(0.0) == 0
    u, y = program.step.variables["u"], program.step.variables["y"]
    rows = [stepper.instance.read(y)]
    for value in recorded["u"][1:]:  # a row shows the input that its step had
        stepper.instance.write(u, float(value))
        stepper.step()
        rows.append(stepper.instance.read(y))
    assert np.array_equal(np.array(rows), recorded["y"])
    assert len(set(rows)) > 90


@pytest.mark.parametrize("march", ["native", "fma"])
def test_code_for_this_processor_says_which_bits_it_has(make: Build, scenario: Scenario, march: str) -> None:
    portable, special = (start(make(replace(scenario, scale=None, march=m))).wait() for m in ("portable", march))
    assert portable.data["machine_code"]["march"] == "portable" and "machine code" not in portable.as_text()
    assert special.data["machine_code"]["march"] == march
    expected = "with the bits of portable code" if march == "native" else "not the bits of portable code"
    assert expected in special.as_text()
    values = [np.column_stack([report.result[name] for name in report.result.names]) for report in (portable, special)]
    if march == "native":
        assert values[0].tobytes() == values[1].tobytes()
    assert np.allclose(values[0], values[1], rtol=1e-9, atol=1e-12)


def test_code_for_this_processor_is_not_for_another(tmp_path: Path) -> None:
    text = 'model = "Kilohertz.Examples.RCCircuit"\nsolver = "rk4"\nstep = "1ms"\nmarch = "native"\n'
    (tmp_path / "special.toml").write_text(text)
    with pytest.raises(ModelError, match="is for this machine"):
        open_job(tmp_path / "special.toml").build(folder=tmp_path / "out", target="aarch64-linux-musl")


def test_the_off_line_command_gives_the_same_bits(make: Build, scenario: Scenario) -> None:
    ours = start(make(scenario)).wait().result
    offline = load("Kilohertz.Examples.RCCircuit").simulate(stop=0.2, solver="rk4", step=1e-3, intervals=200)
    same = {t: i for i, t in enumerate(offline.time)}  # an event has two rows: the last one stands
    rows = [same[t] for t in ours.time]
    for name in ("capacitor.v", "resistor.i", "switch.on"):
        assert np.array_equal(ours[name], offline[name][rows]), name


def test_auto_and_mixed_mode_are_decided_before_building(tmp_path: Path) -> None:
    said: list[str] = []
    s = plain_scenario("Kilohertz.Examples.RCCircuit", solver="auto", duration=0.02, name=f"auto{os.getpid()}")
    report = run(s, folder=tmp_path / "auto", announce=said.append)
    assert any(text.startswith("auto takes rk") for text in said)
    assert report.counts["steps"] == 20
    assert "a cycle takes" in report.predicted
    cost = json.loads((tmp_path / "auto" / f"{s.name}.cost.json").read_text())
    assert cost["model"]["worst"]["operations"] >= cost["model"]["regular"]["operations"] > 0


def test_the_index_1_form_in_real_time_gives_the_bits_of_a_simulation(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "solvers" / "index1.mo"
    toml = tmp_path / "valve.toml"
    head = f'name = "valve{os.getpid()}"\nmodel = "{source}:Index1.Valve"\n'
    toml.write_text(f'{head}solver = "sdirk4"\nstep = "1ms"\nduration = "0.4s"\nindex1 = true\n')
    recorded = run(toml, folder=tmp_path / "out").result
    offline = load(f"{source}:Index1.Valve").simulate(stop=0.4, solver="sdirk4", step=1e-3, index1=True, intervals=400)
    last = {t: i for i, t in enumerate(offline.time)}
    rows = [last[t] for t in recorded.time]
    for name in ("x", "q", "z", "k"):
        assert np.array_equal(recorded[name], offline[name][rows]), name
    cost = json.loads(next((tmp_path / "out").glob("*.cost.json")).read_text())
    assert (cost["model"]["algebraic"], cost["model"]["caps"]["stage_newton"]) == (1, 3)
    assert main(["build", f"{source}:Index1.Valve", "--index1", "--solver", "rk4", "-o", str(tmp_path / "b")]) == 1


@pytest.mark.skipif(shutil.which("qemu-aarch64") is None, reason="no qemu-aarch64 here")
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no zig here")
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("Kilohertz.Examples.RCCircuit", 0.0),
        ("Kilohertz.Examples.HydraulicAxis.Plant", 0.0),
        (f"{STEPPING}:Stepping.Everything", 1e-14),  # sin and cos of another C library, in a loop
    ],
    ids=["circuit", "axis", "everything"],
)
def test_the_executable_for_aarch64_gives_the_same_numbers(
    scenario: Scenario, tmp_path: Path, name: str, most: float
) -> None:
    model = load(name)
    scenario = replace(scenario, scale=None)
    code = ModelCode(model.built(model.process()))
    here = start(build(scenario, [code], tmp_path / "here")).wait().result
    built = build(scenario, [code], tmp_path / "arm", "aarch64-linux-musl")
    recording = tmp_path / "arm.recording"
    words = ["qemu-aarch64", str(built.executable), f"record.file={recording}", "wall_num=0", "live=0"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there = read_recording(recording)
    assert np.array_equal(here.time, there.time) and here.names == there.names
    for signal in here.names:
        apart = np.max(np.abs(here[signal] - there[signal]))
        assert apart <= most * np.max(np.abs(here[signal])), signal


def test_a_model_runs_in_one_call(tmp_path: Path) -> None:
    report = load("Kilohertz.Examples.Decay").run(duration=0.02, solver="euler", folder=tmp_path / "run")
    assert report.counts["steps"] == 20
    assert report.result.final("x") < 1.0


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 3)])
def test_time_may_go_slower_or_faster(make: Build, scenario: Scenario, scale: Fraction) -> None:
    report = start(make(replace(scenario, scale=scale, cycles=100))).wait()
    assert report.data["model_seconds"] == 0.1
    assert report.data["wall_ns"] >= int(99 * 1_000_000 / scale)  # the last release
    slack = report.data["times"]["slack"]
    assert slack["max"] <= 1_000_000 / scale


def test_without_a_method_auto_chooses_and_the_report_says_which(tmp_path: Path) -> None:
    stiff = tmp_path / "stiff.mo"
    text = "Real x(start = 1, fixed = true); equation der(x) = 1e5*(sin(time) - x);"
    stiff.write_text(f"model Stiff {text} end Stiff;\n")
    report = run(str(stiff), duration=0.05, folder=tmp_path / "out")
    (task,) = report.data["tasks"]
    assert task["method"] not in {m.name for m in EXPLICIT}
    assert f"Stiff: {task['method']}" in report.as_text()


def test_a_string_is_compiled_in(tmp_path: Path) -> None:
    """A task is told numbers alone as it starts."""
    model = tmp_path / "named.mo"
    model.write_text('model Named parameter String s = "a"; Real y = if s == "b c" then 2*time else 0; end Named;\n')
    (tmp_path / "named.toml").write_text(
        'model = "named.mo"\nsolver = "euler"\nstep = "1ms"\nduration = "5ms"\n[set]\ns = "b c"\n'
        '[record]\nfile = "y.csv"\n'
    )
    assert run(str(tmp_path / "named.toml"), folder=tmp_path / "out").result.final("y") == 0.01

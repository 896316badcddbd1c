"""Stimuli: what each generator gives, where it jumps, what is no formula; off-line and in a task the same bits."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import Model, load, open_job
from kilohertz.results import FORMATS, Result, read, write
from kilohertz.runtime import family
from kilohertz.simulate import Inputs, Statistics
from kilohertz.simulate.choose import EXPLICIT, IMPLICIT
from kilohertz.stimuli import GENERATORS, formula_of

MODEL = """
model Driven "What an input does"
  input Real u(start = 0);
  output Real y = 2*u;
  Real area(start = 0, fixed = true);
  Real lag;
  Integer n(start = 0, fixed = true) "times that u has risen above 1/2";
initial equation
  lag = u;
equation
  der(area) = u;
  der(lag) = 5*(u - lag);
  when u > 0.5 then
    n = pre(n) + 1;
  end when;
end Driven;
"""
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "stimuli.md"
TABLE = "table({0, 0.25, 0.25, 0.5}, {0, 1, 3, 2}, linear = true)"
FORMULAS = (
    "3",
    "step(height = 2, start = 0.3, offset = -1)",
    "ramp(height = 3, duration = 0.4, start = 0.2)",
    "sine(amplitude = 2, frequency = 3, phase = pi/4, start = 0.1)",
    "chirp(first = 1, last = 15, duration = 0.6)",
    "pulse(period = 0.1, width = 0.3, start = 0.05)",
    "prbs(sample = 0.03, order = 7, seed = 5)",
    "noise(deviation = 0.5, sample = 0.01, seed = 9)",
    "uniform(low = -1, high = 2, sample = 0.02)",
    TABLE,
    "if sin(20*time) > 0.5 then 1 else -time^2",
    "step(height = 2, start = 0.3) + 0.1*noise(sample = 0.05) - mod(time, 0.2)",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    file = tmp_path_factory.mktemp("stimuli") / "driven.mo"
    file.write_text(MODEL)
    return load(str(file))


def inputs(model: Model, formula: str, stop: float = 1.0, step: float = 1e-3) -> Any:
    """What each step sees, and when it begins; its row is at its end."""
    n = round(stop / step)
    result = model.simulate(stop=stop, intervals=n, solver="euler", step=step, inputs={"u": formula})
    rows = np.flatnonzero(np.append(True, np.diff(result.time) > 0))  # the first of each instant
    assert len(rows) == n + 1
    return result["u"][rows[1:]], result.time[rows[:-1]]


def test_every_generator_is_tried_and_described() -> None:
    used = {word for f in FORMULAS for word in re.findall(r"[a-z]+", f)}
    page = REFERENCE.read_text()
    for name, generator in GENERATORS.items():
        assert name in used, name
        assert f"| `{name}` |" in page
        assert generator.words in page
    assert set(family("KHZ_OPERATION_")) >= {"bit", "normal", "held", "lines"}


def test_values_of_the_smooth_ones(model: Model) -> None:
    u, t = inputs(model, "sine(amplitude = 2, frequency = 3, phase = 0.7, start = 0.1, offset = 1)")
    assert np.allclose(u, 1 + np.where(t < 0.1 - 1e-9, 0, 2 * np.sin(6 * np.pi * (t - 0.1) + 0.7)), atol=1e-12)
    u, t = inputs(model, "ramp(height = 3, duration = 0.4, start = 0.2, offset = -1)")
    assert np.allclose(u, np.interp(t, [0.2, 0.6], [-1, 2]), atol=1e-12)
    u, t = inputs(model, "chirp(first = 1, last = 15, duration = 0.6)")
    phase = np.where(t < 0.6, t + 14 * t**2 / 1.2, 8 * 0.6 + 15 * (t - 0.6))
    assert np.allclose(u, np.sin(2 * np.pi * phase), atol=1e-12)
    u, t = inputs(model, TABLE)
    assert np.allclose(u[t < 0.25 - 1e-9], 4 * t[t < 0.25 - 1e-9], atol=1e-12)
    assert np.allclose(u[t >= 0.25 - 1e-9], np.interp(t[t >= 0.25 - 1e-9], [0.25, 0.5], [3, 2]), atol=1e-12)


def test_steps_and_pulses_come_with_the_step_that_begins_then(model: Model) -> None:
    for start in (0.3, 0.7, 0.57):  # multiples of a period that are rounded
        u, _ = inputs(model, f"step(height = 2, start = {start})")
        assert np.flatnonzero(u)[0] == round(start * 1000), start
    u, _ = inputs(model, "pulse(period = 0.01, width = 0.3)")
    assert np.array_equal(u.reshape(-1, 10), np.tile([1.0] * 3 + [0.0] * 7, (100, 1)))


def test_a_pseudo_random_sequence_is_balanced_and_has_its_period(model: Model) -> None:
    u, _ = inputs(model, "prbs(sample = 0.001, order = 7)", stop=0.3)
    assert set(u) == {-1.0, 1.0}
    assert np.array_equal(u[:127], u[127:254])
    assert u[:127].sum() == 1.0  # one more up than down
    shifted = [float(np.dot(u[:127], u[k : k + 127])) for k in range(1, 127)]
    assert set(shifted) == {-1.0}  # what tells a maximal sequence from others


def test_noise_is_what_its_seed_says(model: Model) -> None:
    first, again, other = (inputs(model, f"noise(seed = {s})", stop=20.0)[0] for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert abs(first.mean()) < 0.03
    assert abs(first.std() - 1) < 0.02
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(first, other)[0, 1]) < 0.03
    even, _ = inputs(model, "uniform(low = 2, high = 4)", stop=20.0)
    assert 2.0 <= even.min() < 2.01 < 3.99 < even.max() <= 4.0


@pytest.mark.parametrize("formula", FORMULAS)
def test_with_events_the_integral_is_that_of_tiny_steps(model: Model, formula: str) -> None:
    exact = model.simulate(stop=1, inputs={"u": formula}, tolerance=1e-8)
    fine = model.simulate(stop=1, solver="euler", step=1e-5, inputs={"u": formula})
    assert exact.final("area") == pytest.approx(fine.final("area"), abs=5e-5)
    assert exact.final("n") == fine.final("n")
    assert exact["lag"][0] == exact["u"][0] == fine["u"][0]


@pytest.mark.parametrize(
    ("formula", "events"),
    [("step(start = 0.3)", 1), ("pulse(period = 0.1, width = 0.5)", 20), ("prbs(sample = 0.25)", 4)],
)
def test_jumps_are_time_events_and_both_sides_are_recorded(model: Model, formula: str, events: int) -> None:
    statistics = Statistics()
    result = model.simulate(stop=1, intervals=7, inputs={"u": formula}, statistics=statistics)
    assert statistics.time_events == events
    doubled = result.time[1:][np.diff(result.time) == 0]
    assert len(doubled) >= events


def test_short_pulses_are_not_stepped_over(model: Model) -> None:
    result = model.simulate(stop=1000, inputs={"u": "pulse(period = 100, width = 1e-6)"})
    assert result.final("n") == 10  # the first one is there at the start, the last one at the stop
    assert result.final("area") == pytest.approx(10 * 100e-6, rel=1e-6)


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_a_jump_at_the_stop_is_an_event_of_the_run_whoever_makes_it(tmp_path: Path, solver: str) -> None:
    (file := tmp_path / "Last.mo").write_text("""
        model Last
          input Real formula, searched, given;
          Integer n[4](each start = 0, each fixed = true);
        equation
          when formula > 0.5 then n[1] = pre(n[1]) + 1; end when;
          when searched > 0.5 then n[2] = pre(n[2]) + 1; end when;
          when given > 0.5 then n[3] = pre(n[3]) + 1; end when;
          when sample(0.7, 1) then n[4] = pre(n[4]) + 1; end when;
        end Last;""")
    inputs: dict[str, Any] = {
        "formula": "pulse(start = 0.7, period = 0.1)",
        "searched": "if sin(time) >= sin(0.7) then 1 else 0",
        "given": ([0, 0.7, 0.7, 1], [0, 0, 1, 1]),
    }
    result = load(file).simulate(stop=0.7, solver=solver, inputs=inputs)
    assert [result.final(f"n[{i}]") for i in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert result["formula"][result.time < 0.7].max() == 0


@pytest.mark.parametrize("events", ["none", "catch-up", "exact"])
def test_off_line_and_in_a_task_the_same_bits(model: Model, tmp_path: Path, events: str) -> None:
    file = tmp_path / f"bits_{events.replace('-', '_')}.mo"
    several = "\n".join(f"  input Real u{i}; Real y{i}(start = 0, fixed = true);" for i in range(len(FORMULAS)))
    lags = "\n".join(f"  der(y{i}) = 3*(u{i} - y{i});" for i in range(len(FORMULAS)))
    file.write_text(
        f"model B{file.stem}\n{several}\n  Real d(start = 0, fixed = true);\nequation\n{lags}\n"
        f"  der(d) = if u1 > 0 then 1 else -d;\nend B{file.stem};\n"
    )
    driven = {f"u{i}": f for i, f in enumerate(FORMULAS)}
    how: dict[str, Any] = {"solver": "rk4", "step": 1e-3, "events": events}
    job = open_job(file, duration=0.6, inputs=driven, **how)
    quick = replace(job.scenario, scale=None, realtime=replace(job.scenario.realtime, priority=0, lock_memory=False))
    recorded = replace(job, scenario=quick).run(folder=tmp_path / "built", check=False).result
    offline = load(str(file)).simulate(stop=0.6, intervals=600, inputs=driven, **how)
    at = np.flatnonzero(np.append(True, np.diff(offline.time) > 0))  # before an event, as a recording has it
    assert len(at) == len(recorded.time)
    for name in recorded.names:
        assert np.array_equal(offline[name][at], recorded[name]), name


def test_every_format_can_drive_a_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gain.mo").write_text("model Gain input Real u; input Real w; output Real y = 2*u; end Gain;")
    t = np.linspace(0, 0.05, 51)
    rows = Result.of_columns("rows", t, {"u": np.sin(100 * t), "speed": t})
    for f in FORMATS:
        if f.write is None:
            continue
        write(tmp_path / f"drive{f.suffix}", rows)
        scenario = tmp_path / f"drive_{f.suffix[1:]}_task.toml"
        scenario.write_text(
            "model = 'gain.mo'\nsolver = 'rk4'\nduration = '40ms'\ntime_scale = 'max'\n"
            f"[[stimulus]]\nfile = 'drive{f.suffix}'\n[realtime]\npriority = 0\nlock_memory = false\n"
        )
        out = tmp_path / "out.csv"
        assert main(["run", str(scenario), "--no-check", "-o", str(out)]) == 0
        said = capsys.readouterr().err
        assert "columns that are no inputs are not used: speed" in said
        assert "inputs that nothing drives keep their start values: w" in said
        assert "driven over time" not in said
        assert main(["run", str(scenario), "--no-check", "-o", str(out), "--set", "u=3", "--set", "w=1"]) == 0
        assert "driven over time, so what they were set to does not count: u" in capsys.readouterr().err
        assert np.array_equal(read(out)["u"][1:], rows["u"][:40])


def test_formulas_at_the_other_doors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "driven.mo").write_text(MODEL)
    words = ["simulate", str(tmp_path / "driven.mo"), "--stop", "1", "-o", str(tmp_path / "out.csv")]
    assert main([*words, "--input", "u=step(height = 2, start = 0.5)"]) == 0
    assert read(tmp_path / "out.csv").final("area") == pytest.approx(1.0, rel=1e-6)
    assert main(words) == 0
    assert "inputs that nothing drives keep their start values: u" in capsys.readouterr().out
    sides = "[result]\nmodel = 'driven.mo'\nsolver = 'rk4'\nstep = '1ms'\nstop = 1\nformula = { u = 'sine()' }\n"
    (tmp_path / "c.toml").write_text(
        f"tolerance = 0.01\n{sides}[reference]\nmodel = 'driven.mo'\nformula.u = 'sine()'\n"
    )
    assert main(["compare", str(tmp_path / "c.toml")]) == 0
    (tmp_path / "c.toml").write_text(f"tolerance = 0.01\n{sides}[reference]\nmodel = 'driven.mo'\n")
    assert main(["compare", str(tmp_path / "c.toml")]) == 1
    assert "driven.mo (cvode): inputs that nothing drives keep their start values: u" in capsys.readouterr().out


def test_files_and_formulas_together(model: Model) -> None:
    rows = Result.of_columns("r", np.array([0.0, 1.0]), {"speed": np.array([0.0, 1.0])})
    result = model.simulate(stop=1, inputs=[Inputs(rows, "linear", {"u": "speed"})])
    assert result.final("area") == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(ModelError, match="driven twice"):
        model.simulate(stop=1, inputs=[Inputs(rows, "linear", {"u": "speed"}), Inputs({"u": "1"})])
    with pytest.raises(ModelError, match="no signal `sped`; did you mean `speed`"):
        model.simulate(stop=1, inputs=Inputs(rows, "linear", {"u": "sped"}))
    with pytest.raises(ModelError, match="a task takes inputs from files and formulas"):
        model.run(duration=0.1, inputs={"u": ([0.0], [1.0])})


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("", "is no stimulus"),
        ("2*", "is no stimulus"),
        ("x + 1", "`x` is neither `time` nor `pi`"),
        ("sinus(2)", "there is no function `sinus`"),
        ("normal(1, 2)", "there is no function `normal`"),
        ("der(time)", "there is no function `der`"),
        ("sin(1, 2)", "`sin` takes 1 value"),
        ("sine(frequence = 2)", "did you mean `frequency`"),
        ("sine(1, 2, 3, 4, 5, 6)", "sine takes amplitude, frequency"),
        ("sine(frequency = time)", "but must be a constant"),
        ("pulse(period = 0)", "`period` of pulse is 0, but must be above zero"),
        ("pulse(width = 2)", "`width` of pulse is 2, but must be from 0 to 1"),
        ("prbs(order = 40)", "must be from 2 to 31"),
        ("table({0, 1}, {0})", "as many times as values"),
        ("table({1, 0}, {0, 1})", "times that never fall"),
        ("table(1, 2)", "numbers in braces"),
        ("table({0, time}, {0, 1})", "must be numbers"),
        ('"text"', "has no value here"),
        ("1e999", "too large"),
        ("-(" * 100 + "time" + ")" * 100, None),
        ("max(time, " * 70 + "1" + ")" * 70, "more than 64 values"),
    ],
)
def test_what_is_no_formula_is_said(formula: str, message: str | None) -> None:
    if message is None:
        assert formula_of(formula).code
        return
    with pytest.raises(ModelError) as caught:
        formula_of(formula)
    found = caught.value.diagnostics[0]
    assert found.code == "R764"
    assert message in found.message


def test_a_wrong_formula_in_a_scenario_has_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "driven.mo").write_text(MODEL)
    file = tmp_path / "wrong_formula.toml"
    head = "model = 'driven.mo'\nsolver = 'rk4'\nduration = '10ms'\n[[stimulus]]\n"
    for text, expected in (
        ("formula = { u = 'sin(' }", "5:"),
        ("formula = { u = '1' }\nfile = 'a.csv'", "`file` is for a file, and this stimulus has formulas"),
        ("formula = 3", '`formula` must be a table `input = "formula"`'),
        ("formula = { v = '1' }", "there is no input `v`"),
        ("file = 'a.txt'", "must end with .csv"),
    ):
        file.write_text(head + text + "\n")
        assert main(["run", str(file), "--fast"]) == 1
        assert expected in capsys.readouterr().err, text


def test_too_many_events_are_refused(model: Model) -> None:
    with pytest.raises(ModelError, match="too often for events"):
        model.simulate(stop=1e6, inputs={"u": "noise(sample = 1e-6)"})


def test_auto_tries_with_the_inputs_that_the_run_has(tmp_path: Path) -> None:
    """Without its input the model rests, and any method would do; driven, it is stiff."""
    file = tmp_path / "auto_driven.mo"
    file.write_text(
        "model AutoDriven input Real u(start = 0); Real x(start = 0, fixed = true); equation"
        " der(x) = if u > 0.5 then -2e5*(x - cos(time)) else 0; end AutoDriven;"
    )
    chosen = {}
    for formula in ("0", "1"):
        statistics = Statistics()
        load(str(file)).simulate(stop=1, solver="auto", step=1e-3, inputs={"u": formula}, statistics=statistics)
        assert statistics.stepping is not None
        chosen[formula] = statistics.stepping.solver
    assert chosen["0"] in EXPLICIT
    assert chosen["1"] in IMPLICIT
    heard: list[str] = []
    built = open_job(file, duration=1.0, step=1e-3, solver="auto", inputs={"u": "1"}).build(
        folder=tmp_path / "built", announce=heard.append
    )
    assert built.scenario.tasks[0].stepping.solver == chosen["1"]
